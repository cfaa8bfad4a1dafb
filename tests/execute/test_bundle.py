"""The files that travel between the author's machine and the GPU's, and the returned results that are refused."""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import json
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from sitegen.cli import main, records
from sitegen.diagnostics import Severity
from sitegen.execute import archive, session, targets
from sitegen.execute.bundle import (
    Results,
    read_bundle,
    read_results,
    run_bundle,
    run_specs,
    write_bundle,
    write_results,
)
from sitegen.execute.plan import plan
from sitegen.execute.targets import Device, Target
from sitegen.model.job import CellResult, JobResult, KernelJob
from sitegen.model.plain import to_plain
from sitegen.model.record import Counters, Output
from sitegen.pipeline.in_memory import load
from sitegen.results.store import read_log

GPU = "nvidia-h200"
BINARY, COLOURED, LONG = b"\xff\xfe", b"\x1b[31merror", b"x" * 300_000


@pytest.fixture
def returned(root, made, tmp_path) -> Path:
    """Return the results of one job as `accept` receives them."""
    session.bundle(root, made.inventory(root), tmp_path / "bundle.zip", gpu=GPU)
    sent = read_bundle(tmp_path / "bundle.zip")
    (job, *_) = (job for job in sent.jobs if isinstance(job, KernelJob))
    answer = replace(made.results(made.measured(job)), commit=sent.commit, answers=sent.id)
    write_results(answer, tmp_path / "results.zip")
    return tmp_path / "results.zip"


def rewritten(path: Path, change) -> Path:
    """Return the archive after `change` of its entries' bytes by name, with a manifest that fits them."""
    with zipfile.ZipFile(path) as old:
        entries = {name: json.loads(old.read(name)) for name in old.namelist()}
    head = {k: v for k, v in entries.pop("manifest.json").items() if k != "entries"}
    change(head, entries)
    path.write_bytes(archive.pack(head, entries))
    return path


def zipped(path: Path, entries: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as made:
        for name, data in entries.items():
            made.writestr(name, data)
    return path


def test_the_same_jobs_are_the_same_bytes(root, made, tmp_path):
    jobs = plan(made.inventory(root), GPU)
    write_bundle(jobs, "abc1234", tmp_path / "a.zip")
    write_bundle(plan(made.inventory(root), GPU), "abc1234", tmp_path / "b.zip")
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()


def test_nothing_due_writes_no_bundle(root, made, tmp_path):
    assert session.bundle(root, made.inventory(root), tmp_path / "a.zip", ["double"], gpu="nvidia-a100")
    (tmp_path / "a.zip").unlink()
    inventory = replace(made.inventory(root), cells={}, site=replace(made.inventory(root).site, kernels=()))
    assert session.bundle(root, inventory, tmp_path / "a.zip") == ()
    assert not (tmp_path / "a.zip").exists()


def test_results_that_come_back_are_stored_and_nothing_is_due_any_more(root, made, returned):
    outcome = session.accept(root, made.inventory(root), returned)
    assert outcome.diagnostics == () and outcome.stored.run.commit == session.commit_of(root)
    assert (root / "kernels/double/results/nvidia-h200.json").exists()
    assert len(list((root / "kernels/double/results/artefacts").glob("*.samples.gz"))) == 2
    due = [job.id for job in plan(made.inventory(root), GPU, ["double"])]
    assert "double@64:float32" not in due and "double@64:bfloat16" in due


def test_accepting_twice_changes_nothing(root, made, returned):
    def stored():
        return {p: p.read_bytes() for p in sorted((root / "kernels").rglob("*")) if p.is_file()}

    session.accept(root, made.inventory(root), returned)
    once = stored()
    session.accept(root, made.inventory(root), returned)
    assert stored() == once


def refused(path: Path) -> str:
    results, mistakes = read_results(path)
    assert results is None
    (mistake,) = mistakes
    assert (mistake.code, mistake.span.path) == ("SG401", path.name)
    return mistake.message


def test_results_without_a_gpu_are_refused(returned):
    def change(head, entries):
        for entry in entries.values():
            entry["environment"] = None

    assert "never stored" in refused(rewritten(returned, change))


def test_one_flipped_byte_is_refused(returned):
    with zipfile.ZipFile(returned) as old:
        entries = {name: old.read(name) for name in old.namelist()}
    entries["results/0001.json"] = entries["results/0001.json"].replace(b"2.0", b"1.0", 1)
    assert "size or hash differs" in refused(zipped(returned, entries))


@pytest.mark.parametrize("name", ["../evil.json", "/etc/0001.json", "results/../../0001.json", "results/0001.json/x"])
def test_a_name_that_leaves_the_archive_is_refused(returned, name):
    with zipfile.ZipFile(returned) as old:
        entries = {entry: old.read(entry) for entry in old.namelist()}
    assert "is no name of an entry" in refused(zipped(returned, {**entries, name: b"{}"}))


def test_an_entry_that_the_manifest_does_not_list_is_refused(returned):
    with zipfile.ZipFile(returned) as old:
        entries = {entry: old.read(entry) for entry in old.namelist()}
    assert "not those that its manifest lists" in refused(zipped(returned, {**entries, "results/0003.json": b"{}"}))


@pytest.mark.parametrize("data", [b"", b"no zip", b"PK\x03\x04" + b"\0" * 60])
def test_what_is_no_zip_is_refused(tmp_path, data):
    (tmp_path / "r.zip").write_bytes(data)
    assert "not a zip file" in refused(tmp_path / "r.zip")


def test_a_truncated_download_is_refused(returned):
    returned.write_bytes(returned.read_bytes()[:-200])
    assert refused(returned)


def test_a_bundle_of_jobs_is_not_taken_for_results(root, made, tmp_path):
    write_bundle(plan(made.inventory(root), GPU), "abc1234", tmp_path / "jobs.zip")
    assert refused(tmp_path / "jobs.zip") == "it holds jobs, not results"


@pytest.mark.parametrize(
    "change",
    [
        lambda head, entries: entries["results/0001.json"].update(schema=99),
        lambda head, entries: entries["results/0001.json"].update(surprise=1),
        lambda head, entries: entries["results/0001.json"].update(evaluations=3),
        lambda head, entries: entries["results/0001.json"].update(artefacts=[]),
        lambda head, entries: entries["results/0001.json"]["evaluations"][0].update(status="incorrect"),
        lambda head, entries: entries["results/0001.json"]["evaluations"][0].update(correctness=None),
        lambda head, entries: entries.update({"results/0001.json": []}),
        lambda head, entries: head.update(run="yesterday"),
        lambda head, entries: head.update(commit=None),
        lambda head, entries: head.update(kind=None),
    ],
)
def test_a_result_of_another_shape_is_refused_without_a_traceback(returned, change):
    assert refused(rewritten(returned, change))


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        (f"{'0' * 64}.ptx", b"text", "another hash"),
        ("../../../etc/passwd.ptx", b"text", "none of ptx, sass, samples"),
        (f"{'0' * 64}.exe", b"text", "none of ptx, sass, samples"),
        (f"{hashlib.sha256(BINARY).hexdigest()}.log", BINARY, "a log is UTF-8"),
        (f"{hashlib.sha256(COLOURED).hexdigest()}.log", COLOURED, "no control characters"),
        (f"{hashlib.sha256(LONG).hexdigest()}.log", LONG, "at most 256 KB"),
    ],
)
def test_an_artefact_that_is_not_what_its_name_says_is_refused(root, made, returned, name, content, why):
    packed = base64.b64encode(gzip.compress(content, mtime=0)).decode()
    rewritten(returned, lambda head, entries: entries["results/0001.json"].update(artefacts={name: packed}))
    outcome = session.accept(root, made.inventory(root), returned)
    assert [d.code for d in outcome.diagnostics] == ["SG402"] and why in outcome.diagnostics[0].message
    assert not (root / "kernels/double/results").exists()


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"status": "compile_error", "performance": None, "log": "a" * 64}, "was not sent"),
        ({"log": "a" * 64}, "passed and has the log of a failure"),
        ({"status": "compile_error", "performance": None, "log": "../../x"}, "a SHA-256 in hex is wanted"),
        ({"status": "compile_error", "performance": None, "message": "x" * 9000}, "a log holds the rest"),
    ],
)
def test_a_failure_whose_log_is_missing_or_whose_sentence_is_a_dump_is_refused(root, made, returned, change, why):
    rewritten(returned, lambda head, entries: entries["results/0001.json"]["evaluations"][0].update(change))
    outcome = session.accept(root, made.inventory(root), returned)
    assert {d.code for d in outcome.diagnostics} == {"SG406"} and why in outcome.diagnostics[0].message


def test_the_log_of_a_failure_is_stored_with_its_record(root, made, returned):
    log = b"double.cu(4): error: no\n\nall of it\n"
    digest = hashlib.sha256(log).hexdigest()
    failed = {"status": "compile_error", "performance": None, "correctness": None, "samples": "", "log": digest}

    def change(head, entries):
        result = entries["results/0001.json"]
        result["evaluations"][0].update(failed)
        result["artefacts"][f"{digest}.log"] = base64.b64encode(gzip.compress(log, mtime=0)).decode()

    outcome = session.accept(root, made.inventory(root), rewritten(returned, change))
    assert not outcome.diagnostics
    assert read_log(root, "double", digest).encode() == log


def test_gates_that_reject_nothing_keep_no_result_from_being_stored_and_are_a_warning_of_check(root, made, returned):
    sentence = "y: zeros pass at N=64 (normal inputs)"

    def change(head, entries):
        (ours, *_) = (e for e in entries["results/0001.json"]["evaluations"] if e["role"] == "implementation")
        ours["correctness"]["vacuous"] = [sentence]

    assert not session.accept(root, made.inventory(root), rewritten(returned, change)).diagnostics
    found = load(root, everything=True).diagnostics
    assert [(d.code, d.severity) for d in found] == [("SG409", Severity.WARNING)]
    line = (root / found[0].span.path).read_text().splitlines()[found[0].span.line - 1]
    assert "N: 64" in line, line


def test_an_archive_that_unpacks_to_too_much_is_refused_before_it_is_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "LARGEST", 1000)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("manifest.json", b"{}")
        made.writestr("results/0001.json", b" " * 100_000)
    (tmp_path / "bomb.zip").write_bytes(packed.getvalue())
    assert "larger than" in refused(tmp_path / "bomb.zip")


def test_a_whole_bundle_runs_here_without_a_gpu_and_its_results_are_refused(root, made, tmp_path):
    jobs = [job for job in plan(made.inventory(root), GPU) if job.kind in ("ceilings", "notebook")]
    write_bundle(jobs, "abc1234", tmp_path / "jobs.zip")
    states = []
    results = run_bundle(tmp_path / "jobs.zip", tmp_path / "r.zip", no_gpu(), lambda p: states.append((p.job, p.state)))
    assert [result.id for result in results.results] == ["ceilings", "posts/first"]
    assert [(c.label, c.status, c.outputs[0].text) for c in results.results[1].cells] == [("answer", "passed", "42\n")]
    assert ("posts/first", "finished") in states and results.complete
    assert "never stored" in refused(tmp_path / "r.zip")


def no_gpu() -> Target:
    from sitegen.execute.targets import Device

    return Target((Device(),))


def test_status_bundle_and_accept_need_nothing_that_only_runs_jobs():
    code = """
import sys
for name in ("distributed", "dask", "nbclient", "ipykernel", "psutil", "torch", "triton", "numpy", "cuda"):
    sys.modules[name] = None
import sitegen.execute.session
print("imported")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "imported\n", done.stderr


def test_a_gpu_machine_needs_neither_pydantic_nor_markdown_nor_torch_to_start():
    code = """
import sys
for name in ("pydantic", "markdown_it", "jinja2", "torch", "triton", "numpy", "cuda"):
    sys.modules[name] = None
import sitegen.execute.bundle, sitegen.execute.cluster, sitegen.execute.notebook, sitegen.execute.work
print("imported")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "imported\n", done.stderr


def test_a_figure_that_no_gpu_can_reach_fails_the_run_and_nothing_is_stored(root, made, returned):
    def change(head, entries):
        entries["results/0001.json"]["environment"]["l2_bytes"] = 1
        for one in entries["results/0002.json"]["ceilings"]:  # of what the honest times would be far below
            one |= {"rate": 1e6, "probes": {"copy": 1e6}}

    outcome = session.accept(root, made.inventory(root), rewritten(returned, change))
    assert outcome.stored is None and {d.code for d in outcome.diagnostics} == {"SG403"}
    assert not (root / "kernels/double/results").exists()


def test_a_formula_that_the_counters_contradict_fails_the_run_and_points_at_the_kernel(root, made, returned):
    def change(head, entries):
        result = entries["results/0001.json"]
        result["environment"]["l2_bytes"] = 1
        counters = Counters(256, 512, 2.0, 4000.0, calibration={"copy bytes": 1.0})  # of 64 numbers in and out
        for evaluation in result["evaluations"]:
            if evaluation["role"] == "implementation":  # as long as one has no counters, it may move fewer bytes
                evaluation["counters"] = to_plain(counters)

    outcome = session.accept(root, made.inventory(root), rewritten(returned, change))
    assert outcome.stored is None
    (found,) = outcome.diagnostics
    assert (found.code, found.span.path) == ("SG404", "kernels/double/kernel.yaml")
    assert "double@64:float32" in found.message and "`reads` and `writes`" in found.hint


def test_cells_come_home_and_records_of_cells_that_are_gone_go(root, made):
    key = plan(made.inventory(root), GPU, ["posts/first"])[1].cells[0].key
    cell = CellResult("answer", "passed", (Output("stream", "42\n"),), key)
    ceilings = JobResult(1, "ceilings", "ceilings", made.environment)
    results = made.results(ceilings, JobResult(1, "posts/first", "notebook", cells=(cell,)))
    inventory = made.inventory(root)
    folder = root / "content/posts/first/results/nvidia-h200"
    folder.mkdir(parents=True)
    (folder / "renamed.json").write_text("{}")
    session.store_results(root, inventory, plan(inventory, GPU), results)
    assert [path.name for path in folder.iterdir()] == ["answer.json"]
    assert plan(made.inventory(root), GPU, ["posts/first"]) == ()


def test_a_run_on_a_machine_without_a_gpu_checks_and_stores_nothing(root, made):
    outcome = session.run(root, made.inventory(root), no_gpu(), ["posts/first"])
    assert [result.id for result in outcome.results.results] == ["ceilings", "posts/first"]
    assert outcome.stored is None
    assert not (root / "content/posts/first/results").exists()


def test_a_run_with_nothing_due_runs_nothing(root, made):
    inventory = replace(made.inventory(root), cells={}, site=replace(made.inventory(root).site, kernels=()))
    assert session.run(root, inventory, no_gpu()) == session.RunOutcome()


def test_constants_keep_their_order_since_one_may_use_those_before_it(tmp_path: Path) -> None:
    archive.write(tmp_path / "b.zip", {"kind": "jobs"}, {"jobs/0001.json": {"THREADS": "256", "BLOCKS": "THREADS"}})
    assert list(archive.read(tmp_path / "b.zip", "jobs").entries["jobs/0001.json"]) == ["THREADS", "BLOCKS"]


def test_each_gpu_of_a_run_measures_its_own_ceilings_and_none_counts_twice(made, monkeypatch):
    """Two GPUs do three jobs; the worker of one of them is lost on the way, and the next one measures again."""
    from sitegen.execute import local

    def result(job: str, kind: str, gpu: str) -> dict[str, object]:
        environment = replace(made.environment, gpu_hash=gpu * 16)
        return to_plain(JobResult(1, job, kind, environment))

    def execute(specs, target, report, work):
        for spec, gpu in zip(specs, "aba", strict=True):
            yield {
                "id": spec["id"],
                "results": [result("ceilings", "ceilings", gpu), result(spec["id"], "kernel", gpu)],
            }

    monkeypatch.setattr(local, "execute", execute)
    specs = [{"id": "ceilings", "kind": "ceilings"}, *({"id": f"job {n}", "kind": "kernel"} for n in range(3))]
    results = run_specs(specs, "abc1234", no_gpu(), lambda _: None, lambda _: None)
    assert [r.id for r in results.results] == ["ceilings", "ceilings", "job 0", "job 1", "job 2"]
    assert [r.environment.gpu_hash[0] for r in results.results] == list("ababa")
    assert results.complete


def test_a_run_is_not_complete_while_a_job_is_missing(made, monkeypatch):
    from sitegen.execute import local

    monkeypatch.setattr(
        local, "execute", lambda *_: iter([to_plain(JobResult(1, "job 0", "kernel", made.environment))])
    )
    specs = [{"id": f"job {n}", "kind": "kernel"} for n in range(2)]
    assert not run_specs(specs, "abc1234", no_gpu(), lambda _: None, lambda _: None).complete


def test_a_second_run_of_a_bundle_does_what_the_first_left(root, made, tmp_path, monkeypatch):
    """The first is interrupted after two jobs, of which the second failed: that one runs again too."""
    from sitegen.execute import local

    runs: list[list[str]] = []
    bundle, out = tmp_path / "b.zip", tmp_path / "r.zip"
    jobs = session.bundle(root, made.inventory(root), bundle, gpu=GPU)

    def execute(specs, target, report, work):
        runs.append([])
        for number, spec in enumerate(specs):
            if len(runs) == 1 and number == 2:
                raise KeyboardInterrupt
            runs[-1].append(spec["id"])
            error = "the worker was lost" if len(runs) == 1 and number == 1 else ""
            done = [JobResult(1, one, "kernel", made.environment, error=error) for one in ("ceilings", spec["id"])]
            yield {
                "id": spec["id"],
                "results": [to_plain(replace(done[0], kind="ceilings", error="")), to_plain(done[1])],
            }

    monkeypatch.setattr(local, "execute", execute)
    with pytest.raises(KeyboardInterrupt):
        run_bundle(bundle, out, Target((Device(GPU),)))
    (first, second), started = runs[0], read_results(out)[0].run
    results = run_bundle(bundle, out, Target((Device(GPU),)))
    assert runs[1] == [job.id for job in jobs if job.id not in ("ceilings", first)] and second in runs[1]
    assert results.complete and results.run == started == read_results(out)[0].run
    assert sorted(result.id for result in results.results) == sorted(job.id for job in jobs)
    assert not any(result.error for result in results.results)


@pytest.mark.parametrize(("devices", "now"), [((Device("nvidia-a100"),), "nvidia-a100"), ((Device(),), "no GPU")])
def test_a_run_does_not_go_on_with_another_model_of_gpu(root, made, tmp_path, monkeypatch, devices, now):
    bundle, out = tmp_path / "b.zip", tmp_path / "r.zip"
    session.bundle(root, made.inventory(root), bundle, gpu=GPU)
    done = (JobResult(1, "ceilings", "ceilings", made.environment),)
    write_results(Results("2026-11-20T00:00:00Z", "c", done, False, read_bundle(bundle).id), out)
    before = out.read_bytes()
    monkeypatch.setattr(targets, "local_target", lambda: Target(devices))
    monkeypatch.setattr(records, "TO_RUN", {})  # torch is not needed to refuse
    ended = CliRunner().invoke(main, ["run", "--bundle", str(bundle), "-o", str(out)])
    assert ended.exit_code == 1 and ended.output == (
        f"sitegen: {out} holds results of {GPU} from a run that was cut short, and this machine has {now}: "
        f"run the rest on {GPU}, or name another file by -o\n"
    )
    assert out.read_bytes() == before
