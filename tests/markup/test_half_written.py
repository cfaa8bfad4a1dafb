"""A link or a role that Markdown shows as text is a warning; brackets of prose, code and formulas are none."""

from __future__ import annotations

import pytest

from sitegen.markup.parse import parse_document
from sitegen.model.site import Markdown


def mistakes(text: str, path: str = "content/posts/a.md") -> list[tuple[str, int, int, str]]:
    """Return the code, the place and the hint of each mistake."""
    found = parse_document(Markdown(text, path, 1))[1]
    return [(one.code, one.span.line, one.span.col, one.hint) for one in found]


@pytest.mark.parametrize(
    "text",
    [
        "An element is a[i][j], and kernel[grid](x) calls.\n",
        "In `[a][b]` and `{term}[a]`, and $x[i][j]$ too.\n",
        "Backslashes: \\[a guide\\]\\[hopper\\], \\{term}[a].\n",
        "Numbers in brackets [12][34], and [0, 1) (half open).\n",
        "[the guide][hopper]\n\n[hopper]: /guide/\n",
        "- [ ] a task (open)\n- [x] (done)\n",
        "A set {a, b}, a name {name} and the word {term}.\n",
        "{term}`warp` and {sub}`2`.\n",
        "[a](/b/) (https://example.org/), [c] (see below).\n",
    ],
)
def test_brackets_that_are_meant_so_are_no_mistake(text: str) -> None:
    assert [one for one in mistakes(text) if one[0] == "SG144"] == []


@pytest.mark.parametrize(
    ("text", "line", "col", "hint"),
    [
        ("a\n\nSee [the guide][hopper].\n", 3, 5, "add a line `[hopper]: https://…`"),
        ("- one\n- *two* [talk](https://example.org/a b)\n", 2, 9, "write `[talk](…)`: the address has no space in it"),
        ("> See [talk] (https://example.org/)\n", 1, 7, "write `[talk](https://…)`, without a space"),
        ("A {term}[warp] loads.\n", 1, 3, "write {term}`…`"),
        ("A {term} `warp` loads.\n", 1, 3, "write {term}`…`"),
        ("| a |\n|---|\n| {kbd}(Ctrl) |\n", 3, 3, "write {kbd}`…`"),
    ],
)
def test_what_lacks_a_sign_is_named_with_its_place_and_what_to_write(text: str, line: int, col: int, hint: str) -> None:
    ((code, *place, said),) = mistakes(text)
    assert (code, place) == ("SG144", [line, col])
    assert said.startswith(hint)


def test_links_of_the_worklog_are_read_by_its_own_rules() -> None:
    assert mistakes("See [the guide][hopper].\n", "content/worklog/2026-11-20.md") == []
