"""The files content/worklog/*.md become days."""

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitegen.diagnostics import Diagnostic, Severity
from sitegen.model.site import Markdown, TaskState, WorklogEntry
from sitegen.read.worklog import parse_worklog
from sitegen.read.worklog_notes import questions_in, tasks_in

LOG = "content/worklog/log.md"


def diary(text: str, path: str = LOG) -> tuple[tuple[WorklogEntry, ...], Markdown | None, tuple[Diagnostic, ...]]:
    return parse_worklog({path: text})


def days(text: str) -> list[str]:
    entries, _, _ = diary(text)
    return [entry.date.isoformat() for entry in reversed(entries)]


def states(text: str) -> list[tuple[str, str]]:
    return [(task.state.value, task.text) for task in tasks_in(Markdown(text, LOG))]


def test_the_countdown_tells_that_the_month_comes_first() -> None:
    text = "03/04/26 (T - 60)\n\nRead.\n\n03/05/2026 (T - 59) \n\nWrote.\n"
    entries, intro, warnings = diary(text)
    assert [(e.date, e.days_left) for e in entries] == [(dt.date(2026, 3, 5), 59), (dt.date(2026, 3, 4), 60)]
    assert (intro, warnings) == (None, ())


def test_the_same_days_with_another_countdown_have_the_day_first() -> None:
    assert days("03/04/26 (T - 61)\n\nRead.\n\n03/05/26 (T - 31)\n\nWrote.\n") == ["2026-04-03", "2026-05-03"]


def test_one_date_that_exists_only_one_way_decides_for_all() -> None:
    assert days("04/03/26\n\nRead.\n\n25/03/26\n\nWrote.\n") == ["2026-03-04", "2026-03-25"]


def test_without_a_countdown_days_that_follow_each_other_are_likelier() -> None:
    assert days("03.04.2026\n\na\n\n04.04.2026\n\nb\n\n05.04.2026\n\nc\n") == ["2026-04-03", "2026-04-04", "2026-04-05"]


def test_a_lone_date_is_read_with_a_warning() -> None:
    entries, _, warnings = diary("03/04/26\n\nRead.\n")
    assert entries[0].date == dt.date(2026, 3, 4)
    assert [(d.code, d.severity) for d in warnings] == [("SG041", Severity.WARNING)]


@pytest.mark.parametrize(
    "line",
    [
        "The talk moved to 12/15/26, 8 in the morning",
        "scheduled for 12/15/26",
        "T - X days",
        "GPT - 2",
        "- 12/15/26",
        "    12/15/26 (T - 3)",
        "12/15/26 (T - 3) was the plan",
        "12/15/26 and later",
    ],
)
def test_a_date_inside_prose_opens_no_day(line: str) -> None:
    assert days(f"12/14/26 (T - 4)\n\n{line}\n\nText.\n") == ["2026-12-14"]


@pytest.mark.parametrize(
    "line",
    [
        "2026-12-15",
        "## 2026-12-15",
        "# 12/15/2026 (T - 3)",
        "**12/15/26** (T-3)",
        "12/15/26 (T – 3 days):",
        "12-15-26 T-3",
    ],
)
def test_a_line_with_nothing_but_a_date_opens_one(line: str) -> None:
    assert days(f"12/14/26 (T - 4)\n\nText.\n\n{line}\n\nText.\n") == ["2026-12-14", "2026-12-15"]


def test_a_date_in_the_middle_of_a_paragraph_opens_no_day() -> None:
    assert days("12/14/26 (T - 4)\n\nThe deadline is\n12/15/26\nI hear.\n") == ["2026-12-14"]


def test_a_date_in_code_or_in_a_comment_opens_no_day() -> None:
    text = "2026-12-14\n\n```\n\n2026-12-15\n```\n\n<!--\n\n2026-12-16\n-->\n\n2026-12-17\n"
    assert days(text) == ["2026-12-14", "2026-12-17"]


def test_a_fence_that_is_never_closed_does_not_swallow_the_days_below() -> None:
    assert days("2026-12-14\n\n```\ncode\n\n2026-12-15\n\nText.\n") == ["2026-12-14", "2026-12-15"]


def test_past_the_goal_the_countdown_goes_on_below_zero() -> None:
    entries, _, _ = diary("12/31/26 (T - 0)\n\na\n\n01/02/27 (T + 2)\n\nb\n")
    assert [entry.days_left for entry in entries] == [-2, 0]


def test_a_slip_in_the_countdown_is_named_with_the_right_number() -> None:
    text = "12/14/26 (T - 17)\n\na\n\n12/15/26 (T - 16)\n\nb\n\n12/16/26 (T - 5)\n\nc\n"
    _, _, warnings = diary(text)
    assert [(d.code, d.span.line, d.hint) for d in warnings] == [("SG042", 9, "write `T - 15`?")]


def test_a_day_that_does_not_exist_stays_text_of_the_day_above() -> None:
    entries, _, warnings = diary("12/14/26 (T - 17)\n\na\n\n12/45/26 (T - 16)\n\nb\n")
    assert [entry.body.text for entry in entries] == ["\na\n\n12/45/26 (T - 16)\n\nb\n"]
    assert [d.code for d in warnings] == ["SG040"]


def test_front_matter_in_a_comment_is_neither_text_nor_checked() -> None:
    text = (
        "<!-- ---\nlayout: page\ntitle: Log\ndescription: \n--- -->\n\nT - X days\n\nA habit.\n\n12/14/26 (T - 17)\n\na"
    )
    entries, intro, warnings = diary(text)
    assert intro is not None and (intro.text, intro.first_line) == ("\nT - X days\n\nA habit.\n\n", 6)
    assert (entries[0].body, entries[0].span.line) == (Markdown("\na", LOG, 12, "2026-12-14"), 11)
    assert not warnings


def test_a_file_named_by_its_day_is_one_day_and_its_heading_only_repeats_it() -> None:
    text = "---\ndate: 2026-11-21\n---\n\n# 11/21/2026 (T - 40)\n\nText.\n\n2026-11-22\n"
    entries, _, warnings = diary(text, "content/worklog/2026-11-21.md")
    assert [(e.date, e.days_left) for e in entries] == [(dt.date(2026, 11, 21), 40)]
    assert entries[0].body == Markdown("\nText.\n\n2026-11-22\n", "content/worklog/2026-11-21.md", 6, "2026-11-21")
    assert not warnings


def test_a_date_in_the_front_matter_counts_more_than_the_name() -> None:
    entries, _, warnings = diary("---\ndate: 2026-11-22\n---\nText.\n", "content/worklog/2026-11-21.md")
    assert [e.date.day for e in entries] == [22]
    assert [(d.code, d.span.line) for d in warnings] == [("SG045", 2)]


def test_broken_front_matter_costs_no_day() -> None:
    entries, _, warnings = diary("---\ndate: [\n---\nText.\n", "content/worklog/2026-11-21.md")
    assert [(e.date.day, e.body.text) for e in entries] == [(21, "Text.\n")]
    assert [(d.code, d.severity) for d in warnings] == [("SG002", Severity.WARNING)]


def test_a_day_in_two_files_is_one_day_with_both_texts() -> None:
    files = {"content/worklog/2026-11-21.md": "One; - Done\n", LOG: "2026-11-21\n\nTwo; - Done\n"}
    entries, _, warnings = parse_worklog(files)
    assert len(entries) == 1 and "One" in entries[0].body.text and "Two" in entries[0].body.text
    assert [task.text for task in entries[0].tasks] == ["One", "Two"]
    assert [d.code for d in warnings] == ["SG043"]


def test_a_copy_of_a_day_adds_nothing() -> None:
    entries, _, _ = diary("2026-11-21\n\nText.\n\n2026-11-21\n\nText.\n")
    assert [entry.body.text for entry in entries] == ["\nText.\n\n"]


@pytest.mark.parametrize(
    ("line", "state", "text"),
    [
        ("Read the chapter - Done", "done", "Read the chapter"),
        ("Read the chapter; - Done;", "done", "Read the chapter"),
        ("- Read the chapter; Done.", "done", "Read the chapter"),
        ("Start the 12-bit format. Done;", "done", "Start the 12-bit format."),
        ("Check the notes; - First read them. - Next; - Done;", "done", "Check the notes; - First read them."),
        ("The slides - Done, will rehearse.", "done", "The slides, will rehearse."),
        ("The chapter (Done, with notes)", "done", "The chapter"),
        ("One (Done), two (Done), starting with three;", "partial", "One, two, starting with three"),
        ("The chapter. (Done, figures pending)", "partial", "The chapter."),
        ("The paper; - Glossed over, got the idea.", "partial", "The paper"),
        ("Write to the teacher; -> Tmr;", "open", "Write to the teacher"),
        ("- [ ] measure at 65536", "open", "measure at 65536"),
        ("  - [x] publish", "done", "publish"),
        ("- [~] persistent grid", "partial", "persistent grid"),
    ],
)
def test_a_mark_says_how_a_task_went(line: str, state: str, text: str) -> None:
    assert states(line) == [(state, text)]


@pytest.mark.parametrize(
    "line",
    [
        "Done two dry runs, they went well.",
        "Done with the second part; resting",
        "What must be done is done",
        "The Next layer",
        "[Done](a.md)",
    ],
)
def test_done_in_a_sentence_is_prose(line: str) -> None:
    assert states(line) == []


def test_a_task_knows_its_line_in_the_file_and_code_has_none() -> None:
    body = Markdown("a\n```\n- [ ] not a task\n```\n- [ ] a task\n", LOG, first_line=10)
    assert [(task.line, task.state) for task in tasks_in(body)] == [(14, TaskState.OPEN)]


def test_a_question_has_the_answer_below_it() -> None:
    text = "- **Q: Why two?**\n- A: Because [one](a.md) stalls.\n  It waits.\n- other\n\nQ: Unanswered?\n\nText.\n"
    assert questions_in(Markdown(text, LOG)) == (("Why two?", "Because [one](a.md) stalls.\nIt waits."),)


line = st.sampled_from(
    [
        "2026-11-21",
        "11/21/26 (T - 40)",
        "31/12/26",
        "# 1/2/2026",
        "99/99/99 (T - 1)",
        "```",
        "<!--",
        "-->",
        "---",
        "",
        "text",
        "- [ ] x",
    ]
)


@given(st.lists(line | st.text(max_size=20)).map("\n".join))
def test_no_text_of_a_diary_is_lost_whatever_it_holds(text: str) -> None:
    """Each line is in the intro, in the text of a day, or is the line that opens the day."""
    entries, intro, warnings = diary(text)
    kept = "\n".join([*(entry.body.text for entry in entries), intro.text if intro else ""])
    opening = {text.split("\n")[entry.span.line - 1] for entry in entries}
    hidden_front_matter = text.startswith("---") or text.lstrip().startswith("<!--")
    if not hidden_front_matter and "SG043" not in {d.code for d in warnings}:
        assert all(part in kept or part in opening for part in text.split("\n") if part.strip())
    assert all(d.severity is Severity.WARNING for d in warnings)
    assert sorted(entries, key=lambda entry: entry.date, reverse=True) == list(entries)
