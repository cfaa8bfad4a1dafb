"""Formulas and citations within HTML of a Jekyll text become Markdown, with blank lines around their text."""

from collections.abc import Callable
from typing import Any

import pytest

from sitegen.diagnostics import has_errors, render_diagnostics
from sitegen.markup.parse import parse_document
from sitegen.model.site import Markdown

MATH = "title: Notes\nurl: https://kern.example\nenable_math: true\n"
BIBLIOGRAPHY = {"_bibliography/references.bib": "@article{a, title={A}}\n"}
CASES = {
    "caption": (
        '<div class="caption">\n    For $i < n$ and *two* \\(x_1\\).\n</div>',
        '<div class="caption">\n\nFor $i < n$ and \\*two\\* $x_1$.\n\n</div>',
    ),
    "alone": ("<div>\n$$\nx = 1\n$$\n</div>", "<div>\n\n$$\nx = 1\n$$\n\n</div>"),
    "between words": (
        "<div>Let $$x$$ be <b>one</b>:\n\\[y\\]</div>",
        "<div>\n\nLet\n\n$$\nx\n$$\n\nbe <b>one</b>:\n\n$$\ny\n$$\n\n</div>",
    ),
    "within a mark": ("<div><b>Let $$x$$</b> be.</div>", "<div>\n\n<b>Let $x$</b> be.\n\n</div>"),
    "in paragraphs": (
        '<div><p class="a">One_two.</p>\n<p>Two $x$.</p></div>',
        "<div>\n\nOne\\_two.\n\nTwo $x$.\n\n</div>",
    ),
    "in a table": (
        "<table>\n    <tr>\n        <td>$x$</td>\n    </tr>\n</table>",
        "<table>\n<tr>\n<td>\n\n$x$\n\n</td>\n</tr>\n</table>",
    ),
    "where no paragraph may stand": (
        "<details>\n<summary>By $x$</summary>\n\\(y\\)\n</details>",
        "<details>\n<summary>By $x$</summary>\n\n$y$\n\n</details>",
    ),
    "definitions": ("<div>\n$$\n\\require{color} % colours\n\\def\\R{\\mathbb{R}}\n$$\n</div>\n\n$$\\R$$", None),
    "entity": ("<div>\\(a &lt; b\\)</div>", "<div>\n\n$a < b$\n\n</div>"),
    "number at the start": ("<div>1. $x$</div>", "<div>\n\n1\\. $x$\n\n</div>"),
    "money": ("<div>It costs $5 or $6.</div>", "<div>It costs $5 or $6.</div>"),
    "code": (
        "<div><code>$x$</code> and <pre>\n  $y$</pre></div>",
        "<div><code>$x$</code> and <pre>\n  $y$</pre></div>",
    ),
    "attribute": ('<div title="$x$">a</div>', '<div title="$x$">a</div>'),
    "citation": ('<div>By <d-cite key="a"></d-cite>.</div>', "<div>\n\nBy [@a].\n\n</div>"),
    "blank line in a formula": ("$$\nx\n\n$$\n\na", "$$\nx\n$$\n\na"),
    "text below a tag": ("<br>\n<span>\nwith *x*</span>\nand", "<br> <span> with *x*</span>\nand"),
    "tags alone": ("<br>\n\na", "<br>\n\na"),
}


@pytest.mark.parametrize("case", CASES)
def test_formula(post: Callable[..., Any], case: str) -> None:
    source, expected = CASES[case]
    body = post(source, MATH, **BIBLIOGRAPHY).body
    assert body == expected or (expected is None and "require" not in body.partition("$$")[0])
    _, mistakes = parse_document(Markdown(body, "a.md"))
    assert not has_errors(mistakes), render_diagnostics(mistakes, {"a.md": body})


def test_single_dollar_sign_is_money_on_a_site_without_formulas(post: Callable[..., Any]) -> None:
    assert post("<div>From $a to $b.</div>").body == "<div>From $a to $b.</div>"


def test_footnote_in_html_stands_at_the_end(post: Callable[..., Any]) -> None:
    body = post("<div>A<d-footnote>By $$x$$.</d-footnote></div>").body
    assert body == "<div>\n\nA[^note-1]\n\n</div>\n\n[^note-1]: By $x$."
