"""The fixes of diagnostics change the marked passages of a text and nothing else of it."""

from sitegen.diagnostics import Diagnostic, Span
from sitegen.write.fixes import diff, fixed


def fix(line: int, col: int, length: int, text: str | None) -> Diagnostic:
    return Diagnostic("SG046", "wrong", Span("a.md", line, col, length), fix=text)


def test_several_fixes_of_a_line_keep_their_places() -> None:
    assert fixed("one two three\n", [fix(1, 1, 3, "1"), fix(1, 9, 5, "3")]) == "1 two 3\n"


def test_a_fix_inside_of_another_is_made_in_the_text_of_the_other() -> None:
    line = "[u?utm_x=1](t)\n"
    assert fixed(line, [fix(1, 2, 9, "u"), fix(1, 1, 14, "[t](u?utm_x=1)")]) == "[t](u)\n"


def test_what_a_person_must_decide_is_left_alone() -> None:
    assert fixed("one\n", [fix(1, 1, 3, None)]) == "one\n"


def test_ends_of_lines_a_bom_and_a_missing_last_end_stay() -> None:
    assert fixed("\ufeffone\r\ntwo\rthree", [fix(1, 1, 3, "1"), fix(3, 1, 5, "3")]) == "\ufeff1\r\ntwo\r3"


def test_a_line_beyond_the_end_changes_nothing() -> None:
    assert fixed("one\n", [fix(9, 1, 3, "1")]) == "one\n"


def test_the_diff_names_the_file_and_the_lines() -> None:
    shown = diff("a\nb\n", "a\nc\n", "log.md")
    assert shown.startswith("--- log.md\n+++ log.md\n") and "-b\n+c\n" in shown
