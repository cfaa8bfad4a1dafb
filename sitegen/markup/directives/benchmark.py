"""Turn `{benchmark} softmax` into a slot for the table of a kernel's evaluations."""

from __future__ import annotations

import re

from sitegen.markup import options as o
from sitegen.markup.collected import Collected
from sitegen.markup.directive import Directive, Fence, fence_options, needs
from sitegen.markup.inline import inline_html
from sitegen.markup.labels import numbered
from sitegen.model.document import BenchmarkSlot

COLUMNS = ("time", "bandwidth", "of-ceiling", "of-copy", "of-read", "vs: …")


def _columns(value: o.Value) -> tuple[str, ...]:
    columns = o.words(value)
    for column in columns:
        if column not in COLUMNS and not re.fullmatch(r"vs: \S+", column):
            raise o.named("column", column, COLUMNS)
    return columns


OPTIONS = {
    "workloads": o.Setting(o.words, "The workloads that are shown; without it, all."),
    "dtypes": o.Setting(o.words, "The dtypes that are shown; without it, all."),
    "implementations": o.Setting(
        o.words, "The implementations, baselines and probes (`copy`, `read`) that are shown; without it, all."
    ),
    "columns": o.Setting(_columns, "The columns, such as `[time, bandwidth, of-ceiling, vs: torch]`."),
    "caption": o.Setting(o.text, "The caption of the table."),
    "label": o.Setting(o.label, "The label by which the text refers to the table, `tbl-…`."),
}


def _show(fence: Fence, into: Collected) -> str:
    options, values = fence_options(fence, OPTIONS, into)
    if not re.fullmatch(r"[^\s/]+", fence.argument):
        needs(fence, "a kernel, `{benchmark} softmax`", into)
        return ""
    if words := values.get("caption"):
        values["caption"] = inline_html(words, options.span("caption", fence.span).line - into.first_line, into)
    label = values.pop("label", "")
    values["number"], values["label"] = numbered("tbl", into, label, into.span_of(label, fence.line, fence.line + 20))
    return into.slot(BenchmarkSlot(fence.argument, fence.argument_span, **values)) + "\n"


DECLARED = (Directive(("benchmark",), "A table of what was measured of a kernel.", OPTIONS, show=_show),)
