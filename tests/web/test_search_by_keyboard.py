"""Search with the keyboard alone, in the published pages."""

from __future__ import annotations

from typing import Any

import pytest

ASKS = {
    "pomegranate": "posts/everything/",
    "quokka": "worklog/2026-11-20/",
    "vector_add": "kernels/vector_add/",
    "대역폭": "ko/posts/korean/",
    "lockstep": "terms/warp/",
}
"""Words of a post, of a day, of a kernel, in Korean and of a term, each with the page that contains it."""
HIDDEN = "zibeline"
"""A word of a draft."""


@pytest.fixture(scope="module")
def searched(made: Any, node: Any) -> dict[str, Any]:
    return node("search.mjs", {"base": made.url("index.html"), "asks": [*ASKS, HIDDEN]})  # type: ignore[no-any-return]


@pytest.mark.parametrize("words", ASKS)
def test_slash_words_enter_leads_to_the_page(searched: dict[str, Any], words: str) -> None:
    answer = next(one for one in searched["answers"] if one["words"] == words)
    assert ASKS[words] in answer["url"]
    assert answer["first"] != answer["back"] == "q", "down goes to what is found, escape back to the question"
    assert answer["kept"] == words, "who comes back finds what they had asked"


def test_a_draft_is_not_found(searched: dict[str, Any]) -> None:
    """Search finds at most words that begin like it."""
    answer = next(one for one in searched["answers"] if one["words"] == HIDDEN)
    assert "/draft/" not in answer.get("url", "")


def test_nothing_of_the_index_is_loaded_before_the_first_word(searched: dict[str, Any]) -> None:
    assert searched["before"] == []


def test_a_kind_alone_can_be_asked_for(searched: dict[str, Any]) -> None:
    assert set(searched["kernels"]) == {"Kernels"}
    assert 0 < len(searched["kernels"]) < searched["all"]


def test_escape_empties_the_question_and_then_leads_back(searched: dict[str, Any]) -> None:
    assert searched["emptied"] == ""
    assert searched["left"].endswith("/about/")


def test_the_policy_lets_all_of_it_pass(searched: dict[str, Any]) -> None:
    assert searched["complaints"] == []
