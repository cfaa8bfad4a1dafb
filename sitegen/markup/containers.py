"""Turn a fence whose content is Markdown, such as `:::{note} Title`, into the tokens of its content between two others.

The content is read together with the blocks of the document, so that lists, fences, footnotes and line numbers inside
it are the document's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_block.fence import make_fence_rule

from sitegen.markup.collected import collected
from sitegen.markup.directive import Container, Directive, closes, opened_inside, report_swallowed, warn_unclosed

_INFO = re.compile(r"(?:`{3,}|~{3,}|:{3,})\s*\{(?P<name>[\w-]+)\}(?P<argument>.*)$")
_OPTION = re.compile(r"\s*(?::[A-Za-z][\w-]*:|#\||//\|)")
_fence = make_fence_rule(markers=("`", "~", ":"))


def containers_plugin(md: MarkdownIt, directives: Mapping[str, Directive]) -> None:
    """Add the rule that reads the containers among the directives.  A plugin for fences of colons comes after it."""
    containers = {name: directive for name, directive in directives.items() if directive.wrap}

    def container(state: StateBlock, start: int, end: int, silent: bool) -> bool:
        match = _INFO.match(state.src[state.bMarks[start] + state.tShift[start] : state.eMarks[start]])
        directive = _container(match["name"], containers, state) if match else None
        if not match or not directive or not _fence(state, start, end, silent):
            return False
        if not silent:
            _read(state, directive, match["name"], match["argument"].strip(), start, end)
        return True

    md.block.ruler.before("fence", "container", container, {"alt": ["paragraph", "reference", "blockquote", "list"]})


def _container(name: str, containers: Mapping[str, Directive], state: StateBlock) -> Directive | None:
    """Return the directive of a name whose content is Markdown: one of sitegen, or one of the site."""
    if name in containers:
        return containers[name]
    own: Directive | None = collected(state.env).added.directives.get(name)
    return own if own and own.wrap else None


def _read(state: StateBlock, directive: Directive, name: str, argument: str, start: int, end: int) -> None:
    whole = state.tokens.pop()
    last = (whole.map or [start, end])[1]
    head = _option_lines(whole.content) if directive.has_options else ()
    into = collected(state.env)
    inner = opened_inside(whole.content, _line(state, start))
    if inner:
        report_swallowed(name, inner[1], start, into)
    elif not _is_closed(state, start, last):
        warn_unclosed(name, start, into)
    container = Container(name, argument, head, (start, last), state.level, into)
    assert directive.wrap is not None
    opening, closing = directive.wrap(container)
    state.tokens.extend(opening)
    stop = last - 1 if _is_closed(state, start, last) else last
    _read_content(state, start + 1 + len(head), start + 1 + inner[0] if inner else stop)
    state.tokens.append(closing)


def _option_lines(content: str) -> Sequence[str]:
    """Return the lines at the head of a fence that are options."""
    lines = content.split("\n")
    stop = next((at for at, line in enumerate(lines) if not _OPTION.match(line)), len(lines))
    return lines[:stop]


def _read_content(state: StateBlock, begin: int, stop: int) -> None:
    """Read the lines from `begin` to `stop`, which is no part of them."""
    after = state.line
    outer, state.lineMax = state.lineMax, stop
    parent, state.parentType = state.parentType, "container"
    state.level += 1
    state.md.block.tokenize(state, min(begin, stop), stop)
    state.level -= 1
    state.parentType, state.lineMax, state.line = parent, outer, after


def _is_closed(state: StateBlock, start: int, last: int) -> bool:
    return last - 1 > start and closes(_line(state, last - 1), _line(state, start))


def _line(state: StateBlock, number: int) -> str:
    return state.src[state.bMarks[number] + state.tShift[number] : state.eMarks[number]]
