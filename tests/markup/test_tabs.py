"""Tabs show one of several versions, and the page contains all of them."""

from __future__ import annotations

import pytest
from selectolax.lexbor import LexborHTMLParser

from sitegen.diagnostics import Diagnostic
from sitegen.markup.parse import parse_document
from sitegen.model.document import ListingSlot
from sitegen.model.markdown import Markdown

POST = "content/posts/times/index.md"
SET = """::::{tab-set}
:::{tab-item} Triton
```triton
x = 1
```
:::
:::{tab-item} CUDA C++
:sync: cuda

```{kernel} softmax/naive
```
Words with **weight**.
:::
::::
"""


def mistakes(text: str) -> list[Diagnostic]:
    return list(parse_document(Markdown(text, POST))[1])


def page(text: str, id_prefix: str = "") -> LexborHTMLParser:
    document, diagnostics = parse_document(Markdown(text, POST), id_prefix=id_prefix)
    assert diagnostics == ()
    return LexborHTMLParser(document.html.replace("\0", ""))


def test_each_panel_follows_its_button_and_its_name() -> None:
    tree = page(SET)
    assert tree.css_first(".tabs").attributes["aria-label"] == "Triton, CUDA C++"
    assert [(n.attributes["value"], n.attributes["id"]) for n in tree.css(".tabs > input[type=radio]")] == [
        ("triton", "tabs-1-1"),
        ("cuda", "tabs-1-2"),
    ]
    assert [n.text() for n in tree.css("input + label[for^=tabs-1] ")] == ["Triton", "CUDA C++"]
    assert len(tree.css(".tabs > label + .panel")) == 2


def test_first_tab_is_open() -> None:
    assert ["checked" in n.attributes for n in page(SET).css("input")] == [True, False]


def test_tab_holds_markdown_and_slots_of_its_own() -> None:
    document, _ = parse_document(Markdown(SET, POST))
    assert isinstance(document.slots[0], ListingSlot)
    assert page(SET).css_first(".panel strong").text() == "weight"


def test_sets_of_two_texts_on_one_page_are_chosen_apart() -> None:
    tree = page(f"{SET}\n{SET}", id_prefix="2026-11-21-")
    assert [n.attributes["name"] for n in tree.css("input")] == ["2026-11-21-tabs-1"] * 2 + ["2026-11-21-tabs-2"] * 2
    assert len({n.attributes["id"] for n in tree.css("[id]")}) == len(tree.css("[id]")) == 4


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("::::{tab-set}\n::::\n", 1, "a set of tabs without a tab"),
        (":::{tab-item} CUDA\nx\n:::\n", 1, "this tab stands in no `{tab-set}`"),
        ("::::{tab-set}\n:::{tab-item}\nx\n:::\n::::\n", 2, "a tab needs a title"),
        ("::::{tab-set}\nx\n:::{tab-item} a\nx\n:::\n::::\n", 2, "only a `{tab-item}` stands in a `{tab-set}`"),
        ("::::{tab-set}\n:::{tab-item} A\n:::\n:::{tab-item} a\n:::\n::::\n", 4, "two tabs of a set are `a`"),
    ],
)
def test_tab_out_of_its_place_is_named(text: str, line: int, message: str) -> None:
    (found,) = mistakes(text)
    assert (found.code, found.span.line, found.message) == ("SG124", line, message)


TWO = ":::{tab-item} A\nx\n:::\n\n:::{tab-item} B\ny\n:::\n"


@pytest.mark.parametrize(
    ("text", "line", "hint"),
    [
        (f"a\n\n{TWO}\n:::::\nb\n", 3, "write `:::::{tab-set}` above line 3; its end stands on line 11 already"),
        (f"{TWO}:::\n", 1, "write `::::{tab-set}` above line 1, and `::::` in place of line 8"),
        (TWO, 1, "write `::::{tab-set}` above line 1, and `::::` below line 7"),
        (f":::::{{note}} a\n{TWO}:::::\n", 2, "write `::::{tab-set}` above line 2, and `::::` below line 8"),
        ("> " + TWO[:-1].replace("\n", "\n> "), 1, "write `::::{tab-set}` above line 1, and `::::` below line 7"),
        (TWO.replace(":::", "```"), 1, "write `::::{tab-set}` above line 1, and `::::` below line 7"),
    ],
)
def test_tabs_without_a_set_are_one_mistake_that_says_where_the_set_begins_and_ends(
    text: str, line: int, hint: str
) -> None:
    [found] = mistakes(text)
    assert (found.message, found.span.line, found.hint) == ("these 2 tabs stand in no `{tab-set}`", line, hint)


def test_tabs_with_text_between_are_two_mistakes() -> None:
    found = mistakes(TWO.replace("\n\n", "\n\nAnd\n\n"))
    assert [(one.message, one.span.line) for one in found] == [
        ("this tab stands in no `{tab-set}`", 1),
        ("this tab stands in no `{tab-set}`", 7),
    ]


def test_tab_within_a_tab_without_a_set_is_a_mistake_of_its_own() -> None:
    found = mistakes(f"::::{{tab-item}} C\n{TWO}::::\n::::{{tab-item}} D\nx\n::::\n")
    assert sorted((one.span.line, one.message.partition(" stand")[0]) for one in found) == [
        (1, "these 2 tabs"),
        (2, "these 2 tabs"),
    ]


@pytest.mark.parametrize("colons", [":::::", ":::"])
def test_tabs_that_are_mended_as_the_hint_says_have_no_mistake(colons: str) -> None:
    [found] = mistakes(f"{TWO}{colons}\n")
    signs = found.hint.split("`")[1].removesuffix("{tab-set}")
    assert mistakes(f"{signs}{{tab-set}}\n{TWO}{signs}\n") == []


def test_callout_of_colons_is_a_callout() -> None:
    assert page(":::{note} Title\nText.\n:::\n").css_first("aside.callout p").text() == "Text."
