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
    assert {*ceilings.PROBES, *ceilings.ARITHMETIC} - set(CEILINGS) == set()


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


def stretches(arithmetic, rates, clock):
    """A function that measures a way: its rate is that of its name times `clock`, which differs each time."""
    clocks = iter(clock)

    def take(way, _):
        mhz = next(clocks)
        return arithmetic.Stretch(rates[way.name] * mhz * 1e6 if mhz else rates[way.name], mhz)

    return take


@pytest.fixture
def ways(arithmetic):
    return [arithmetic.Way(name, 1e9, lambda: None) for name in ("library", "loop")]


def test_the_rate_in_cycles_is_that_of_the_fastest_way_whatever_the_clock(arithmetic, ways):
    """The library has the higher clock and so the higher rate in time, and the loop more operations in a cycle."""
    burst = stretches(arithmetic, {"library": 500.0, "loop": 540.0}, [1980, 1600, 1600, 1650, 1700, 1590, 1610])
    held = stretches(arithmetic, {"library": 500.0, "loop": 530.0}, [1500, 1300, 1310, 1320, 1330, 1340, 1350])
    found = arithmetic.arithmetic_ceiling("bf16", ways, {"burst": burst, "sustained": held})
    assert found.rate == pytest.approx(500.0 * 1980e6)
    assert found.clocks_mhz == dict(
        zip(
            ("library burst", "library sustained", "loop burst", "loop sustained"),
            (1980, 1500, 1600, 1300),
            strict=True,
        )
    )
    assert (found.burst.way, found.sustained.way) == ("loop burst", "loop sustained")
    assert (found.burst.per_cycle, found.sustained.per_cycle) == pytest.approx((540.0, 530.0))
    assert found.burst.sm_clock_mhz == pytest.approx((1600 + 1650 + 1700 + 1590 + 1610) / 5)
    assert found.burst.stretches == pytest.approx((540.0,) * 5)


def test_the_interval_of_a_rate_in_cycles_is_as_wide_as_its_bursts_differ(arithmetic, ways):
    per_cycle = iter([500.0, 540.0, 538.0, 539.0, 540.0, 541.0, 542.0])
    take = lambda way, _: arithmetic.Stretch(next(per_cycle) * 1e9, 1000.0)  # noqa: E731
    rate = arithmetic.arithmetic_ceiling("bf16", ways, {"burst": take}).burst
    assert rate.per_cycle == pytest.approx(540.0)
    assert rate.high - rate.per_cycle == pytest.approx(2.776 * 2.5**0.5 / 5**0.5, rel=1e-3)


def test_without_a_clock_there_is_a_rate_in_time_alone(arithmetic, ways):
    take = stretches(arithmetic, {"library": 500.0, "loop": 540.0}, [None] * 7)
    found = arithmetic.arithmetic_ceiling("bf16", ways, {"burst": take})
    assert (found.rate, found.burst, found.clocks_mhz) == (540.0, None, {})


def test_arithmetic_that_this_gpu_does_not_have_is_no_ceiling(arithmetic):
    assert arithmetic.arithmetic_ceiling("fp8", []) is None


@pytest.fixture
def write_probe(monkeypatch):
    """The probe of writes, which has torch's candidate alone."""
    probes = importlib.import_module("sitegen.measure.memory_probes")
    monkeypatch.setattr(probes, "_own_candidates", lambda entry, vectors: [])
    monkeypatch.setattr(probes, "_bulk_candidates", lambda entry, vectors: [])
    monkeypatch.setattr(probes, "wait", lambda: None)
    return probes, probes.MemoryProbe("write_0_1", 4096)


@pytest.mark.parametrize("missed", [0, 1])
def test_a_write_that_leaves_an_element_is_refused(write_probe, missed):
    import torch

    probes, probe = write_probe
    out = torch.empty(1024, dtype=torch.int32)
    candidate = probes.Candidate("one", lambda inputs, outs: outs[0][missed:].fill_(7))
    buffers = probes.BufferSet([], [out])
    if missed:
        with pytest.raises(RuntimeError, match="leaves elements unwritten"):
            probe._expect_moved(candidate, buffers)
    else:
        probe._expect_moved(candidate, buffers)
