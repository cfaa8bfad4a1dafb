"""Social cards: the pictures that other sites show for a link to a page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace

import pytest
from selectolax.lexbor import LexborHTMLParser

from sitegen.render.outputs.cards import draw, wrapped
from sitegen.render.shared.templates import TemplateFailure

Pages = dict[str, str | bytes]


@pytest.fixture(scope="module")
def cards(make: SimpleNamespace) -> Pages:
    """Return the cards without drawing them: each picture is its source."""

    def drawn(source: str, draw: Callable[[str], bytes]) -> bytes:
        return source.encode()

    site = make.site()
    return make.rendered(replace(site, config=replace(site.config, cards=True)), drawn=drawn)


def said(pages: Pages, path: str) -> str:
    drawing = pages[path]
    assert isinstance(drawing, bytes)
    return " ".join(node.text() for node in LexborHTMLParser(drawing.decode()).css("text"))


def test_every_page_leads_to_a_card_that_is_there(cards: Pages) -> None:
    for path in (path for path in cards if path.endswith("index.html")):
        image = LexborHTMLParser(str(cards[path])).css_first('meta[property="og:image"]')
        assert image is not None, path
        url = image.attributes["content"] or ""
        assert url.removeprefix("https://example.org/blog/") in cards, path
        assert 'content="summary_large_image"' in str(cards[path])
    own = {path.rpartition("/")[0] for path in cards if path.endswith("social-card.png")}
    assert {"", "about", "posts/softmax", "posts/sum", "series/gpu-systems", "kernels/softmax"} <= own


def test_without_the_option_nothing_is_drawn(pages: Pages) -> None:
    assert not [path for path in pages if path.endswith(".png")]
    assert "og:image" not in str(pages["index.html"])


def test_a_post_shows_what_it_measured_and_whose_numbers_they_are(cards: Pages) -> None:
    words = said(cards, "posts/softmax/social-card.png")
    assert words.startswith("Warp & Weft A softmax that reads memory once fused 95\u00a0% torch.compile 83\u00a0%")
    assert "naive 38\u00a0%" in words
    assert words.endswith("softmax 8192\u00a0×\u00a08192 float32, of ceiling  ·  NVIDIA H200, 2026-11-21, 1a2b3c4")


def test_a_post_without_measurements_shows_its_description(cards: Pages) -> None:
    words = said(cards, "posts/sum/social-card.png")
    assert "Adding many numbers, in one sentence." in words
    assert words.endswith("14\u00a0November 2026  ·  1\u00a0min  ·  triton")


def test_every_card_of_the_theme_can_be_drawn(cards: Pages) -> None:
    sources = [
        page.decode() for path, page in cards.items() if path.endswith("social-card.png") and isinstance(page, bytes)
    ]
    assert len({draw(source) for source in sources}) == len(set(sources)) > 5


def test_a_card_that_nobody_can_draw_is_a_mistake_in_its_template() -> None:
    with pytest.raises(TemplateFailure, match="no `circle`") as raised:
        draw('<svg xmlns="http://www.w3.org/2000/svg"><circle r="9"/></svg>')
    assert (raised.value.name, raised.value.lineno) == ("card.svg", 1)


@pytest.mark.parametrize("text", ["", "word", "many words " * 30, "긴 제목 " * 20, "unbreakable" * 20])
def test_no_word_of_a_title_is_lost_in_wrapping(text: str) -> None:
    assert " ".join(wrapped(text, 72)).split() == text.split()


def test_wide_letters_make_shorter_lines() -> None:
    assert len(wrapped("가나다라마바사 " * 6, 72)) > len(wrapped("abcdefg " * 6, 72))
