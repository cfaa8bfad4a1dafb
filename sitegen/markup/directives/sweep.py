"""Turn `{sweep} softmax/threads` into a slot for the chart of a sweep of kernel.yaml."""

from __future__ import annotations

from sitegen.markup import options as o
from sitegen.markup.collected import Collected
from sitegen.markup.directive import Directive, Fence, fence_options, needs
from sitegen.markup.labels import numbered
from sitegen.model.document import SWEEP_QUANTITIES, SweepSlot

KINDS = ("line", "staircase", "scatter", "bar")
AXES = ("x", "y")


def _kind(value: o.Value) -> str:
    if value not in KINDS:
        raise o.named("kind", o.text(value), KINDS)
    return str(value)


def _quantity(value: o.Value) -> str:
    if value not in SWEEP_QUANTITIES:
        raise o.named("quantity", o.text(value), SWEEP_QUANTITIES)
    return str(value)


def _axes(value: o.Value) -> tuple[str, ...]:
    axes = () if value == "none" else o.words(value)
    for axis in axes:
        if axis not in AXES:
            raise o.named("axis", axis, (*AXES, "none"))
    return axes


OPTIONS = {
    "x": o.Setting(o.text, "The horizontal axis: a swept name, or a formula such as `THREADS * UNROLL * 16`."),
    "x-title": o.Setting(o.text, "The title of the horizontal axis, with its unit."),
    "y": o.Setting(_quantity, "The vertical axis: `time`, `bandwidth`, `operations` or `of-copy`."),
    "kind": o.Setting(_kind, "The kind of chart: `line`, `staircase`, `scatter` or `bar`."),
    "log": o.Setting(_axes, "The logarithmic axes: `x`, `y`, `x, y` or `none`."),
    "caption": o.Setting(o.text, "The caption of the figure."),
    "label": o.Setting(o.label, "The label by which the text refers to the figure, `fig-…`."),
}


def _show(fence: Fence, into: Collected) -> str:
    _, values = fence_options(fence, OPTIONS, into)
    kernel, slash, sweep = fence.argument.partition("/")
    if not (kernel and slash and sweep) or any(letter.isspace() for letter in fence.argument):
        needs(fence, "a sweep of a kernel, `{sweep} softmax/threads`", into)
        return ""
    label = values.pop("label", "")
    values["number"], values["label"] = numbered("fig", into, label, into.span_of(label, fence.line, fence.line + 20))
    values = {name.replace("-", "_"): value for name, value in values.items()}
    return into.slot(SweepSlot(kernel, sweep, fence.argument_span, **values)) + "\n"


DECLARED = (Directive(("sweep",), "A quantity over the values of a sweep.", OPTIONS, show=_show),)
