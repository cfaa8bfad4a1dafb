"""Diaries in many habits are read without a lost character, and the countdown settles what a date alone leaves open."""

import datetime as dt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sitegen.diagnostics import Severity
from sitegen.read.source import decode
from sitegen.read.worklog import parse_worklog, pieces_of
from sitegen.read.worklog_days import find_days

LOG = "content/worklog/log.md"
SOAK = settings().max_examples >= 5000
EXAMPLES = settings(max_examples=20_000 if SOAK else 40, deadline=None)
"""Many examples under the profile `soak`, few in an ordinary run."""


def opened(text: str) -> list[tuple[str, int | None]]:
    return [(str(line.date), line.days_left) for line in find_days(text).lines]


@pytest.mark.parametrize(
    ("line", "date", "days_left"),
    [
        ("12/09/25 (T - 154)", "2025-12-09", 154),
        ("12/09/2025 (T-154) ", "2025-12-09", 154),
        ("12/09/25(T -154)", "2025-12-09", 154),
        ("12/09/25 D-12", "2025-12-09", 12),
        ("[D - 12] 2025-12-09", "2025-12-09", 12),
        ("T-154, 12/09/25", "2025-12-09", 154),
        ("2025/12/09 T minus 3", "2025-12-09", 3),
        ("# 9 December 2025", "2025-12-09", None),
        ("Tuesday, December 9th, 2025", "2025-12-09", None),
        ("9. Dezember 2025 (T – 12)", "2025-12-09", 12),
        ("mardi 9 décembre 2025", "2025-12-09", None),
        ("1er août 2025", "2025-08-01", None),
        ("9 de diciembre de 2025", "2025-12-09", None),
        ("9 dic 2025", "2025-12-09", None),
        ("9 grudnia 2025", "2025-12-09", None),
        ("2025年12月9日", "2025-12-09", None),
        ("2025년 12월 9일", "2025-12-09", None),
        ("Di 31.12.2025", "2025-12-31", None),
        ("2025-12-09 (Tue)", "2025-12-09", None),
        ("## Day 6 (2025-12-09)", "2025-12-09", None),
        ("### Tag 6 [2025/12/09]", "2025-12-09", None),
    ],
)
def test_a_day_opens_in_each_of_these_forms(line: str, date: str, days_left: int | None) -> None:
    assert opened(f"before\n\n{line}\n\nafter\n") == [(date, days_left)]


@pytest.mark.parametrize(
    "line",
    [
        "9 apples 2025",
        "## Results (2025-12-09)",
        "Day 6 (2025-12-09)",
        "Deadline 12/15/26",
        "12/15/26 maybe",
        "2026 in review",
        "T - X Days",
        "(T - 12)",
        "GPT-4",
        "on 9 December 2025",
        "9 December 2025 was cold",
        "Jui 4, 2026",
    ],
)
def test_prose_and_the_template_of_a_heading_open_nothing(line: str) -> None:
    assert opened(f"before\n\n{line}\n\nafter\n") == []


def test_a_heading_may_go_on_with_a_title_which_stays_in_the_text() -> None:
    entries, _, _ = parse_worklog({LOG: "## 2026-03-04: Warp *votes*\n\nText.\n\n## 2026-03-05 Banks ##\n"})
    assert [entry.body.text for entry in entries] == ["## Banks\n", "## Warp *votes*\n\nText.\n\n"]
    assert [entry.body.first_line for entry in entries] == [5, 1]


def test_the_day_to_which_most_countdowns_lead_settles_a_line_in_the_other_order() -> None:
    text = "12/09/25 (T - 22)\n\n12/10/25 (T - 21)\n\n11/12/25 (T - 20)\n\n12/12/25 (T - 19)\n"
    assert [date for date, _ in opened(text)] == ["2025-12-09", "2025-12-10", "2025-12-11", "2025-12-12"]


def test_two_equal_slips_are_still_slips_and_a_new_goal_is_none() -> None:
    days = [dt.date(2026, 3, 1) + dt.timedelta(days=n) for n in range(12)]
    left = [60, 59, 58, 50, 49, 55, 54, 53, 90, 89, 88, 87]
    text = "".join(f"{day} (T - {n})\n\nText.\n\n" for day, n in zip(days, left, strict=True))
    _, _, warnings = parse_worklog({LOG: text})
    assert [(w.code, w.span.line, w.hint) for w in warnings] == [
        ("SG042", 13, "write `T - 57`?"),
        ("SG042", 17, "write `T - 56`?"),
    ]


@pytest.mark.parametrize("front", ["---\nlayout: page\nnav: True\n---\n", "<!-- ---\nlayout: page\n--- -->\n", ""])
def test_front_matter_of_another_program_is_read_without_a_warning(front: str) -> None:
    entries, intro, warnings = parse_worklog({LOG: f"{front}\nT - X Days\n\nTea first\n\n2026-03-04 T-9\n\nText."})
    assert (len(entries), warnings) == (1, ())
    assert intro is not None and "T - X Days" in intro.text and "layout" not in intro.text


headings = st.builds(
    lambda day, form, left: form.format(d=day, left=left),
    st.dates(dt.date(2024, 1, 1), dt.date(2027, 12, 31)),
    st.sampled_from(
        [
            "{d:%m/%d/%y} (T - {left})",
            "{d:%m/%d/%Y} (T-{left}) ",
            "{d:%d.%m.%Y}",
            "# {d:%d/%m/%Y}",
            "{d:%Y-%m-%d} D-{left}",
            "## {d:%d %B %Y}",
            "**{d:%Y-%m-%d}**",
        ]
    ),
    st.integers(0, 400),
)
lines = st.sampled_from(
    [
        "",
        "A note; ",
        "- nested",
        "  - deeper ",
        "- - twice",
        "Read the layout notes; - Done;",
        "Q: Why?",
        "A: Because.",
        "Next;",
        "[https://example.org/a](A title (with parentheses))",
        "https://example.org/b?utm_source=x",
        "[half](",
        "moved to 12/15/25, 8AM",
        "T - X Days",
        "---",
        "```",
        "<!--",
        "-->",
    ]
)
diaries = st.lists(headings | lines | st.text(max_size=12), max_size=25).map("\n".join)


@EXAMPLES
@given(diaries)
def test_the_pieces_of_a_generated_diary_give_it_back(text: str) -> None:
    text, _ = decode(text.encode("utf-8", "replace"), LOG)
    assert str(pieces_of(text, LOG)) == text
    _, _, warnings = parse_worklog({LOG: text})
    assert all(warning.severity is Severity.WARNING for warning in warnings)


@EXAMPLES
@given(st.binary(max_size=200) | diaries.map(lambda text: text.encode("utf-16")))
def test_the_pieces_of_any_bytes_give_their_text_back(data: bytes) -> None:
    text, _ = decode(data, LOG)
    assert str(pieces_of(text, LOG)) == text
    parse_worklog({LOG: text})
