"""The form of a diagnostic."""

import pytest

from sitegen.diagnostics import (
    Diagnostic,
    Severity,
    Span,
    did_you_mean,
    has_errors,
    in_reading_order,
    render_diagnostic,
    render_diagnostics,
)


def mistake(line: int = 1, col: int = 1, length: int = 1, hint: str = "", path: str = "a.md") -> Diagnostic:
    return Diagnostic("SG012", "unknown key `b`", Span(path, line, col, length), hint)


def test_it_looks_as_in_the_design() -> None:
    text = "---\ntitle: a\ndate: 2026-11-22\ndificulty: 2\n---\n"
    wrong = Diagnostic(
        "SG012",
        "unknown front matter key `dificulty`",
        Span("content/posts/softmax/index.md", 4, 1, 9),
        did_you_mean("dificulty", ["difficulty", "date"]),
    )
    assert render_diagnostic(wrong, text).split("\n") == [
        "error[SG012]: unknown front matter key `dificulty`",
        "  content/posts/softmax/index.md:4:1",
        "    4 | dificulty: 2",
        "      | ^^^^^^^^^ did you mean `difficulty`?",
    ]


def test_a_caret_never_leaves_its_line_nor_a_frame_its_file() -> None:
    assert render_diagnostic(mistake(col=3, length=99), "abcde\n").endswith("    1 | abcde\n      |   ^^^")
    assert render_diagnostic(mistake(line=9, hint="look there"), "abcde\n").endswith("  a.md:9:1\n    hint: look there")
    assert render_diagnostic(mistake(), None).endswith("  a.md:1:1")


@pytest.mark.parametrize("odd", ["\f", "\x0b", "\x1c", "\u2028", "\x85"])
def test_only_a_line_feed_ends_a_line(odd: str) -> None:
    assert "    2 | second" in render_diagnostic(mistake(line=2), f"fir{odd}st\nsecond\n")


def test_mistakes_come_in_reading_order_and_once() -> None:
    late, early, other = mistake(line=9), mistake(line=2), mistake(path="b.md")
    assert in_reading_order([other, late, early, late]) == (early, late, other)
    assert render_diagnostics([late, late, early], {}).count("SG012") == 2


def test_a_warning_is_no_error() -> None:
    warning = Diagnostic("SG040", "impossible date", Span("a.md"), severity=Severity.WARNING)
    assert not has_errors([warning]) and has_errors([warning, mistake()])
    assert render_diagnostic(warning, None).startswith("warning[SG040]")


def test_a_word_that_resembles_nothing_gets_no_hint() -> None:
    assert did_you_mean("zebra", ["title", "date"]) == ""
