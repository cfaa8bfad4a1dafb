"""What is stored of an evaluation, from turns that somebody took."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json

import pytest

from sitegen.measure.contestant import Contestant, artefacts_of, evaluation_of
from sitegen.measure.jobs import MOST_SETS, set_count
from sitegen.measure.protocol import Ended
from sitegen.measure.rounds import Race, TurnResult
from sitegen.model.kernel import Status
from sitegen.model.record import Role


@pytest.fixture
def race():
    def turns(us):
        return [TurnResult(tuple([us] * 20), 0.01, clock_mhz=1980.0, power_w=500.0) for _ in range(11)]

    return Race({"torch": turns(100.0), "ours": turns(50.0), "copy": turns(45.0)}, ("torch", "copy", "read"))


def evaluated(add_kernel, race, contestant):
    return evaluation_of(contestant, add_kernel.kernel_job({"ours": "…"}), race, "torch")


def test_time_clock_and_cycles_belong_together(add_kernel, race):
    found = evaluated(add_kernel, race, Contestant(Role.IMPLEMENTATION, "ours")).performance
    assert (found.median_us, found.sm_clock_mhz, found.cycles) == (50.0, 1980.0, 99_000.0)
    assert (found.samples, len(found.rounds_us), found.power_w) == (220, 11, 500.0)


def test_ratios_are_stored_to_baselines_and_probes_that_ran(add_kernel, race):
    found = evaluated(add_kernel, race, Contestant(Role.IMPLEMENTATION, "ours")).performance
    assert {ratio.baseline: ratio.value for ratio in found.ratios} == {"torch": 2.0, "copy": 0.9}


def test_who_failed_in_the_last_round_has_no_performance_though_it_was_timed(add_kernel, race):
    contestant = Contestant(Role.IMPLEMENTATION, "ours")
    contestant.ended(Ended(Status.INCORRECT, "wrong at last"))
    found = evaluated(add_kernel, race, contestant)
    assert (found.status, found.performance, found.correctness, found.samples) == (Status.INCORRECT, None, None, "")


def test_the_samples_of_an_evaluation_are_an_artefact_under_their_hash(add_kernel, race):
    contestant = Contestant(Role.IMPLEMENTATION, "ours")
    found = evaluated(add_kernel, race, contestant)
    (name,) = artefacts = artefacts_of([contestant], race)
    content = gzip.decompress(base64.b64decode(artefacts[name]))
    assert name == f"{found.samples}.samples" == f"{hashlib.sha256(content).hexdigest()}.samples"
    assert json.loads(content)["rounds_us"][0] == [50.0] * 20


@pytest.mark.parametrize(
    ("set_bytes", "sets"),
    [(512 << 20, 2), (180 << 20, 2), (100 << 20, 3), (12 << 20, 16), (1, MOST_SETS)],
)
def test_sets_keep_three_caches_of_other_bytes_between_two_uses(set_bytes, sets):
    assert set_count(set_bytes, l2_bytes=60 << 20, room=64 << 30) == sets


def test_one_set_of_many_times_the_l2_will_do_where_two_do_not_fit() -> None:
    assert set_count(8 << 30, l2_bytes=60 << 20, room=9 << 30) == 1
    assert set_count(100 << 20, l2_bytes=60 << 20, room=150 << 20) == 3
