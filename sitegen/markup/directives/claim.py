"""Report each `{claim}` and `{value}`: both names are reserved, and no release reads them yet."""

from __future__ import annotations

from html import escape

from markdown_it.token import Token

from sitegen.markup.collected import Collected
from sitegen.markup.directive import Directive, Fence, InlineRole
from sitegen.markup.places import span_within

_HINT = "sitegen does not read records from within a text yet: write a sentence, and show its evidence by `{benchmark}`"


def _show(fence: Fence, into: Collected) -> str:
    into.error("SG112", f"the directive `{{{fence.name}}}` is not known yet", fence.span, _HINT)
    return ""


def _show_inline(token: Token, into: Collected) -> str:
    span = span_within(token, "{" + token.info + "}", into)
    into.error("SG112", f"the role `{{{token.info}}}` is not known yet", span, _HINT)
    return f"<code>{escape(token.content, quote=False)}</code>"


DECLARED = (
    Directive(("claim", "value"), "A sentence that a record supports.", show=_show, is_offered=False),
    InlineRole(("claim", "value"), "A value of a record.", _show_inline, is_offered=False),
)
