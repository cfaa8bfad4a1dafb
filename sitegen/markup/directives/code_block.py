"""Turn `{code-block} triton` into a listing, as a plain fence is one, with its options on lines of their own."""

from __future__ import annotations

from sitegen.markup.collected import Collected
from sitegen.markup.directive import Directive, Fence
from sitegen.markup.listings import code_block
from sitegen.markup.looks import OF_SHOWN


def _show(fence: Fence, into: Collected) -> str:
    return code_block(fence.argument, fence.content, fence.line, fence.argument_span, fence.notes, into)


DECLARED = (Directive(("code-block",), "Code that is only shown.", OF_SHOWN, show=_show, takes_notes=True),)
