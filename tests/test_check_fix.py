"""`sitegen check --fix` mends what is safe, once, and only in files that git can bring back."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from sitegen.cli import main

SITE = "title: Kernels\nbase_url: https://example.org/\n"
POST = "---\ntitle: First\ndate: 2026-11-22\ndescripton: Words.\n---\n[The second](/old/#a).\n"
SECOND = "---\ntitle: Second\ndate: 2026-11-22\naliases: [/old/]\n---\n## A {#a}\n"
LOG = (
    "11/02/26 (T - 59)\n\n[https://example.org/a?utm_source=x](The cafÃ©)\n\n11/03/26 (T - 5)\n\n"
    "[Rings](https://example.org/b\n\n11/04/26 (T - 57)\n\nhttps://example.org/c and an â€ lost\n"
)
MENDED = (
    "11/02/26 (T - 59)\n\n[The café](https://example.org/a)\n\n11/03/26 (T - 58)\n\n"
    "[Rings](https://example.org/b)\n\n11/04/26 (T - 57)\n\nhttps://example.org/c and an â€ lost\n"
)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A site under git, with mistakes of several kinds."""
    files = {"site.yaml": SITE, "posts/first.md": POST, "posts/second.md": SECOND, "worklog/log.md": LOG}
    for name, text in files.items():
        (tmp_path / "content" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "content" / name).write_text(text, encoding="utf-8")
    git(tmp_path, "init", "--quiet")
    commit(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def git(root: Path, *words: str) -> None:
    who = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}
    subprocess.run(["git", *words], cwd=root, check=True, capture_output=True, env={**os.environ, **who})


def commit(root: Path) -> None:
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "x")


def check(*options: str) -> Result:
    return CliRunner().invoke(main, ["check", "--as-of", "2026-11-30", *options])


def test_what_is_safe_is_mended_and_the_rest_is_reported(site: Path) -> None:
    result = check("--fix")
    assert (site / "content/worklog/log.md").read_text(encoding="utf-8") == MENDED
    assert "description: Words." in (site / "content/posts/first.md").read_text()
    assert "[The second](/posts/second/#a)" in (site / "content/posts/first.md").read_text()
    assert "+11/03/26 (T - 58)\n" in result.stdout and "2 files mended" in result.stderr
    assert result.exit_code == 1 and "SG048" in result.stderr and "SG046" not in result.stderr


def test_a_second_time_changes_nothing(site: Path) -> None:
    check("--fix")
    commit(site)
    result = check("--fix")
    assert result.stdout == "" and "nothing can be mended safely" in result.stderr
    assert (site / "content/worklog/log.md").read_text(encoding="utf-8") == MENDED


@pytest.mark.parametrize("committed", [True, False])
def test_a_file_that_git_has_no_copy_of_is_only_changed_by_force(site: Path, committed: bool) -> None:
    log = site / "content/worklog/log.md"
    if committed:
        log.write_text(LOG + "\nMore.\n", encoding="utf-8")
    else:
        git(site, "rm", "--cached", "--quiet", "content/worklog/log.md")
    before = log.read_text(encoding="utf-8")
    refused = check("--fix")
    assert log.read_text(encoding="utf-8") == before
    assert "log.md was left as it is: commit it first" in refused.stderr and "+11/03/26" in refused.stdout
    check("--fix", "--force")
    assert log.read_text(encoding="utf-8").startswith(MENDED.rstrip())


def test_without_fix_nothing_is_written_and_a_worklog_never_fails_a_build(site: Path) -> None:
    (site / "content/posts/first.md").unlink()
    assert check().exit_code == 1
    assert (site / "content/worklog/log.md").read_text(encoding="utf-8") == LOG
    assert CliRunner().invoke(main, ["build", "--quiet"]).exit_code == 0


PLANTED = (
    ("2026-11-01 (T - 60)", "- [ ] Plot the tail", "SG053"),
    ("2026-11-02 (T - 59)", "[https://example.org/a](Ring buffers)", "SG046"),
    ("2026-11-03 (T - 58)", "[Rings](https://example.org/a", "SG047"),
    ("2026-11-04 (T - 57)", "https://example.org/b", "SG048"),
    ("2026-11-05 (T - 56)", "The cafÃ©.", "SG049"),
    ("2026-11-06 (T - 5)", "Text.", "SG042"),
    ("2026-11-07 (T - 54)", "[Rings](https://example.org/a?utm_source=x)", "SG050"),
    ("2026-11-08 (T - 53)", "[Rings](/posts/later/)", "SG201"),
    ("2026-11-09 (T - 52)", "Text.", ""),
    ("2026-11-09 (T - 52)", "More.", "SG043"),
    ("2026-11-10 (T - 51)", "Text.", ""),
    ("2026-11-12 (T - 49)", "Text.", "SG051"),
    ("2026-11-13 (T - 48)", "Text.", ""),
    ("2026-11-14 (T - 47)", "Text.", ""),
    ("2026-11-31 (T - 30)", "Text.", "SG040"),
    ("2027-11-20 (T + 324)", "Text.", "SG052"),
)
"""Days of a diary with a planted mistake each, and its code; those of the heading are of the day, of one day twice."""


def test_every_planted_mistake_is_found_at_its_line_and_no_other(site: Path) -> None:
    later = "---\ntitle: Later\ndate: 2026-11-22\ndraft: true\n---\nText.\n"
    (site / "content/posts/first.md").unlink()
    (site / "content/posts/later.md").write_text(later)
    whole = "".join(f"{heading}\n\n{text}\n\n" for heading, text, _ in PLANTED)
    (site / "content/worklog/log.md").write_text(whole, encoding="utf-8")
    of_heading = ("SG040", "SG042", "SG043", "SG051", "SG052")
    planted = {(code, 4 * at + (1 if code in of_heading else 3)) for at, (_, _, code) in enumerate(PLANTED) if code}
    found = re.findall(r"warning\[(SG\d+)\].*\n  content/worklog/log.md:(\d+):", check().stderr)
    assert {(code, int(line)) for code, line in found} == planted and len(found) == len(planted)


def test_a_clean_worklog_has_nothing_to_say(site: Path) -> None:
    (site / "content/posts/first.md").unlink()
    days = "".join(f"2026-11-{day:02d} (T - {60 - day})\n\n[Rings](https://example.org)\n\n" for day in range(2, 12))
    (site / "content/worklog/log.md").write_text(days)
    result = check()
    assert (result.exit_code, result.stderr) == (0, "no mistakes\n")


def test_mistakes_as_json_have_place_words_and_what_mends_them(site: Path) -> None:
    done = check("--json")
    rows = json.loads(done.stdout)
    assert done.exit_code == 1 and done.stderr == ""
    assert rows[0] == {
        **{
            "code": "SG012",
            "severity": "error",
            "file": "content/posts/first.md",
            "line": 4,
            "column": 1,
            "length": 10,
        },
        **{"message": "unknown front matter key `descripton`", "hint": "did you mean `description`?"},
        "fix": "description",
    }
    assert [row["severity"] for row in rows].count("warning") == len(rows) - 1
    assert (rows[0]["file"], rows[0]["line"]) < (rows[1]["file"], rows[1]["line"])


def test_a_site_without_mistakes_is_an_empty_list_of_json(site: Path) -> None:
    for path in ("posts/first.md", "worklog/log.md"):
        (site / "content" / path).unlink()
    assert (check("--json").exit_code, check("--json").output) == (0, "[]\n")


def test_json_and_the_diff_of_fix_do_not_go_together(site: Path) -> None:
    done = check("--json", "--fix")
    assert done.exit_code == 2 and "use one of them" in done.output
    assert (site / "content/posts/first.md").read_text() == POST
