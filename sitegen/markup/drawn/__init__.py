"""`{layout}`, `{memory-access}`, `{timeline}` and `{mermaid}` fences → figures that are computed, never typed.

Codes: SG130 layout · SG131 address · SG132 timeline · SG133 diagram · SG134 the library for diagrams is missing
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from sitegen.markup import options as o
from sitegen.markup.collected import Collected
from sitegen.markup.drawn.figure import COMMON, Figure, Given, figure

if TYPE_CHECKING:
    from sitegen.markup.fences import Fence

_MODULES = {"layout": "layout", "memory-access": "access", "timeline": "timeline", "mermaid": "diagram"}


def draw(fence: Fence, into: Collected) -> str:
    """The HTML of a figure; empty when its data are wrong, which is reported."""
    kind: Figure = import_module(f"{__name__}.{_MODULES[fence.name]}").FIGURE
    options = o.read_options(fence.content, fence.line + 1, into)
    given = Given(fence, options, o.checked(options, {**COMMON, **kind.options}, f"`{{{fence.name}}}`", into))
    if options.broken:
        return ""

    @cache
    def data() -> Any:
        return kind.read(given, into)

    def drawn() -> str:
        return kind.draw(data(), given.values.get("fig-alt", "")) if data() is not None else ""

    source = (fence.name, fence.argument, fence.content)
    picture = into.remembered(drawn, "picture", *source)
    text = into.remembered(lambda: kind.text(data()), "text", *source) if picture else ""
    return figure(picture, text, given, into) if picture else ""
