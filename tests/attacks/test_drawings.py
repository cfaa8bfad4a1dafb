"""Drawings and pages beside a text that could run a script as this site: each is refused and nothing is published."""

from __future__ import annotations

import base64
from typing import Any

import pytest

Site = Any
NAMES = 'xmlns="http://www.w3.org/2000/svg" xmlns:h="http://www.w3.org/1999/xhtml" xmlns:xlink="http://www.w3.org/1999/xlink"'
PAGE = base64.b64encode(b"<svg xmlns='http://www.w3.org/2000/svg'><script>f()</script></svg>").decode()
PARTS = {
    "a page in a foreignObject": "<foreignObject><h:iframe srcdoc='&lt;script&gt;f()&lt;/script&gt;'/></foreignObject>",
    "a page outside of a foreignObject": "<h:iframe src='x'/>",
    "an object": "<h:object data='x.html'/>",
    "a page as an attribute with a prefix": "<g h:srcdoc='x'/>",
    "a handler with a prefix": "<g h:onload='f()'/>",
    "an address with a tab": "<a href='java&#9;script:f()'/>",
    "an address of data": f"<use href='data:image/svg+xml;base64,{PAGE}'/>",
    "an address that is set later": "<a><set attributeName='href' to='x'/></a>",
    "an address that is moved": "<a><animate attributeName='xlink:href' values='x'/></a>",
    "a script in capitals": "<SCRIPT>f()</SCRIPT>",
}
HEADS = {
    "a style sheet that is a program": '<?xml-stylesheet type="text/xsl" href="x.xsl"?>',
    "an encoding that nobody knows": '<?xml version="1.0" encoding="no-such"?>',
    "an encoding that expat cannot read": '<?xml version="1.0" encoding="utf-7"?>',
}
WITH_PARTS = {name: f"<svg {NAMES}>{part}</svg>" for name, part in PARTS.items()}
DRAWINGS = WITH_PARTS | {name: f"{head}<svg {NAMES}/>" for name, head in HEADS.items()}


def refuses(site: Site, text: str, name: str) -> None:
    """Check that a build names the file, ends without a traceback, and publishes nothing."""
    site.write("content/posts/x/index.md", f"---\ntitle: X\ndate: 2026-11-21\n---\n{text}\n")
    done = site.run("build")
    assert done.refused, done.said
    assert "error[SG213]" in done.said and name in done.said
    assert site.published == b""


@pytest.mark.parametrize("drawing", DRAWINGS.values(), ids=DRAWINGS)
def test_drawing_that_could_run_a_script(site: Site, drawing: str) -> None:
    """The script would run when a reader opens the file by itself."""
    site.write("content/posts/x/a.svg", drawing)
    refuses(site, "![A drawing](a.svg)", "a.svg")


def test_drawing_that_a_text_only_links_to(site: Site) -> None:
    site.write("content/posts/x/a.SVG", WITH_PARTS["a script in capitals"])
    refuses(site, "A [drawing](a.SVG#part).", "a.SVG")


@pytest.mark.parametrize("name", ["a.html", "a.xhtml", "a.HTM", "a.xml"])
def test_page_that_a_text_links_to(site: Site, name: str) -> None:
    site.write(f"content/posts/x/{name}", "<script>f()</script>")
    refuses(site, f"A [page]({name}).", name)


@pytest.mark.parametrize(
    "size", ['width="9e999"', 'viewBox="0 0 9e999 1"', 'width="1.2.3" height="4"', f'width="{"9" * 400}"']
)
def test_size_that_is_no_size_ends_no_build(site: Site, size: str) -> None:
    site.write("content/posts/x/a.svg", f"<svg {NAMES} {size}/>")
    site.write("content/posts/x/index.md", "---\ntitle: X\ndate: 2026-11-21\n---\n![A drawing](a.svg)\n")
    assert site.run("build").status == 0


def test_address_in_raw_html_with_a_tab(site: Site) -> None:
    """`<svg><a xlink:href="java&#9;script:…">` passed."""
    text = '<svg><a xlink:href="java&#9;script:f()"><text>x</text></a></svg>'
    site.write("content/posts/first.md", f"---\ntitle: First\ndate: 2026-11-20\n---\n{text}\n")
    done = site.run("build")
    assert done.refused and "error[SG113]" in done.said and "such an address" in done.said
