"""Formulas become MathML that the page's security policy lets pass."""

from __future__ import annotations

import threading

import pytest

from sitegen.markup.math import MathError, mathml
from sitegen.markup.parse import parse_document
from sitegen.model.site import Markdown

FORMULAS = [
    r"\frac{e^{x_j - m}}{\sum_k e^{x_k - m}}",
    r"\begin{aligned}a &= b \\ c &= d\end{aligned}",
    r"\begin{cases}1 & x > 0 \\ 0\end{cases}",
    r"\begin{array}{c|c}1 & 2 \\ \hline 3 & 4\end{array}",
    r"\begin{pmatrix}1 & 2 \\ 3 & 4\end{pmatrix}",
    r"\color{red}x + \colorbox{yellow}{y}",
    r"\boxed{x} \underline{y} \cancel{z}",
    r"\overbrace{abc}^n \lceil x \rceil \text{한국어}",
    r"\mathbb{R} \mathcal{L} \boldsymbol{\alpha} \operatorname{softmax}",
]


@pytest.mark.parametrize("formula", FORMULAS)
@pytest.mark.parametrize("display", [True, False])
def test_no_formula_carries_a_style(formula: str, display: bool) -> None:
    shown = mathml(formula, display)
    assert shown.startswith("<math") and shown.endswith("</math>")
    assert "style=" not in shown.replace("displaystyle=", "").replace("mathstyle=", "") and "\0" not in shown


def test_numbered_formula_carries_no_style() -> None:
    assert " style=" not in mathml(r"x \tag{3}", True)


def test_colour_is_an_attribute_of_mathml() -> None:
    assert 'mathcolor="#ff0000"' in mathml(r"\color{red}x", False)


def test_columns_of_aligned_formulas_touch() -> None:
    assert "tml-pl0" in mathml(FORMULAS[1], True) and "tml-right" in mathml(FORMULAS[1], True)


@pytest.mark.parametrize(
    "formula", [r"\frac{1}{", r"\nope", "x\\", r"\href{a}{b}", r"\ref{a}", r"\def\a{\a\a}\a", "{" * 9999]
)
def test_what_is_not_tex_says_so_instead_of_stopping_the_build(formula: str) -> None:
    with pytest.raises(MathError):
        mathml(formula, True)


def test_definition_in_one_formula_is_gone_in_the_next() -> None:
    mathml(r"\gdef\mine{x}\mine", False)
    with pytest.raises(MathError):
        mathml(r"\mine", False)


def test_formula_can_be_set_in_any_thread() -> None:
    shown: list[str] = []
    threads = [threading.Thread(target=lambda n=n: shown.append(mathml(f"x_{n}", False))) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(shown) == 4


def test_mistake_in_the_third_line_of_a_formula_is_shown_there() -> None:
    text = "$$\na = b \\\\\n  + \\fraq{1}{2}\n$$\n"
    (found,) = parse_document(Markdown(text, "content/posts/a.md", first_line=5))[1]
    assert (found.span.line, found.span.col, found.span.length) == (7, 5, 5)


def test_price_is_no_formula() -> None:
    document, _ = parse_document(Markdown("costs $5 and $6\n", "content/posts/a.md"))
    assert not document.has_math and "$5 and $6" in document.html


def test_formula_on_its_own_lines_scrolls_by_keyboard() -> None:
    document, _ = parse_document(Markdown("$$\nx\n$$ (eq-x)\n", "content/posts/a.md"))
    assert '<div class="eq" tabindex="0" role="group" aria-label="Equation 1" id="eq-x">' in document.html
    assert "eq-x" in document.ids


@pytest.mark.parametrize("behind", [",", ". Then", ")", ": so"])
def test_punctuation_stays_on_the_line_of_its_formula(behind: str) -> None:
    document, _ = parse_document(Markdown(f"where $x${behind}\n", "content/posts/a.md"))
    assert f"</math>{behind[0]}</span>{behind[1:]}" in document.html and '<span class="nw"><math' in document.html


@pytest.mark.parametrize("text", ["$x$ is", "$x$", "$x$-axis", "**$x$**, y"])
def test_only_punctuation_directly_behind_a_formula_is_joined(text: str) -> None:
    document, _ = parse_document(Markdown(f"{text}\n", "content/posts/a.md"))
    assert "nw" not in document.html
