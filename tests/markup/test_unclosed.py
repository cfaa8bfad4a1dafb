"""A fence that swallows the next one, and a `$` without an end; prices, variables and longer fences are neither."""

from __future__ import annotations

import pytest

from sitegen.diagnostics import Severity
from sitegen.markup.parse import parse_document
from sitegen.model.site import Markdown


def codes(text: str) -> list[tuple[str, int]]:
    """Return the code and the line of each mistake."""
    return [(one.code, one.span.line) for one in parse_document(Markdown(text, "content/posts/a.md", 1))[1]]


@pytest.mark.parametrize(
    "text",
    [
        "It costs $5, $20 or US$30, and $5M a year.\n",
        "Set $PATH and $HOME.\n",
        "A formula $N$, and \\$N is none.\n",
        "`$N` is code, and ``$x `$` y`` too.\n",
        "$$\nN\n$$\n",
        "$$ N $$ (eq-n)\n",
        "Both $a$ and $b$, of $2N$ numbers.\n",
    ],
)
def test_dollars_that_are_closed_or_open_no_formula(text: str) -> None:
    assert codes(text) == []


@pytest.mark.parametrize(("text", "line"), [("a\n\nOf $2N numbers\n", 3), ("$$\nN\n\nb\n", 1), ("a\n$\\frac b\n", 2)])
def test_formula_without_its_end_is_a_warning(text: str, line: int) -> None:
    assert codes(text) == [("SG138", line)]


INNER = "```{benchmark} softmax\n:dtypes: float32\n\n```{benchmark} softmax\n```\n"


def test_fence_that_swallows_the_next_one_is_one_error_at_its_first_line() -> None:
    assert codes(INNER) == [("SG138", 1)]
    assert codes("1. a\n\n   " + INNER.replace("\n", "\n   ")) == [("SG138", 3)]


def test_fence_with_markdown_that_swallows_the_next_one_is_one_error_at_its_first_line() -> None:
    quiz = "a\n\n```{quiz} How many?\n:answer: 32\nA line has four.\n\n```{layout} (4,8):(8,1)\n:banks: 4\n```\n\nb\n"
    assert codes(quiz) == [("SG138", 3)]
    assert codes(":::{note} a\n\n:::{tip} b\nc\n:::\n") == [("SG138", 1)]


def test_block_in_tabs_without_an_end_is_no_further_mistake() -> None:
    tabs = "::::{tab-set}\n:::{tab-item} A\na\n:::\n"
    assert codes(tabs + "\nText.\n\n> More.\n") == [("SG138", 1)]
    assert codes(tabs + "Text.\n\n> More.\n::::\n") == [("SG124", 5)]


def test_longer_fence_may_show_a_shorter_one() -> None:
    assert codes("````{example}\n```{note}\na\n```\n````\n") == []
    assert codes("````markdown\n" + INNER + "````\n") == []


@pytest.mark.parametrize("below", ["The text goes on here.\n", "```python\nx = 1\n```\n\nText.\n", ""])
def test_a_cell_without_an_end_is_one_mistake_and_an_error_where_text_stands_in_it(below: str) -> None:
    text = f"```{{code-cell}} python\n#| label: a\nx = 1\n\n{below}"
    found = parse_document(Markdown(text, "content/posts/a/index.md", 1))[1]
    assert [(one.code, one.span.line) for one in found] == [("SG138", 1)]
    assert (found[0].severity is Severity.ERROR) is bool(below)


def test_a_listing_in_a_text_of_a_closed_cell_does_not_hide_the_real_mistake() -> None:
    inner = 'doc = """\n```text\na\n```\n"""\nx = (\n'
    found = parse_document(Markdown("````{code-cell} python\n" + inner + "````\n", "content/posts/a/index.md", 1))[1]
    assert [one.code for one in found] == ["SG106"]
