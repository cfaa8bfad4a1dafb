"""Candidates of `sitegen try` without a GPU, the turns that they take with one, and a process that dies."""

from __future__ import annotations

import pytest

from sitegen.measure.environment import gpu_memory_bytes
from sitegen.measure.workspace import Workspace
from sitegen.model.kernel import Status
from sitegen.model.record import Evaluation, Role
from sitegen.model.try_job import TryJob


def job_of(add_kernel, **sources: str) -> TryJob:
    job = add_kernel.kernel_job(sources)
    return TryJob(job.id, job.kernel, job.workload, job.dtype, job.sources, dict.fromkeys(sources, ""))


@pytest.mark.torch
@pytest.mark.nvrtc
def test_without_a_gpu_candidates_are_interpreted_and_compiled(add_kernel, measure):
    if gpu_memory_bytes():
        pytest.skip("a GPU is here")
    wrong = add_kernel.triton_source(epilogue="out[-1] = 7")
    result = measure(job_of(add_kernel, right=add_kernel.triton_source(), wrong=wrong))
    assert (result.kind, result.environment, result.artefacts) == ("try", None, {})
    assert {e.name: e.status for e in result.evaluations} == {"right": Status.PASSED, "wrong": Status.INCORRECT}
    assert result.evaluations[0].compilation.spill_bytes == 0


@pytest.mark.torch
def test_everything_takes_as_many_turns_and_every_second_round_is_reversed():
    from sitegen.measure.rounds import TurnResult
    from sitegen.measure.try_process import ROUNDS, take_rounds

    taken: list[str] = []

    def taker(name: str):
        return lambda samples: taken.append(name) or TurnResult((1.0,) * samples, 0.0)

    names = ("candidate", "torch", "copy")
    timings = take_rounds({name: taker(name) for name in names}, dict.fromkeys(names, 20))
    assert taken[:6] == [*names, *reversed(names)]
    assert {name: len(turns) for name, turns in timings.turns.items()} == dict.fromkeys(names, ROUNDS)
    assert timings.compared_with == ("torch", "copy")


def test_a_candidate_that_kills_the_process_costs_only_itself(add_kernel, tmp_path, monkeypatch):
    from sitegen.measure import try_job
    from sitegen.model.plain import to_plain

    job = job_of(add_kernel, a="", kills="", b="")

    def process(job_file, workspace, names):
        lines = []
        for name in names:
            lines.append({"begin": name})
            if name == "kills":
                break
            evaluation = Evaluation(Role.IMPLEMENTATION, name, "", "", "", Status.PASSED)
            lines.append({"evaluation": to_plain(evaluation), "log": ""})
        return lines, "the process ended with -6"

    monkeypatch.setattr(try_job, "_process", process)
    found = try_job.run_try_job(job, Workspace(tmp_path, tmp_path / "job.json", gpu=True)).evaluations
    assert [(e.name, e.status, e.message) for e in found] == [
        ("a", Status.PASSED, ""),
        ("kills", Status.RUNTIME_ERROR, "the process ended with -6"),
        ("b", Status.PASSED, ""),
    ]


def test_a_candidate_that_fails_is_explained_by_the_beginning_of_its_log(add_kernel, tmp_path, monkeypatch):
    from sitegen.measure import try_job
    from sitegen.model.plain import to_plain

    failed = Evaluation(Role.IMPLEMENTATION, "a", "", "", "", Status.COMPILE_ERROR, message="a.cu(4): error: no")
    line = {"evaluation": to_plain(failed), "log": "a.cu(4): error: no\n   x[i]\n\nall of it\n"}
    monkeypatch.setattr(try_job, "_process", lambda *_: ([{"begin": "a"}, line], ""))
    result = try_job.run_try_job(job_of(add_kernel, a=""), Workspace(tmp_path, tmp_path / "job.json", gpu=True))
    assert [one.message for one in result.evaluations] == ["a.cu(4): error: no\n   x[i]"]
    assert (result.evaluations[0].log, result.artefacts) == ("", {})
