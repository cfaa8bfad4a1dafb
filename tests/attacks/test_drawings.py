"""Drawings and pages beside a text that could run a script as this site: each is refused and nothing is published."""

from __future__ import annotations

import base64
import gzip
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
    "an image of another site": "<image href='https://evil.example/a.png'/>",
    "an image of a disk": "<image xlink:href=' file:///etc/passwd'/>",
    "an image without a scheme": "<image href='//evil.example/a.png'/>",
    "an image by backslashes": "<use href='\\\\evil.example/a.svg#a'/>",
    "a base elsewhere": "<g xml:base='https://evil.example/'/>",
    "a style sheet of another site": "<style>@import url(https://evil.example/a.css);</style>",
    "a style sheet in capitals": "<style>@IMPORT 'https://evil.example/a.css';</style>",
    "a style sheet with escapes": "<style>@\\69 mport 'https://evil.example/a.css';</style>",
    "a style in CDATA": "<style><![CDATA[a { fill: u\\72l( 'https://evil.example/a' ) }]]></style>",
    "a broken scheme": "<style>a { fill: url('ht\tt\\\nps://evil.example/a') }</style>",
    "a set of images": "<style>a { fill: image-set('https://evil.example/a' 1x) }</style>",
    "a style of an element": "<g style='fill: url(\"https://evil.example/a\")'/>",
    "a fill": "<g fill='url(file:///etc/passwd)'/>",
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


XHTML = '<x xmlns="http://www.w3.org/1999/xhtml"><script>f()</script></x>'
MARKUP = {
    "a.rdf": XHTML,
    "a.atom": XHTML,
    "a.svgz": gzip.compress(XHTML.encode()),
    "a.svg.gz": gzip.compress(XHTML.encode()),
    "a.html.gz": gzip.compress(b"words, then a tag: <script>f()</script>"),
    "a.gz": gzip.compress(XHTML.encode()),
    "a.rs": f"\n \n{XHTML}",
    "a.no-such-type": "\ufeff" + XHTML,
    "a.dat": XHTML.encode("utf-16"),
    "a.bin": XHTML.encode("utf-16-be"),
    "a.opml": " " * 100_000 + XHTML,
    "a": XHTML,
}


@pytest.mark.parametrize("name", MARKUP)
def test_file_that_some_server_sends_as_a_page(site: Site, name: str) -> None:
    site.write(f"content/posts/x/{name}", MARKUP[name])
    refuses(site, f"A [file]({name}).", name)


def test_files_that_no_server_sends_as_a_page(site: Site) -> None:
    names = ("a.txt", "a.log", "a.csv", "a.cu", "a.npz", "a.csv.gz", "a.json")
    contents = (XHTML, XHTML, XHTML, "// <b>", b"PK\x03\x04", gzip.compress(b"1,2"), '{"a": "<b>"}')
    for name, content in zip(names, contents, strict=True):
        site.write(f"content/posts/x/{name}", content)
    links = " ".join(f"[a]({name})" for name in names)
    site.write("content/posts/x/index.md", f"---\ntitle: X\ndate: 2026-11-21\n---\n{links}\n")
    assert site.run("build").status == 0
    assert all((site.root / "public/posts/x" / name).is_file() for name in names)


def test_page_that_a_day_of_the_worklog_links_to_is_not_published(site: Site) -> None:
    """A mistake in the worklog is a warning, so the build goes on."""
    site.write("content/posts/x/a.html", "<script>f('evil')</script>")
    site.write("content/posts/x/a.svg", WITH_PARTS["a script in capitals"])
    site.write("content/worklog/2026-11-22.md", "A [page](../posts/x/a.html), ![a drawing](../posts/x/a.svg).\n")
    done = site.run("build")
    assert done.status == 0 and done.said.count("warning[SG213]") == 2
    assert b"f('evil')" not in site.published and b"<SCRIPT>" not in site.published


def test_drawing_that_loads_nothing_from_elsewhere(site: Site) -> None:
    """Links wait for the reader; metadata and namespaces load nothing."""
    parts = (
        "<a href='https://example.org/'><text>https://example.org</text></a><use href='#a'/><image href='b.png'/>"
        "<metadata><h:x h:resource='http://purl.org/dc'/></metadata><g style='fill: url(#a)' clip-path='url(#b)'/>"
        "<image href='data:image/png;base64,AAAA'/><style>"
        "/* https://example.org */ @font-face { src: url(data:font/woff2;base64,AAAA) }</style>"
    )
    head = '<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">'
    site.write("content/posts/x/a.svg", f"{head}<svg {NAMES}>{parts}</svg>")
    site.write("content/posts/x/index.md", "---\ntitle: X\ndate: 2026-11-21\n---\n![A drawing](a.svg)\n")
    done = site.run("build")
    assert done.status == 0, done.said


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


@pytest.mark.parametrize(
    "text",
    [
        '<a href="https://example.org/" ping="https://evil.example/">x</a>',
        "<q cite=\"javascript:f('evil.example')\">x</q>",
        '<blockquote cite="https://evil.example/">x</blockquote>',
        '<del cite="https://evil.example/">x</del>',
        '<table background="https://evil.example/"><tr><td>x</td></tr></table>',
    ],
)
def test_attribute_with_an_address_that_no_reader_sees_is_left_out(site: Site, text: str) -> None:
    site.write("content/posts/first.md", f"---\ntitle: First\ndate: 2026-11-20\n---\n{text}\n")
    assert site.run("build").status == 0
    assert b">x</" in site.published and b"evil.example" not in site.published
