"""Turn the role `{term}`, as in {term}`warps <warp>`, into a link to the glossary at the first use in a text."""

from __future__ import annotations

import re
from html import escape

from markdown_it.token import Token

from sitegen.markup.collected import Collected
from sitegen.markup.directive import InlineRole
from sitegen.markup.places import span_within
from sitegen.model.document import TermSlot

_OTHER_WORDS = re.compile(r"(.*\S)\s*<([^<>]+)>")


def _show(token: Token, into: Collected) -> str:
    match = _OTHER_WORDS.fullmatch(token.content)
    words, name = (match[1], match[2]) if match else (token.content, token.content)
    shown = escape(words, quote=False)
    if any(isinstance(slot, TermSlot) and slot.name.lower() == name.lower() for slot in into.slots):
        return shown
    return f'<a href="{into.slot(TermSlot(name, span_within(token, name, into)))}">{shown}</a>'


DECLARED = (
    InlineRole(
        ("term",),
        "A word of the glossary, or other words for it: `warps <warp>`.",
        _show,
        said=lambda text: text.partition(" <")[0],
        is_link=True,
    ),
)
