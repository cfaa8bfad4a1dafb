"""The shapes at which the check of an exercise calls a wrong kernel are small enough for the interpreter."""

from __future__ import annotations

from pathlib import Path

import pytest

from sitegen.model.kernel import Kernel
from sitegen.read.load import load_site

pytest.importorskip("torch")

import numpy as np

from sitegen.measure.exercise_process import (
    ALIGNED,
    MOST_INTERPRETED,
    _elements,
    _fitting,
    _sectors,
    _sums,
)
from sitegen.measure.known_mistakes import Sum

pytestmark = pytest.mark.torch


@pytest.fixture(scope="module")
def kernels() -> dict[str, Kernel]:
    return {kernel.name: kernel for kernel in load_site(Path(__file__).parents[2])[0].kernels}


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


def test_an_output_adds_over_the_dims_that_it_lacks(kernels: dict[str, Kernel]) -> None:
    def sums(name: str, output: int) -> list[Sum]:
        kernel = kernels[name]
        return list(_sums(kernel, dict.fromkeys(kernel.dims, 8), output))

    assert sums("sum", 0) == [Sum("N", 8, {"x": 0}, "number")]
    assert sums("matmul", 0) == [Sum("K", 8, {"a": 1, "b": 0}, "place of K")]
    assert sums("rmsnorm_backward", 0) == []
    assert sums("rmsnorm_backward", 1) == [Sum("M", 8, {"x": 0, "dy": 0, "rstd": 0}, "row")]
    assert sums("transformer_block", 0) == []  # only one of its weights has the dim F
