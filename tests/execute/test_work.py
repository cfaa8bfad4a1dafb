"""A job in a process of its own, on the machine that has the GPU."""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec

import pytest

from sitegen.execute import measure_process, work


@pytest.fixture
def torch(tmp_path, monkeypatch):
    """A package torch without compiled modules."""
    origin = tmp_path / "torch" / "__init__.py"
    origin.parent.mkdir()
    origin.write_text("")
    spec = ModuleSpec("torch", None, origin=str(origin))
    spec.has_location = True
    monkeypatch.setattr(measure_process.importlib.util, "find_spec", lambda name: spec)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    return spec


def test_where_torch_lies_without_compiled_modules_a_folder_of_ours_keeps_them(torch, tmp_path):
    found = measure_process.compiled_modules()
    assert found == {
        "PYTHONDONTWRITEBYTECODE": "",
        "PYTHONPYCACHEPREFIX": str(tmp_path / "cache" / "sitegen" / "modules"),
    }


def test_python_is_left_to_itself_where_it_may_write_them_or_has_them(torch, tmp_path, monkeypatch):
    (tmp_path / "compiled.pyc").write_bytes(b"")
    torch.cached = str(tmp_path / "compiled.pyc")
    assert measure_process.compiled_modules() == {}
    torch.cached = str(tmp_path / "nowhere.pyc")
    assert measure_process.compiled_modules()
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    assert measure_process.compiled_modules() == {}


def test_a_machine_without_torch_gets_nothing(monkeypatch):
    monkeypatch.setattr(measure_process.importlib.util, "find_spec", lambda name: None)
    assert measure_process.compiled_modules() == {}


@pytest.fixture
def done(monkeypatch):
    """Ids of the jobs that a fresh worker runs, in order."""
    ids = []
    monkeypatch.setattr(work, "_measured_runs", set())
    monkeypatch.setattr(work, "run_job", lambda spec, **_: ids.append(spec["id"]) or dict(spec))
    return ids


CEILINGS = ({"id": "ceilings", "kind": "ceilings"},)


def job(number: int, run: str = "today") -> dict[str, object]:
    kernel = {"name": "axpy"}
    return work.with_ceilings({"id": f"job {number}", "kind": "kernel", "kernel": kernel}, CEILINGS, run)


def test_a_worker_measures_the_ceilings_of_its_gpu_before_its_first_job_of_each_run(done):
    returned = [work.run_with_ceilings(one) for one in (job(1), job(2), job(3, "tomorrow"))]
    assert done == ["ceilings", "job 1", "job 2", "ceilings", "job 3"]
    assert [[one["id"] for one in r["results"]] for r in returned] == [
        ["ceilings", "job 1"],
        ["job 2"],
        ["ceilings", "job 3"],
    ]


def test_what_a_worker_returns_has_the_name_and_the_mistake_of_its_job(done, monkeypatch):
    monkeypatch.setattr(work, "run_job", lambda spec, **_: work.failure(spec, f"no {spec['id']}"))
    returned = work.run_with_ceilings(job(1))
    assert (returned["id"], returned["kind"], returned["error"]) == ("job 1", "kernel", "no job 1")


def timed_out(spec, environment=None):
    """Return a result in which `loops` hangs unless the job says that it did before."""
    status = "not_run" if spec.get("hung") else "timeout"
    names = {"loops": status, "fine": "passed"}
    rows = [
        {"role": "implementation", "name": n, "status": s, "workload": "8", "dtype": "f32"} for n, s in names.items()
    ]
    return {**work.failure(spec, ""), "environment": environment, "evaluations": rows}


def test_what_hung_without_a_gpu_is_not_tried_again_in_the_run(monkeypatch):
    seen = []
    monkeypatch.setattr(work, "_hung", {})
    monkeypatch.setattr(work, "run_job", lambda spec, **_: seen.append(spec.get("hung")) or timed_out(spec))
    for one in (job(1), job(2), job(3, "tomorrow")):
        work.run_with_ceilings({**one, "ceilings": ()})
    assert seen == [{}, {"loops": "8:f32"}, {}]


def test_what_hung_on_a_gpu_is_tried_at_each_workload(monkeypatch):
    seen = []
    monkeypatch.setattr(work, "_hung", {})
    monkeypatch.setattr(
        work, "run_job", lambda spec, **_: seen.append(spec.get("hung")) or timed_out(spec, {"gpu": "H"})
    )
    for one in (job(1), job(2)):
        work.run_with_ceilings({**one, "ceilings": ()})
    assert seen == [{}, {}]
