"""Turn `{mermaid}` or a plain `mermaid` fence into a diagram, drawn while the site is built."""

from __future__ import annotations

from sitegen.markup.collected import Collected
from sitegen.markup.directive import Directive, Fence
from sitegen.markup.looks import OF_DRAWN


def _show(fence: Fence, into: Collected) -> str:
    from sitegen.markup.drawn.diagram import FIGURE  # late, because few texts have one
    from sitegen.markup.drawn.figure import draw

    return draw(FIGURE, OF_DRAWN, fence, into)


DECLARED = (Directive(("mermaid",), "A flowchart, a sequence diagram or a state diagram.", OF_DRAWN, show=_show),)
