"""Fences → figures, cells and slots.  What is in braces is a directive; a plain fence is only shown, never executed."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from markdown_it.token import Token

from sitegen.diagnostics import Span, did_you_mean
from sitegen.markup import options as o
from sitegen.markup.callouts import KINDS
from sitegen.markup.code import code_figure
from sitegen.markup.collected import Collected, collected
from sitegen.markup.highlight import is_known, known_languages
from sitegen.markup.math import block_math
from sitegen.model.document import CELL_LANGUAGES, BenchmarkSlot, CellSlot, ListingSlot, RooflineSlot

DIRECTIVE = re.compile(r"\{([^{}\s]*)\}\s*(.*)$")
COLUMNS = ("time", "bandwidth", "of-ceiling", "of-copy", "of-read", "vs: …")
_ATTRIBUTE = re.compile(r'\s*([^\s=]+)(?:=("[^"]*"|\'[^\']*\'|\S*))?')


@dataclass(frozen=True, slots=True)
class Fence:
    """A fence as it stands in the text; `line` counts from 0."""

    name: str
    argument: str
    content: str
    line: int
    span: Span
    argument_span: Span


def render_fence(tokens: Sequence[Token], idx: int, _options: Any, env: Any) -> str:
    """markdown-it's rule for fences of backticks, tildes and colons."""
    token, into = tokens[idx], collected(env)
    line = token.map[0] if token.map else 0
    info = token.info.strip()
    if info.startswith("{"):
        return _directive(info, token.content, line, into)
    return into.remembered(lambda: _plain_fence(info, token.content, line, into), "fence", info, token.content)


def _directive(info: str, content: str, line: int, into: Collected) -> str:
    found = DIRECTIVE.match(info)
    name, argument = (found[1], found[2].strip()) if found else (info.strip("{} "), "")
    span = into.span_of("{" + name + "}", line)
    fence = Fence(name, argument, content, line, span, into.span_of(argument, line) if argument else span)
    if name in DIRECTIVES:
        return DIRECTIVES[name](fence, into)
    if name in NOT_YET:
        into.error("SG112", f"the directive `{{{name}}}` is not known yet", span, "claims are bound to records later")
        return ""
    into.unknown("SG101", "directive", name, [*DIRECTIVES, *KINDS, "figure"], span)
    return code_figure(content, "")


def _cell(fence: Fence, into: Collected) -> str:
    aliased = fence.name in CELL_LANGUAGES
    language = fence.name if aliased else fence.argument
    from sitegen.markup.cells import read_cell

    cell = read_cell(language, fence.content, fence.line, fence.argument_span, into)
    if cell is None:
        return code_figure(fence.content, "")
    into.cells.append(cell)
    return into.slot(CellSlot(cell.label)) + "\n"


def _kernel(fence: Fence, into: Collected) -> str:
    values = _values(fence, {"region": o.text, "caption": o.text}, into)
    kernel, slash, implementation = fence.argument.partition("/")
    if not (kernel and slash and implementation):
        _needs(fence, "an implementation, `{kernel} softmax/naive`", into)
        return ""
    return into.slot(ListingSlot(kernel, implementation, fence.argument_span, **values)) + "\n"


def _benchmark(fence: Fence, into: Collected) -> str:
    kinds: dict[str, o.Kind] = dict.fromkeys(("workloads", "dtypes", "implementations"), o.words)
    values = _values(fence, {**kinds, "columns": _columns, "caption": o.text, "label": o.label}, into)
    return _figure_slot(BenchmarkSlot, fence, values, into)


def _roofline(fence: Fence, into: Collected) -> str:
    kinds = {"workload": o.text, "dtype": o.text, "caption": o.text, "label": o.label}
    return _figure_slot(RooflineSlot, fence, _values(fence, kinds, into), into)


def _figure_slot(kind: Callable[..., Any], fence: Fence, values: dict[str, Any], into: Collected) -> str:
    if not re.fullmatch(r"[^\s/]+", fence.argument):
        _needs(fence, f"a kernel, `{{{fence.name}}} softmax`", into)
        return ""
    if values.get("label"):
        values["label"] = into.take_id(values["label"], into.span_of(values["label"], fence.line, fence.line + 20))
    return into.slot(kind(fence.argument, fence.argument_span, **values)) + "\n"


def _math(fence: Fence, into: Collected) -> str:
    options = o.read_options(fence.content, fence.line + 1, into)
    values = o.checked(options, {"label": o.label}, "`{math}`", into)
    source = f"{fence.argument}\n{options.rest}" if fence.argument else options.rest
    return block_math(source, fence.line, options.rest_line, values.get("label", ""), into)


def _values(fence: Fence, kinds: Mapping[str, o.Kind], into: Collected) -> dict[str, Any]:
    options = o.read_options(fence.content, fence.line + 1, into)
    if stray := options.rest.strip():
        span = into.span_of(stray, options.rest_line, options.rest_line + options.rest.count("\n") + 1)
        hint = "an option is `:key: value`"
        into.error("SG111", f"the directive `{{{fence.name}}}` has options and no text", span, hint)
    return o.checked(options, kinds, f"`{{{fence.name}}}`", into)


def _needs(fence: Fence, what: str, into: Collected) -> None:
    into.error("SG111", f"the directive `{{{fence.name}}}` needs {what}", fence.argument_span)


def _columns(value: o.Value) -> tuple[str, ...]:
    columns = o.words(value)
    for column in columns:
        if column not in COLUMNS and not re.fullmatch(r"vs: \S+", column):
            raise o.named("column", column, COLUMNS)
    return columns


DIRECTIVES: dict[str, Callable[[Fence, Collected], str]] = {
    "code-cell": _cell,
    **dict.fromkeys(CELL_LANGUAGES, _cell),
    "kernel": _kernel,
    "benchmark": _benchmark,
    "roofline": _roofline,
    "math": _math,
}
NOT_YET = frozenset({"claim", "value"})


def _plain_fence(info: str, content: str, line: int, into: Collected) -> str:
    language, _, rest = info.partition(" ")
    values = _attributes(rest, line, into)
    if not is_known(language.lower()):
        span = into.span_of(language, line)
        hint = did_you_mean(language, known_languages()) or "it is shown as plain text"
        into.warning("SG116", f"unknown fence language `{language}`", span, hint)
        language = ""
    shown = values.get("hl") or values.get("hl_lines") or ""
    name = into.take_id(values["label"], into.span_of(values["label"], line)) if values.get("label") else ""
    lines = _line_numbers(shown, content, into.span_of(shown or info, line), into)
    return code_figure(content, language.lower(), title=values.get("title", ""), highlighted=lines, id=name)


def _attributes(text: str, line: int, into: Collected) -> dict[str, str]:
    known = ("title", "hl", "hl_lines", "label")
    values: dict[str, str] = {}
    for key, value in _ATTRIBUTE.findall(text.strip()):
        if key not in known:
            into.unknown("SG103", "option of a fence", key, known, into.span_of(key, line))
        elif key in values:
            into.error("SG104", f"option `{key}` is given twice", into.span_of(key, line))
        else:
            values[key] = value.strip("\"'")
    return values


def _line_numbers(text: str, content: str, span: Span, into: Collected) -> frozenset[int]:
    """`3-5,8` as numbers within the listing."""
    count = content.count("\n")
    numbers: set[int] = set()
    for part in filter(None, re.split(r"[,\s]+", text)):
        found = re.fullmatch(r"(\d{1,6})(?:-(\d{1,6}))?", part)
        first, last = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
        if not 1 <= first <= last <= count:
            into.error("SG105", f"`{escape(part)}` names no lines of this listing of {count} lines", span)
            continue
        numbers.update(range(first, last + 1))
    return frozenset(numbers)
