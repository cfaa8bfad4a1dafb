"""A link of a site's own template that leads to no file gets a warning of `sitegen check`; any other link gets none."""

from __future__ import annotations

from pathlib import Path

import pytest

from sitegen.pipeline.in_memory import check
from tests.pipeline.test_figures_and_claims import FILES, write

FOOTER = "templates/partials/colophon.html"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a site with a post that has an image, and a page."""
    write(tmp_path, "content/site.yaml", FILES["content/site.yaml"])
    write(tmp_path, "content/pages/about.md", "---\ntitle: About\n---\nText.\n")
    write(tmp_path, "content/posts/a/index.md", "---\ntitle: A\ndate: 2026-11-20\n---\n![A circle.](a.svg)\n")
    write(tmp_path, "content/posts/a/a.svg", '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"></svg>\n')
    return tmp_path


def told(root: Path, template: str, path: str = FOOTER) -> list[tuple[str, str, int, int, str, str]]:
    write(root, path, template)
    found = check(root).diagnostics
    return [(one.code, one.span.path, one.span.line, one.span.col, one.message, one.hint) for one in found]


@pytest.mark.parametrize(
    "template",
    [
        '<a href="{{ frame.home }}about/">About</a>',
        '<a href="{{ frame.home }}about">About</a>',
        '<a href="{{ frame.home }}about/index.html#top">About</a>',
        '<a href="{{ frame.home }}posts/a/?from=footer">A</a>',
        '<a href="{{ frame.home }}">Home</a>',
        '<a href="{{ frame.home }}feed.xml">Feed</a>',
        '<a href="{{ frame.home }}{{ frame.feed }}">Feed</a>',
        '<a href="https://example.org/imprint/">Imprint</a>',
        '<a href="mailto:ada@example.org">Ada</a>',
        '{% if frame.no_such_thing is defined %}<a href="{{ frame.home }}imprint/">Imprint</a>{% endif %}',
    ],
)
def test_link_to_a_page_or_a_file_and_one_that_no_page_shows_is_right(root: Path, template: str) -> None:
    assert told(root, template) == []


def test_link_to_an_image_of_a_post_is_right(root: Path) -> None:
    pages = check(root).files
    [image] = [path for path in pages if path.endswith(".svg") and path.startswith("posts/")]
    assert told(root, f'<img src="{{{{ frame.home }}}}{image}" alt="">') == []


def test_link_that_leads_to_no_page_is_named_once_with_its_line(root: Path) -> None:
    message, hint = "`abuot/` leads to no page or file", "did you mean `about/`?"
    template = '<p>\n<a href="{{ frame.home }}abuot/">About</a>\n</p>'
    assert told(root, template) == [("SG509", FOOTER, 2, 26, message, hint)]


@pytest.mark.parametrize(
    ("link", "hint"),
    [
        ('imprint/"> About </a>', 'did you mean `about/`, as the link says "About"?'),
        ('imprint" class="small">About</a>', 'did you mean `about/`, as the link says "About"?'),
        ('abuot/">Posts</a>', "did you mean `about/`?"),
    ],
)
def test_link_that_leads_to_no_page_is_compared_with_its_path_and_then_with_its_words(
    root: Path, link: str, hint: str
) -> None:
    assert [one[5] for one in told(root, f'<a href="{{{{ frame.home }}}}{link}')] == [hint]


def test_words_behind_an_image_are_not_its_words(root: Path) -> None:
    [found] = told(root, '<a href="{{ frame.home }}about/"><img src="{{ frame.home }}imprint.png" alt="">About</a>')
    assert found[5] == "write the page, or link to another one"


@pytest.mark.parametrize("words", ["Imprint", "{{ frame.site_title }}", "<b>About</b>"])
def test_link_that_is_near_no_page_names_those_of_the_site(root: Path, words: str) -> None:
    [found] = told(root, f'<a href="{{{{ frame.home }}}}imprint/">{words}</a>')
    assert found[5].startswith("write the page (`content/pages/NAME.md` has the address `NAME/`), or link to one that")
    assert "the site has: `about/`, " in found[5]
    write(root, "content/pages/imprint.md", "---\ntitle: Imprint\n---\nText.\n")
    assert check(root).diagnostics == ()


def test_link_of_a_template_of_one_kind_of_page_is_found(root: Path) -> None:
    template = "{% extends 'base.html' %}{% block main %}<a href='{{frame.home}}imprint.pdf'>I</a>{% endblock %}"
    [(code, path, line, *_, hint)] = told(root, template, "templates/page.html")
    assert (code, path, line, hint) == ("SG509", "templates/page.html", 1, "write the page, or link to another one")
