"""A block that takes more shared memory than the GPU has → what the author reads, and how the program ends."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType, SimpleNamespace

import pytest

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

from sitegen.measure import cache_probes, memory_probes  # noqa: E402
from sitegen.measure.compile import allow_shared  # noqa: E402
from sitegen.measure.program_parts import check_and_time, cuda_device  # noqa: E402
from sitegen.measure.protocol import EvaluationEnded  # noqa: E402
from sitegen.model.kernel import Status  # noqa: E402

KIB = 1024
AVAILABLE = 99 * KIB
"""Shared memory of a block on GPUs of compute capability 8.6 and 8.9, by the CUDA programming guide."""
STATIC, KERNEL = 2 * KIB, SimpleNamespace(handle=0)


class Driver(ModuleType):
    """Answers as the driver of such a GPU does, and keeps the sizes that it was asked to allow."""

    CUdevice = int
    CUfunction_attribute = SimpleNamespace(
        CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES="static", CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES="dynamic"
    )
    CUdevice_attribute = SimpleNamespace(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN="most")

    def __init__(self) -> None:
        super().__init__("cuda.bindings.driver")
        self.allowed: list[int] = []
        self.before = 0

    def cuKernelGetAttribute(self, attribute: str, *_: object) -> tuple[int, int]:
        return 0, {"static": STATIC, "dynamic": self.before}[attribute]

    def cuDeviceGetAttribute(self, *_: object) -> tuple[int, int]:
        return 0, AVAILABLE

    def cuKernelSetAttribute(self, attribute: str, size: int, *_: object) -> tuple[int]:
        self.allowed.append(size)
        return (int(STATIC + size > AVAILABLE),)


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Driver:
    made, bindings = Driver(), ModuleType("cuda.bindings")
    bindings.driver = made
    monkeypatch.setitem(sys.modules, "cuda", ModuleType("cuda"))
    monkeypatch.setitem(sys.modules, "cuda.bindings", bindings)
    monkeypatch.setitem(sys.modules, "cuda.bindings.driver", made)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    return made


def test_a_kernel_with_more_shared_memory_than_the_gpu_has_is_unsupported_and_no_failure(driver: Driver) -> None:
    with pytest.raises(EvaluationEnded) as ended:
        allow_shared(KERNEL, AVAILABLE - STATIC + 512)
    assert (ended.value.status, ended.value.message) == (
        Status.UNSUPPORTED,
        "a block takes 99.5 KiB of shared memory, this GPU has 99 KiB",
    )
    assert not ended.value.status.failed and not driver.allowed


def test_the_last_byte_of_shared_memory_is_allowed_and_48_kib_need_no_leave(driver: Driver) -> None:
    allow_shared(KERNEL, AVAILABLE - STATIC)
    cuda_device._allow_shared(KERNEL, AVAILABLE - STATIC)
    allow_shared(KERNEL, 48 * KIB - STATIC)
    cuda_device._allow_shared(KERNEL, 48 * KIB - STATIC)
    assert driver.allowed == [AVAILABLE - STATIC] * 2


def test_a_ceiling_is_measured_by_the_probes_whose_blocks_the_gpu_can_hold(
    driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def launcher(*_: object, shared: int, **more: object) -> Callable[..., None]:
        asked.append(shared)
        return lambda *_: None

    for probes in (cache_probes, memory_probes):
        monkeypatch.setattr(probes, "can_launch", lambda: True)
        monkeypatch.setattr(probes, "launcher", launcher)
    for name in ("_random_words", "_zero", "expect_sum"):
        monkeypatch.setattr(cache_probes, name, lambda *_: None)
    monkeypatch.setattr(cache_probes, "_seconds", lambda call: 1.0)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: SimpleNamespace(multi_processor_count=2))
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda: (12, 0))
    shared = [name for name, _ in cache_probes.shared_rates()]
    bulk = [one.name for one in memory_probes._bulk_candidates("copy_1_1", 1 << 20)]
    assert shared[-1] == "16-byte x8, 256 threads, 4 blocks per SM" and len(shared) == 4
    assert bulk == ["bulk 16 KB x4, 3 blocks per SM", "bulk 8 KB x8, 3 blocks per SM"]
    assert max(asked) <= AVAILABLE


def test_a_larger_size_that_was_allowed_before_stays(driver: Driver) -> None:
    driver.before = 90 * KIB
    allow_shared(KERNEL, 60 * KIB)
    assert driver.allowed == [90 * KIB]


def test_a_downloaded_program_says_that_the_gpu_has_too_little_shared_memory(
    driver: Driver, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def checked_and_timed(*_: object) -> int:
        cuda_device._allow_shared(KERNEL, 192 * KIB)
        return check_and_time.PASSED

    monkeypatch.setattr(sys, "argv", ["program.py"])
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "a GPU")
    monkeypatch.setattr(check_and_time, "why_not_here", lambda contract: "")
    monkeypatch.setattr(check_and_time, "_checked_and_timed", checked_and_timed)
    contract = SimpleNamespace(
        kernel="matmul", implementation="mma", tolerance={"bfloat16": 0.004}, checks=[{"M": 5}], workloads=[{"M": 5}]
    )
    with pytest.raises(SystemExit) as ended:
        check_and_time.main(contract, ModuleType("reference"), lambda *_: ())
    assert ended.value.code == check_and_time.CANNOT_RUN
    assert capsys.readouterr().out.splitlines()[-1] == (
        "matmul/mma cannot run here. A block takes 194 KiB of shared memory, this GPU has 99 KiB."
    )
