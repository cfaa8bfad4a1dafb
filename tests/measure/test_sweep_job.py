"""A sweep becomes candidates and kernel jobs, a process that dies costs one point, and no GPU means no times."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from sitegen.measure import sweep_job
from sitegen.measure.environment import gpu_memory_bytes
from sitegen.measure.sweep_job import candidates_of, kernel_jobs, run_sweep_job
from sitegen.measure.workspace import Workspace
from sitegen.model.job import KernelJob, Key, SweepJob
from sitegen.model.kernel import Implementation, Language, Launch, Status, Sweep
from sitegen.model.plain import from_plain, to_plain
from sitegen.model.record import Compilation, Evaluation, Role

LAUNCH = Launch("plain", ("cdiv(N, THREADS)",), ("THREADS",), constants={"THREADS": "256"})


def job_of(add_kernel, **swept: dict[str, tuple[int, ...]]) -> SweepJob:
    """Return a sweep of `plain` in the kernel of a vector addition."""
    job = add_kernel.kernel_job({"right": add_kernel.triton_source()})
    plain = Implementation("plain", "kernels/add/plain.cu", Language.CUDA, launch=LAUNCH)
    sweep = Sweep("s", "A title", "plain", job.workload.name, job.dtype, **swept)
    kernel = replace(job.kernel, implementations=(*job.kernel.implementations, plain), workloads=(job.workload,))
    return SweepJob("add/sweep/s", kernel, sweep, job.sources, Key("key", {"launch": "1"}))


def test_each_point_is_a_candidate_with_its_constants_and_a_name_of_its_own(add_kernel) -> None:
    job = job_of(add_kernel, constants={"THREADS": (128, 256)})
    candidates = candidates_of(job)
    assert [one.name for one in candidates] == ["plain-1", "plain-2"]
    assert [one.implementation.launch.constants for one in candidates] == [{"THREADS": "128"}, {"THREADS": "256"}]
    [kernel] = kernel_jobs(job, candidates)
    assert [one.name for one in kernel.kernel.implementations] == ["plain-1", "plain-2"]
    assert (kernel.workload, kernel.kernel.wrong) == (job.workload, ())


def test_points_with_other_dims_are_workloads_of_their_own(add_kernel) -> None:
    job = job_of(add_kernel, constants={"THREADS": (128, 256)}, dims={"N": (1024, 2048, 4096)})
    jobs = kernel_jobs(job, candidates_of(job))
    assert [one.workload.dims for one in jobs] == [{"N": 1024}, {"N": 2048}, {"N": 4096}]
    assert [[one.name for one in job.kernel.implementations] for job in jobs] == [
        ["plain-1", "plain-4"],
        ["plain-2", "plain-5"],
        ["plain-3", "plain-6"],
    ]


def test_a_point_that_kills_the_process_costs_only_itself(add_kernel, tmp_path, monkeypatch) -> None:
    job = job_of(add_kernel, constants={"THREADS": (128, 256)}, dims={"N": (1024, 2048)})
    started: list[list[str]] = []

    def process(program: str, arguments: list[str], workspace: Workspace, seconds: float):
        points = [point.rpartition(":")[::2] for point in arguments[1:]]
        started.append([name for _, name in points])
        lines = []
        for file, name in points:
            read = from_plain(KernelJob, json.loads(Path(file).read_text(encoding="utf-8")))
            lines.append({"begin": name})
            if name == "plain-3":
                break
            place = (Role.IMPLEMENTATION, name, read.workload.name, read.dtype, "", Status.PASSED)
            compiled = Compilation("sm_90a", 32, 0, 0, "x", ptx="a" * 64, sass="b" * 64)
            lines.append({"evaluation": to_plain(Evaluation(*place, compilation=compiled)), "log": ""})
        return lines, "the process ended with -6"

    monkeypatch.setattr(sweep_job, "lines_of_process", process)
    result = run_sweep_job(job, Workspace(tmp_path, tmp_path / "job.json", gpu=True))
    assert started == [["plain-1", "plain-3", "plain-2", "plain-4"], ["plain-2", "plain-4"]]
    [sweep] = result.sweeps
    assert (result.kind, result.evaluations, result.error) == ("sweep", (), "")
    assert (sweep.name, sweep.implementation, sweep.key, sweep.run) == ("s", "plain", "key", "")
    assert [(dict(point.values), point.status) for point in sweep.points] == [
        ({"THREADS": 128, "N": 1024}, Status.PASSED),
        ({"THREADS": 128, "N": 2048}, Status.PASSED),
        ({"THREADS": 256, "N": 1024}, Status.RUNTIME_ERROR),
        ({"THREADS": 256, "N": 2048}, Status.PASSED),
    ]
    assert sweep.points[2].message == "the process ended with -6"
    assert sweep.points[0].compilation == Compilation("sm_90a", 32, 0, 0, "x"), "artefacts of a point are not kept"


def test_a_process_that_never_begins_fails_the_job(add_kernel, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(sweep_job, "lines_of_process", lambda *_: ([], "no torch"))
    result = run_sweep_job(
        job_of(add_kernel, constants={"THREADS": (128,)}), Workspace(tmp_path, tmp_path / "job.json", gpu=True)
    )
    assert (result.error, result.sweeps) == ("no torch", ())


@pytest.mark.torch
def test_the_points_of_one_job_stay_together_in_the_process() -> None:
    from sitegen.measure.sweep_process import jobs_with_names

    assert jobs_with_names(["/a.json:p-1", "/a.json:p-3", "/b.json:p-2"]) == [
        (Path("/a.json"), ["p-1", "p-3"]),
        (Path("/b.json"), ["p-2"]),
    ]


@pytest.mark.torch
def test_a_point_takes_as_many_rounds_as_the_judge_asks_for() -> None:
    from sitegen.measure.rounds import LEAST_ROUNDS
    from sitegen.results.samples import LEAST_POINT_ROUNDS

    assert LEAST_ROUNDS == LEAST_POINT_ROUNDS


@pytest.mark.torch
def test_without_a_gpu_the_first_workload_is_interpreted_and_nothing_is_timed(add_kernel, measure) -> None:
    if gpu_memory_bytes():
        pytest.skip("a GPU is here")
    job = job_of(add_kernel, dims={"N": (1024, 2048)})
    job = replace(job, sweep=replace(job.sweep, implementation="right"))
    result = measure(job)
    assert (result.kind, result.environment, result.artefacts) == ("sweep", None, {})
    [sweep] = result.sweeps
    assert [(point.status, point.message.split(":")[0]) for point in sweep.points] == [
        (Status.PASSED, ""),
        (Status.NOT_RUN, "no GPU"),
    ]
    assert all(point.performance is None for point in sweep.points)
