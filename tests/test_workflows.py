"""Run the steps of the workflows, as they stand in the YAML, by bash in a simulated runner.

The jobs are chained as on GitHub: a fresh clone for each, files from one to the next as artefacts, outputs and job
summaries through files.  What *measure* makes here comes from Triton's interpreter, so nothing in it is timed, and
`accept` refuses it; *publish* gets the same results under the name of a GPU that does not exist.
"""

import dataclasses
import datetime as dt
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from sitegen.execute.archive import read
from sitegen.execute.bundle import BundleId, Results, write_results
from sitegen.model.job import JobResult
from sitegen.model.plain import from_plain
from sitegen.model.record import Environment
from sitegen.read.distribution import InstallSource
from sitegen.write.scaffold import create, new_site_files

ROOT = Path(__file__).parent.parent
WORKFLOWS = {
    name: (ROOT / ".github" / "workflows" / name).read_text(encoding="utf-8")
    for name in ("site.yml", "kernels.yml", "checks.yml")
}
GPU = Environment(
    gpu="Imaginary GPU 1",
    arch="sm_90",
    sm_count=1,
    l2_bytes=1,
    memory_bytes=1,
    driver="0",
    cuda="0",
    torch="0",
    triton="0",
    python="0",
    sm_clock_max_mhz=1.0,
    power_limit_w=1.0,
    ecc=False,
)


def workflow(name: str) -> dict[str, Any]:
    """Return a workflow as GitHub reads it: in YAML 1.1 the key `on` is a boolean."""
    loaded = yaml.safe_load(WORKFLOWS[name])
    return {("on" if key is True else key): value for key, value in loaded.items()}


JOBS = [(name, job) for name in WORKFLOWS for job in workflow(name)["jobs"]]


def steps(name: str, job: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = workflow(name)["jobs"][job]["steps"]
    return found


# ------------------------------------------------------------------------------------------- what they may do


@pytest.mark.parametrize(("name", "job"), JOBS)
def test_every_action_is_pinned_to_a_commit_that_names_its_version(name: str, job: str) -> None:
    used = re.findall(r"uses: (\S+)(.*)", WORKFLOWS[name])
    assert all(re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40}", action) for action, _ in used)
    assert all(re.fullmatch(r" # v\d+\.\d+\.\d+", version) for _, version in used)


@pytest.mark.parametrize("name", list(WORKFLOWS))
def test_no_permission_is_given_but_to_the_job_that_needs_it(name: str) -> None:
    assert workflow(name)["permissions"] == {}
    given = {job: spec.get("permissions") for job, spec in workflow(name)["jobs"].items()}
    read_only = {"contents": "read"}
    expected = {
        "checks.yml": {"checks": read_only},
        "site.yml": {"build": read_only, "deploy": {"pages": "write", "id-token": "write"}},
        "kernels.yml": {
            "plan": read_only,
            "measure": read_only,
            "sign": {"id-token": "write", "attestations": "write"},
            "accept": read_only,
            "publish": {"contents": "write", "pull-requests": "write"},
        },
    }
    assert given == expected[name]


def test_workflow_itself_measures_the_code_of_this_repository_alone() -> None:
    kernels = workflow("kernels.yml")
    assert set(kernels["on"]) == {"schedule", "workflow_dispatch"}
    assert "!github.event.repository.fork" in kernels["jobs"]["plan"]["if"]
    chain = {name: job.get("needs") for name, job in kernels["jobs"].items()}
    assert chain == {
        "plan": None,
        "measure": "plan",
        "sign": "measure",
        "accept": ["plan", "measure", "sign"],
        "publish": "accept",
    }


def test_gpu_machine_gets_neither_a_secret_nor_a_token() -> None:
    measure = json.dumps(workflow("kernels.yml")["jobs"]["measure"])
    assert not re.search(r"secrets\.|github\.token|GH_TOKEN|GITHUB_TOKEN", measure)
    checkout = next(step for step in steps("kernels.yml", "measure") if "actions/checkout" in step.get("uses", ""))
    assert checkout["with"]["persist-credentials"] is False
    assert "self-hosted" in workflow("kernels.yml")["jobs"]["measure"]["runs-on"]


@pytest.mark.parametrize(("name", "job"), JOBS)
def test_no_expression_is_pasted_into_a_script(name: str, job: str) -> None:
    assert [step["run"] for step in steps(name, job) if "${{" in step.get("run", "")] == []


def test_pull_requests_are_checked_without_a_secret_and_with_a_token_that_can_only_read() -> None:
    checks = workflow("checks.yml")
    assert {"pull_request"} <= set(checks["on"]) <= {"pull_request", "push"}  # never pull_request_target
    assert not re.search(r"secrets\.|github\.token|GH_TOKEN|GITHUB_TOKEN", WORKFLOWS["checks.yml"])
    (checkout,) = (step for step in steps("checks.yml", "checks") if "actions/checkout" in step.get("uses", ""))
    assert checkout["with"]["persist-credentials"] is False
    assert [step["run"] for step in steps("checks.yml", "checks") if "run" in step] == [".ci/run"]


@pytest.mark.parametrize(("name", "job"), JOBS)
def test_a_job_after_one_that_goes_on_without_its_needs_does_so_itself(name: str, job: str) -> None:
    """GitHub adds `success()` to a condition without a status function, and looks at all jobs before: also at one that
    was skipped."""
    jobs = workflow(name)["jobs"]

    def needs(one: str) -> list[str]:
        named = jobs[one].get("needs", [])
        direct = [named] if isinstance(named, str) else named
        return [*direct, *(before for need in direct for before in needs(need))]

    if any("cancelled()" in str(jobs[before].get("if", "")) for before in needs(job)):
        assert re.search(r"(cancelled|always|failure)\(\)", str(jobs[job].get("if", "")))


def test_site_is_built_on_push_and_daily() -> None:
    triggers = workflow("site.yml")["on"]
    assert "push" in triggers
    assert re.fullmatch(r"\d+ \d+ \* \* \*", triggers["schedule"][0]["cron"])


# ------------------------------------------------------------------------------------------- what they do


class Runner:
    """A repository on a simulated GitHub, and the execution of one job at a time in a fresh clone of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.artefacts, self.stubs, self.origin = folder / "artefacts", folder / "stubs", folder / "origin.git"
        self.outputs: dict[str, str] = {}
        self.succeeded: set[str] = set()
        self.stubs.mkdir()
        self.make_gh()
        self.make_origin()

    def make_gh(self) -> None:
        """Make a `gh` that notes its arguments, keeps the text of the pull request, and finds every signature valid."""
        gh = self.stubs / "gh"
        gh.write_text(
            '#!/bin/sh\nprintf "%s\\n" "$@" >> "$GH_LOG"\nfor word; do last=$word; done\n'
            'if [ "$1" = attestation ]; then cat "$5"; exit; fi\n'  # attestation verify FILE --bundle SIGNATURE
            'if [ -f "$last" ]; then cat "$last" >> "$GH_LOG"; fi\n'
        )
        gh.chmod(0o755)

    def make_origin(self) -> None:
        """Make a bare repository of a new site, whose kernel is small enough for the interpreter."""
        site = self.folder / "site"
        texts = new_site_files("Kernels", dt.date(2026, 11, 21), InstallSource())  # as from the index
        small = {
            "16777216": "1000",
            ", {N: 268435456}": "",
            "{N: 1023}, {N: 4097}": "{N: 33}",
            "[torch]": "[]",  # a baseline is only timed, and here nothing is: it would stay missing
        }
        kernel = texts["kernels/axpy/kernel.yaml"]
        for large, little in small.items():
            assert large in kernel
            kernel = kernel.replace(large, little)
        create(site, {**texts, "kernels/axpy/kernel.yaml": kernel})
        git(site, "init", "--quiet", "--initial-branch", "main")
        git(site, "add", ".")
        git(site, "commit", "--quiet", "--message", "a site")
        git(self.folder, "clone", "--quiet", "--bare", "site", "origin.git")

    def merge(self, branch: str) -> None:
        git(self.origin, "update-ref", "refs/heads/main", f"refs/heads/{branch}")
        git(self.origin, "branch", "--delete", "--force", branch)

    def job(self, name: str, job: str, **inputs: str) -> "Job":
        checkout = self.folder / f"{job}-{len(list(self.folder.iterdir()))}"
        git(self.folder, "clone", "--quiet", "origin.git", checkout.name)
        done = Job(self, checkout, inputs)
        for step in steps(name, job):
            done.step(step)
        self.succeeded.add(job)
        self.outputs |= {f"needs.{job}.outputs.{key}": value for key, value in done.outputs().items()}
        return done


class Job:
    def __init__(self, runner: Runner, checkout: Path, inputs: dict[str, str]) -> None:
        self.runner, self.checkout, self.inputs = runner, checkout, inputs
        temp = checkout.with_name(f"{checkout.name}-temp")
        self.files = {
            name: temp / name
            for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_PATH", "GITHUB_ENV", "GH_LOG", "HOME")
        }
        self.files["HOME"].mkdir(parents=True)
        for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_PATH", "GITHUB_ENV"):
            self.files[name].touch()
        self.environment = {
            **{name: str(path) for name, path in self.files.items()},
            "RUNNER_TEMP": str(temp),
            "GITHUB_WORKSPACE": str(checkout),
            "GITHUB_RUN_ID": "4711",
            "GITHUB_REPOSITORY": "owner/name",
            "GITHUB_ACTIONS": "true",
            "CI": "true",
            "LANG": "C.UTF-8",
            # The packages of this environment stand in for a download, and for the GPU machine's own.
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path.endswith("site-packages")),
            "PIP_NO_INDEX": "1",
            "PIP_NO_DEPS": "1",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        }

    def text(self, name: str) -> str:
        return self.files[name].read_text(encoding="utf-8")

    def outputs(self) -> dict[str, str]:
        return dict(line.split("=", 1) for line in self.text("GITHUB_OUTPUT").splitlines())

    def step(self, step: dict[str, Any]) -> None:
        if "run" in step:
            self.bash(step["run"], {key: self.value(text) for key, text in step.get("env", {}).items()})
        elif "upload-artifact" in step["uses"]:
            folder = self.runner.artefacts / step["with"]["name"]
            folder.mkdir(parents=True, exist_ok=True)
            file = self.checkout / self.value(step["with"]["path"])
            if file.is_dir():
                shutil.copytree(file, folder, dirs_exist_ok=True)
            elif file.exists() or step["with"].get("if-no-files-found") != "ignore":
                shutil.copy(file, folder)
        elif "download-artifact" in step["uses"]:
            folder = self.checkout / self.value(step["with"]["path"])
            if "if" not in step or self.holds(step["if"]):
                shutil.copytree(self.runner.artefacts / step["with"]["name"], folder, dirs_exist_ok=True)
        elif "attest-build-provenance" in step["uses"]:
            assert Path(self.value(step["with"]["subject-path"])).is_file()
            signature = self.files["HOME"] / "signature"
            certificate = {
                "runInvocationURI": "https://github.com/owner/name/actions/runs/4711/attempts/1",
                "sourceRepositoryDigest": git(self.checkout, "rev-parse", "HEAD").strip(),
            }
            signature.write_text(json.dumps([{"verificationResult": {"signature": {"certificate": certificate}}}]))
            self.runner.outputs[f"steps.{step['id']}.outputs.bundle-path"] = str(signature)
        else:
            assert re.search(r"actions/(checkout|setup-python|upload-pages-artifact)@", step["uses"])

    def holds(self, condition: str) -> bool:
        """Tell whether a step runs that needs the success of another job."""
        needed = re.fullmatch(r"\$\{\{ needs\.(\w+)\.result == 'success' \}\}", condition)
        assert needed, condition
        return needed[1] in self.runner.succeeded

    def value(self, text: str) -> str:
        known = {"inputs.names": self.inputs.get("names", ""), "github.token": "a token", **self.runner.outputs}
        known["runner.temp"] = self.environment["RUNNER_TEMP"]
        return re.sub(r"\$\{\{ (.+?) \}\}", lambda expression: known[expression[1]], text)

    def bash(self, script: str, environment: dict[str, str]) -> None:
        """Run a script as the runner does for `shell: bash`."""
        added = self.text("GITHUB_PATH").split()
        path = os.pathsep.join(
            [*reversed(added), str(self.runner.stubs), str(Path(sys.executable).parent), "/usr/bin:/bin"]
        )
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
            cwd=self.checkout,
            env={**self.environment, **environment, "PATH": path},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{script}\n{done.stdout}"


def git(folder: Path, *words: str) -> str:
    identity = ["-c", "user.name=Author", "-c", "user.email=author@example.org"]
    return subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True, text=True).stdout


def as_from_a_gpu(result: Path, run: str) -> None:
    """Return the results under the name of a GPU that does not exist.

    They have no times, because the interpreter measures none.
    """
    archive = read(result, "results")
    results = [from_plain(JobResult, value) for value in archive.entries.values()]
    assert all(evaluation.performance is None for one in results for evaluation in one.evaluations)
    renamed = tuple(dataclasses.replace(one, environment=GPU) for one in results)
    answers = from_plain(BundleId, archive.head["bundle"])
    write_results(Results(run, archive.head["commit"], renamed, answers=answers), result)


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    return Runner(tmp_path)


def test_site_is_built_in_a_fresh_clone(runner: Runner) -> None:
    job = runner.job("site.yml", "build")
    assert (job.checkout / "public" / "index.html").is_file()
    assert "axpy" in job.text("GITHUB_STEP_SUMMARY")


def test_name_that_the_site_does_not_have_fails_the_plan(runner: Runner) -> None:
    with pytest.raises(AssertionError, match="axpi"):
        runner.job("kernels.yml", "plan", names="axpi")


def test_name_with_a_command_in_it_is_only_a_name(runner: Runner) -> None:
    with pytest.raises(AssertionError, match="nothing to run is called"):
        runner.job("kernels.yml", "plan", names="$(touch pwned) `touch pwned` ;touch pwned")
    assert list(runner.folder.rglob("pwned")) == []


@pytest.mark.torch
def test_what_is_stale_is_planned_measured_and_proposed(runner: Runner) -> None:
    plan = runner.job("kernels.yml", "plan")
    assert int(plan.outputs()["jobs"]) > 0

    runner.job("kernels.yml", "measure")
    result = runner.artefacts / "result" / "result.zip"
    assert_refused(runner, result)

    as_from_a_gpu(result, run="2026-11-21T01:00:00Z")
    runner.job("kernels.yml", "sign")
    assert runner.job("kernels.yml", "accept").outputs() == {"changed": "true"}
    publish = runner.job("kernels.yml", "publish")
    assert "--head\nrecords/4711\n" in publish.text("GH_LOG")
    assert "The first record of this kernel" in publish.text("GH_LOG")
    changed = git(runner.origin, "diff", "--name-only", "main...records/4711").split()
    assert "kernels/axpy/results/imaginary-gpu-1.json" in changed
    assert all("/results/" in path for path in changed)
    record = git(runner.origin, "show", "records/4711:kernels/axpy/results/imaginary-gpu-1.json")
    assert {run["measured_by"] for run in json.loads(record)["runs"]} == {"owner/name/actions/runs/4711"}

    runner.merge("records/4711")
    assert runner.job("kernels.yml", "plan").outputs()["jobs"] == "0"
    same = runner.job("kernels.yml", "accept")
    assert same.outputs() == {"changed": "false"}
    assert "as they were" in same.text("GITHUB_STEP_SUMMARY")

    as_from_a_gpu(result, run="2026-11-21T02:00:00Z")
    runner.job("kernels.yml", "accept")
    later = runner.job("kernels.yml", "publish")
    assert "### kernels/axpy/results/imaginary-gpu-1.json" in later.text("GH_LOG")
    assert "The first record" not in later.text("GH_LOG")


PATCHED = {
    "kernels/axpy/results/a-gpu.json": "",
    "content/posts/first-kernel/results/a-gpu/look.json": "",
    "kernels/axpy/results/artefacts/0123.sass.gz": "",
    "kernels/axpy/results/a gpu/….json": "",
    "kernels/axpy/tile.py": "kernels/axpy/tile.py",
    ".github/workflows/kernels.yml": ".github/workflows/kernels.yml",
    "kernels/axpy/results/tile.py": "results/tile.py",
    "kernels/axpy/results/../tile.py": "patch",
    "elsewhere/kernels/axpy/results/a-gpu.json": "elsewhere",
    "kernels/axpy/deeper/results/a-gpu.json": "deeper",
    'kernels/axpy/results/a\nb/"c.json': "no record",
}
"""Paths in a patch of the job *accept*, and the message of *publish* about each; empty for a record."""


@pytest.mark.parametrize(("path", "said"), PATCHED.items())
def test_job_that_may_write_publishes_records_alone(runner: Runner, path: str, said: str) -> None:
    patch_of(runner, path)
    if said:
        with pytest.raises(AssertionError, match=said):
            runner.job("kernels.yml", "publish")
        assert "records/4711" not in git(runner.origin, "branch")
    else:
        runner.job("kernels.yml", "publish")
        changed = git(runner.origin, "-c", "core.quotePath=false", "diff", "--name-only", "main...records/4711")
        assert changed.strip() == path


@pytest.mark.parametrize("mode", ["120000", "100755", "160000"])
def test_job_that_may_write_publishes_no_link_and_nothing_executable(runner: Runner, mode: str) -> None:
    patch_of(runner, "kernels/axpy/results/a-gpu.json", mode)
    with pytest.raises(AssertionError, match="no record"):
        runner.job("kernels.yml", "publish")
    assert "records/4711" not in git(runner.origin, "branch")


def patch_of(runner: Runner, path: str, mode: str = "100644") -> None:
    """Make an artefact *records* with a patch that writes one file, as an attacked job could make it."""
    folder = runner.artefacts / "records"
    folder.mkdir(parents=True)
    (folder / "report.md").write_text("a report\n")
    clone = runner.folder / "hostile"
    git(runner.folder, "clone", "--quiet", "origin.git", clone.name)
    (runner.folder / "text").write_text("/etc/passwd")
    blob = git(clone, "hash-object", "-w", str(runner.folder / "text")).strip()
    plain = path.replace("/../", "/up/")
    blob = git(clone, "rev-parse", "HEAD").strip() if mode == "160000" else blob
    git(clone, "update-index", "--add", "--cacheinfo", f"{mode},{blob},{plain}")
    patch = git(clone, "diff", "--cached", "--binary", "--full-index", "--no-renames")
    (folder / "records.patch").write_text(patch.replace("/up/", "/../"))


def assert_refused(runner: Runner, result: Path) -> None:
    """Check that a result that was made without a GPU is never stored."""
    checkout = runner.folder / "refused"
    git(runner.folder, "clone", "--quiet", "origin.git", "refused")
    command = [sys.executable, "-m", "sitegen", "accept", str(result)]
    refused = subprocess.run(command, cwd=checkout, capture_output=True, text=True, check=False)
    assert (refused.returncode, "no GPU was there" in refused.stderr) == (1, True), refused.stderr
    assert git(checkout, "status", "--porcelain") == ""
