"""Turn the role `{spec}` into a figure that comes from the vendor and was not measured."""

from __future__ import annotations

from html import escape

from markdown_it.token import Token

from sitegen.markup.collected import Collected
from sitegen.markup.directive import InlineRole
from sitegen.markup.words import join_figure


def _show(token: Token, into: Collected) -> str:
    title = escape(into.spoken.say("the vendor’s figure"))
    shown = escape(join_figure(token.content), quote=False)
    return f'<span class="spec" title="{title}">{shown}</span>'


DECLARED = (InlineRole(("spec",), "A figure of the vendor's, marked as such.", _show),)
