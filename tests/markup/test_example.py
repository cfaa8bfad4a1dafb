"""`{example}` shows Markdown as it is written and what it becomes."""

from __future__ import annotations

import pytest
from selectolax.lexbor import LexborHTMLParser, LexborNode

from sitegen.markup.parse import parse_document
from sitegen.model.site import Markdown


def panes(markdown: str) -> tuple[str, LexborNode]:
    """Return the text of the first pane and the element of the second."""
    document, mistakes = parse_document(Markdown(markdown, "content/posts/a.md"))
    assert {mistake.code for mistake in mistakes} <= {"SG138"}  # an example may be open at the end
    page = LexborHTMLParser(document.html)
    source, result = page.css_first(".example > .code pre"), page.css_first(".example > .flow")
    assert source is not None and result is not None
    return source.text(), result


@pytest.mark.parametrize("end", ["::::\n", "", "::::\n\nMore.\n"], ids=["closed", "open at the end", "more below"])
def test_source_is_what_stands_in_the_fence_however_it_ends(end: str) -> None:
    source, result = panes(f"Text.\n\n::::{{example}}\nA *word*.\n{end}")
    assert source == "A *word*.\n"
    assert result.html == '<div class="flow">\n<p>A <em>word</em>.</p>\n</div>'


def test_marks_in_the_source_are_text_and_notes_in_the_result_are_notes() -> None:
    source, result = panes("::::{example}\n```python\nx = 1  # <1>\n```\n\n1. why\n::::\n")
    assert "# <1>" in source
    assert [note.text().strip() for note in result.css(".annotations li > div")] == ["why"]


def test_example_stands_in_a_list_too() -> None:
    source, result = panes("- one\n\n  ::::{example}\n  $x$ and **y**\n  ::::\n")
    assert source == "$x$ and **y**\n"
    assert result.css_first("strong") is not None


def test_empty_example_is_empty() -> None:
    source, result = panes("::::{example}\n::::\n")
    assert (source.strip(), result.text().strip()) == ("", "")
