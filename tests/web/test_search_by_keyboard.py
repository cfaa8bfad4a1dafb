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


def test_last_questions_that_found_something_are_kept(searched: dict[str, Any]) -> None:
    kept = searched["questions"]
    assert kept["first"] == []
    assert kept["followed"] == ["softmax"]
    assert kept["left"] == ["pomegranate", "softmax"]
    assert kept["nothing"] == ["pomegranate", "softmax"]


def test_a_kept_question_is_asked_again_and_hidden_meanwhile(searched: dict[str, Any]) -> None:
    assert searched["questions"]["again"] == ["pomegranate", "q", 0]
    assert searched["questions"]["emptied"] == ["pomegranate", "softmax"]


def test_a_kept_question_is_removed_by_keyboard(searched: dict[str, Any]) -> None:
    kept = searched["questions"]
    assert kept["deleted"] == [["pomegranate"], "pomegranate"], "the focus goes to the question that is left"
    assert kept["cross"] == "Remove: pomegranate"
    assert kept["removed"] == [[], "q", "[]"]


def test_what_others_stored_is_no_question_and_five_are_kept(searched: dict[str, Any]) -> None:
    assert searched["questions"]["odd"] == [[], [], ["1", "3", "4", "5", "6"]]
    assert searched["questions"]["most"] == ["quokka", "1", "3", "4", "5"]
    assert searched["questions"]["complaints"] == []


def test_without_javascript_there_are_no_questions(searched: dict[str, Any]) -> None:
    assert searched["questions"]["plain"] == [False, True]
