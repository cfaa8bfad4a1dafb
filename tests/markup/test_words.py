"""Words are counted as a reader would."""

from __future__ import annotations

import pytest

from sitegen.markup.parse import parse_document
from sitegen.model.markdown import Markdown


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
