"""Bytes become text, and a Markdown file becomes front matter and body."""

from hypothesis import given
from hypothesis import strategies as st

from sitegen.diagnostics import Span
from sitegen.read.source import decode, split_front_matter


def test_the_first_byte_that_is_not_utf8_is_shown_at_its_character() -> None:
    text, found = decode("첫 줄\r\n둘째 é ".encode() + b"\xe9\xff rest", "a.md")
    assert text == "첫 줄\n둘째 é \ufffd\ufffd rest"
    assert [d.span for d in found] == [Span("a.md", 2, 6)]


def test_bom_and_carriage_returns_are_no_text() -> None:
    assert decode(b"\xef\xbb\xbf---\r\ntitle: a\r---\n", "a.md") == ("---\ntitle: a\n---\n", ())


def test_a_utf16_file_is_one_mistake_and_still_read() -> None:
    text, found = decode("---\ntitle: é\n---\n".encode("utf-16"), "a.md")
    assert text.endswith("title: é\n---\n") and [d.code for d in found] == ["SG001"]


def test_a_rule_in_the_text_does_not_close_the_front_matter_again() -> None:
    front, found = split_front_matter("---\na: 1\n---\nText\n---\nmore\n", "a.md")
    assert (front.yaml, front.body.text, front.body.first_line) == ("a: 1\n", "Text\n---\nmore\n", 4)
    assert not found


def test_three_dashes_inside_a_value_do_not_close_it() -> None:
    front, _ = split_front_matter("---\na: b --- c\n---x: 1\n---  \nText", "a.md")
    assert front.yaml == "a: b --- c\n---x: 1\n"
    assert front.body.first_line == 5


def test_empty_front_matter_is_front_matter() -> None:
    front, found = split_front_matter("---\n---\nText", "a.md")
    assert (front.yaml, front.body.text, found) == ("", "Text", ())


def test_front_matter_that_is_never_closed_stays_text() -> None:
    front, found = split_front_matter("---\ntitle: a\n\nText", "a.md")
    assert front.yaml is None and front.body.text == "---\ntitle: a\n\nText"
    assert [d.code for d in found] == ["SG004"]


@given(st.binary() | st.text().map(str.encode))
def test_any_bytes_become_text_and_no_line_is_lost(data: bytes) -> None:
    text, _ = decode(data, "a.md")
    front, _ = split_front_matter(text, "a.md")
    assert text.endswith(front.body.text)
    assert text[: len(text) - len(front.body.text)].count("\n") == front.body.first_line - 1
