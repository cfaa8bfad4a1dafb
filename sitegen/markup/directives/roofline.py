"""Turn `{roofline} softmax` into a slot for the roofline of a kernel."""

from __future__ import annotations

import re

from sitegen.markup import options as o
from sitegen.markup.collected import Collected
from sitegen.markup.directive import Directive, Fence, fence_options, needs
from sitegen.markup.inline import inline_html
from sitegen.markup.labels import numbered
from sitegen.model.document import RooflineSlot

OPTIONS = {
    "workload": o.Setting(o.text, "The workload; without it, the first of the kernel."),
    "dtype": o.Setting(o.text, "The dtype; without it, the first of the kernel."),
    "caption": o.Setting(o.text, "The caption of the figure."),
    "label": o.Setting(o.label, "The label by which the text refers to the figure, `fig-…`."),
}


def _show(fence: Fence, into: Collected) -> str:
    options, values = fence_options(fence, OPTIONS, into)
    if not re.fullmatch(r"[^\s/]+", fence.argument):
        needs(fence, "a kernel, `{roofline} softmax`", into)
        return ""
    if words := values.get("caption"):
        values["caption"] = inline_html(words, options.span("caption", fence.span).line - into.first_line, into)
    label = values.pop("label", "")
    values["number"], values["label"] = numbered("fig", into, label, into.span_of(label, fence.line, fence.line + 20))
    return into.slot(RooflineSlot(fence.argument, fence.argument_span, **values)) + "\n"


DECLARED = (Directive(("roofline",), "The roofline of a kernel at one workload and dtype.", OPTIONS, show=_show),)
