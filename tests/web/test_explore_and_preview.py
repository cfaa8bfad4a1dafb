"""A figure to explore by keyboard alone, in print and without script; and the definition of a term beside its link."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture(scope="module")
def explored(made: Any, node: Any) -> dict[str, Any]:
    given = {"url": made.url("posts/everything/index.html"), "term": "terms/warp/"}
    return node("explore.mjs", given)  # type: ignore[no-any-return]


def test_the_keys_of_a_slider_choose_the_figure(explored: dict[str, Any]) -> None:
    assert explored["reached"]
    shown = [(at["key"], at["shown"], at["value"], at["spoken"]) for at in explored["keys"]]
    assert shown == [
        ("", ["2"], "2", "2"),
        ("ArrowRight", ["4"], "4", "4"),
        ("End", ["8"], "8", "8"),
        ("ArrowLeft", ["4"], "4", "4"),
        ("Home", ["2"], "2", "2"),
    ]


def test_a_screen_reader_hears_what_the_chosen_figure_shows(explored: dict[str, Any]) -> None:
    first, *moved = explored["keys"]
    assert first["said"] == "", "nothing is said before the reader moves the slider"
    assert [at["said"] for at in moved] == [at["words"] for at in moved]
    assert "2 rows of 4" in moved[0]["said"]


def test_print_shows_the_chosen_figure_and_all_values_without_the_slider(explored: dict[str, Any]) -> None:
    printed = explored["print"]
    assert (printed["shown"], printed["value"]) == (["4"], "4")
    assert (printed["slider"], printed["rows"]) == (False, 3)


def test_without_script_the_figure_stands_still_and_is_complete(explored: dict[str, Any]) -> None:
    still = explored["still"]
    assert (still["shown"], still["value"], still["slider"]) == (["2"], "2", False)
    assert explored["followed"].endswith("/terms/warp/"), "the link of a term leads to the glossary"


def test_a_pointer_opens_the_definition_and_may_move_into_it(explored: dict[str, Any]) -> None:
    assert explored["hovered"]["open"] and explored["within"]["open"]
    assert "32 threads in lockstep" in explored["hovered"]["text"]
    assert explored["hovered"]["pictures"] == 1
    assert not explored["escaped"]["open"]


def test_focus_opens_the_definition_until_escape_or_the_next_tab(explored: dict[str, Any]) -> None:
    assert explored["tabbed"] and explored["focused"]["open"]
    assert explored["focused"]["describes"] == "a term"
    assert not explored["dismissed"]["open"] and explored["dismissed"]["describes"] == ""
    assert not explored["left"]["open"]


def test_neither_axe_nor_the_policy_complains_of_an_open_definition(explored: dict[str, Any]) -> None:
    assert explored["axe"] == []
    assert explored["complaints"] == []
