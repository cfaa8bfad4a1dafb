"""`{layout}`, `{memory-access}`, `{timeline}` and `{mermaid}` fences → figures that are computed, never typed.

Codes: SG130 layout · SG131 address · SG132 timeline · SG133 diagram · SG134 the library for diagrams is missing
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from sitegen.markup import options as o
from sitegen.markup.collected import Collected
from sitegen.markup.drawn import access, diagram, layout, timeline
from sitegen.markup.drawn.figure import COMMON, Figure, Given, figure

if TYPE_CHECKING:
    from sitegen.markup.fences import Fence

_KINDS: Mapping[str, Figure] = {
    "layout": layout.FIGURE,
    "memory-access": access.FIGURE,
    "timeline": timeline.FIGURE,
    "mermaid": diagram.FIGURE,
}


def draw(fence: Fence, into: Collected) -> str:
    """The HTML of a figure; empty when its data are wrong, which is reported."""
    kind = _KINDS[fence.name]
    options = o.read_options(fence.content, fence.line + 1, into)
    values = o.checked(options, {**COMMON, **kind.options}, f"`{{{fence.name}}}`", into)
    given = Given(fence, options, values)
    data = None if options.broken else kind.read(given, into)
    if data is None:
        return ""
    alt = values.get("fig-alt", "")
    picture = into.remembered(lambda: kind.draw(data, alt), fence.name, "picture", data, alt)
    text = into.remembered(lambda: kind.text(data), fence.name, "text", data)
    return figure(picture, text, kind.is_wide(data), given, into)
