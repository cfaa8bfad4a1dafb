"""The check of an exercise times both kernels at the first workload that fits the memory, and says what is slow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch")

from sitegen.measure import exercise_timing  # noqa: E402
from sitegen.measure.exercise import is_solved, lines_of, why_slow  # noqa: E402
from sitegen.model.exercise import READER, ExerciseJob, ExerciseResult, Speed, Timing, Traffic  # noqa: E402
from sitegen.model.kernel import Implementation, Kernel, Language, Status, Tensor, Workload  # noqa: E402
from sitegen.model.record import Compilation, Evaluation, Performance, Ratio, Role  # noqa: E402

pytestmark = pytest.mark.torch
GIB = 1 << 30


def job() -> ExerciseJob:
    same = (
        Implementation(READER, "kernels/add/yours.py", Language.TRITON),
        Implementation("tile", "kernels/add/tile.py", Language.TRITON),
    )
    kernel = Kernel(
        name="add",
        summary="",
        dims=("N",),
        inputs=(Tensor("a", ("N",)),),
        outputs=(Tensor("b", ("N",)),),
        dtypes=("float32",),
        flops="N",
        reads="N * itemsize",
        writes="N * itemsize",
        tolerance={"float32": 1e-6},
        checks=({"N": 7},),
        workloads=(Workload("256Mi", {"N": 1 << 28}),),
        baselines=("torch",),
        implementations=same,
    )
    return ExerciseJob("add", kernel, {}, {"N": 64}, 1.5)


def test_a_shape_that_fits_no_small_gpu_is_halved() -> None:
    assert exercise_timing.timed_job(job(), 80 * GIB).workload.dims == {"N": 1 << 28}
    assert exercise_timing.timed_job(job(), 8 * GIB).workload.dims == {"N": 1 << 25}
    assert not exercise_timing.timed_job(job(), 8 * GIB).kernel.checks  # which have run


@pytest.fixture
def evaluations(monkeypatch: pytest.MonkeyPatch) -> dict[str, Evaluation]:
    """The evaluations that the process gives, by name."""
    made: dict[str, Evaluation] = {}
    process = SimpleNamespace(start=lambda: None, evaluate=lambda name: (made[name], ""))
    monkeypatch.setattr(exercise_timing, "TryProcess", lambda *arguments: process)
    properties = SimpleNamespace(total_memory=80 * GIB)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda index: properties)
    return made


def compilation(spill_bytes: int) -> Compilation:
    return Compilation("sm_90a", registers=255, spill_bytes=spill_bytes, shared_bytes=0, sass_hash="")


def evaluation(name: str, us: float | None, ratios: Mapping[str, float], message: str = "") -> Evaluation:
    status = Status.PASSED if us else Status.OUT_OF_MEMORY
    found = tuple(Ratio(one, value, value, value) for one, value in ratios.items())
    timed = Performance(us, us, us, us, us, us, 1, (us,), found) if us else None
    return Evaluation(Role.IMPLEMENTATION, name, "256Mi", "float32", "", status, performance=timed, message=message)


def test_both_kernels_are_timed_beside_torch_and_a_copy(tmp_path: Path, evaluations: dict[str, Evaluation]) -> None:
    evaluations[READER] = evaluation(READER, 20.0, {"torch": 0.5, "copy": 0.45})
    evaluations["tile"] = evaluation("tile", 10.0, {"copy": 0.9})
    found = exercise_timing.time_kernels(job(), tmp_path)
    assert found == Timing("N=268435456", Speed(20.0, 0.45, "torch", 0.5), Speed(10.0, 0.9))


def test_a_kernel_that_fails_where_it_is_timed_is_not_solved(
    tmp_path: Path, evaluations: dict[str, Evaluation]
) -> None:
    evaluations[READER] = evaluation(READER, None, {}, "the block is too large")
    evaluations["tile"] = evaluation("tile", 10.0, {"copy": 0.9})
    result = ExerciseResult(shapes=4, device="cuda", timing=exercise_timing.time_kernels(job(), tmp_path))
    assert not is_solved(job(), result)
    assert "FAILED at N=268435456, where it is timed: the block is too large" in lines_of(job(), result)


def test_a_slow_kernel_whose_numbers_do_not_fit_in_registers_is_told_so(
    tmp_path: Path, evaluations: dict[str, Evaluation]
) -> None:
    evaluations[READER] = replace(evaluation(READER, 20.0, {"copy": 0.45}), compilation=compilation(456))
    evaluations["tile"] = replace(evaluation("tile", 10.0, {"copy": 0.9}), compilation=compilation(0))
    result = ExerciseResult(shapes=4, device="cuda", timing=exercise_timing.time_kernels(job(), tmp_path))
    assert list(lines_of(job(), result))[-1].endswith(
        "A thread has 456 bytes too many for its registers, and stores them in memory: start each program with more "
        "warps, or give it a smaller tile"
    )


def test_spills_that_the_author_has_too_are_no_reason() -> None:
    timing = Timing("N=8", Speed(16.0, 0.5, spill_bytes=8), Speed(10.0, 0.8, spill_bytes=8))
    assert "registers" not in why_slow(job(), ExerciseResult(shapes=4, device="cuda", timing=timing))


def test_a_kernel_is_slow_by_its_time_alone() -> None:
    timing = Timing("N=8", Speed(16.0, 0.5, "torch", 0.52), Speed(10.0, 0.8))
    result = ExerciseResult(shapes=4, device="cuda", timing=timing)
    assert not is_solved(job(), result)
    lines = list(lines_of(job(), result))
    assert (
        "  on this GPU at N=8: 16.0 µs, 50% of the speed of a copy of as many bytes, 0.52 × the speed of torch" in lines
    )
    assert lines[-1] == "SLOW: it takes 1.6 × the time of the author's solution, and the limit is 1.5 ×"


def test_a_clock_that_changes_between_the_two_kernels_makes_neither_slow() -> None:
    same_code = Timing("N=8", Speed(33.7, 0.5, "torch", 1.22), Speed(20.0, 0.8, "torch", 1.14))
    assert is_solved(job(), ExerciseResult(shapes=4, device="cuda", timing=same_code))


def test_a_kernel_is_slow_by_its_sectors_alone() -> None:
    def result(sectors: int) -> ExerciseResult:
        return ExerciseResult(shapes=4, traffic=Traffic(4, 1024, sectors), author_traffic=Traffic(4, 1024, 64))

    assert is_solved(job(), result(96))
    slow = list(lines_of(job(), result(97)))[-1]
    assert slow.startswith("SLOW: its loads and stores touch 1.5 × the sectors of 32 bytes of the author's solution")
