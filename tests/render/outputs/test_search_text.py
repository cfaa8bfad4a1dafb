"""The words of a page are those of its sentences, in the sections in which they stand."""

from __future__ import annotations

import pytest

from sitegen.render.outputs.search_text import PageText, Section, page_text, text_as_json, text_from_json


def texts(html: str) -> list[str]:
    return [section.text for section in page_text(html).sections]


def test_sections_begin_at_headings_with_an_address() -> None:
    html = '<h1>A <em>title</em></h1><p>Above.</p><h2 id="a">One &amp; two</h2><p>Text.</p><h3>No address</h3>'
    above, one = Section("", "", "Above."), Section("a", "One & two", "Text. No address")
    assert page_text(html) == PageText("A title", (above, one))


@pytest.mark.parametrize(
    "around",
    [
        "<head><title>x</title></head>",
        '<nav class="toc"><ul><li>x</li></ul></nav>',
        '<div class="plate"><div>x</div>x</div>',
        '<p class="lede meta">x</p>',
        '<section aria-labelledby="used"><section>x</section></section>',
        '<table class="data wide"><thead><tr><th>x</th></tr></thead></table>',
        '<table class="data"><tr><th scope="row">x</th><td class="r">x</td></tr></table>',
        '<ol class="ladder"><li><figure>x</figure></li></ol>',
        '<div class="claim"><details>x</details></div>',
        "<!-- <p>x</p> -->",
    ],
)
def test_what_surrounds_the_text_is_left_out(around: str) -> None:
    assert texts(f"<p>Before.</p>{around}<p>After.</p>") == ["Before. After."]


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>un<b>bro</b>ken</p><p>next</p>", "unbroken next"),
        ('<table class="data"><tr><td class="l">kept</td></tr></table>', "kept"),
        ("<table><tr><td>kept</td><td>too</td></tr></table>", "kept too"),
        ("<details>kept</details>", "kept"),
        ("<pre>a &lt; b\n\n  c</pre>", "a < b c"),
        ('<p class="notmeta">kept</p>', "kept"),
    ],
)
def test_a_word_ends_where_the_reader_sees_it_end(html: str, text: str) -> None:
    assert texts(html) == [text]


def test_an_element_that_a_template_never_closes_takes_nothing_along() -> None:
    assert texts('<div class="meta">Day <p>Text.</p>') == ["Day Text."]
    assert texts('<input class="no"><p>Text.</p>') == ["Text."]


def test_the_next_build_reads_the_same_text() -> None:
    text = PageText("대역폭", (Section("a", 'A "heading"', "Text."),))
    assert text_from_json(text_as_json(text)) == text
