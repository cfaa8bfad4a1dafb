"""Turn the role `{output}` and the directive `{cell-chart}` into slots for tables that cells put out."""

from __future__ import annotations

from html import escape

from markdown_it.token import Token

from sitegen.markup import options as o
from sitegen.markup.collected import Collected
from sitegen.markup.directive import Directive, Fence, InlineRole, fence_options, needs
from sitegen.markup.labels import numbered
from sitegen.markup.places import span_within
from sitegen.model.document import CellChartSlot, OutputSlot

SAID = "…"
"""The word for a figure where the text is shown before a record is read, as in a list of headings."""
KINDS = ("line", "staircase", "scatter", "spans", "chip")
AXES = ("x", "y")


def _show(token: Token, into: Collected) -> str:
    places = tuple(tuple(part.strip() for part in place.split(":")) for place in token.content.split(" / "))
    span = span_within(token, token.content, into)
    if len(places) > 2 or any(len(place) != 3 or not all(place) for place in places):
        hint = "write cell, row and column: `{output}` with `levels:L1:latency`, or the quotient of two with ` / `"
        into.error("SG135", "an output is named by its cell, row and column", span, hint)
        return f"<code>{escape(token.content, quote=False)}</code>"
    triples = tuple((cell, row, column) for cell, row, column in places)
    return into.slot(OutputSlot(triples, span, token.content))


def _kind(value: o.Value) -> str:
    if value not in KINDS:
        raise o.named("kind", o.text(value), KINDS)
    return str(value)


def _axes(value: o.Value) -> tuple[str, ...]:
    axes = o.words(value)
    for axis in axes:
        if axis not in AXES:
            raise o.named("axis", axis, AXES)
    return axes


OPTIONS = {
    "x": o.Setting(
        o.text, "The column of the horizontal axis; of `spans`, that of their starts; of `chip`, the levels."
    ),
    "y": o.Setting(
        o.words, "The columns of the vertical axis; of `spans`, the column of their ends and of their lines."
    ),
    "kind": o.Setting(_kind, "The kind of chart: `line`, `staircase`, `scatter`, `spans` or `chip`."),
    "log": o.Setting(_axes, "The logarithmic axes: `x`, `y` or `x, y`."),
    "x-title": o.Setting(o.text, "The title of the horizontal axis, with its unit."),
    "y-title": o.Setting(o.text, "The title of the vertical axis, with its unit."),
    "caption": o.Setting(o.text, "The caption of the figure."),
    "label": o.Setting(o.label, "The label by which the text refers to the figure, `fig-…`."),
}


def _chart(fence: Fence, into: Collected) -> str:
    _, values = fence_options(fence, OPTIONS, into)
    spans = values.get("kind") == "spans"
    if not fence.argument or "x" not in values or not values.get("y") or (spans and len(values["y"]) != 2):
        needs(fence, "a cell and the columns of its axes, `:x: size` and `:y: [latency]`", into)
        return ""
    label = values.pop("label", "")
    values["number"], values["label"] = numbered("fig", into, label, into.span_of(label, fence.line, fence.line + 20))
    values = {name.replace("-", "_"): value for name, value in values.items()}
    return into.slot(CellChartSlot(fence.argument, fence.argument_span, **values)) + "\n"


DECLARED = (
    InlineRole(
        ("output",),
        "An entry of a table that a cell put out: `levels:L1:latency`, or a quotient, `a:b:c / a:d:c`.",
        _show,
        said=lambda _: SAID,
    ),
    Directive(("cell-chart",), "A chart of a table that a cell of the post put out.", OPTIONS, show=_chart),
)
