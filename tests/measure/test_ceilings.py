"""Rates become ceilings, and probes that do not do their work are refused."""

from __future__ import annotations

import importlib
from types import SimpleNamespace

import pytest

from sitegen.model.ceiling_table import CEILINGS

pytestmark = pytest.mark.torch


@pytest.fixture
def ceilings():
    return importlib.import_module("sitegen.measure.ceilings")


@pytest.fixture
def caches():
    return importlib.import_module("sitegen.measure.cache_probes")


@pytest.fixture
def arithmetic():
    return importlib.import_module("sitegen.measure.arithmetic_probes")


def test_every_probed_ceiling_has_a_unit_and_a_highest_rate(ceilings):
    assert set(ceilings.PROBES) - set(CEILINGS) == set()


def test_what_this_gpu_has_no_probe_for_is_no_ceiling(ceilings):
    assert ceilings.measure("fp8", lambda: iter(())) is None


def test_a_ceiling_is_the_best_of_its_probes_and_keeps_the_others(ceilings):
    found = ceilings.measure("L2", lambda: iter([("16 MB", 5.0), ("256 MB", 3.0), ("8 MB", 4.0)]))
    assert found.rate == 5.0
    assert dict(found.probes) == {"16 MB": 5.0, "256 MB": 3.0, "8 MB": 4.0}


@pytest.fixture
def reader():
    """Return words that overflow 32 bits when summed, and a probe that reads them `times` times."""
    import torch

    words, total = torch.full((5,), -(2**31) + 3, dtype=torch.int32), torch.zeros(1, dtype=torch.int32)

    def read(times: int) -> None:
        for _ in range(times):
            total.add_(words.sum(dtype=torch.int32))

    return SimpleNamespace(words=words, total=total, read=read)


def test_a_reader_that_leaves_out_a_pass_is_refused(caches, reader):
    with pytest.raises(RuntimeError, match="does not read"):
        caches.expect_sum(lambda: reader.read(6), reader.total, reader.words, 7)


def test_the_sum_of_all_that_was_read_wraps_around_at_32_bits(caches, reader):
    caches.expect_sum(lambda: reader.read(7), reader.total, reader.words, 7)


def test_working_sets_end_beyond_the_l2_of_an_h200(caches):
    assert list(caches.WORKING_SETS_MB) == sorted(caches.WORKING_SETS_MB)
    assert caches.WORKING_SETS_MB[-1] > 4 * 60


@pytest.fixture
def loop_of(arithmetic):
    """Return the wgmma loop of two blocks whose launch stores `multiple` times the product, computed on the CPU."""
    import torch

    def made(multiple):
        a, b = (torch.randn(rows, 128, generator=torch.Generator().manual_seed(rows)) for rows in (128, 256))
        out = torch.zeros(2, 128, 256)

        def launch(a, b, out, tiles):
            out.copy_(multiple * a @ b.T)

        return arithmetic.IssueLoop(arithmetic.TENSOR_TYPES["tf32"], launch, a, b, out)

    return made


def test_a_loop_that_leaves_out_a_round_is_refused(arithmetic, loop_of):
    with pytest.raises(RuntimeError, match="tf32"):
        loop_of(arithmetic.ROUNDS - 1).check()


def test_a_loop_that_multiplies_nothing_is_refused(loop_of):
    with pytest.raises(RuntimeError, match="nan"):
        loop_of(float("nan")).check()


def test_the_operations_of_a_loop_are_those_of_its_wgmmas(arithmetic, loop_of):
    loop = loop_of(arithmetic.ROUNDS)
    loop.check()
    blocks, per_wgmma = 2, 2 * 64 * 256 * 8
    assert loop.operations == blocks * arithmetic.WGMMAS * per_wgmma
