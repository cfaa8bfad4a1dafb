"""Turn the role `{spec}` into a figure that comes from the vendor and was not measured."""

from __future__ import annotations

from html import escape

from markdown_it.token import Token

from sitegen.markup.collected import Collected
from sitegen.markup.directive import InlineRole


def _show(token: Token, into: Collected) -> str:
    title = escape(into.spoken.say("the vendor’s figure"))
    return f'<span class="spec" title="{title}">{escape(token.content, quote=False)}</span>'


DECLARED = (InlineRole(("spec",), "A figure of the vendor's, marked as such.", _show),)
