"""A post in two languages: the places of both, the links between them, and the language of each page's words."""

from __future__ import annotations

import ast
import datetime as dt
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import jinja2
import pytest
from selectolax.lexbor import LexborHTMLParser

import sitegen
from sitegen.markup import blocks, labels
from sitegen.markup.directives import callouts
from sitegen.markup.registry import declared
from sitegen.model.site import Page, Post
from sitegen.render.shared.language import PageLanguage, language, texts_of, translated
from sitegen.render.shared.theme import Theme, environment, in_language, load_theme
from sitegen.render.texts import claims
from sitegen.results.quantities import Missing

Pages = dict[str, str | bytes]
KO = "languages/ko.json"


def korean(post: Post, title: str, **also: object) -> Post:
    body = replace(post.body, path=f"content/posts/{post.slug}/index.ko.md")
    return replace(post, title=title, lang="ko", body=body, **also)


@pytest.fixture(scope="module")
def both(make: SimpleNamespace) -> Pages:
    """A site with softmax in two languages, a post only in Korean, and all else in English."""
    site = make.site()
    softmax, total, later = site.posts
    text = replace(total.body, text="본문.", path="content/posts/only/index.ko.md")
    only = replace(korean(total, "한국어로만"), slug="only", body=text, date=dt.date(2026, 11, 1))
    return make.rendered(replace(site, posts=(softmax, korean(softmax, "소프트맥스"), total, later, only)))


def page(pages: Mapping[str, str | bytes], path: str) -> LexborHTMLParser:
    return LexborHTMLParser(str(pages[path]))


def hrefs(pages: Pages, path: str, selector: str) -> list[str | None]:
    return [node.attributes["href"] for node in page(pages, path).css(selector)]


def words(pages: Pages, path: str, selector: str) -> str:
    node = page(pages, path).css_first(selector)
    assert node is not None
    return " ".join(node.text(separator=" ").replace("\u00a0", " ").split())


def test_both_tell_machines_and_readers_of_each_other(both: Pages) -> None:
    base = "https://example.org/blog/"
    for path in ("posts/softmax/index.html", "ko/posts/softmax/index.html"):
        links = page(both, path).css("link[hreflang]")
        assert [(link.attributes["hreflang"], link.attributes["href"]) for link in links] == [
            ("en", f"{base}posts/softmax/"),
            ("x-default", f"{base}posts/softmax/"),
            ("ko", f"{base}ko/posts/softmax/"),
        ]
    nav = page(both, "ko/posts/softmax/index.html").css('nav[aria-label="언어"] a')
    assert [(a.text(), a.attributes["lang"], a.attributes["href"]) for a in nav] == [
        ("English", "en", "../../../posts/softmax/"),
        ("한국어", "ko", "../../../ko/posts/softmax/"),
    ]


def test_a_post_in_one_language_offers_no_other(both: Pages) -> None:
    for path in ("posts/sum/index.html", "ko/posts/only/index.html"):
        assert not page(both, path).css("[hreflang]")


def test_each_language_has_its_own_lists(both: Pages) -> None:
    assert words(both, "posts/index.html", "ol.rows").count("min") == 2
    assert "소프트맥스" not in str(both["posts/index.html"])
    assert "소프트맥스" not in str(both["index.html"])
    assert [a.text() for a in page(both, "ko/posts/index.html").css("li.post a")] == ["소프트맥스", "한국어로만"]
    assert [a.text() for a in page(both, "ko/index.html").css("li.post a")] == ["소프트맥스", "한국어로만"]
    assert [a.text() for a in page(both, "ko/tags/triton/index.html").css("li.post a")] == ["소프트맥스", "한국어로만"]
    assert "ko/tags/index.html" in both
    assert hrefs(both, "ko/posts/softmax/index.html", "p.meta a[href*=tags]") == ["../../../ko/tags/triton/"]


def test_before_and_after_a_post_come_those_in_its_language(both: Pages) -> None:
    turn = 'nav.turn[aria-label="{}"] a'
    assert hrefs(both, "posts/softmax/index.html", turn.format("Posts by date")) == []  # it stands in the series
    assert hrefs(both, "ko/posts/softmax/index.html", turn.format("날짜순 글")) == ["../../../ko/posts/only/"]


def test_a_translation_stands_where_its_original_does_in_a_series(both: Pages) -> None:
    assert (
        words(both, "ko/posts/softmax/index.html", ".eyebrow")
        == "GPU Systems 2단계, Triton kernels 전체 2편 가운데 2편"
    )
    assert hrefs(both, "ko/posts/softmax/index.html", 'nav.turn a[rel="prev"]')[0] == "../../../posts/sum/"
    assert len(page(both, "series/gpu-systems/index.html").css("ol.parts li")) == 4


def test_a_page_says_its_language_and_speaks_it(both: Pages) -> None:
    for path in ("ko/posts/softmax/index.html", "ko/index.html", "ko/posts/index.html", "ko/tags/index.html"):
        html = page(both, path).css_first("html")
        assert html is not None
        assert html.attributes["lang"] == "ko"
    assert words(both, "ko/posts/softmax/index.html", "p.meta").startswith("2026년 11월 21일 1분")
    assert words(both, "ko/posts/softmax/index.html", "nav.toc h2") == "이 글의 차례"
    assert words(both, "posts/softmax/index.html", "nav.toc h2") == "On this page"


def test_the_script_hears_the_words_of_another_language(both: Pages) -> None:
    script = page(both, "ko/posts/softmax/index.html").css_first("script[src]")
    assert script is not None
    assert script.attributes["data-copy"] == "복사"
    assert "data-copy" not in str(both["posts/softmax/index.html"])


def test_a_translation_shows_what_the_cells_of_its_original_gave(both: Pages) -> None:
    for path in ("posts/softmax/index.html", "ko/posts/softmax/index.html"):
        assert words(both, path, "#first-look samp") == "1 < 2"


def test_each_page_links_the_undated_pages_of_its_language_from_its_own_folder(make: SimpleNamespace) -> None:
    """Pages of one language in folders of equal depth share the links below them, and no others do."""
    site = make.site()
    about = site.pages[0]
    korean = Page("about", "소개", replace(about.body, path="content/pages/about.ko.md"), about.span, lang="ko")
    pages = make.rendered(replace(site, pages=(about, korean)))
    assert hrefs(pages, "index.html", "footer .legend a")[0] == "about/"
    assert hrefs(pages, "about/index.html", "footer .legend a")[0] == "../about/"
    assert hrefs(pages, "posts/softmax/index.html", "footer .legend a")[0] == "../../about/"
    assert hrefs(pages, "terms/warp/index.html", "footer .legend a")[0] == "../../about/"
    assert hrefs(pages, "ko/about/index.html", "footer .legend a")[0] == "../../ko/about/"
    assert hrefs(pages, "404.html", "footer .legend a")[0] == "/blog/about/"


def test_a_page_in_a_language_without_posts_leads_to_the_lists_of_the_site(make: SimpleNamespace) -> None:
    site = make.site()
    about = site.pages[0]
    french = Page("sur", "À propos", replace(about.body, path="content/pages/sur.md"), about.span, lang="fr")
    pages = make.rendered(replace(site, pages=(about, french)))
    assert 'lang="fr"' in str(pages["fr/sur/index.html"])
    assert hrefs(pages, "fr/sur/index.html", "a.brand") == ["../../"]
    assert hrefs(pages, "index.html", "footer .legend a") == ["about/", "terms/", "feed.xml"]


def called(node: ast.Call) -> str:
    return node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")


def test_what_is_filled_into_a_page_speaks_its_language(make: SimpleNamespace) -> None:
    site = make.site()
    about = site.pages[0]
    body = replace(about.body, text="```{kernel} softmax/fused\n```\n", path="content/pages/sogae.md")
    pages = make.rendered(replace(site, pages=(about, Page("sogae", "소개", body, about.span, lang="ko"))))
    assert 'aria-label="softmax fused 소스"' in str(pages["ko/sogae/index.html"])


def test_the_catalogue_has_every_text_and_no_other() -> None:
    """These are the texts of templates, and those of modules."""
    templates = load_theme().templates
    said = texts_of(text for name, text in templates.items() if name.endswith(".html"))
    rooms = Path(sitegen.__file__).parent
    for file in (*rooms.glob("render/**/*.py"), *rooms.glob("markup/**/*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and called(node) in ("say", "_counted"):
                said |= {node.args[0].value} if isinstance(node.args[0], ast.Constant) else set()
    said |= {*labels.NAMES.values(), *callouts.KINDS.values(), *(word for _, word in blocks.STATES.values())} - {""}
    said |= {*map(str, Missing), *claims.WORDS.values()}
    known = set(json.loads(templates[KO]))
    named = {"English", "US", "Kernels", "Worklog"} | {dt.date(2026, n, 1).strftime("%B") for n in range(1, 13)}
    declared_ko = {english for one in declared() for english in one.words.get("ko", {})}
    assert said - known - declared_ko == set()
    assert {one for one in known - said - named if not in_figures(one)} == set()


def in_figures(english: str) -> bool:
    """Whether each part of a text, around values and signs, stands in a string of the modules that draw figures."""
    return all(part.strip() in drawn_words() for part in re.split(r"\{\w+\}|[,.();]| of | the ", english))


@cache
def drawn_words() -> str:
    """The strings of templates and of the modules that draw tables and charts; no-break spaces are spaces."""
    rooms = Path(sitegen.__file__).parent
    files = (*rooms.glob("render/**/*.py"), *rooms.glob("markup/**/*.py"), *rooms.glob("model/**/*.py"))
    trees = (ast.parse(file.read_text(encoding="utf-8")) for file in files)
    constants = (node.value for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Constant))
    texts = (*(one for one in constants if isinstance(one, str)), *load_theme().templates.values())
    return "\n".join(texts).replace("\N{NO-BREAK SPACE}", " ")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('<a>{{ _("Older") }}</a>', "<a>이전</a>"),
        ('<a>{{ _("Newer") }}</a>', "<a>Newer</a>"),
        ('{{ _("part {place.part} of {place.total}") }}', "{{ place.total }} 중 {{ place.part }}"),
        ("{{ page.title }}", "{{ page.title }}"),
    ],
)
def test_a_template_is_translated_before_it_is_compiled(text: str, shown: str) -> None:
    catalogue = {"Older": "이전", "part {place.part} of {place.total}": "{place.total} 중 {place.part}"}
    assert translated(text, catalogue) == shown


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ('{\n  "Older": "Älter"\n\n  "Tip": "Rat"\n}', 2, "a comma is missing at the end of this line"),
        ('{\n  "Older": "Äl"ter"\n}', 2, "Expecting ',' delimiter"),
        ('{\n  "Older": "Älter",\n\n}', 2, "a comma stands behind the last entry"),
        ("{\n  Older: 1\n}", 2, "Expecting property name enclosed in double quotes"),
        ("\n[]", 1, 'a catalogue is `{"English": "…"}`'),
    ],
)
def test_a_mistake_in_a_catalogue_is_shown_on_the_line_to_change(text: str, line: int, said: str) -> None:
    with pytest.raises(jinja2.TemplateSyntaxError) as mistake:
        language("de", {"languages/de.json": text})
    assert (mistake.value.lineno, mistake.value.message) == (line, said)


def test_a_region_speaks_its_language_and_one_without_a_catalogue_english() -> None:
    templates = {KO: '{"English": "한국어", "Older": "이전"}'}
    assert language("ko-KR", templates).say("Older") == "이전"
    assert language("fr", templates).say("Older") == "Older"
    assert (language("en", templates).name, language("ko", templates).name, language("fr", templates).name) == (
        "English",
        "한국어",
        "fr",
    )
    assert PageLanguage("fr").day(dt.date(2026, 11, 2)) == "2\u00a0November 2026"
    assert [PageLanguage(tag).territory for tag in ("en", "en-GB", "fr", "zh-Hant")] == ["en_US", "en_GB", "", ""]


@pytest.mark.parametrize("text", ['{"Older": }', '["Older"]', '{"Older": 1}'])
def test_a_catalogue_that_cannot_be_read_is_a_mistake_in_a_template(text: str) -> None:
    with pytest.raises(jinja2.TemplateSyntaxError) as raised:
        in_language(environment(Theme({KO: text})), "ko")
    assert (raised.value.name, raised.value.lineno) == (KO, 1)
