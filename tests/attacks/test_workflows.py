"""The workflows of this repository and of a new site: files from the GPU machine are data, and no job executes them."""

from __future__ import annotations

import datetime as dt
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from sitegen.write.scaffold import new_site_files

ROOT = Path(__file__).parents[2]
NEW_SITE = new_site_files("Kernels", dt.date(2026, 11, 21))
TEXTS = {
    **{f"ours/{path.name}": path.read_text() for path in sorted((ROOT / ".github" / "workflows").iterdir())},
    **{f"new/{Path(path).name}": text for path, text in NEW_SITE.items() if path.startswith(".github/workflows/")},
}
REQUIREMENTS = {
    **{f"ours/{path.name}": path.read_text() for path in sorted((ROOT / ".github").glob("*.txt"))},
    **{f"new/{Path(path).name}": text for path, text in NEW_SITE.items() if re.match(r"\.github/[^/]+\.txt$", path)},
}
JOBS = {
    f"{name}:{job}": specification
    for name, text in TEXTS.items()
    for job, specification in yaml.safe_load(text)["jobs"].items()
}
every_job = pytest.mark.parametrize("job", JOBS.values(), ids=JOBS.keys())
Job = dict[str, Any]


def used(job: Job, action: str) -> list[dict[str, Any]]:
    """Yield the inputs of every use of an action."""
    return [step.get("with", {}) for step in job["steps"] if f"actions/{action}@" in step.get("uses", "")]


def scripts(job: Job) -> str:
    return "\n".join(step.get("run", "") for step in job["steps"])


def may_write(job: Job) -> bool:
    return "write" in job["permissions"].values()


def test_there_are_workflows_to_look_at() -> None:
    assert {name.partition("/")[0] for name in TEXTS} == {"ours", "new"}
    assert len(JOBS) >= 10 and REQUIREMENTS


@every_job
def test_artefacts_are_unpacked_outside_of_the_checkout(job: Job) -> None:
    """In the checkout an artefact could replace the program that is about to run."""
    for inputs in used(job, "download-artifact"):
        assert re.fullmatch(r"\$\{\{ runner\.temp \}\}/\w+", inputs.get("path", ""))


@pytest.mark.parametrize("text", REQUIREMENTS.values(), ids=REQUIREMENTS.keys())
def test_program_is_not_run_from_the_checkout(text: str) -> None:
    assert not re.search(r"^\s*(-e\b|--editable)", text, re.M)


@every_job
def test_no_token_stays_in_a_checkout(job: Job) -> None:
    assert all(inputs.get("persist-credentials") is False for inputs in used(job, "checkout"))


@every_job
def test_job_that_may_write_installs_nothing_and_runs_no_program_of_the_checkout(job: Job) -> None:
    if may_write(job):
        assert not re.search(r"\b(pip|python|sitegen|make|npm)\b", scripts(job))


@every_job
def test_results_are_accepted_by_a_job_that_may_only_read(job: Job) -> None:
    if "sitegen accept" in scripts(job):
        assert job["permissions"] == {"contents": "read"}


@every_job
def test_names_that_somebody_types_are_never_options(job: Job) -> None:
    for line in scripts(job).splitlines():
        if "${names[@]}" in line:
            assert ' -- "${names[@]}"' in line


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_comments_promise_no_more_than_holds(text: str) -> None:
    """Any pull request can add a workflow with `runs-on: [self-hosted, gpu]`; only settings prevent that."""
    assert "nobody else's code" not in text
    if "self-hosted" in text:
        head = text.partition("\nname:")[0]
        assert all(word in head for word in ("fork", "approval", "runner group", "phemeral"))


TRUSTED = {"schedule", "workflow_dispatch"}
"""Events that only somebody with write access to the repository causes."""
GPU_TEXTS = {name: text for name, text in TEXTS.items() if "self-hosted" in text}


def ways_to_the_gpu(text: str) -> list[str]:
    """Return each way in which a stranger's pull request or fork could reach a job on a self-hosted runner."""
    workflow = yaml.safe_load(text)
    events = workflow[True]  # `on` in YAML 1.1
    jobs: dict[str, Job] = workflow["jobs"]
    owned = [name for name, job in jobs.items() if "self-hosted" in str(job["runs-on"])]
    found = [f"{name}: event {event}" for name in owned for event in events if event not in TRUSTED]
    for name in owned:
        chain = [jobs[before] for before in (name, *needed(jobs, name))]
        if not any("!github.event.repository.fork" in str(job.get("if", "")) for job in chain):
            found.append(f"{name}: runs in a fork")
        if any("always()" in str(job.get("if", "")) or "||" in str(job.get("if", "")) for job in chain):
            found.append(f"{name}: a condition that can be passed by")
        if not jobs[name].get("environment"):
            found.append(f"{name}: no environment, so no reviewer")
        if any("ref" in inputs or "repository" in inputs for inputs in used(jobs[name], "checkout")):
            found.append(f"{name}: checks out other code than that of the default branch")
    return found


def needed(jobs: dict[str, Job], name: str) -> list[str]:
    """Return the jobs without which a job does not run."""
    needs = jobs[name].get("needs", [])
    direct = [needs] if isinstance(needs, str) else list(needs)
    return direct + [further for one in direct for further in needed(jobs, one)]


@pytest.mark.parametrize("text", GPU_TEXTS.values(), ids=GPU_TEXTS.keys())
def test_no_pull_request_and_no_fork_reaches_the_gpu(text: str) -> None:
    assert ways_to_the_gpu(text) == []


@pytest.mark.parametrize(
    ("before", "after", "way"),
    [
        ("\non:\n", "\non:\n  pull_request:\n", "event pull_request"),
        ("\non:\n", "\non:\n  pull_request_target:\n", "event pull_request_target"),
        ("\non:\n", "\non:\n  issue_comment:\n", "event issue_comment"),
        ("\non:\n", "\non:\n  workflow_call:\n", "event workflow_call"),
        ("    if: ${{ !github.event.repository.fork }}\n", "", "runs in a fork"),
        ("outputs.jobs != '0' }}", "outputs.jobs != '0' || always() }}", "can be passed by"),
        ("    environment: measure", "    # environment: measure", "no reviewer"),
        ("persist-credentials: false", "persist-credentials: false\n          ref: ${{ inputs.names }}", "other code"),
    ],
)
def test_each_way_to_the_gpu_would_be_noticed(before: str, after: str, way: str) -> None:
    """Mutations of our own workflow: a test above that cannot fail would protect nothing."""
    text = GPU_TEXTS["ours/kernels.yml"]
    assert before in text
    changed = text.replace(before, after)
    assert any(way in found for found in ways_to_the_gpu(changed))
