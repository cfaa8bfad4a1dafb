"""Signatures that `gh` accepts and refuses, and what `accept` stores then.

A program in place of `gh` prints what the real one prints about a signature.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sitegen.execute import session
from sitegen.execute.attestation import NotAttested, signed_run
from sitegen.execute.bundle import read_bundle, write_results
from sitegen.model.job import KernelJob

REPOSITORY = "owner/name"
COMMIT = "0123456789abcdef0123456789abcdef01234567"
CERTIFICATE = {
    "runInvocationURI": f"https://github.com/{REPOSITORY}/actions/runs/4711/attempts/1",
    "sourceRepositoryDigest": COMMIT,
}
Gh = Callable[..., None]


@pytest.fixture
def gh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Gh:
    """Put a program named `gh` in front of PATH; it notes its words, prints a text and exits."""

    def put(text: str = "", code: int = 0, said: str = "") -> None:
        folder = tmp_path / "programs"
        folder.mkdir(exist_ok=True)
        lines = (
            f"#!{sys.executable}",
            "import sys",
            f"open({str(tmp_path / 'words')!r}, 'w').write('\\n'.join(sys.argv[1:]))",
            f"print({text!r})",
            f"print({said!r}, file=sys.stderr)",
            f"sys.exit({code})",
        )
        (folder / "gh").write_text("\n".join(lines))
        (folder / "gh").chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")

    return put


def printed(**changes: Any) -> str:
    certificate = {**CERTIFICATE, **changes}
    return json.dumps([{"verificationResult": {"signature": {"certificate": certificate}}}])


def ask(tmp_path: Path, commit: str = "0123456") -> str:
    return signed_run(tmp_path / "r.zip", tmp_path / "a.json", REPOSITORY, commit)


def test_a_signature_names_the_run_and_only_one_workflow_may_make_it(gh: Gh, tmp_path: Path) -> None:
    gh(printed())
    assert ask(tmp_path) == f"{REPOSITORY}/actions/runs/4711"
    assert (tmp_path / "words").read_text().split("\n") == [
        *("attestation", "verify", str(tmp_path / "r.zip"), "--bundle", str(tmp_path / "a.json")),
        *("--repo", REPOSITORY, "--signer-workflow", f"{REPOSITORY}/.github/workflows/kernels.yml"),
        *("--format", "json"),
    ]


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"runInvocationURI": "https://github.com/owner/another/actions/runs/4711/attempts/1"}, "names no run"),
        ({"runInvocationURI": "https://example.org/owner/name/actions/runs/4711"}, "names no run"),
        ({"runInvocationURI": "https://github.com/owner/name/actions/runs/4711/../../x"}, "names no run"),
        ({"sourceRepositoryDigest": "f" * 40}, "is of commit ffffffffffff"),
        ({"sourceRepositoryDigest": ""}, "is of commit none"),
    ],
)
def test_a_signature_of_another_run_is_refused(gh: Gh, tmp_path: Path, changes: dict[str, str], why: str) -> None:
    gh(printed(**changes))
    with pytest.raises(NotAttested, match=why):
        ask(tmp_path)


def test_results_that_differ_from_their_commit_are_refused(gh: Gh, tmp_path: Path) -> None:
    gh(printed())
    with pytest.raises(NotAttested, match=r"the results are of 0123456\+"):
        ask(tmp_path, "0123456+")
    with pytest.raises(NotAttested, match="the results are of none"):
        ask(tmp_path, "")


@pytest.mark.parametrize("text", ["", "[]", "{}", "null", '[{"verificationResult": null}]', "no JSON"])
def test_an_answer_that_says_nothing_is_refused(gh: Gh, tmp_path: Path, text: str) -> None:
    gh(text)
    with pytest.raises(NotAttested):
        ask(tmp_path)


def test_what_gh_refuses_is_refused_with_its_reason(gh: Gh, tmp_path: Path) -> None:
    gh(printed(), 1, "x verification failed: no matching digest")
    with pytest.raises(NotAttested, match="no matching digest"):
        ask(tmp_path)


def test_a_machine_without_gh_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NotAttested, match="is not installed"):
        ask(tmp_path)


@pytest.fixture
def returned(root: Path, made: Any, tmp_path: Path) -> Path:
    """Return the results of one job as `accept` receives them, measured from COMMIT."""
    session.bundle(root, made.inventory(root), tmp_path / "bundle.zip", gpu="nvidia-h200")
    sent = read_bundle(tmp_path / "bundle.zip")
    (job, *_) = (job for job in sent.jobs if isinstance(job, KernelJob))
    answer = replace(made.results(made.measured(job)), commit=sent.commit, answers=sent.id)
    write_results(answer, tmp_path / "r.zip")
    return tmp_path / "r.zip"


def accept(root: Path, made: Any, file: Path, *signature: Any) -> session.RunOutcome:
    return session.accept(root, made.inventory(root), file, None, signature or None)


def measured_by(root: Path, made: Any) -> list[str]:
    (record,) = made.inventory(root).records.kernels.values()
    return [run.measured_by for run in record.runs]


def test_a_record_names_the_run_that_signed_it(gh: Gh, root: Path, made: Any, returned: Path, tmp_path: Path) -> None:
    commit = read_bundle(tmp_path / "bundle.zip").commit
    gh(printed(sourceRepositoryDigest=commit.ljust(40, "0")))
    outcome = accept(root, made, returned, tmp_path / "a.json", REPOSITORY)
    assert outcome.diagnostics == () and measured_by(root, made) == [f"{REPOSITORY}/actions/runs/4711"]


def test_a_record_that_was_made_by_hand_names_no_run(root: Path, made: Any, returned: Path) -> None:
    assert accept(root, made, returned).diagnostics == ()
    assert measured_by(root, made) == [""]


def test_nothing_is_stored_when_the_signature_is_refused(
    gh: Gh, root: Path, made: Any, returned: Path, tmp_path: Path
) -> None:
    gh("", 1, "x no attestation")
    (mistake,) = accept(root, made, returned, tmp_path / "a.json", REPOSITORY).diagnostics
    assert mistake.code == "SG410" and "no attestation" in mistake.message
    assert not (root / "kernels/double/results").exists()
