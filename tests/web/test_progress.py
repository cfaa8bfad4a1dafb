"""A reader's progress reaches an empty profile by link and by file, and questions come back when they are due."""

from __future__ import annotations

from typing import Any

import pytest

KEPT = ["exercise:softmax", "post:everything", "post:plain"]


@pytest.fixture(scope="module")
def read(made: Any, node: Any) -> dict[str, Any]:
    """What a browser did that read two posts, solved an exercise, and answered two questions."""
    url = made.url
    given = {
        "series": url("series/route/index.html"),
        "posts": [url("posts/everything/index.html"), url("posts/plain/index.html")],
        "exercise": url("exercises/softmax/index.html"),
        "review": url("series/route/review/index.html"),
    }
    return node("progress.mjs", given)  # type: ignore[no-any-return]


def test_two_posts_that_were_read_and_an_exercise_are_kept(read: dict[str, Any]) -> None:
    assert read["kept"] == read["shown"]["marked"] == KEPT
    assert read["early"] == [], "a post counts as read when its end was seen, not when it opens"
    assert read["shown"]["counts"] == ["you: 3 of 3"]


@pytest.mark.parametrize("way", ["byLink", "byFile"])
def test_an_empty_profile_has_the_same_progress(read: dict[str, Any], way: str) -> None:
    assert read["empty"]["kept"] == read["empty"]["shown"]["marked"] == []
    assert (read[way]["kept"], read[way]["shown"]) == (read["kept"], read["shown"])


def test_the_link_leaves_no_progress_in_the_address(read: dict[str, Any]) -> None:
    assert "#" not in read["byLink"]["address"]


def test_questions_are_answered_by_keyboard(read: dict[str, Any]) -> None:
    assert (read["before"], read["closed"]) == ("2 of 2 due today.", "2 of 2 due today."), (
        "a folded answer takes no key"
    )
    assert len(set(read["cards"])) == 2
    assert read["after"] == "Nothing is due today. The next question comes in 1 d."
    assert read["focused"] == "Show all questions", "the focus stays on the page when the last question goes"


def test_a_known_question_comes_back_later_each_time(read: dict[str, Any]) -> None:
    unknown, known = read["cards"]
    assert read["states"] == {unknown: [0, read["today"] + 1], known: [0, read["today"] + 1]}
    assert read["again"] == known
    assert read["later"] == [1, read["today"] + 3]


def test_the_policy_lets_all_of_it_pass(read: dict[str, Any]) -> None:
    assert read["complaints"] == []
