"""`sitegen worklog week` reports a week, and `--commits` names the commits that changed the code of kernels."""

import datetime as dt
import os
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from sitegen.cli import main
from sitegen.execute.kernel_commits import kernel_commits
from sitegen.write.scaffold import create, new_site_files

DIARY = """2026-11-13

- [ ] plot the tail
- [ ] read about banks

2026-11-17

axpy again.

Ask Ada Lovelace - Done

- private: - [x] meet the doctor
- [Rings](https://example.org/rings); read till page 3
- Q: Why a mask?
- A: The last tile is short.

2026-11-18

- [x] read about banks
- [-] a second stream

2026-11-24

- [x] later
"""
REPORT = """# Week 47 of 2026

2 days written, 2026-11-16 to 2026-11-22.

## Done

- Ask A. L.
- read about banks

## Dropped

- a second stream

## Open

- plot the tail, open for 5 days

## Links

- [Rings](https://example.org/rings), reading

## Asked

- Why a mask?

## Worked on

- axpy (kernel), 1 day

## Commits

- `axpy`: unroll for A. L. (HASH)
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with commits of several days."""
    root = tmp_path / "site"
    create(root, new_site_files("Kernels", dt.date(2026, 11, 1)))
    for file in (root / "content/worklog").iterdir():
        file.unlink()
    (root / "content/worklog/log.md").write_text(DIARY)
    (root / "private.yaml").write_text("redact: {Ada Lovelace: A. L.}\n")
    (root / ".gitignore").write_text("private.yaml\n")
    git(root, "2026-11-16", "init", "--quiet")
    commit(root, "2026-11-16", "a site", "content")
    commit(root, "2026-11-15", "the kernel", "kernels")
    kernel = root / "kernels/axpy"
    (kernel / "more.py").write_text("x = 1\n")
    commit(root, "2026-11-17", "unroll for Ada Lovelace", "kernels")
    (kernel / "results").mkdir(exist_ok=True)
    (kernel / "results/a.txt").write_text("x\n")
    commit(root, "2026-11-17", "a record", "kernels")
    monkeypatch.chdir(root)
    monkeypatch.delenv("SITEGEN_PRIVATE", raising=False)
    return root


def git(root: Path, day: str, *words: str) -> str:
    who = {f"GIT_{role}_{key}": "a@b" for role in ("AUTHOR", "COMMITTER") for key in ("NAME", "EMAIL")}
    environment = {
        **os.environ,
        **who,
        "GIT_AUTHOR_DATE": f"{day}T23:30:00+0900",
        "GIT_COMMITTER_DATE": "2026-11-20T09:00:00Z",
    }
    done = subprocess.run(["git", *words], cwd=root, check=True, capture_output=True, text=True, env=environment)
    return done.stdout.strip()


def commit(root: Path, day: str, subject: str, path: str) -> None:
    git(root, day, "add", path)
    git(root, day, "commit", "--quiet", "--message", subject)


def worklog(*words: str) -> str:
    result = CliRunner().invoke(main, ["worklog", *words])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_report_of_a_week_has_what_was_done_and_nothing_private(site: Path) -> None:
    unrolled = git(site, "", "log", "--format=%h", "--grep=unroll")
    assert worklog("week", "--date", "2026-11-19", "--commits") == REPORT.replace("HASH", unrolled)
    assert "Commits" not in worklog("week", "--date", "2026-11-22")
    assert worklog("week", "--date", "2026-12-30").startswith("# Week 53 of 2026\n\n0 days written")


def test_commits_go_into_the_entry_of_their_day_once(site: Path) -> None:
    for _ in range(2):
        worklog("today", "--date", "2026-11-17", "--commits")
    text = (site / "content/worklog/log.md").read_text()
    assert text.count("- `axpy`: unroll for Ada Lovelace (") == 1 and "a record" not in text
    assert text.index("unroll") < text.index("2026-11-18")


def test_commits_count_on_the_day_of_their_author_also_when_the_site_is_a_folder_of_the_repository(site: Path) -> None:
    days = dt.date(2026, 11, 14), dt.date(2026, 11, 17)
    assert [(str(one.date), one.subject, one.kernels) for one in kernel_commits(site, *days)] == [
        ("2026-11-15", "the kernel", ("axpy",)),
        ("2026-11-17", "unroll for Ada Lovelace", ("axpy",)),
    ]
    assert kernel_commits(site, *days) == kernel_commits(site / "content/..", *days)
    assert kernel_commits(site / "content", *days) == ()
    assert kernel_commits(site.parent, *days) == ()
