"""A question of a text, with its choices and its answer."""

from __future__ import annotations

from dataclasses import dataclass

QUIZZES = "quiz"
"""The name under which a Document keeps its questions."""


@dataclass(frozen=True, slots=True)
class Quiz:
    """A question of a text, all of it in Markdown."""

    id: str
    """The id of the question on the page of its text."""
    question: str
    choices: tuple[str, ...]
    """The choices; empty when the answer is free text."""
    answer: str
