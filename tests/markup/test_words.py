"""Words are counted as a reader would."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitegen.markup.parse import parse_document
from sitegen.markup.words import _count
from sitegen.model.markdown import Markdown


@given(st.text("ab -\n\t\x0b\x1c\x7f", max_size=30))
def test_words_stand_between_blanks_of_any_kind_and_number(text: str) -> None:
    assert _count(text) == len(text.split())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 0),
        ("One two.\nthree\n\n- four\n- `five six`\n", 6),
        ("| a | b c |\n|---|---|\n|  |  |\n", 3),
        ("커널은 빠르다\n", 2),
        ("核は速い\n", 2),
    ],
)
def test_words_of_a_text(text: str, words: int) -> None:
    assert parse_document(Markdown(text, "content/pages/a.md"))[0].words == words
