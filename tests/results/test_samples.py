"""Stored figures and the raw samples that must give them."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace

import pytest

from sitegen.model.record import Sustained
from sitegen.results.samples import contradictions, samples_of


def samples(**content):
    text = json.dumps({"generations": [1, 1], "rounds_us": [[2.0] * 3, [4.0] * 3], **content}).encode()
    return samples_of(text, hashlib.sha256(text).hexdigest())


@pytest.fixture
def evaluation(made):
    """Rounds of 2 and 4 microseconds, at 1500 and 1600 MHz: 3000 and 6400 cycles."""
    timed = replace(
        made.timed("fused", 3.0).performance,
        **{"samples": 6, "rounds_us": (2.0, 4.0), "by_process_us": (2.0, 4.0), "ratios": ()},
        **{"min_us": 2.0, "p20_us": 2.0, "p80_us": 4.0, "low_us": 2.0, "high_us": 4.0},
    )
    return lambda **changes: replace(made.timed("fused", 3.0), performance=replace(timed, **changes))


CLOCKS = {"clock_mhz": [1500.0, 1600.0]}


def test_cycles_are_the_times_at_the_clock_of_their_rounds(evaluation):
    assert list(contradictions(evaluation(cycles=4700.0), samples(**CLOCKS), {})) == []
    assert list(contradictions(evaluation(cycles=4600.0), samples(**CLOCKS), {})) == [
        "cycles is 4600, and the samples give 4700"
    ]


@pytest.mark.parametrize("clocks", [{}, {"clock_mhz": [1500.0, None]}, {"clock_mhz": [1500.0, "nan"]}])
def test_cycles_without_the_clock_of_every_round_are_not_believed(evaluation, clocks):
    (said,) = contradictions(evaluation(cycles=4700.0), samples(**clocks), {})
    assert "lack the clock of a round" in said


def test_sustained_cycles_have_clocks_of_their_own(evaluation):
    held = Sustained(6.0, 4.0, 8.0, 6, (4.0, 8.0), cycles=8400.0)
    rounds = {"sustained_rounds_us": [[4.0] * 3, [8.0] * 3], "sustained_clock_mhz": [1400.0, 1400.0]}
    assert list(contradictions(evaluation(sustained=held), samples(**rounds), {})) == []
    wrong = replace(held, cycles=9000.0)
    assert list(contradictions(evaluation(sustained=wrong), samples(**rounds), {})) == [
        "cycles is 9000, and the samples give 8400"
    ]
