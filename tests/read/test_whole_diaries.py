"""Whole diaries in other habits are understood as a person would: no line is lost, and nothing is invented."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitegen.importing.worklog import import_worklog
from sitegen.model.site import WorklogEntry
from sitegen.read.privacy import without_private_blocks
from sitegen.read.reading_list import reading_list
from sitegen.read.worklog import parse_worklog, pieces_of

FOLDER = Path(__file__).parent / "diaries"
DIARIES = sorted(FOLDER.glob("*.md"))
UNDERSTOOD = {
    "german": (
        ["2025-10-13 T-80", "2025-10-14 T-79", "2025-11-02 T-60", "2025-11-03 T-59"],
        ["done Zerlegung der Schleife", "open Bericht kürzen", "done Bericht kürzen"],
        ["linked Wie ein Cache Zeilen hält"],
    ),
    "bullets": (
        ["2026-02-27", "2026-02-28", "2026-03-02"],
        [
            *("done split the loop", "open read about banks", "partial draw the layout", "dropped a second stream"),
            *("open read about banks", "open ask for a quieter machine", "done read about banks", "done ship it"),
        ],
        [],
    ),
    "learned": (["2026-02-26", "2026-03-02", "2026-03-09"], [], ["read one page each"]),
}


def read(name: str) -> tuple[WorklogEntry, ...]:
    text = without_private_blocks((FOLDER / f"{name}.md").read_text(encoding="utf-8"))
    entries, _, warnings = parse_worklog({"content/worklog/diary.md": text})
    assert not [warning for warning in warnings if warning.code not in ("SG050", "SG051")]
    return entries[::-1]


@pytest.mark.parametrize("name", UNDERSTOOD)
def test_days_tasks_and_links_are_those_that_a_person_reads(name: str) -> None:
    days, tasks, links = UNDERSTOOD[name]
    entries = read(name)
    left = (f" T-{entry.days_left}" if entry.days_left is not None else "" for entry in entries)
    assert [f"{entry.date}{text}" for entry, text in zip(entries, left, strict=True)] == days
    assert [f"{task.state.value} {task.text}" for entry in entries for task in entry.tasks] == tasks
    assert [f"{item.reading.value} {item.title}" for item in reading_list(entries)] == links


@pytest.mark.parametrize("file", DIARIES, ids=lambda file: file.stem)
def test_the_pieces_are_the_file_and_an_import_has_every_line(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    pieces = pieces_of(text)
    assert str(pieces) == text and len(pieces.days) == len(UNDERSTOOD[file.stem][0])
    made = "\n".join(map(str, import_worklog(file).files.values()))
    lost = [line for line in text.splitlines() if line.strip() not in made]
    opened = [piece.heading.strip() for piece in pieces.days]
    assert [line for line in lost if line.strip() not in opened and line not in pieces.front] == []


def test_what_is_private_goes_with_everything_below_it_and_code_stays() -> None:
    shown = without_private_blocks((FOLDER / "bullets.md").read_text(encoding="utf-8"))
    assert "offer" not in shown and "number" not in shown
    assert "private: this is C++, and stays" in shown and "- [x] ship it" in shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("private:\n\na\n\nb\n", "\n\n\n\nb\n"),
        ("private:\n  a\n\n  b\nc\n", "\n\n\n\nc\n"),
        ("- **private:** a\n  b\n- c\n", "\n\n- c\n"),
        ("a\nprivate:\n\n2026-11-22\n\nb\n", "a\n\n\n2026-11-22\n\nb\n"),
        ("Private: a", ""),
        ("This is private: a\n", "This is private: a\n"),
    ],
)
def test_a_private_block_ends_where_it_ends(text: str, shown: str) -> None:
    assert without_private_blocks(text) == shown


@given(
    st.lists(st.sampled_from(["private:", "- private: a", "  b", "", "c", "```", "2026-11-22", "\tx"])).map("\n".join)
)
def test_lines_keep_their_numbers_and_are_whole_or_empty(text: str) -> None:
    lines, shown = text.split("\n"), without_private_blocks(text).split("\n")
    assert len(shown) == len(lines) and all(new in ("", old) for old, new in zip(lines, shown, strict=True))
