"""Turn `{plot} softmax`, `{plot} softmax/threads` and `{plot} #levels` into a slot for a chart of measurements."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from sitegen.markup import options as o
from sitegen.markup.collected import Collected
from sitegen.markup.directive import Directive, Fence, fence_options, needs
from sitegen.markup.inline import inline_html
from sitegen.markup.labels import numbered
from sitegen.model.document import PLOT_KINDS, PlotLine, PlotSlot
from sitegen.read.values import ValueMistake, parse_value

AXES = ("x", "y")
_SUBJECT = re.compile(r"#(?P<cell>[\w-]+)|(?P<kernel>[^\s/#]+)(?:/(?P<sweep>[^\s/#]+))?")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_OF_KERNELS = ("implementations", "workloads", "dtypes")


def _kind(value: o.Value) -> str:
    if value not in PLOT_KINDS:
        raise o.named("kind", o.text(value), PLOT_KINDS)
    return str(value)


def _axes(value: o.Value) -> tuple[str, ...]:
    axes = () if value == "none" else o.words(value)
    for axis in axes:
        if axis not in AXES:
            raise o.named("axis", axis, (*AXES, "none"))
    return axes


def _ends(value: o.Value) -> tuple[str, ...]:
    ends = o.words(value)
    if len(ends) != 2:
        raise o.Unfit("expected two columns", "write the low end and the high end, `[p20, p80]`")
    return ends


def _lines(value: o.Value) -> tuple[PlotLine, ...]:
    return tuple(_line(name, o.text(figure)) for name, figure in o.mapping(value).items())


def _line(name: str, figure: str) -> PlotLine:
    if _NUMBER.fullmatch(figure):
        return PlotLine(name, float(figure))
    try:
        return PlotLine(name, parse_value(figure))
    except ValueMistake as mistake:
        raise o.Unfit(mistake.message, mistake.hint, mistake.word) from None


def _notes(value: o.Value) -> tuple[tuple[str, str], ...]:
    return tuple((place, o.text(words)) for place, words in o.mapping(value).items())


def _gpus(value: o.Value) -> bool:
    if value != "together":
        raise o.named("arrangement", o.text(value), ("together",))
    return True


OPTIONS = {
    "x": o.Setting(o.text, "The horizontal axis: a column, or a formula over sizes such as `THREADS * UNROLL * 16`."),
    "y": o.Setting(
        o.words,
        "The vertical axis: columns, a curve for each; of `heat`, the column of the rows; of `spans`, those of the "
        "ends and of the lines.",
    ),
    "kind": o.Setting(_kind, f"The kind of chart: {', '.join(f'`{kind}`' for kind in PLOT_KINDS)}."),
    "value": o.Setting(o.text, "The column that the cells of a heat map show."),
    "curves": o.Setting(o.words, "The columns of which each combination of values has a curve."),
    "panels": o.Setting(o.text, "A column of which each value has a chart of its own, with the same axes."),
    "ends": o.Setting(_ends, "The columns of the low and the high end of the whiskers, for a table of a cell."),
    "lines": o.Setting(
        _lines, "Lines to compare with, by name: `{copy: ceiling copy, banks: 32}`, a figure of a record or a number."
    ),
    "notes": o.Setting(_notes, "Words at points, by their place on the horizontal axis: `{4096: L2 is full}`."),
    "log": o.Setting(_axes, "The logarithmic axes: `x`, `y`, `x, y` or `none`."),
    "gpus": o.Setting(_gpus, "`together` draws the curves of all GPUs into one chart; without it, each has a tab."),
    "implementations": o.Setting(
        o.words, "The implementations and baselines of a kernel, in the order in which they are drawn; without it, all."
    ),
    "workloads": o.Setting(o.words, "The workloads of a kernel; without it, all."),
    "dtypes": o.Setting(o.words, "The dtypes of a kernel; without it, the first."),
    "x-title": o.Setting(o.text, "The title of the horizontal axis, with its unit."),
    "y-title": o.Setting(o.text, "The title of the vertical axis, with its unit."),
    "caption": o.Setting(o.text, "The caption of the figure."),
    "label": o.Setting(o.label, "The label by which the text refers to the figure, `fig-…`."),
}


def _show(fence: Fence, into: Collected) -> str:
    options, values = fence_options(fence, OPTIONS, into)
    subject = _SUBJECT.fullmatch(fence.argument)
    if subject is None:
        needs(fence, "a kernel, a sweep or a cell: `softmax`, `softmax/threads` or `#levels`", into)
        return ""
    if missing := _missing(subject.groupdict(""), values):
        needs(fence, missing, into)
        return ""
    if words := values.get("caption"):
        values["caption"] = inline_html(words, options.span("caption", fence.span).line - into.first_line, into)
    label = values.pop("label", "")
    values["number"], values["label"] = numbered("fig", into, label, into.span_of(label, fence.line, fence.line + 30))
    values["together"] = values.pop("gpus", False)
    values = {name.replace("-", "_"): value for name, value in values.items()}
    named: dict[str, Any] = {**subject.groupdict(""), **values}
    return into.slot(PlotSlot(fence.argument_span, **named)) + "\n"


def _missing(subject: Mapping[str, str], values: Mapping[str, Any]) -> str:
    """Return what a plot needs and does not have, in words; empty when nothing is missing."""
    kind, cell = values.get("kind"), subject["cell"]
    if cell and ("x" not in values or not values.get("y")):
        return "the columns of its axes, `:x: size` and `:y: [latency]`"
    if kind == "spans" and len(values.get("y", ())) != 2:
        return "two columns in `y`: the ends of the spans, and their lines"
    if kind == "heat" and not ("x" in values and len(values.get("y", ())) == 1 and "value" in values):
        return "three columns, `:x: THREADS`, `:y: UNROLL` and `:value: bandwidth`"
    if kind in ("spans", "chip") and not cell:
        return f"the table of a cell, `#levels`, for the kind `{kind}`"
    if cell and (wrong := [name for name in _OF_KERNELS if name in values]):
        return f"a kernel, because it has the option `{wrong[0]}`"
    return ""


DECLARED = (
    Directive(("plot",), "A chart of a kernel's evaluations, of a sweep or of a table of a cell.", OPTIONS, show=_show),
)
