"""A text whose code is that of a country is noticed by its letters, and no text in a real language is."""

from __future__ import annotations

import pytest

from sitegen.diagnostics import Severity, Span
from sitegen.read.pages import parse_page, parse_post

KOREAN = "분산은 두 가지 방법으로 계산할 수 있다. Triton이 café에서 돈다."


def front(title: str, **keys: str) -> str:
    lines = "".join(f"{key}: {value}\n" for key, value in {"title": title, "date": "2026-11-22", **keys}.items())
    return f"---\n{lines}---\n"


@pytest.mark.parametrize(
    ("tag", "text"),
    [
        ("kr", "Kanuri is written with ə, and bənnə is a word; 한국어 is another language."),
        ("kr", "Code alone, without a letter beyond ASCII."),
        ("tw", "Twi kasa wɔ ɛ ne ɔ; 漢字."),
        ("ko", KOREAN),
        ("pt-br", "A variância não é a média."),
        ("en", KOREAN),
    ],
)
def test_real_codes_are_right(tag: str, text: str) -> None:
    assert parse_post(front("A") + text, f"content/posts/a/index.{tag}.md")[1] == ()
    assert parse_post(front("A", lang=tag) + text, "content/posts/a.md")[1] == ()


@pytest.mark.parametrize("suffix", ["md", "ipynb"])
def test_a_korean_text_with_the_code_of_korea_is_a_warning_about_its_file(suffix: str) -> None:
    path = f"content/posts/a/index.kr.{suffix}"
    _, [found] = parse_post(front("분산") + KOREAN, path)
    assert (found.code, found.severity, found.span) == ("SG018", Severity.WARNING, Span(path))
    assert found.message == "`kr` is the code of Kanuri, and this text has Korean letters"
    assert found.hint == f"the code of Korean is `ko`: rename the file to `index.ko.{suffix}`"


def test_a_code_in_the_front_matter_is_marked_there() -> None:
    _, [post] = parse_post(front("分散", lang="tw") + "逐行計算。", "content/posts/a.md")
    _, [page] = parse_page("---\ntitle: 소개\nlang: kr-KR\n---\n" + KOREAN, "content/pages/about.md")
    assert (post.span, post.hint) == (Span("content/posts/a.md", 4, 7, 2), "the code of Chinese is `zh-TW`")
    assert (page.span, page.hint) == (Span("content/pages/about.md", 3, 7, 5), "the code of Korean is `ko`")
