"""Fences → figures, cells and slots.  What is in braces is a directive; a plain fence is only shown, never executed."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from markdown_it.token import Token

from sitegen.diagnostics import Span
from sitegen.markup import options as o
from sitegen.markup.annotations import Texts, notes_at_lines
from sitegen.markup.callouts import KINDS
from sitegen.markup.code import code_figure
from sitegen.markup.collected import Collected, collected
from sitegen.markup.labels import kind_of, named, next_name, numbered
from sitegen.markup.listings import code_block, plain_fence
from sitegen.markup.looks import OF_CODE, look_of
from sitegen.markup.math import block_math
from sitegen.model.document import CELL_LANGUAGES, BenchmarkSlot, Cell, CellSlot, ListingSlot, RooflineSlot

DIRECTIVE = re.compile(r"\{([^{}\s]*)\}\s*(.*)$")
COLUMNS = ("time", "bandwidth", "of-ceiling", "of-copy", "of-read", "vs: …")


@dataclass(frozen=True, slots=True)
class Fence:
    """A fence as it stands in the text; `line` counts from 0."""

    name: str
    argument: str
    content: str
    line: int
    span: Span
    argument_span: Span
    notes: Texts = field(default_factory=dict)
    """In the list right below it, when that belongs to its code."""


def render_fence(tokens: Sequence[Token], idx: int, _options: Any, env: Any) -> str:
    """markdown-it's rule for fences of backticks, tildes and colons."""
    token, into = tokens[idx], collected(env)
    line = token.map[0] if token.map else 0
    info = token.info.strip()
    if info.startswith("{") or info == "mermaid":
        return _directive(info, token, line, into)
    return plain_fence(info, token.content, line, token.meta.get("notes", {}), into)


def _directive(info: str, token: Token, line: int, into: Collected) -> str:
    found = DIRECTIVE.match(info)
    name, argument = (found[1], found[2].strip()) if found else (info.strip("{} "), "")
    span = into.span_of("{" + name + "}", line)
    argument_span = into.span_of(argument, line) if argument else span
    fence = Fence(name, argument, token.content, line, span, argument_span, token.meta.get("notes", {}))
    if name in DIRECTIVES:
        return DIRECTIVES[name](fence, into)
    if name in NOT_YET:
        into.error("SG112", f"the directive `{{{name}}}` is not known yet", span, "claims are bound to records later")
        return ""
    into.unknown("SG101", "directive", name, [*DIRECTIVES, *KINDS, "figure", "tab-set", "tab-item"], span)
    return code_figure(token.content, "", spoken=into.spoken)


def _cell(fence: Fence, into: Collected) -> str:
    aliased = fence.name in CELL_LANGUAGES
    language = fence.name if aliased else fence.argument
    from sitegen.markup.cells import read_cell

    cell = read_cell(language, fence.content, fence.line, fence.argument_span, fence.notes, into)
    if cell is None:
        return code_figure(fence.content, "", spoken=into.spoken)
    into.cells.append(cell)
    return into.slot(CellSlot(cell.label, _output_name(cell, into))) + "\n"


def _output_name(cell: Cell, into: Collected) -> str:
    """Of what a cell puts out, if that has a caption or a label that says what it is."""
    kind = "fig" if "fig-cap" in cell.options else "tbl" if "tbl-cap" in cell.options else kind_of(cell.label)
    if kind not in ("fig", "tbl"):
        return ""
    into.names[cell.label] = name = next_name(kind, into)
    return name.whole


def _kernel(fence: Fence, into: Collected) -> str:
    options, values = _options(fence, {"region": o.text, "label": o.label, "diff": o.text, **OF_CODE}, into)
    kernel, slash, implementation = fence.argument.partition("/")
    if not (kernel and slash and implementation):
        _needs(fence, "an implementation, `{kernel} softmax/naive`", into)
        return ""
    span = options.span("annotate", fence.argument_span)
    notes = notes_at_lines(values.get("annotate", ""), fence.notes, span, into)
    name, id = named("lst", "lst-cap" in values, values.get("label", ""), options.span("label", span), into)
    look = look_of(values, notes, id=id, name=name, numbers=True)
    region, against = values.get("region", ""), values.get("diff", "")
    return into.slot(ListingSlot(kernel, implementation, fence.argument_span, region, look, against)) + "\n"


def _code_block(fence: Fence, into: Collected) -> str:
    return code_block(fence.argument, fence.content, fence.line, fence.argument_span, fence.notes, into)


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
    label = values.pop("label", "")
    span = into.span_of(label, fence.line, fence.line + 20)
    values["number"], values["label"] = numbered("tbl" if kind is BenchmarkSlot else "fig", into, label, span)
    return into.slot(kind(fence.argument, fence.argument_span, **values)) + "\n"


def _math(fence: Fence, into: Collected) -> str:
    options = o.read_options(fence.content, fence.line + 1, into)
    values = o.checked(options, {"label": o.label}, "`{math}`", into)
    source = f"{fence.argument}\n{options.rest}" if fence.argument else options.rest
    return block_math(source, fence.line, options.rest_line, values.get("label", ""), into)


def _drawn(fence: Fence, into: Collected) -> str:
    from sitegen.markup.drawn import draw

    return draw(fence, into)


def _values(fence: Fence, kinds: Mapping[str, o.Kind], into: Collected) -> dict[str, Any]:
    return _options(fence, kinds, into)[1]


def _options(fence: Fence, kinds: Mapping[str, o.Kind], into: Collected) -> tuple[o.Options, dict[str, Any]]:
    options = o.read_options(fence.content, fence.line + 1, into)
    if stray := options.rest.strip():
        span = into.span_of(stray, options.rest_line, options.rest_line + options.rest.count("\n") + 1)
        hint = "an option is `:key: value`"
        into.error("SG111", f"the directive `{{{fence.name}}}` has options and no text", span, hint)
    return options, o.checked(options, kinds, f"`{{{fence.name}}}`", into)


def _needs(fence: Fence, what: str, into: Collected) -> None:
    into.error("SG111", f"the directive `{{{fence.name}}}` needs {what}", fence.argument_span)


def _columns(value: o.Value) -> tuple[str, ...]:
    columns = o.words(value)
    for column in columns:
        if column not in COLUMNS and not re.fullmatch(r"vs: \S+", column):
            raise o.named("column", column, COLUMNS)
    return columns


DIRECTIVES: dict[str, Callable[[Fence, Collected], str]] = {
    "code-block": _code_block,
    "code-cell": _cell,
    **dict.fromkeys(CELL_LANGUAGES, _cell),
    "kernel": _kernel,
    "benchmark": _benchmark,
    "roofline": _roofline,
    "math": _math,
    **dict.fromkeys(("layout", "memory-access", "timeline", "mermaid"), _drawn),
}
NOT_YET = frozenset({"claim", "value"})
