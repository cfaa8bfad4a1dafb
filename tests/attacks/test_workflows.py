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
