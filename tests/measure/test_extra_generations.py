"""Rules for more processes, on two made-up records of softmax: how often they ask, and how often a verdict is wrong.

The noise comes from the record on an H200 and from many runs of it there.
"""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from statistics import fmean

import pytest

from sitegen.measure.extra_generations import MOST_GENERATIONS, is_near, needs_more_generations
from sitegen.measure.rounds import GENERATION_ROUNDS, GENERATIONS, MORE_GENERATIONS, Timings, TurnResult
from sitegen.model.job import PreviousRatios
from sitegen.model.plain import from_plain
from sitegen.model.record import Record
from sitegen.results.noise import noise_of
from sitegen.results.verdicts import FigureChange, Verdict, threshold_of, verdict

RECORD = Path(__file__).parents[2] / "kernels/softmax/results/nvidia-h200.json"
SEEN = 0.0016
"""Standard deviation of the ratio over eighteen runs, each of two processes."""
PAIRS = 20_000


def turns_of(*ours: float) -> Timings:
    """Return turns in which torch takes 100 µs in every round, and `ours` a given time in each generation."""
    turns = [TurnResult((us,) * 20, 0.01) for us in ours for _ in range(GENERATION_ROUNDS)]
    torch = [TurnResult((100.0,) * 20, 0.01)] * len(turns)
    return Timings({"ours": turns, "torch": torch}, generations=len(ours))


def needs_more(timings: Timings, previous: dict[str, PreviousRatios], baselines: list[str]) -> bool:
    return needs_more_generations(timings, ["ours"], previous, baselines)


def previous(ratio: float, threshold: float = 0.01, baseline: str = "torch") -> dict[str, PreviousRatios]:
    return {"ours": PreviousRatios("nvidia-h200", {baseline: ratio}, threshold)}


@pytest.mark.parametrize(
    ("ratio", "doubtful"), [(2.0, False), (2.01, False), (2.015, True), (1.985, True), (2.025, True), (2.03, False)]
)
def test_a_change_is_in_doubt_near_the_threshold_alone(ratio, doubtful):
    assert needs_more(turns_of(50.0, 50.0), previous(ratio), ["torch"]) is doubtful


def test_all_generations_count():
    assert needs_more(turns_of(40.0, 40.64), previous(2.5), ["torch"])
    assert not needs_more(turns_of(40.0, 40.64, 40.0, 40.0), previous(2.5), ["torch"])


def test_processes_that_disagree_are_in_doubt_unless_calls_are_mostly_latency():
    assert needs_more(turns_of(65.0, 65.6, 65.0, 65.6), {}, ["torch"])
    assert not needs_more(turns_of(65.0, 65.1, 65.0, 65.1), {}, ["torch"])
    assert not needs_more(turns_of(45.0, 46.0, 45.0, 46.0), {}, ["torch"])
    assert not needs_more_generations(turns_of(65.0, 66.0, 65.0, 66.0), ["another"], {}, ["torch"])


def test_code_that_is_a_tenth_slower_than_the_fastest_need_not_agree_with_itself():
    noisy = turns_of(90.0, 91.0, 90.0, 91.0)
    for us, doubtful in ((82.5, True), (81.5, False)):
        noisy.turns["best"] = [TurnResult((us,) * 20, 0.01)] * len(noisy.turns["ours"])
        assert needs_more_generations(noisy, ["ours", "best"], {}, ["torch"]) is doubtful
    noisy.turns["torch"] = noisy.turns["best"]
    assert needs_more_generations(noisy, ["ours"], {}, ["torch"]), "a baseline is no rival of those who are judged"


def test_a_noisy_workload_is_in_doubt_at_larger_changes():
    assert not needs_more(turns_of(50.0, 50.0), previous(2.02, threshold=0.03), ["torch"])
    assert needs_more(turns_of(50.0, 50.0), previous(2.05, threshold=0.03), ["torch"])


def test_after_five_generations_and_without_a_common_baseline_nothing_is_in_doubt():
    assert not needs_more(turns_of(*[50.0, 51.0, 50.0, 51.0, 50.0]), previous(2.02), ["torch"])
    assert not needs_more(turns_of(50.0, 50.0), previous(2.02, baseline="cudnn"), ["cudnn", "torch"])
    assert not needs_more(Timings(), previous(2.02), ["torch"])


def stored_noise() -> float:
    """Return the noise of a ratio of softmax at 8192 × 8192, float32, between processes."""
    record = from_plain(Record, json.loads(RECORD.read_text(encoding="utf-8")))
    ours = (e for e in record.evaluations if (e.workload, e.dtype) == ("8192x8192", "float32"))
    found = next(e for e in ours if e.performance)
    return noise_of(record, found) * math.sqrt(len(found.performance.by_process_us))


@pytest.fixture(scope="module", params=["as stored", "as seen"])
def noise(request) -> float:
    """Return the relative noise of one process."""
    return stored_noise() if request.param == "as stored" else math.sqrt(2) * SEEN


def judged(rng: random.Random, noise: float, older: int, slower: float) -> tuple[Verdict, int]:
    """Return the verdict on a slow-down against a record of `older` processes, and the number of new processes."""
    before = [math.exp(rng.gauss(0, noise)) for _ in range(older)]
    after = [math.exp(rng.gauss(0, noise)) / (1 + slower) for _ in range(GENERATIONS)]
    threshold = threshold_of(noise / math.sqrt(older))
    while len(after) < MOST_GENERATIONS and is_near(fmean(after), fmean(before), threshold):
        after += [math.exp(rng.gauss(0, noise)) / (1 + slower) for _ in range(MORE_GENERATIONS)]
    sides = ((fmean(side), fmean(side) * 0.999, fmean(side) * 1.001) for side in (before, after))
    return verdict([FigureChange("torch / t", *sides, tuple(before), tuple(after))], threshold), len(after)


def slower_in(noise: float, older: int, slower: float) -> tuple[float, float]:
    """Return the share of pairs that is called slower, and the mean number of processes."""
    found = [judged(random.Random(seed), noise, older, slower) for seed in range(PAIRS)]
    return fmean(v is Verdict.SLOWER for v, _ in found), fmean(count for _, count in found)


@pytest.mark.parametrize(("older", "most"), [(2, 0.006), (3, 0.003), (5, 0.002)])
def test_half_a_per_cent_is_not_called_slower_and_one_and_a_half_is(noise, older, most):
    """The noise of a record of two processes decides, whatever the number of new processes."""
    wrong, few = slower_in(noise, older, 0.005)
    right, many = slower_in(noise, older, 0.015)
    print(f"{noise:.2%} a process, {older} before: 0.5 % slower {wrong:.3%}, {few:.1f} processes;", end=" ")
    print(f"1.5 % slower {right:.3%}, {many:.1f} processes")
    assert wrong < most
    assert right > 1 - most


def test_the_same_code_is_seldom_timed_by_more_than_three(noise):
    same, count = slower_in(noise, GENERATIONS, 0.0)
    assert (same, count < GENERATIONS + 0.1) == (0.0, True)
