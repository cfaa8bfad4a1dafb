"""Turn the roles `{kbd}`, `{sub}` and `{sup}` into the elements of HTML of these names."""

from __future__ import annotations

from html import escape

from markdown_it.token import Token

from sitegen.markup.collected import Collected
from sitegen.markup.directive import InlineRole


def _show(token: Token, _into: Collected) -> str:
    return f"<{token.info}>{escape(token.content, quote=False)}</{token.info}>"


DECLARED = (
    InlineRole(("kbd",), "A key to be pressed.", _show),
    InlineRole(("sub",), "A subscript.", _show),
    InlineRole(("sup",), "A superscript.", _show),
)
