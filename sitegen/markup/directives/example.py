"""Turn `{example}` with Markdown in it into two panes: the Markdown as it is written, and what it becomes."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import dedent

from markdown_it import MarkdownIt
from markdown_it.token import Token

from sitegen.markup.collected import add_rules
from sitegen.markup.directive import Container, Directive, closes


def _plugin(md: MarkdownIt) -> None:
    add_rules(
        md,
        {
            "example_open": lambda *_: '<div class="example wide">\n',
            "example_result_open": lambda *_: '<div class="flow">\n',
            "example_close": lambda *_: "</div>\n</div>\n",
        },
    )


def _wrap(box: Container) -> tuple[Sequence[Token], Token]:
    lines = [*box.lines]
    source = Token("fence", "code", 0, map=lines, level=box.level + 1, block=True)
    source.info, source.content = "markdown annotate=false", _source(box)
    opening = Token("example_open", "div", 1, map=lines, level=box.level, block=True)
    result = Token("example_result_open", "div", 1, level=box.level + 1, block=True)
    return [opening, source, result], Token("example_close", "div", -1, level=box.level, block=True)


def _source(box: Container) -> str:
    """Return the lines of the fence without the line that closes it."""
    first, last = box.lines
    lines = box.into.lines[first + 1 : last]
    closed = bool(lines) and closes(lines[-1], box.into.lines[first])
    return dedent("\n".join(lines[:-1] if closed else lines)) + "\n"


DECLARED = (
    Directive(
        ("example",),
        "Markdown in two panes: as it is written, and what it becomes.",
        wrap=_wrap,
        has_options=False,
        plugin=_plugin,
    ),
)
