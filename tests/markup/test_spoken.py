"""Generated words are in the language of the text, and the author's words stay as they are."""

from __future__ import annotations

import json

import pytest

from sitegen.diagnostics import Span
from sitegen.markup.documents import documents_of
from sitegen.markup.parse import parse_document
from sitegen.markup.pieces import Pieces
from sitegen.model.document import BenchmarkSlot, Document
from sitegen.model.site import Markdown, Page
from sitegen.model.vocabulary import ENGLISH, Vocabulary
from sitegen.render.shared.default_theme import default_folder

KOREAN = Vocabulary("ko", json.loads((default_folder() / "languages/ko.json").read_text(encoding="utf-8")))
POST = "content/posts/times/index.ko.md"
FIGURE = "```{figure} plot.png\n:alt: 그림\n:label: fig-plot\n늘어난다.\n```\n"


def spoken(text: str, language: Vocabulary = KOREAN, pieces: Pieces | None = None) -> Document:
    document, diagnostics = parse_document(Markdown(text, POST), numbered=True, spoken=language, pieces=pieces)
    assert diagnostics == ()
    return document


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (FIGURE, "<b>그림 1.</b> 늘어난다."),
        (f"{FIGURE}\n[@fig-plot]에서", '<a href="#fig-plot">그림&nbsp;1</a>에서'),
        (f"[도해 @fig-plot]\n\n{FIGURE}", '<a href="#fig-plot">도해&nbsp;1</a>'),
        ("| a |\n|---|\n| b |\n\n: 시간 {#tbl-a}\n", 'aria-label="표 1"'),
        ("| a | b |\n|---|---|\n| c | d |\n", 'aria-label="a, b 표"'),
        ("$$ x $$ {#eq-x}\n\n@eq-x", '<a href="#eq-x">식&nbsp;1</a>'),
        ("$$ x $$ {#eq-x}", '<span class="no">(1)</span>'),
        ("## 하나 {#sec-one}\n\n@sec-one", '<a href="#sec-one">1절</a>'),
        ("## 하나 {#sec-one}\n\n[-@sec-one]", '<a href="#sec-one">1</a>'),
        ("> [!WARNING]\n> 조심.\n", ">경고</h3>"),
        (":::{tip} 제목\n글\n:::\n", ">팁: 제목</h3>"),
        (":::{margin}\n글\n:::\n", 'aria-label="참고"'),
        ("글[^a]\n\n[^a]: 주석\n", 'aria-label="주 1"'),
        ("글[^a]\n\n[^a]: 주석\n", 'aria-label="주 1, 본문으로 돌아가기"'),
        ("- [x] 했다\n", '<span class="vh">완료:</span>'),
        ("```python\nx\n```\n", 'aria-label="Python 코드"'),
        ("```text\nx\n```\n", 'aria-label="일반 텍스트 코드"'),
        ("```python code-fold=true\nx\n```\n", "<summary>코드, 1줄</summary>"),
        ("{spec}`4.8 TB/s`", 'title="제조사의 수치"'),
    ],
)
def test_a_korean_text_speaks_korean(text: str, said: str) -> None:
    assert said in spoken(text).html


def test_notes_of_a_listing_speak_its_language() -> None:
    html = spoken("```python\nx = 1  # <1>\n```\n\n1. 첫째\n").html
    assert 'aria-label="주 1">1</a>' in html
    assert 'aria-label="주 1, 코드의 줄로 돌아가기"' in html


def test_what_is_filled_in_later_has_its_name_in_the_language() -> None:
    (slot,) = spoken("```{benchmark} softmax\n:label: tbl-a\n```\n").slots
    assert isinstance(slot, BenchmarkSlot)
    assert slot.number == "표 1"


def test_a_listing_that_was_made_in_another_language_is_made_again() -> None:
    before, after = Pieces(), "```python\nx\n```\n"
    spoken(after, ENGLISH, before)
    assert 'aria-label="Python 코드"' in spoken(after, pieces=Pieces(before.used)).html


def test_what_a_catalogue_lacks_is_english_and_what_it_says_cannot_break_the_page() -> None:
    odd = Vocabulary("xx", {"Figure {n}": '"{m}" <{n}>', "Warning": "<b>"})
    html = spoken(f"{FIGURE}\n@fig-plot\n\n> [!TIP]\n> Words.\n", odd).html
    assert "<b>&quot;{m}&quot; &lt;1&gt;.</b>" in html
    assert ">Tip</h3>" in html


def test_each_text_of_a_site_is_read_in_its_language() -> None:
    body = Markdown("> [!TIP]\n> Words.\n", "content/pages/about.md")
    for lang, said in (("", "Tip"), ("ko", "팁")):
        page = Page("about", "About", body, Span(body.path), lang=lang)
        ((_, (document, _)),) = documents_of(page, {"": ENGLISH, "ko": KOREAN}.__getitem__)
        assert f">{said}</h3>" in document.html
