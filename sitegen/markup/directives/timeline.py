"""Turn `{timeline}` with stages in YAML into their schedule, drawn as one row a stage."""

from __future__ import annotations

from sitegen.markup.collected import Collected
from sitegen.markup.directive import Directive, Fence
from sitegen.markup.looks import OF_DRAWN


def _show(fence: Fence, into: Collected) -> str:
    from sitegen.markup.drawn.figure import draw
    from sitegen.markup.drawn.timeline import FIGURE  # late, because few texts have one

    return draw(FIGURE, OF_DRAWN, fence, into)


DECLARED = (Directive(("timeline",), "The stages of a pipeline over time.", OF_DRAWN, show=_show),)
