"""Turn `{layout} (8,8):(8,1)` into a grid with the index of each element, its thread, or its bank."""

from __future__ import annotations

from sitegen.markup import options as o
from sitegen.markup.collected import Collected
from sitegen.markup.directive import Directive, Fence
from sitegen.markup.looks import OF_DRAWN
from sitegen.model.access import WIDTHS
from sitegen.model.layout import MOST_SHOWN, Layout, LayoutError, parse_layout


def _layout(value: o.Value) -> Layout:
    try:
        layout = parse_layout(o.text(value))
    except LayoutError as mistake:
        raise o.Unfit(f"this is no layout: {mistake.message}", mistake.hint, value[mistake.col - 1 :]) from None
    if len(layout.sizes) > 2 or layout.size > MOST_SHOWN:
        raise o.Unfit(f"a layout of at most two modes and {MOST_SHOWN} elements is needed")
    return layout


def _itemsize(value: o.Value) -> int:
    if value not in tuple(map(str, WIDTHS)):
        raise o.Unfit("expected the bytes of an element: 1, 2, 4, 8 or 16")
    return int(value)


OPTIONS = {
    **OF_DRAWN,
    "threads": o.Setting(_layout, "A layout of threads, repeated over the elements: each cell shows its thread."),
    "tv": o.Setting(_layout, "A layout from thread and value to elements: each cell shows its thread and value."),
    "banks": o.Setting(_itemsize, "The bytes of an element: each cell shows its bank of shared memory."),
}


def _show(fence: Fence, into: Collected) -> str:
    from sitegen.markup.drawn.figure import draw
    from sitegen.markup.drawn.layout import FIGURE  # late, because few texts have one

    return draw(FIGURE, OPTIONS, fence, into)


DECLARED = (Directive(("layout",), "A layout of CuTe as a grid.", OPTIONS, show=_show),)
