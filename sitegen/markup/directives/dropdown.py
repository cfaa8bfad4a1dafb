"""Turn `{dropdown} Title` into Markdown that is folded away behind its title, as MyST does; it needs no script."""

from __future__ import annotations

from markdown_it import MarkdownIt
from markdown_it.token import Token

from sitegen.markup.collected import add_rules
from sitegen.markup.directive import Container, Directive

NAME = "dropdown"


def _wrap(fence: Container) -> tuple[list[Token], Token]:
    line, level = fence.lines[0], fence.level
    if not fence.argument:
        span = fence.into.span_of(f"{{{NAME}}}", line)
        fence.into.error("SG111", f"the directive `{{{NAME}}}` needs a title", span, "`{dropdown} The mask`")
    opening = Token("dropdown_open", "details", 1, level=level, block=True, map=[*fence.lines])
    title = Token(
        "inline", "", 0, level=level + 2, content=fence.argument, children=[], map=[line, line + 1], block=True
    )
    begin, end = (Token("dropdown_title", "summary", nesting, level=level + 1, block=True) for nesting in (1, -1))
    return [opening, begin, title, end], Token("dropdown_close", "details", -1, level=level, block=True)


def _plugin(md: MarkdownIt) -> None:
    add_rules(
        md,
        {
            "dropdown_open": lambda *_: '<details class="fold">\n',
            "dropdown_title": lambda tokens, at, *_: "<summary>" if tokens[at].nesting > 0 else "</summary>\n",
            "dropdown_close": lambda *_: "</details>\n",
        },
    )


DECLARED = (
    Directive((NAME,), "Text that is folded away behind its title.", wrap=_wrap, has_options=False, plugin=_plugin),
)
