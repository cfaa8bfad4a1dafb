"""The verdict on figures before and after, and its reason."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitegen.results.verdicts import FigureChange, Verdict, reason_of, threshold_of, verdict, witnesses


def figure(before: float, after: float, half: float = 0.001, name: str = "torch / t") -> FigureChange:
    """Return a figure that two processes saw alike."""
    return FigureChange(
        name,
        (before, before - half, before + half),
        (after, after - half, after + half),
        (before, before),
        (after, after),
    )


@pytest.mark.parametrize(
    ("measures", "expected"),
    [
        ([figure(1.0, 1.009), figure(0.9, 0.899)], Verdict.SAME),
        ([figure(1.0, 1.05), figure(0.9, 0.95)], Verdict.FASTER),
        ([figure(1.0, 0.95), figure(0.9, 0.85)], Verdict.SLOWER),
        ([figure(1.0, 0.95), figure(0.9, 0.9)], Verdict.AMBIGUOUS),  # only one moved
        ([figure(1.0, 0.95), figure(0.9, 0.95)], Verdict.AMBIGUOUS),  # they moved apart
        ([figure(1.0, 0.95, half=0.04), figure(0.9, 0.85)], Verdict.AMBIGUOUS),  # intervals overlap
        ([figure(1.0, 0.95), figure(0.9, 0.85), figure(1.0, 1.0)], Verdict.AMBIGUOUS),  # in cycles nothing moved
        ([figure(1.0, 1.05)], Verdict.FASTER),
        ([], Verdict.AMBIGUOUS),
    ],
)
def test_a_verdict_needs_all_measures_one_way_disjoint_and_large(measures, expected):
    assert verdict(measures) is expected


def test_a_noisy_workload_needs_a_larger_change():
    moved = [figure(1.0, 0.97)]
    assert verdict(moved, threshold_of(0.001)) is Verdict.SLOWER
    assert verdict(moved, threshold_of(0.01)) is Verdict.SAME
    assert reason_of(Verdict.SAME, moved, 0.01) == (
        "torch / t -3.0%: within the threshold of 4.0% (4 × the noise of 1.00%)"
    )


def test_what_rounds_to_nothing_has_no_minus():
    assert reason_of(Verdict.SAME, [figure(1.9, 1.8999)], 0.001) == "torch / t +0.0%: within the threshold of 1.0%"


def test_what_only_one_process_saw_is_to_be_run_again():
    once = replace(figure(1.0, 0.95), after_by_process=())
    assert verdict([once]) is Verdict.AMBIGUOUS
    assert reason_of(Verdict.AMBIGUOUS, [once], 0.001).endswith("but only one process saw it: run again")
    old = replace(figure(1.0, 0.95), before_by_process=())  # the older record cannot be run again
    assert verdict([old]) is Verdict.SLOWER


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ((1.0, 1.0), (0.9, 0.996)),  # the second process did not see it
        ((0.953, 1.0), (0.95, 0.95)),  # one of the older was as slow already
        ((1.0, 1.0), (0.9, 1.1)),
    ],
)
def test_what_one_of_the_processes_did_not_see_is_to_be_run_again(before, after):
    odd = replace(figure(1.0, 0.95), before_by_process=before, after_by_process=after)
    assert verdict([odd]) is Verdict.AMBIGUOUS
    reason = reason_of(Verdict.AMBIGUOUS, [odd], 0.001)
    assert "not each process did (torch / t " in reason and reason.endswith("run again")


def test_of_more_than_two_processes_one_may_be_far_off_and_no_pair():
    seen = replace(figure(1.0, 0.985), after_by_process=(0.999, 0.975, 0.983, 0.983))
    assert verdict([seen]) is Verdict.SLOWER
    assert reason_of(Verdict.SLOWER, [seen], 0.001).endswith("each pair of processes saw it")
    unseen = replace(seen, after_by_process=(0.97, 0.97, 0.999, 0.999))
    assert verdict([unseen]) is Verdict.AMBIGUOUS
    assert "but not each pair of processes did" in reason_of(Verdict.AMBIGUOUS, [unseen], 0.001)


def test_of_ceiling_may_differ_by_two_per_cent_between_two_gpus_and_the_ratio_may_not():
    other_gpu = [figure(1.9, 1.899), figure(0.9, 0.9 * 1.018, name="of-ceiling")]
    assert verdict(other_gpu) is Verdict.SAME
    assert reason_of(Verdict.SAME, other_gpu, 0.001) == (
        "torch / t -0.1%: within the threshold of 1.0%; "
        "of-ceiling +1.8%: no more than two GPUs of one model differ by (2%)"
    )
    assert verdict([figure(1.9, 1.9 * 1.018), figure(0.9, 0.899, name="of-ceiling")]) is Verdict.AMBIGUOUS
    assert verdict([figure(1.9, 1.9), figure(0.9, 0.9 * 1.03, name="of-ceiling")]) is Verdict.AMBIGUOUS


def drawn(seed: int) -> tuple[list[FigureChange], float]:
    """Draw two or three figures near the thresholds, each from two processes on either side."""
    rng = random.Random(seed)
    spread = rng.choice([0.0005, 0.003, 0.01])

    def side(centre: float):
        halves = tuple(centre * (1 + rng.gauss(0, spread)) for _ in range(2))
        value, half = sum(halves) / 2, centre * abs(rng.gauss(0, spread))
        return (value, value - half, value + half), halves

    step = rng.gauss(0, 0.02)
    measures = []
    for name in ("torch / t", "of-ceiling", "torch / t in cycles")[: rng.randint(1, 3)]:
        (before, seen_before), (after, seen_after) = side(1.0), side(1.0 + step + rng.gauss(0, spread))
        measures.append(FigureChange(name, before, after, seen_before, seen_after))
    return measures, threshold_of(rng.choice([0.001, 0.004]))


def swapped(m: FigureChange) -> FigureChange:
    return FigureChange(m.name, m.after, m.before, m.after_by_process, m.before_by_process)


OPPOSITE = {Verdict.FASTER: Verdict.SLOWER, Verdict.SLOWER: Verdict.FASTER}


@given(st.integers(0, 2**32))
def test_what_got_faster_from_a_to_b_got_slower_from_b_to_a_and_all_else_is_as_it_was(seed):
    measures, threshold = drawn(seed)
    found = verdict(measures, threshold)
    assert verdict([swapped(m) for m in measures], threshold) is OPPOSITE.get(found, found)


@given(st.integers(0, 2**32), st.floats(0.01, 0.05))
def test_a_larger_threshold_never_makes_a_verdict_out_of_none(seed, threshold):
    measures, _ = drawn(seed)
    if verdict(measures, threshold) in (Verdict.AMBIGUOUS, Verdict.SAME):
        assert verdict(measures, 2 * threshold) in (Verdict.AMBIGUOUS, Verdict.SAME)


def test_of_more_than_two_processes_every_two_neighbours_are_a_witness():
    assert witnesses((1.0, 3.0)) == (1.0, 3.0)
    assert witnesses((1.0, 3.0, 5.0)) == (2.0, 4.0)
    assert witnesses((1.0, 3.0, 5.0, 5.0, 1.0)) == (2.0, 4.0, 5.0, 3.0)
