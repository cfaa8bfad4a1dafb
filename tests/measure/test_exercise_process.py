"""The shapes at which the check of an exercise calls a wrong kernel are small enough for the interpreter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sitegen.model.kernel import Kernel
from sitegen.read.load import load_site

pytest.importorskip("torch")

import numpy as np
import torch
from torch.overrides import TorchFunctionMode

from sitegen.measure import exercise_process
from sitegen.measure.correctness import KernelSetup
from sitegen.measure.diagnosis import Evidence, Trial, diagnose
from sitegen.measure.exercise_process import (
    ALIGNED,
    MOST_ACCESSED,
    MOST_INTERPRETED,
    _elements,
    _fitting,
    _sectors,
    _sums,
)
from sitegen.measure.known_mistakes import Alternative, Sum, alternatives_of, incomplete_sums
from sitegen.measure.runnable import reference_of

pytestmark = pytest.mark.torch
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def kernels() -> dict[str, Kernel]:
    return {kernel.name: kernel for kernel in load_site(ROOT)[0].kernels}


def test_sizes_before_the_last_are_halved_until_the_inputs_fit(kernels: dict[str, Kernel]) -> None:
    attention = kernels["attention"]
    shapes = [_fitting(attention, sizes) for sizes in ALIGNED[3]]
    assert shapes[:2] == [{"B": 2, "H": 4, "T": 64}, {"B": 2, "H": 2, "T": 128}]
    assert [dims["T"] for dims in shapes] == [sizes[-1] for sizes in ALIGNED[3]]
    assert all(_elements(attention, dims) <= MOST_INTERPRETED for dims in shapes)


def test_sizes_of_a_transformer_block_keep_whole_heads(kernels: dict[str, Kernel]) -> None:
    shapes = [_fitting(kernels["transformer_block"], sizes) for sizes in ALIGNED[4]]
    assert all(dims["D"] % 128 == 0 for dims in shapes) and len(shapes) == len(ALIGNED[4])


def test_sizes_that_fit_stay_as_they_are(kernels: dict[str, Kernel]) -> None:
    assert _fitting(kernels["matmul"], (32, 64, 128)) == {"M": 32, "N": 64, "K": 128}
    assert _fitting(kernels["vector_add"], (16384,)) == {"N": 16384}


def test_a_column_touches_a_sector_for_each_number_and_a_row_one_for_eight() -> None:
    places, every = np.arange(64, dtype=np.int64) * 4 + 4096, np.ones(64, dtype=bool)
    assert _sectors(places, every) == 8
    assert _sectors(places * 64, every) == 64
    assert _sectors(places, every & (places < 4096 + 33)) == 2  # the ninth number begins a sector
    assert _sectors(places, ~every) == 0


@pytest.mark.parametrize(
    ("accessed", "names"),
    [(MOST_ACCESSED, {"normal", "exact", "one_hot", "extreme"}), (MOST_ACCESSED + 1, {"normal"})],
)
def test_under_the_interpreter_calls_that_access_many_elements_get_normal_inputs_only(
    kernels: dict[str, Kernel], monkeypatch: pytest.MonkeyPatch, accessed: int, names: set[str]
) -> None:
    @contextmanager
    def counted() -> Iterator[SimpleNamespace]:
        yield SimpleNamespace(accessed=accessed)

    called: set[str] = set()
    setup = KernelSetup(kernels["softmax"], "float32", {}, reference_of(ROOT, kernels["softmax"]), None, "cpu")
    monkeypatch.setattr(exercise_process, "check_case", lambda *args: called.add(args[-1].name))
    monkeypatch.setattr(exercise_process, "_counted", counted)
    exercise_process._check(setup, SimpleNamespace(), {"M": 3, "N": 127}, True)
    assert called == names


def test_known_mistakes_make_every_tensor_on_the_device_of_the_inputs() -> None:
    class Devices(TorchFunctionMode):
        def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if function in (torch.arange, torch.zeros, torch.ones, torch.full, torch.empty, torch.tensor):
                assert (kwargs or {}).get("device") == torch.device("cpu"), f"{function.__name__} names no device"
            return function(*args, **(kwargs or {}))

    def transposed(inputs: Mapping[str, Any]) -> Any:
        return inputs["x"].double().t()

    def product(inputs: Mapping[str, Any]) -> Any:
        return inputs["a"].double() @ inputs["b"].double()

    def added(inputs: Mapping[str, Any]) -> Any:
        return inputs["x"].double() + inputs["y"].double()

    a, b, x = torch.randn(20, 40), torch.randn(40, 24), torch.randn(48)
    vectors, factors = {"x": x, "y": x * 2}, {"a": a, "b": b}
    with Devices():
        made = [*alternatives_of({"x": a}, {"M": 20, "N": 40}, transposed, a.double().t())]
        made += alternatives_of(vectors, {"N": 48}, added, added(vectors))
        made += alternatives_of(factors, {"M": 20, "N": 24, "K": 40}, product, product(factors))
        made += incomplete_sums(factors, Sum("K", 40, {"a": 1, "b": 0}, "place of K"), product)
        made += incomplete_sums({"x": x}, Sum("N", 48, {"x": 0}, "number"), lambda inputs: inputs["x"].double().sum())
    causes = {one.cause for one in made}
    assert {"unturned_tile", "swapped_indices", "wrong_stride", "skipped_tail", "first_block_only"} <= causes


def test_known_mistakes_are_computed_only_when_they_are_compared() -> None:
    def costly() -> Iterator[Alternative]:
        raise AssertionError("a known mistake of a right output was computed")
        yield

    got, unwritten = torch.zeros(4), torch.zeros(4, dtype=torch.bool)
    wrong = Trial({"N": 4}, torch.ones(4).double(), got, unwritten, alternatives=(Alternative("c", "w", got.double()),))
    right = Trial({"N": 4}, got.double(), got, unwritten, alternatives=costly())
    assert diagnose(Evidence((right, wrong))).cause == "c"


def test_an_output_adds_over_the_dims_that_it_lacks(kernels: dict[str, Kernel]) -> None:
    def sums(name: str, output: int) -> list[Sum]:
        kernel = kernels[name]
        return list(_sums(kernel, dict.fromkeys(kernel.dims, 8), output))

    assert sums("sum", 0) == [Sum("N", 8, {"x": 0}, "number")]
    assert sums("matmul", 0) == [Sum("K", 8, {"a": 1, "b": 0}, "place of K")]
    assert sums("rmsnorm_backward", 0) == []
    assert sums("rmsnorm_backward", 1) == [Sum("M", 8, {"x": 0, "dy": 0, "rstd": 0}, "row")]
    assert sums("transformer_block", 0) == []  # only one of its weights has the dim F
