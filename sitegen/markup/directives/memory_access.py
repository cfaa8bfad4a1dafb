"""Turn `{memory-access}` with the address of each lane into the sectors, or banks and passes, that it costs."""

from __future__ import annotations

from sitegen.markup import options as o
from sitegen.markup.collected import Collected
from sitegen.markup.directive import Directive, Fence
from sitegen.markup.looks import OF_DRAWN
from sitegen.model.access import WIDTHS
from sitegen.model.layout import Layout, LayoutError, parse_layout


def _whole(value: o.Value) -> int:
    if not isinstance(value, str) or not value.isdecimal() or len(value) > 9:
        raise o.Unfit("expected a whole number")
    return int(value)


def _bytes(value: o.Value) -> int:
    if value not in tuple(map(str, WIDTHS)):
        raise o.Unfit("expected bytes: 1, 2, 4, 8 or 16")
    return int(value)


def _memory(value: o.Value) -> str:
    if value not in ("global", "shared"):
        raise o.named("memory", o.text(value), ("global", "shared"))
    return str(value)


def _layout(value: o.Value) -> Layout:
    try:
        return parse_layout(o.text(value))
    except LayoutError as mistake:
        raise o.Unfit(f"this is no layout: {mistake.message}", mistake.hint, value[mistake.col - 1 :]) from None


OPTIONS = {
    **OF_DRAWN,
    "address": o.Setting(o.text, "The address of each lane in bytes, as a formula of `lane`."),
    "stride": o.Setting(_whole, "The elements from one lane to the next."),
    "layout": o.Setting(_layout, "The layout of what is read, with `at`."),
    "at": o.Setting(o.text, "The coordinate of each lane in the layout, a formula a mode."),
    "width": o.Setting(_bytes, "The bytes that each lane asks for."),
    "element": o.Setting(_bytes, "The bytes of an element."),
    "memory": o.Setting(_memory, "`global` or `shared`."),
}


def _show(fence: Fence, into: Collected) -> str:
    from sitegen.markup.drawn.access import FIGURE  # late, because few texts have one
    from sitegen.markup.drawn.figure import draw

    return draw(FIGURE, OPTIONS, fence, into)


DECLARED = (Directive(("memory-access",), "What an access of a warp moves.", OPTIONS, show=_show),)
