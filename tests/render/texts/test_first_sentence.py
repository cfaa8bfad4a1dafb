"""The first sentence of a text, as a list of terms shows it."""

import pytest

from sitegen.markup.parse import parse_document
from sitegen.model.markdown import Markdown
from sitegen.render.texts.first_sentence import first_sentence


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", ""),
        ("- a list\n- alone", ""),
        ("No end", "No end"),
        ("One. Two.", "One."),
        ("One,\nover lines. Two.", "One, over lines."),
        ("Rate, e.g. bytes in 1.5 s. More.", "Rate, e.g. bytes in 1.5\u00a0s."),
        ("Is it (so?) Yes.", "Is it (so?) Yes."),
        ("Of `a. B` and *C. D* all. Rest.", "Of <code>a. B</code> and <em>C. D</em> all."),
        ("See [a warp](warp.md). More.", "See a warp."),
        ("A {term}`warp`, too. More.", "A warp, too."),
        ("A fact.[^1] More.\n\n[^1]: Why.", "A fact."),
        ("끝. 다음.", "끝."),
        ("终。下。", "终。"),
        ("One paragraph\n\nAnother.", "One paragraph"),
    ],
)
def test_the_first_sentence_of_a_text_is_its_words_without_links(text: str, shown: str) -> None:
    assert first_sentence(parse_document(Markdown(text, "content/terms/a.md", 1))[0].html) == shown


def test_a_formula_stays_one() -> None:
    shown = first_sentence(parse_document(Markdown("A *warp* of $2^5$ threads. Text.", "a.md", 1))[0].html)
    assert shown.startswith("A <em>warp</em> of <math")
    assert shown.endswith("</math> threads.")
