"""Runs on several GPUs: each evaluation is judged by the ceilings of the GPU that timed it."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from sitegen.model.job import CellResult, JobResult, Key
from sitegen.model.record import Ceiling, Record
from sitegen.results.accept import RunHeader, accept_results
from sitegen.results.figures import figures, impossible_rate_messages, run_of
from sitegen.results.history import history_line, parse_history, past_record
from sitegen.results.judge import doubts
from sitegen.results.records import Records
from sitegen.results.returned_results import reasons_to_refuse
from sitegen.results.run_gpus import run_on, runs_on_each
from sitegen.results.samples import BadSamples

A, B = "a" * 16, "b" * 16
HEADER = RunHeader("2026-11-21T06:00:00Z", "abc1234")


def on(result: JobResult, gpu_hash: str, **changes) -> JobResult:
    """The result as one of the GPUs returns it."""
    return replace(result, environment=replace(result.environment, gpu_hash=gpu_hash), **changes)


def ceilings_of(made, factor: float) -> tuple[Ceiling, ...]:
    return tuple(replace(c, rate=c.rate * factor, probes={"a": c.rate * factor}) for c in made.ceilings)


@pytest.fixture
def two(made) -> SimpleNamespace:
    """A run in which the GPU A has timed softmax, and the GPU B, whose ceilings are 10 % lower, its wrong variants."""
    results = (
        on(made.measured_ceilings, B, ceilings=ceilings_of(made, 0.9)),
        on(made.measured_ceilings, A),
        on(made.result, A),
        on(made.rejected, B),
    )
    new = accept_results(made.site, Records(), HEADER, results)
    return SimpleNamespace(results=results, record=new.records[0], run=new.run)


def test_a_run_keeps_the_ceilings_of_every_gpu_and_each_evaluation_names_its_own(two):
    assert [(g.environment.gpu_hash, g.ceilings[0].rate) for g in two.run.gpus] == [(B, 3.96e12), (A, 4.4e12)]
    assert {e.gpu_hash for e in two.record.evaluations} == {A}


def test_a_share_is_of_the_ceiling_of_the_gpu_that_timed_it(made, two):
    (fused,) = (e for e in two.record.evaluations if e.name == "fused")
    on_b = replace(fused, gpu_hash=B)
    moved = replace(two.record, evaluations=(on_b,))
    assert figures(made.kernel, two.record, fused).of_ceiling == pytest.approx(2.0 / 2.1)
    assert figures(made.kernel, moved, on_b).of_ceiling == pytest.approx(2.0 / 0.9 / 2.1)


def test_an_evaluation_raises_the_ceiling_of_its_own_gpu_only(made, two):
    small = replace(two.run.environment, l2_bytes=1000)
    gpus = tuple(replace(g, environment=replace(g.environment, l2_bytes=1000)) for g in two.run.other_gpus)
    run = replace(two.run, environment=small, other_gpus=gpus)
    fast, slow = (replace(made.timed("fused", us), gpu_hash=gpu) for us, gpu in ((1.9, A), (4.0, B)))
    record = replace(two.record, runs=(run,), evaluations=(fast, slow))
    shares = [figures(made.kernel, record, e).of_ceiling for e in (fast, slow)]
    assert shares == [pytest.approx(1.0), pytest.approx(2.0 / 0.9 / 4.0)]


def test_what_one_gpu_can_do_is_impossible_on_a_slower_one(made, two):
    gpus = tuple(replace(g, environment=replace(g.environment, l2_bytes=1000)) for g in two.run.gpus)
    run = replace(two.run, environment=gpus[0].environment, other_gpus=gpus[1:])
    said = [
        list(impossible_rate_messages(made.kernel, replace(two.record, runs=(run,), evaluations=(timed,)), run))
        for timed in (replace(made.timed("fused", 2.05), gpu_hash=gpu) for gpu in (A, B))
    ]
    assert said[0] == [] and "above the memory ceiling" in said[1][0]


def test_the_run_on_one_gpu_is_always_the_same_object(two):
    assert run_on(two.run, A) is run_on(two.run, A)
    assert run_on(two.run, "") is run_on(two.run, B)  # the first
    assert run_on(two.run, "c" * 16) is None
    assert {run.environment.gpu_hash for run in runs_on_each(two.run)} == {A, B}


def test_a_run_on_one_gpu_is_the_run_itself(made):
    assert run_on(made.run, "") is made.run and runs_on_each(made.run) == (made.run,)
    assert run_on(made.run, A) is None


def no_samples(digest: str):
    raise BadSamples("not of interest here")


def doubts_of(made, record: Record) -> list[str]:
    return [one.message for one in doubts(made.kernel, record, lambda _: False, no_samples)]


@pytest.mark.parametrize(
    ("kept", "said"),
    [((), "is not among its GPUs"), ((Ceiling("fp32", 60e12, {}),), "no memory ceiling to hold them against")],
)
def test_times_of_a_gpu_without_ceilings_in_the_run_are_refused(made, two, kept, said):
    assert not any("GPU" in message for message in doubts_of(made, two.record))
    without = [replace(g, ceilings=kept) for g in two.run.other_gpus] if kept else []
    record = replace(two.record, runs=(replace(two.run, other_gpus=tuple(without)),))
    assert any(said in message and A in message for message in doubts_of(made, record))


def test_a_gpu_that_is_listed_twice_is_refused(made, two):
    record = replace(two.record, runs=(replace(two.run, other_gpus=two.run.other_gpus * 2),))
    assert any("twice" in message for message in doubts_of(made, record))


def test_ceilings_of_another_gpu_of_the_run_are_bounded_by_the_datasheet_too(made, two):
    gpu = replace(two.run.other_gpus[0], ceilings=(replace(made.ceilings[0], rate=42e12),))
    record = replace(two.record, runs=(replace(two.run, other_gpus=(gpu,)),))
    places = [one.path for one in doubts(made.kernel, record, lambda _: False, no_samples)]
    assert ("runs", 0, "other_gpus", 0, "ceilings", 0, "rate") in places


def test_the_rest_of_an_interrupted_run_brings_the_ceilings_of_another_gpu(made, two):
    first = accept_results(made.site, Records(), HEADER, [two.results[1], two.results[2]]).records[0]
    before = Records({("softmax", "nvidia-h200"): first})
    record = accept_results(made.site, before, HEADER, [two.results[0], two.results[3]]).records[0]
    assert {g.environment.gpu_hash: len(g.ceilings) for g in record.runs[0].gpus} == {A: 3, B: 3}
    assert run_of(record, record.evaluations[0]).environment.gpu_hash == A


def test_a_cell_does_not_say_on_which_gpu_it_ran(made, two):
    cells = JobResult(1, "posts/softmax", "notebook", cells=(CellResult("a", "passed", (), Key("k")),))
    ((_, cell),) = accept_results(made.site, Records(), HEADER, [*two.results, cells]).cells
    assert (cell.run.environment.gpu_hash, cell.run.other_gpus) == ("", ())


def test_ceilings_of_two_gpus_are_two_results_and_of_one_gpu_twice_the_same(made, two):
    from sitegen.model.job import CeilingsJob

    first, second = two.results[:2]
    assert not list(reasons_to_refuse([CeilingsJob()], [first, second]))
    assert any("twice" in said for said in reasons_to_refuse([CeilingsJob()], [first, first]))


def test_a_line_of_the_history_keeps_every_gpu(made, two):
    ((past,), mistakes) = parse_history(history_line(two.record, two.run), "history")
    assert not mistakes
    record = past_record(made.kernel, two.record, past)
    assert record.runs == (two.run,) and {e.gpu_hash for e in record.evaluations} == {A}
