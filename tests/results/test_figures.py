"""Figures that are computed when a page is made."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sitegen.model.ceiling_table import CEILINGS, CeilingUnit
from sitegen.model.cost import cost_of
from sitegen.model.kernel import Status
from sitegen.model.record import Ceiling, CycleRate, Record, Role, Sustained
from sitegen.results.figures import (
    COMPUTE,
    figures,
    impossible_rate_messages,
    memory_rate,
    nearest_mix,
    workload_ceilings,
)


@pytest.fixture
def record(made) -> Record:
    return Record(1, "softmax", "nvidia-h200", (made.run,), made.evaluations)


def with_l2(record: Record, l2_bytes: int) -> Record:
    run = record.runs[0]
    return replace(record, runs=(replace(run, environment=replace(run.environment, l2_bytes=l2_bytes)),))


def test_the_cost_of_a_workload_is_its_formulas(made):
    cost = cost_of(made.kernel, made.kernel.workloads[0], "bfloat16", {})
    assert (cost.read_bytes, cost.written_bytes, cost.flops, cost.intensity) == (2e6, 2e6, 5e6, 1.25)


def test_figures_of_a_memory_bound_evaluation(made, record):
    found = figures(made.kernel, record, made.evaluations[1])  # 8 MB in 2.1 us, in 4 us by torch, in 2 us by a copy
    assert found.bytes_per_s == pytest.approx(8e6 / 2.1e-6)
    assert found.of_ceiling == pytest.approx(2.0 / 2.1)  # 8 MB at 4.0 TB/s are 2 us
    assert found.of_copy == pytest.approx(2.0 / 2.1)
    assert found.of_read is None and found.ratios["torch"] == pytest.approx(4.0 / 2.1)


def test_without_ceilings_there_is_a_bandwidth_and_no_share(made, record):
    bare = replace(record, runs=(replace(made.run, ceilings=()),))
    found = figures(made.kernel, bare, made.evaluations[1])
    assert found.of_ceiling is None and found.bytes_per_s > 0


def test_what_failed_has_no_figures(made, record):
    failed = replace(made.evaluations[1], status=Status.INCORRECT, performance=None)
    assert figures(made.kernel, record, failed) is None


def test_arithmetic_limits_when_it_takes_longer_than_the_bytes(made, record):
    heavy = replace(made.kernel, flops="90 * M * N")  # 90 MFLOP at 60 TFLOP/s are 1.5 us, the bytes take 2
    heavier = replace(made.kernel, flops="240 * M * N")  # 4 us
    assert figures(heavy, record, made.evaluations[0]).of_ceiling == pytest.approx(2.0 / 3.0)
    alone = replace(record, evaluations=(made.timed("naive", 5.0),))
    assert figures(heavier, alone, alone.evaluations[0]).of_ceiling == pytest.approx(4.0 / 5.0)


@pytest.mark.parametrize(
    ("share", "name"),
    [(1.0, "memory 1:0"), (0.9, "memory 1:0"), (0.66, "memory 2:1"), (0.5, "memory 1:1"), (0, "memory 0:1")],
)
def test_the_nearest_mix_of_reads_and_writes_counts(share, name):
    ceilings = [Ceiling(f"memory {mix}", 1.0, {}) for mix in ("1:0", "2:1", "1:1", "0:1")] + [Ceiling("fp32", 1.0, {})]
    assert nearest_mix(ceilings, share).name == name
    assert nearest_mix(ceilings[4:], share) is None


def test_the_caches_have_a_rate_and_are_no_mix(made, record):
    """Of-ceiling refers to the memory, and a figure above it is impossible, however fast the caches are."""
    caches = [Ceiling(name, 5e12, {}) for name in ("L2", "shared")]
    assert nearest_mix(caches, 0.5) is None and nearest_mix([*made.ceilings, *caches], 0.5).name == "memory 1:1"
    run = replace(with_l2(record, 1_000_000).runs[0], ceilings=(*made.ceilings, *caches))
    beyond = replace(record, runs=(run,), evaluations=(made.timed("fused", 1.7),))  # 4.7 TB/s
    (sentence,) = impossible_rate_messages(made.kernel, beyond, run)
    assert "above the memory ceiling of its mix of reads and writes (4.00 TB/s)" in sentence
    only = replace(record, runs=(replace(made.run, ceilings=tuple(caches)),))
    assert figures(made.kernel, only, made.evaluations[0]).of_ceiling is None


def test_the_arithmetic_ceiling_of_every_dtype_has_a_unit_and_a_highest_rate():
    assert {name for name in COMPUTE.values() if CEILINGS[name].unit is not CeilingUnit.OPERATIONS} == set()


def test_single_precision_has_its_own_roof_and_not_that_of_tf32(made, record):
    tensor = (Ceiling("tf32", 350e12, {}), Ceiling("bf16", 800e12, {}))
    run = replace(made.run, ceilings=(*made.ceilings, *tensor))
    product = replace(made.kernel, flops="1000 * M * N")  # a GFLOP: 16.7 us at 60 TFLOP/s
    record = replace(record, runs=(run,), evaluations=(made.timed("fused", 20.0),))
    assert figures(product, record, record.evaluations[0]).of_ceiling == pytest.approx(16.667 / 20, rel=1e-3)
    half = replace(record.evaluations[0], dtype="bfloat16")
    found = figures(product, replace(record, evaluations=(half,)), half)
    assert found.of_ceiling == pytest.approx(1e9 / 800e12 / 20e-6)


def test_a_product_that_fits_the_cache_still_raises_the_roof(made, record):
    product = replace(made.kernel, flops="1000 * M * N")
    fast = replace(record, evaluations=(made.timed("fused", 16.0), made.timed("naive", 20.0)))  # 62.5 TFLOP/s
    found = [figures(product, fast, e).of_ceiling for e in fast.evaluations]
    assert found == [pytest.approx(1.0), pytest.approx(16 / 20)]


def test_a_page_evaluates_each_formula_a_few_times_only(made, record, monkeypatch):
    """The number of evaluations grows with the rows of a page, and not with their square."""
    many = tuple(replace(made.evaluations[0], name=f"naive {n}") for n in range(50))
    large, asked = replace(record, evaluations=many), []
    counting = lambda *call: asked.append(call) or cost_of(*call)  # noqa: E731
    monkeypatch.setattr("sitegen.results.figures.cost_of", counting)
    assert all(figures(made.kernel, large, e) for e in many)
    assert len(asked) == 2 * len(many)


def test_an_implementation_faster_than_every_probe_raises_the_ceiling_of_its_run(made, record):
    fast = with_l2(replace(record, evaluations=(made.timed("fused", 1.9), *record.evaluations[2:])), 1_000_000)
    assert figures(made.kernel, fast, fast.evaluations[0]).of_ceiling == pytest.approx(1.0)
    assert figures(made.kernel, fast, fast.evaluations[1]).of_ceiling == pytest.approx(1.9 / 4.0)


def test_a_workload_that_fits_the_cache_raises_no_ceiling(made, record):
    fast = replace(record, evaluations=(made.timed("fused", 1.0),))
    cost = cost_of(made.kernel, made.kernel.workloads[0], "float32", {})
    assert workload_ceilings(made.kernel, fast, fast.runs[0], cost, "float32").bytes_per_s == 4.0e12


def test_a_figure_above_every_ceiling_is_an_error_of_ours(made, record):
    run = with_l2(record, 1_000_000).runs[0]
    limit_us = 8e6 / 4.0e12 * 1e6  # at the ceiling of a copy
    beyond = replace(record, evaluations=(made.timed("fused", limit_us / 1.03),))
    within = replace(record, evaluations=(made.timed("fused", limit_us / 1.01),))
    (sentence,) = impossible_rate_messages(made.kernel, beyond, run)
    above = "above the memory ceiling of its mix of reads and writes (4.00 TB/s)"
    assert sentence == f"softmax/fused@1000x1000:float32: 4.12 TB/s, {above}"
    assert list(impossible_rate_messages(made.kernel, within, run)) == []
    many = replace(made.kernel, flops="1000 * M * N")
    assert any("above the roof" in sentence for sentence in impossible_rate_messages(many, record, run))


def test_a_noisy_workload_may_stand_higher_above_the_ceiling_before_it_is_an_error(made, record):
    run = with_l2(record, 1_000_000).runs[0]

    def with_noise(drift: float) -> Record:
        """Return `fused` 3 % above the ceiling of a copy, and two others; second processes took that much longer."""
        times = {"fused": 8e6 / 4.0e12 * 1e6 / 1.03, "naive": 3.0}
        ours = [seen(made.timed(name, us), 1 + n * drift) for n, (name, us) in enumerate(times.items())]
        return replace(record, evaluations=(*ours, seen(record.evaluations[2], 1 - drift)))

    def seen(evaluation, factor):
        t = evaluation.performance.median_us
        halves = tuple(replace(r, by_process=(r.value, r.value / factor)) for r in evaluation.performance.ratios)
        timed = replace(evaluation.performance, by_process_us=(t, t * factor), ratios=halves)
        return replace(evaluation, performance=timed)

    assert len(list(impossible_rate_messages(made.kernel, with_noise(0.0), run))) == 1
    assert list(impossible_rate_messages(made.kernel, with_noise(0.05), run)) == []


def test_what_is_impossible_is_named_with_its_params(made, record):
    run = with_l2(record, 1_000_000).runs[0]
    causal = replace(made.timed("fused", 1.0), params={"causal": True})
    kernel = replace(made.kernel, params={"causal": (False, True)})
    (sentence,) = impossible_rate_messages(kernel, replace(record, evaluations=(causal,)), run)
    assert sentence.startswith("softmax/fused@1000x1000:float32[causal=True]: ")


def test_each_mix_of_reads_and_writes_is_tested_against_its_own_ceiling(made, record):
    """A copy that is 10 % too fast is still below the ceiling of reads."""
    run = with_l2(record, 1_000_000).runs[0]
    copy = replace(record, evaluations=(made.timed("fused", 8e6 / 4.0e12 * 1e6 / 1.08),))  # 4.32 TB/s; reads: 4.4
    reads = replace(made.kernel, reads="2 * M * N * itemsize", writes="0")
    assert len(list(impossible_rate_messages(made.kernel, copy, run))) == 1
    assert list(impossible_rate_messages(reads, copy, run)) == []


@pytest.mark.parametrize(("name", "us"), [("copy", 8e6 / 4.0e12 * 1e6), ("read", 4e6 / 4.4e12 * 1e6)])
def test_a_probe_above_the_ceiling_of_its_mix_is_an_error_and_no_new_ceiling(made, record, name, us):
    run = with_l2(record, 1_000_000).runs[0]
    said = [
        list(
            impossible_rate_messages(made.kernel, replace(record, evaluations=(made.timed(name, t, Role.PROBE),)), run)
        )
        for t in (us / 1.01, us / 1.1)
    ]
    assert said[0] == [] and said[1][0].startswith(f"softmax/{name}@1000x1000:float32: ")


def test_a_mix_between_two_measured_ones_may_be_as_fast_as_the_line_between_them():
    ceilings = [Ceiling("memory 1:0", 4.6e12, {}), Ceiling("memory 1:1", 4.2e12, {}), Ceiling("fp32", 9e12, {})]
    assert [memory_rate(ceilings, share) for share in (1.0, 0.5, 0.75)] == pytest.approx([4.6e12, 4.2e12, 4.4e12])
    assert memory_rate(ceilings, 0.1) == 4.2e12
    assert memory_rate(ceilings[2:], 0.5) == 0.0


def in_cycles(made, burst: float = 540_000.0, sustained: float = 530_000.0, half: float = 0.001):
    """A run whose bf16 ceiling is known in SM cycles, ± that share."""
    rates = [
        CycleRate("wgmma", rate, rate * (1 - half), rate * (1 + half), (rate,) * 5, 1700.0)
        for rate in (burst, sustained)
    ]
    tensor = Ceiling("bf16", 918e12, {"wgmma burst": 918e12}, burst=rates[0], sustained=rates[1])
    return replace(made.run, ceilings=(*made.ceilings, tensor))


def product(made, us: float, mhz: float, name: str = "fused", sustained_mhz: float = 1400.0):
    """A matrix kernel that takes that long in bursts at that clock, and 20 % longer under load."""
    timed = made.timed(name, us, dtype="bfloat16")
    held = Sustained(1.2 * us, us, 2 * us, 3, (us,), cycles=1.2 * us * sustained_mhz)
    performance = replace(timed.performance, cycles=us * mhz, sustained=held, sm_clock_mhz=mhz)
    return replace(timed, performance=performance)


@pytest.fixture
def matrix(made):
    return replace(made.kernel, flops="1000000 * M * N")  # 1e12: 1851.9 k cycles at 540000 a cycle


def test_the_share_of_a_matrix_kernel_is_in_cycles_and_has_the_interval_of_the_ceiling(made, record, matrix):
    run = in_cycles(made)
    slow, fast = product(made, 1300.0, 1600.0), product(made, 1300.0 * 1600 / 1900, 1900.0, "naive")
    whole = replace(record, runs=(run,), evaluations=(slow, fast))
    found = [figures(matrix, whole, one) for one in (slow, fast)]
    share = 1e12 / (1300.0 * 1600.0) / 540_000.0
    assert [f.of_ceiling for f in found] == pytest.approx([share, share])  # the clock changes nothing
    assert (found[0].in_cycles.low, found[0].in_cycles.high) == pytest.approx((share / 1.001, share / 0.999))


def test_a_sustained_time_is_compared_with_the_sustained_ceiling(made, record, matrix):
    one = product(made, 1300.0, 1600.0)
    found = figures(matrix, replace(record, runs=(in_cycles(made),), evaluations=(one,)), one)
    assert found.of_sustained.value == pytest.approx(1e12 / (1.2 * 1300.0 * 1400.0) / 530_000.0)


def test_a_record_without_cycles_has_its_share_in_time(made, record, matrix):
    old = replace(made.run, ceilings=(*made.ceilings, Ceiling("bf16", 918e12, {"wgmma burst": 918e12})))
    one = product(made, 1300.0, 1600.0)
    found = figures(matrix, replace(record, runs=(old,), evaluations=(one,)), one)
    assert found.of_ceiling == pytest.approx(1e12 / 918e12 / 1300e-6)
    assert found.in_cycles is None and found.of_sustained is None


def test_a_kernel_that_memory_bounds_has_no_share_in_cycles(made, record):
    one = product(made, 2.0, 1600.0)
    found = figures(made.kernel, replace(record, runs=(in_cycles(made),), evaluations=(one,)), one)
    assert found.in_cycles is None and found.of_ceiling == pytest.approx(4e6 / 4.0e12 / 2e-6)


def test_a_kernel_faster_per_cycle_than_every_probe_is_the_ceiling_and_far_above_an_error(made, record, matrix):
    run, cycles = in_cycles(made), 1e12 / 540_000.0
    ahead, other = product(made, cycles / 1.01 / 1600.0, 1600.0), product(made, cycles / 1600.0, 1600.0, "naive")
    whole = replace(record, runs=(run,), evaluations=(ahead, other))
    assert figures(matrix, whole, ahead).of_ceiling == pytest.approx(1.0)
    assert figures(matrix, whole, other).of_ceiling == pytest.approx(1 / 1.01)
    assert list(impossible_rate_messages(matrix, whole, run)) == []
    far = replace(whole, evaluations=(product(made, cycles / 1.1 / 1600.0, 1600.0),))
    (sentence,) = impossible_rate_messages(matrix, far, run)
    assert "FLOP per SM cycle, above the roof of its dtype" in sentence


def test_a_higher_clock_than_the_probes_is_no_error(made, record, matrix):
    """In time the kernel is 5 % above the roof, in cycles below it."""
    run = in_cycles(made)
    one = product(made, 1e12 / 918e12 * 1e6 / 1.05, 1960.0)
    assert list(impossible_rate_messages(matrix, replace(record, runs=(run,), evaluations=(one,)), run)) == []
