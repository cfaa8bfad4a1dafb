"""YAML text becomes nodes that know their places."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitegen.diagnostics import Span
from sitegen.read.yaml_events import read_events
from sitegen.read.yaml_nodes import Node, parse_yaml, without_places


def parsed(text: str) -> Node:
    node, found = parse_yaml(text, "a.yaml")
    assert node is not None and not found
    return node


def value(node: Node, *path: str) -> Node:
    for key in path:
        child = node.get(key)
        assert child is not None
        node = child
    return node


def first_mistake(text: str) -> tuple[int, int, str]:
    node, found = parse_yaml(text, "a.yaml")
    assert node is None
    return found[-1].span.line, found[-1].span.col, found[-1].message


def test_no_is_text_as_in_yaml_1_2_and_a_power_of_ten_needs_no_point() -> None:
    text = "a: no\nb: 1e-6\nc: 12:30\nd: 2026-13-01\ne: 010\nf: true\ng: ~\nh: '1'"
    want = {"a": "no", "b": 1e-6, "c": "12:30", "d": "2026-13-01", "e": 10, "f": True, "g": None, "h": "1"}
    assert without_places(parsed(text)) == want


def test_columns_count_characters_not_bytes() -> None:
    assert value(parsed("제목: 한국어   # 주석"), "제목").span == Span("a.yaml", 1, 5, 3)


def test_the_span_of_a_quoted_value_is_its_text() -> None:
    assert value(parsed("a: {b: 'cde'}"), "a", "b").span == Span("a.yaml", 1, 9, 3)


def test_a_value_over_several_lines_is_marked_to_the_end_of_its_first() -> None:
    assert value(parsed("a: first\n   second  \nb: 1"), "a").span == Span("a.yaml", 1, 4, 5)


def test_a_value_knows_where_its_key_stands() -> None:
    assert value(parsed("a:\n  key:\n"), "a", "key").key == Span("a.yaml", 2, 3, 3)


def test_a_text_inside_a_file_has_the_places_of_the_file() -> None:
    node, _ = parse_yaml("entry: fill\n", "post.md", first_line=7, first_col=5)
    assert node is not None and value(node, "entry").span == Span("post.md", 7, 12, 4)


def test_a_line_separator_in_a_title_does_not_shift_the_lines_below() -> None:
    assert value(parsed("title: a\u2028b\nlast: 1"), "last").span.line == 2


def test_a_hundred_thousand_brackets_are_a_mistake_and_not_the_end_of_the_process() -> None:
    assert first_mistake("[" * 100_000) == (1, 34, "invalid YAML: nested too deeply")
    assert first_mistake("- " * 100_000)[2] == "invalid YAML: nested too deeply"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a: &x [1]\nb: *x", (1, 4, "invalid YAML: anchors and aliases are not read here")),
        ("a: !!int 3", (1, 4, "invalid YAML: tags are not read here")),
        ("a: 1\n---\nb: 2", (2, 1, "invalid YAML: a second document begins here")),
        ("? [a]\n: b", (1, 3, "invalid YAML: a key must be a word")),
        ("a: b\nc: \x07", (2, 4, "invalid YAML: character U+0007 may not stand here")),
        ("a: @b", (1, 4, "invalid YAML: a value cannot begin with this sign")),
        ("a:\n\t- b", (2, 1, "invalid YAML: a tab cannot indent")),
        ("a: [1,\n\n\t", (1, 7, "invalid YAML: expected a value")),
        ("- x\ny: 1", (2, 1, "invalid YAML: this does not fit what stands above")),
        ("a: [1,\n\n\n", (1, 7, "invalid YAML: expected a value")),
    ],
)
def test_what_is_not_read_is_named_at_its_place(text: str, place: tuple[int, int, str]) -> None:
    assert first_mistake(text) == place


def test_of_two_equal_keys_the_first_counts() -> None:
    node, found = parse_yaml("a: 1\nb: 2\na: 3", "a.yaml")
    assert node is not None and without_places(node) == {"a": 1, "b": 2}
    assert [(d.code, d.span.line, d.hint) for d in found] == [
        ("SG003", 3, "it stands on line 1 already: remove one of the two")
    ]


yaml_like = st.text(alphabet="ab1:-? \n\t[]{},&*!|>'\"%@`#~.\\é", max_size=80)


@given(yaml_like | st.text())
def test_no_text_makes_it_raise_and_every_place_is_in_the_text(text: str) -> None:
    node, found = parse_yaml(text, "a.yaml")
    assert node is not None or found
    lines = text.split("\n")
    for diagnostic in found:
        assert diagnostic.span.line <= len(lines)
        assert diagnostic.span.col <= len(lines[diagnostic.span.line - 1]) + 1


PIECES = [
    *(
        "title: ",
        "a: ",
        "\nb: ",
        "\n",
        " ",
        ": ",
        ":",
        ", ",
        "#",
        " #",
        "- ",
        "-",
        "|",
        "&a",
        "*a",
        "!",
        "%",
        "@",
        "`",
        "?",
    ),
    *(
        "word",
        "two words",
        "2026-11-22",
        "2026-01-01T08:00:00Z",
        "12:30",
        "1e-6",
        "0x1f",
        "no",
        "null",
        "~",
        "\\",
        "\t",
    ),
    *("é", "\u00a0", "\u2028", "\x85", "\ufeff", "\x07", "---", "...", "https://a.b/c", "(x)", "it's", "c++", "y!"),
    *('"a b"', '"a: [b]"', '"', "'", "[a, b]", '["a b", c d]', "[]", "[", "]", "{", "}"),
]
values = st.lists(st.sampled_from(PIECES), max_size=4).map("".join)
lines_of_values = st.lists(st.tuples(st.sampled_from(("a", "b", "title", "x-1")), values), min_size=1, max_size=4)


@given(lines_of_values.map(lambda lines: "".join(f"{key}: {value}\n" for key, value in lines)))
def test_lines_of_keys_and_values_are_read_as_libyaml_reads_them(text: str) -> None:
    assert parse_yaml(text, "a.yaml", 2) == read_events(text, "a.yaml", 2, 1)
