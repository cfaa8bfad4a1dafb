"""A diary on one page becomes a file for each day."""

from pathlib import Path

from sitegen.importing.plan import write_missing
from sitegen.importing.worklog import import_worklog
from sitegen.read.worklog import parse_worklog

DIARY = """<!-- ---
layout: page
permalink: /worklog/
--- -->
What I do each day.

12/09/25 (T - 154)

- [x] read about warps

12/10/2025 (T - 153)

Q: Why?
A: Because.

12/10/2025 (T - 153)

More of the same day.
"""


def imported(tmp_path: Path, text: str) -> dict[str, str]:
    (tmp_path / "diary.md").write_text(text, encoding="utf-8")
    return {path: str(content) for path, content in import_worklog(tmp_path / "diary.md").files.items()}


def test_every_day_has_a_file_and_the_rest_is_the_introduction(tmp_path: Path) -> None:
    assert imported(tmp_path, DIARY) == {
        "content/worklog/2025-12-09.md": "2025-12-09 (T - 154)\n\n- [x] read about warps\n",
        "content/worklog/2025-12-10.md": "2025-12-10 (T - 153)\n\nQ: Why?\nA: Because.\n\n\n\n\n"
        "More of the same day.\n",
        "content/worklog/index.md": "What I do each day.\n",
    }


def test_days_are_read_back_as_they_were_in_the_one_page(tmp_path: Path) -> None:
    before, intro, _ = parse_worklog({"content/worklog/all.md": DIARY})
    after, _, warnings = parse_worklog(imported(tmp_path, DIARY))
    assert [(e.date, e.days_left, [t.text for t in e.tasks], e.questions) for e in after] == [
        (e.date, e.days_left, [t.text for t in e.tasks], e.questions) for e in before
    ]
    assert intro and warnings == ()


def test_day_that_was_written_since_is_left_alone(tmp_path: Path) -> None:
    files = imported(tmp_path, DIARY)
    write_missing(tmp_path / "site", files)
    (tmp_path / "site/content/worklog/2025-12-09.md").write_text("mine")
    again = write_missing(tmp_path / "site", files)
    assert (again.written, again.kept) == ((), ("content/worklog/2025-12-09.md",))


def test_page_without_a_day_is_an_error_and_makes_nothing(tmp_path: Path) -> None:
    (tmp_path / "diary.md").write_text("Only words.")
    plan = import_worklog(tmp_path / "diary.md")
    assert (dict(plan.files), [d.code for d in plan.diagnostics]) == ({}, ["SG606"])


def test_line_of_a_warning_is_that_of_the_page(tmp_path: Path) -> None:
    (tmp_path / "diary.md").write_text(DIARY + "\n13/45/2025 (T - 2)\n\nx\n")
    (warning,) = (d for d in import_worklog(tmp_path / "diary.md").diagnostics if d.code == "SG040")
    assert warning.span.line == DIARY.count("\n") + 2
