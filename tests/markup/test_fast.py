"""A text is read the same with all shortcuts and with none."""

from __future__ import annotations

import re
from importlib.metadata import distributions
from unittest.mock import patch

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it.rules_inline import StateInline

from sitegen.markup import parse
from sitegen.markup.fast.addresses import UNCHANGED
from sitegen.markup.fast.rules_by_character import ANYWHERE, BLOCK, INLINE
from sitegen.model.site import Markdown

SLOW = parse.text_parser(fast=False)
"""The parser without any shortcut."""
PIECES = [
    *"*_~`$[]()!<>&{}:|\\#+-=\n\t ",
    *("  \n", "\n\n", "\n    ", "\n> ", "\n- ", "\n2) ", "\n# ", "\n## a {#b}\n", "\n===\n", "\n---\n", "\n***\n"),
    *("\n```python\n", "\n~~~\n", "\n:::\n", "\n:::{note} n\n", "\n```{figure} a.png\n", "\n$$\nx\n$$\n", "\n<div>\n"),
    *(
        "\n| a | b |\n|--:|---|\n| 1 |  |\n",
        "\nterm\n: what\n",
        "\n[^n]: note\n",
        "[^n]",
        "[^lost]",
        "\n[r]: /u\n",
        "[r]",
    ),
    *(
        "\n{#block .c}\n",
        "![a](b.png){#i}",
        "[a *b*](c.md)",
        "{kbd}`x`",
        "<b>",
        "</b>",
        "<https://a.b>",
        "https://a.b*",
    ),
    *(
        "\n\nwords\nmore words\n\n",
        "\n\n- a\n- `b` c\n",
        "\n\n* a\n* b\n\n\n* c\n",
        "\n\n+ a\n- b\n",
        "\n\n- a\n\n  b\n\n",
        "\n\n",
    ),
    *(
        "\n\n## a `b`\n\n",
        "\n\n# a\n\n: b\n",
        "\n\n### a # b ##  \n",
        "\n\n#\ta\n\n",
        "\n\n####### a\n\n# \n\n",
        "\n\n# a | b\n-|-\n",
        "\n\n# a {#b}\n\n",
    ),
    *(
        "\n\n|a|b\n|:-:|--:|\n|1.5|x|\n|2||\n\n",
        "\n\n| a |\n|---|\n| 1 |\n| 2.5 |\n\n: cap\n",
        "\n| a |\n|\u00a0---|\n",
        "|",
    ),
    *(
        "\n\n|`a`|b|\n|-|-|\n| `1.5` | `` |\n|`1`|`a`b|\n\n",
        "\n\n|`a`|\n|-|\n|`1.25`|\n|2|\n|`a<b`|\n\n",
        "\n\n| |\n|:-|\n|-|\n| 12 us |\n\n",
        "\n\n~~~~ x\n~~~\n~~~~~ \n",
        "\n\n````\n```\n````\n",
        "\n```c\nx <1>\n// <1>\n```\n\n1. a\n",
    ),
    *(
        "[a b](../c.md#d)",
        "[_a_ b](c.md)",
        "[a](//B.c)",
        "`a b`",
        "``a``",
        "` a `",
        "**a b**, *c*",
        "//a.b/c",
        "\n\n{.c #d}\nwords `a`\n\n",
        '\n\n"*a*" *b*> (**c**)\n\n',
    ),
    *(
        "[r s][]",
        "[a b][r]",
        "[_a_][R]",
        "[a_b c][r_s]",
        "[a\nb][r\ns]",
        "[a \n b][r]",
        "[a: b](https://a.b/c?d=%20e#f)",
        "[a](https://a.b:80/c)",
        "[a][lost]",
        "[a//b][r]",
    ),
    *(
        "\n\n[r]: /u\n[r s]: https://a.b/c_d\n\n",
        "\n\n[R_S]: https://a.b\n'title'\n\n",
        "\n\n[r]: /u 'title'\n[r]: /v\n[a]: <b>\n\n",
        "\n\n[r]: a\\*b\n[&amp;]: /c&amp;d\n\n",
        "\n\n[r]: /u\nwords\n\n",
        "\n\n[r]:\n/u\n[^n]: note\n\n",
    ),
    *(
        "a_b",
        "_a_b",
        "a__b",
        "a_",
        "mailto:a@b.c",
        "http&#58;//a.b",
        "&amp;",
        "**bold**",
        "`a`{.c}",
        "~~no~~",
        "$x_1$",
        "word",
        "한국어",
        "\0",
    ),
]

BEGINNINGS = [
    *(
        "a  \nb",
        "\\*a*",
        "$x$",
        "{kbd}`x`",
        "`a`{.c}",
        "~~a~~",
        "*a*",
        "_a_",
        "[a](b.md)",
        "[_a_](b.md)",
        "![a](b.png)",
        "a[^lost]",
    ),
    *("a[^n]\n\n[^n]: note", "<https://a.b>", "<b>a</b>", "&amp;", "https://a.b/_c_d_"),
    *(f"{mark}{{{kind}}} a.png\nb\n{mark}" for mark in ("```", "~~~", ":::") for kind in ("note", "figure")),
    *(f"{mark}\na\n{mark}" for mark in ("```", "~~~", ":::", "$$")),
    *(f"{mark} a" for mark in (">", "#", "*", "+", "-", *(f"{digit}." for digit in range(10)))),
    *("``` {note}\na\n```", " ```\na\n```", "~~~ a`b\n~~~", "``` a`b\n```", "```\n~~~\n", "```c\na\n\n ````\t\nb"),
    *("***", "---", "___", "{#i}\na", "[r]: /u\n\n[r]", "<div>\n*a*\n</div>"),
]


TEXTS_WITH_DEFINITIONS = [
    "[a b][r] and [r][]\n\n[r]: /u\n[s]: https://a.b/c_d\n",
    "[r](/v) [r]{.c} [r] [lost] [a][lost] ![r]\n\n[R]: https://a.b 'title'\n",
    "[a [r] b](c.md) [[r]](d.md) [r]\n\n[r]: /u\n[r]: /v\n",
    "- [a\n  b][r  s]\n- [r\n  s][]\n\n[r s]: /u?a=b#c\n",
    "[*a*][r] [`a`][r] [r][*a*]\n\n[r]: /u\n\n[*a*]: /v\n",
    "[r] [s]\n\n[r]: https://A.b/%20%zz\n[s]: /a(b)c\n[ ]: /u\n",
]


def is_read_as_before(text: str) -> bool:
    body = Markdown(text, "content/posts/a.md")
    found = parse.parse_document(body)
    with patch.object(parse, "text_parser", lambda: SLOW):
        return found == parse.parse_document(body)


@pytest.mark.parametrize("text", BEGINNINGS)
def test_every_beginning_of_a_rule_is_known(text: str) -> None:
    assert is_read_as_before(text)


@pytest.mark.parametrize("text", TEXTS_WITH_DEFINITIONS)
def test_links_with_definitions_are_read_the_same(text: str) -> None:
    assert is_read_as_before(text)


ADDRESSES = st.text("ab.-/?#%20:@_~'*=&;(é ", max_size=12)


@given(st.tuples(st.sampled_from(["", "/", "//", "http://", "https://", "a:"]), ADDRESSES).map("".join))
@example("https://" + 70 * "a" + "/b")
@example("https://a.b:80/c")
@example("https://a@b/c")
@example("a%2")
def test_an_address_that_is_left_as_it_is_would_be_left_by_the_library(address: str) -> None:
    if re.fullmatch(UNCHANGED, address):
        assert (SLOW.normalizeLink(address), SLOW.validateLink(address)) == (address, True)


@given(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=3)), max_size=25).map("".join))
def test_a_text_is_read_as_when_every_rule_is_tried_everywhere(text: str) -> None:
    assert is_read_as_before(text)


def test_what_people_write_is_read_as_when_every_rule_is_tried_everywhere() -> None:
    """The texts are descriptions of the packages that are installed here, and most are Markdown."""
    texts = {one.name: one.metadata.get_payload() for one in distributions()}
    assert [name for name, text in texts.items() if text and not is_read_as_before(text)] == []


@pytest.mark.parametrize("name", ["inline", "block"])
def test_every_rule_that_is_named_is_one_of_the_parser(name: str) -> None:
    """If a plugin renamed its rule, the rule would be tried everywhere, and nothing would show it."""
    ruler = getattr(SLOW, name).ruler
    assert {"inline": INLINE, "block": BLOCK}[name].keys() <= set(ruler.get_active_rules())


def test_every_inline_rule_is_named_but_that_for_what_is_between() -> None:
    """An inline rule without a name here would never be tried in the middle of words."""
    assert set(SLOW.inline.ruler.get_active_rules()) - INLINE.keys() == {"text"}


def test_every_block_rule_is_named_or_known_to_begin_anywhere() -> None:
    """A block rule without a name here would never be tried at a line that looks like a paragraph."""
    assert set(SLOW.block.ruler.get_active_rules()) - BLOCK.keys() == ANYWHERE


def test_links_with_labels_take_the_short_way() -> None:
    """If the regex refused them all, they would be read the same, and nothing would show the lost time."""
    asked: list[str] = []

    def note(state: StateInline, _silent: bool) -> bool:
        asked.append(state.src)
        return False

    rules = {"[": [note]}
    with patch.object(parse.text_parser().inline, "rules_of", rules):
        parse.parse_document(Markdown("[a_b c][r s], [r s][] and [lost][x y].\n\n[r s]: https://a.b/c\n", "a.md"))
    assert asked == []


def test_definitions_take_the_short_way() -> None:
    with patch.object(parse.text_parser().block, "_by_rules", side_effect=AssertionError):
        parse.parse_document(Markdown("Words.\n\n[r]: https://a.b/c\n[s]: /d\n\n\n[t]: #e\n", "a.md"))
