"""The types that a module of `directives/` declares: `Directive` for a fence with `{name} argument`, and `Role`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from sitegen.diagnostics import Span
from sitegen.markup import options as o
from sitegen.markup.annotations import Texts
from sitegen.markup.collected import Collected

_SIGNS = re.compile(r"`{3,}|~{3,}|:{3,}")
_AROUND = {"tab-item": ("tab-set",)}
"""The directives that stand around others, by the inner one."""
Translations = Mapping[str, Mapping[str, str]]
"""Translations of English words, by the language of a text (`ko`).  A site's own catalogue may have others."""


@dataclass(frozen=True, slots=True)
class Fence:
    """A fence of a text whose content is not parsed; `line` counts from 0."""

    name: str
    argument: str
    content: str
    line: int
    span: Span
    argument_span: Span
    notes: Texts = field(default_factory=dict)
    """The points of the list right below the fence, when that list belongs to its code."""


@dataclass(frozen=True, slots=True)
class Container:
    """A fence whose content is Markdown, on `lines` (from 0, the second exclusive)."""

    name: str
    argument: str
    head: Sequence[str]
    """The option lines, which are no part of the Markdown."""
    lines: tuple[int, int]
    level: int
    into: Collected


@dataclass(frozen=True, slots=True)
class Directive:
    """A directive.  It has either `show` or `wrap`."""

    names: tuple[str, ...]
    """The name, and others for the same."""
    about: str
    """A sentence for the manual."""
    options: Mapping[str, o.Setting] = field(default_factory=dict)
    show: Callable[[Fence, Collected], str] | None = None
    """Returns the HTML of a fence whose content is data or code."""
    wrap: Callable[[Container], tuple[Sequence[Token], Token]] | None = None
    """Returns the tokens before and behind those of a fence whose content is Markdown."""
    has_options: bool = True
    """True if lines such as `:label: x` at the head of a container are options and not its text."""
    takes_notes: bool = False
    """True if an ordered list right below the fence may hold notes to its code."""
    plugin: Callable[[MarkdownIt], None] | None = None
    """Adds further rules of markdown-it that the directive needs, for its tokens or for other forms of it."""
    words: Translations = field(default_factory=dict)
    is_offered: bool = True
    """True if the manual and did-you-mean name it."""


@dataclass(frozen=True, slots=True)
class InlineRole:
    """A role, `{name}` with a text in backticks within a line."""

    names: tuple[str, ...]
    about: str
    show: Callable[[Token, Collected], str]
    """Returns the HTML; the token's `content` is the text."""
    said: Callable[[str], str] = str
    """Returns the words that a reader sees of the text."""
    is_link: bool = False
    words: Translations = field(default_factory=dict)
    is_offered: bool = True


Declared = Directive | InlineRole


def fence_options(fence: Fence, settings: Mapping[str, o.Setting], into: Collected) -> tuple[o.Options, dict[str, Any]]:
    """Return the options of a fence without a text, and their values; a text in it is reported."""
    options = o.read_options(fence.content, fence.line + 1, into)
    if stray := options.rest.strip():
        span = into.span_of(stray, options.rest_line, options.rest_line + options.rest.count("\n") + 1)
        message, hint = _words_of_stray(fence.name, options)
        into.error("SG111", message, span, hint)
    return options, o.checked(options, settings, f"`{{{fence.name}}}`", into)


def _words_of_stray(name: str, options: o.Options) -> tuple[str, str]:
    """Return the message and the hint for a text in a fence that takes none; often a blank line made it one."""
    if o.is_option(options.rest.strip()) and not options.rest[:1].strip():
        hint = "remove the blank line above: options stand directly below the line that opens the fence"
        return f"an option of `{{{name}}}` stands below a blank line, and is not read", hint
    return f"the directive `{{{name}}}` has options and no text", "an option is `:key: value`"


def needs(fence: Fence, what: str, into: Collected) -> None:
    """Report that the argument of a fence is missing or of another form."""
    into.error("SG111", f"the directive `{{{fence.name}}}` needs {what}", fence.argument_span)


def closes(line: str, opening: str) -> bool:
    """Tell whether a line closes the fence that the line `opening` opens; lines of a quote begin with `>`."""
    signs = _SIGNS.search(opening)
    written = line.strip("> \t")
    return signs is not None and len(written) >= len(signs[0]) and set(written) == {signs[0][0]}


def warn_unclosed(name: str, line: int, into: Collected) -> None:
    """Warn that no line closes the fence of a directive, which opens on `line`."""
    hint = "everything below is inside: write a line with the same signs below its content"
    into.warning("SG138", f"the fence of `{{{name}}}` is never closed", into.span_of("{" + name + "}", line), hint)


def opened_inside(content: str, opening: str) -> tuple[int, str] | None:
    """Return the first line in a fence that opens another one by the same signs, from 0, and the other's name."""
    signs = opening.lstrip("> \t*+-0123456789.")
    count = len(signs) - len(signs.lstrip(signs[:1]))
    match = re.search(rf"(?m)^{re.escape(signs[:count])}\{{([\w-]+)\}}", content) if count > 2 else None
    return (content.count("\n", 0, match.start()), match[1]) if match else None


def report_swallowed(name: str, inner: str, line: int, into: Collected) -> None:
    """Report that a fence, which opens on `line`, is not closed before that of the directive `inner` opens."""
    signs = _SIGNS.search(into.lines[line])
    outer = signs[0] + signs[0][0] if signs else ""
    hint = "write a line with the same signs below its content"
    if name in _AROUND.get(inner, ()):
        hint = f"a fence around others has more signs: write `{outer}{{{name}}}`, and `{outer}` below the last of them"
    message = f"the fence of `{{{name}}}` is not closed before that of `{inner}` opens"
    into.error("SG138", message, into.span_of("{" + name + "}", line), hint)
