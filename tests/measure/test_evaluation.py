"""The stored fields of an evaluation, from made-up turns."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from dataclasses import replace

import pytest

from sitegen.measure.evaluation import PendingEvaluation, TimingPlan, artefacts_of, evaluation_of
from sitegen.measure.protocol import EvaluationEnded
from sitegen.measure.rounds import EmptyKernel, Timings, TurnResult
from sitegen.measure.workload import MOST_SETS, is_matrix_kernel, set_count
from sitegen.model.kernel import Status
from sitegen.model.record import Role


def turns(first, second, mhz=1980.0, throttle=()):
    """Return six rounds of each generation, with its time in microseconds."""
    return [TurnResult(tuple([us] * 20), 0.01, mhz, 500.0, throttle) for us in [first] * 6 + [second] * 6]


@pytest.fixture
def timings():
    quiet = {"torch": turns(100.0, 100.0), "ours": turns(50.0, 50.0), "copy": turns(45.0, 45.0)}
    return Timings(quiet, compared_with=("torch", "copy", "read"), generations=2)


@pytest.fixture
def matrix_race():
    """Return a race in which ours is as fast as torch in bursts, by a lower clock, and slower when sustained."""
    return Timings(
        {"torch": turns(100.0, 100.0, 1600.0), "ours": turns(100.0, 100.0, 1500.0, ("power cap",))},
        {"torch": turns(110.0, 110.0, 1350.0), "ours": turns(120.0, 122.0, 1350.0, ("thermal", "power cap"))},
        compared_with=("torch",),
        generations=2,
    )


def evaluated(add_kernel, timings, evaluation):
    return evaluation_of(evaluation, add_kernel.kernel_job({"ours": "…"}), timings, "torch")


def test_time_clock_and_cycles_belong_together(add_kernel, timings):
    found = evaluated(add_kernel, timings, PendingEvaluation(Role.IMPLEMENTATION, "ours")).performance
    assert (found.median_us, found.sm_clock_mhz, found.cycles) == (50.0, 1980.0, 99_000.0)
    assert (found.samples, len(found.rounds_us), found.power_w) == (240, 12, 500.0)


def test_ratios_are_stored_to_baselines_and_probes_that_ran(add_kernel, timings):
    found = evaluated(add_kernel, timings, PendingEvaluation(Role.IMPLEMENTATION, "ours")).performance
    assert {ratio.baseline: ratio.value for ratio in found.ratios} == {"torch": 2.0, "copy": 0.9}


def test_each_generation_of_processes_is_stored_by_itself(add_kernel, timings):
    timings.turns["ours"] = turns(50.0, 52.0)
    found = evaluated(add_kernel, timings, PendingEvaluation(Role.IMPLEMENTATION, "ours")).performance
    assert (found.median_us, found.by_process_us) == (51.0, (50.0, 52.0))
    assert found.ratios[0].by_process == (2.0, pytest.approx(100 / 52))


def test_a_matrix_kernel_has_its_burst_in_front_and_its_sustained_figures_beside(add_kernel, matrix_race):
    found = evaluated(add_kernel, matrix_race, PendingEvaluation(Role.IMPLEMENTATION, "ours")).performance
    assert (found.median_us, found.sm_clock_mhz) == (100.0, 1500.0)
    sustained = found.sustained
    assert (sustained.median_us, sustained.samples, sustained.sm_clock_mhz) == (121.0, 240, 1350.0)
    assert sustained.ratios[0].by_process == (pytest.approx(110 / 120), pytest.approx(110 / 122))


def test_in_cycles_a_lower_clock_is_no_slower_code(add_kernel, matrix_race):
    found = evaluated(add_kernel, matrix_race, PendingEvaluation(Role.IMPLEMENTATION, "ours")).performance
    (ratio,), (in_cycles,) = found.ratios, found.cycle_ratios
    assert (ratio.value, in_cycles.value) == (1.0, pytest.approx(16 / 15))
    assert in_cycles.by_process == pytest.approx((16 / 15, 16 / 15))
    assert found.cycles == 150_000.0


def test_without_a_clock_there_are_no_cycles_and_nothing_else_is_missing(add_kernel, matrix_race):
    matrix_race.turns["torch"][3] = TurnResult((100.0,) * 20, 0.01)
    found = evaluated(add_kernel, matrix_race, PendingEvaluation(Role.IMPLEMENTATION, "ours")).performance
    assert (found.cycle_ratios, found.cycles, found.ratios[0].value) == ((), 150_000.0, 1.0)


def test_cycles_are_compared_of_matrix_kernels_only(add_kernel, timings):
    assert evaluated(add_kernel, timings, PendingEvaluation(Role.IMPLEMENTATION, "ours")).performance.cycle_ratios == ()


def test_why_the_clock_was_held_down_is_said_of_the_turns_that_saw_it(add_kernel, matrix_race):
    found = evaluated(add_kernel, matrix_race, PendingEvaluation(Role.IMPLEMENTATION, "ours")).performance
    assert (found.throttle, found.sustained.throttle) == (("power cap",), ("power cap", "thermal"))
    others = evaluated(add_kernel, matrix_race, PendingEvaluation(Role.IMPLEMENTATION, "torch")).performance
    assert (others.throttle, others.sustained.throttle) == ((), ())


def test_rounds_that_may_contain_host_time_are_counted(add_kernel, matrix_race):
    for several, rounds in ((matrix_race.turns, (3,)), (matrix_race.sustained, (4, 5))):
        for n in rounds:
            several["ours"][n] = replace(several["ours"][n], late=True)
    found = evaluated(add_kernel, matrix_race, PendingEvaluation(Role.IMPLEMENTATION, "ours")).performance
    assert (found.late_rounds, found.sustained.late_rounds) == (1, 2)


@pytest.mark.parametrize(("graph", "us"), [(True, 1.2), (False, 4.9)])
def test_an_empty_kernel_is_stored_as_it_was_timed_in_the_same_way(add_kernel, timings, graph, us):
    timings.empty_kernel = EmptyKernel(graph_us=1.2, events_us=4.9)
    evaluation = PendingEvaluation(Role.IMPLEMENTATION, "ours", plan=TimingPlan(2, True, 50.0, graph=graph))
    assert evaluated(add_kernel, timings, evaluation).performance.empty_kernel_us == us
    raw = json.loads(gzip.decompress(base64.b64decode(*artefacts_of([evaluation], timings).values())))
    assert raw["empty_kernel_us"] == {"graph": 1.2, "events": 4.9}


def test_who_failed_in_the_last_round_has_no_performance_though_it_was_timed(add_kernel, timings):
    evaluation = PendingEvaluation(Role.IMPLEMENTATION, "ours")
    evaluation.end(EvaluationEnded(Status.INCORRECT, "wrong at last"))
    found = evaluated(add_kernel, timings, evaluation)
    assert (found.status, found.performance, found.correctness, found.samples) == (Status.INCORRECT, None, None, "")


def test_the_log_of_a_failure_is_an_artefact_under_its_hash_and_the_record_has_the_sentence(add_kernel, timings):
    evaluation = PendingEvaluation(Role.IMPLEMENTATION, "ours")
    evaluation.end(EvaluationEnded(Status.COMPILE_ERROR, "add.cu(4): error: no", "add.cu(4): error: no\n\nall of it\n"))
    found = evaluated(add_kernel, timings, evaluation)
    (name,) = artefacts = artefacts_of([evaluation], timings)
    assert (found.message, name) == ("add.cu(4): error: no", f"{found.log}.log")
    assert gzip.decompress(base64.b64decode(artefacts[name])).endswith(b"all of it\n")


def test_the_samples_of_an_evaluation_are_an_artefact_under_their_hash(add_kernel, timings):
    evaluation = PendingEvaluation(Role.IMPLEMENTATION, "ours")
    found = evaluated(add_kernel, timings, evaluation)
    (name,) = artefacts = artefacts_of([evaluation], timings)
    content = gzip.decompress(base64.b64decode(artefacts[name]))
    assert name == f"{found.samples}.samples" == f"{hashlib.sha256(content).hexdigest()}.samples"
    raw = json.loads(content)
    assert (raw["rounds_us"][0], raw["clock_mhz"], raw["generations"]) == ([50.0] * 20, [1980.0] * 12, [6, 6])
    assert "sustained_rounds_us" not in raw


def test_the_samples_of_a_matrix_kernel_hold_its_sustained_rounds_too(add_kernel, matrix_race):
    matrix_race.sustained["ours"][2] = TurnResult((120.0,) * 20, 0.01)
    artefacts = artefacts_of([PendingEvaluation(Role.IMPLEMENTATION, "ours")], matrix_race)
    raw = json.loads(gzip.decompress(base64.b64decode(*artefacts.values())))
    assert (raw["sustained_rounds_us"][-1], raw["rounds_us"][-1]) == ([122.0] * 20, [100.0] * 20)
    assert raw["sustained_clock_mhz"][1:4] == [1350.0, None, 1350.0]


@pytest.mark.parametrize(
    ("set_bytes", "sets"),
    [(512 << 20, 2), (180 << 20, 2), (100 << 20, 3), (12 << 20, 16), (1, MOST_SETS)],
)
def test_sets_keep_three_caches_of_other_bytes_between_two_uses(set_bytes, sets):
    assert set_count(set_bytes, l2_bytes=60 << 20, room=64 << 30) == sets


def test_one_set_of_many_times_the_l2_will_do_where_two_do_not_fit() -> None:
    assert set_count(8 << 30, l2_bytes=60 << 20, room=9 << 30) == 1
    assert set_count(100 << 20, l2_bytes=60 << 20, room=150 << 20) == 3


@pytest.mark.parametrize(("flops", "matrix"), [("64 * 12 * N", True), ("63 * 12 * N", False), ("0", False)])
def test_a_kernel_of_64_operations_for_a_byte_is_a_matrix_kernel(add_kernel, flops, matrix):
    job = add_kernel.kernel_job({"ours": "…"})
    assert is_matrix_kernel(replace(job, kernel=replace(job.kernel, flops=flops))) is matrix
