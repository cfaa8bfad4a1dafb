"""Any text becomes a document that keeps to the page's security policy."""

from __future__ import annotations

import re

from hypothesis import example, given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from sitegen.markup.parse import parse_document
from sitegen.model.site import Markdown

PIECES = [
    "```{code-cell} triton\n",
    "```{cuda}\n",
    "//| launch: {entry: f, grid: [M], block: [256]}\n",
    "#| label: a\n",
    "#| implements: softmax/two_pass\n",
    "#| needs: &a [*a]\n",
    ":columns: [time, vs: torch]\n",
    ":label: x\n",
    "```{benchmark} softmax\n",
    "```{roofline} softmax\n",
    "```{kernel} softmax/naive\n",
    "```{math}\n",
    "```{claim} x\n",
    "```{claim} softmax/fused >= 1.5x torch @ 8x8, 9x9 on h200\n",
    ":::{claim} a/b time / a/c time >= 2\n",
    "{value}`softmax/fused time`",
    "{value}`a/b time - a/c time on h200`",
    "{predicted}`softmax/fused`",
    "{given}`2 %; x`",
    ":caption: At {value}`softmax/fused time`.\n",
    "```{figure} a.png\n",
    ":alt: words\n",
    "````{warning} Title\n",
    ":::{margin} Why\n",
    ":::{margin}\n",
    "```{",
    "```",
    "````\n",
    ":::\n",
    "~~~python filename='x' hl=1-3,in\n",
    "```triton diff annotate=1\n",
    "```{code-block} cuda\n",
    ":focus: 1\n",
    ":annotate: 1, 2\n",
    "x = 1  # <1>\n",
    "+y // <2>\n",
    "# region: in\n",
    "# endregion\n",
    "1. first\n2. second\n",
    "::::{tab-set}\n",
    ":::{tab-item} CUDA\n",
    "::::\n",
    "> [!NOTE]\n",
    "> - [x] task\n",
    "- [ ] ",
    "1. ",
    "| a | b |\n|--:|:-:|\n| 1 | |\n",
    "## Title {#id .wide}\n",
    "{#id}\n",
    "{.a}\n",
    "Setext\n===\n",
    "[^1]",
    "[^1]: note\n",
    "[link](../a.md#b)",
    "[l]: <javascript:x>\n",
    "![image](a.png){#id style='x'}",
    "{spec}`4.8 TB/s`",
    "{valu}`x`",
    "$x^2$",
    "$$\n\\frac{1}{\n$$ (eq)\n",
    "\\underline{",
    "<script>",
    "</script>",
    "<div style='a' onclick=x>",
    "</div>",
    "<a href='javascript:x'>",
    "<!--",
    "-->",
    "<![CDATA[",
    "<textarea>",
    "<svg><style>",
    "&lt;script&gt; style=",
    "term\n: definition\n",
    "\n",
    "\n\n",
    "    ",
    "\t",
    "\0",
    "\r",
    "한국어",
]
TEXTS = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=8)), max_size=14).map("".join)
PATHS = st.sampled_from(["content/posts/a/index.md", "content/posts/a.md", "content/worklog/2026.md"])


def attributes(html: str) -> set[str]:
    tree = LexborHTMLParser(re.sub("\0", "", html))
    return {name for node in tree.css("*") for name in node.attributes}


@given(text=TEXTS, path=PATHS, numbered=st.booleans())
@example(text="{#a}\n{#a}\n\n# x {#a}", path="content/posts/a/index.md", numbered=True)
@example(text="<script>alert(1)</script >\n<b style=x>", path="content/posts/a.md", numbered=False)
@example(text="<div a><![image](a.png){#id}", path="content/posts/a/index.md", numbered=False)
def test_any_text_becomes_a_document_without_script_or_style(text: str, path: str, numbered: bool) -> None:
    document, diagnostics = parse_document(Markdown(text, path), numbered=numbered)
    tree = LexborHTMLParser(re.sub("\0", "", document.html))
    assert not tree.css("script, style, iframe, link, meta, textarea, base, form")
    assert not {name for name in attributes(document.html) if name == "style" or name.startswith("on")}
    assert [n for n in map(int, re.findall("\0(\\d+)\0", document.html)) if n >= len(document.slots)] == []
    assert document.html.count("\0") % 2 == 0
    assert all(d.span.path == path and d.span.line >= 1 and d.span.col >= 1 and d.message for d in diagnostics)


@given(text=TEXTS)
def test_ids_of_a_text_without_mistakes_are_unique(text: str) -> None:
    document, diagnostics = parse_document(Markdown(text, "content/posts/a/index.md"))
    found = re.findall(r' id="([^"]*)"', document.html)
    if not any(d.code == "SG108" for d in diagnostics):
        assert len(found) == len(set(found))


@given(text=TEXTS)
def test_a_text_without_mistakes_never_ends_the_page_around_it(text: str) -> None:
    document, diagnostics = parse_document(Markdown(text, "content/posts/a/index.md"))
    if any(d.code in ("SG113", "SG114") for d in diagnostics):
        return
    html = re.sub("\0", "", document.html)
    tree = LexborHTMLParser(f'<main id="around"><article>{html}</article><footer id="after"></footer></main>')
    after = tree.css_first("footer#after")
    assert after is not None and after.parent is not None and after.parent.attributes.get("id") == "around"
