"""Turn the role `{output}` into a slot for an entry of a table that a cell put out."""

from __future__ import annotations

from html import escape

from markdown_it.token import Token

from sitegen.markup.collected import Collected
from sitegen.markup.directive import InlineRole
from sitegen.markup.places import span_within
from sitegen.model.document import OutputSlot

SAID = "…"
"""The word for a figure where the text is shown before a record is read, as in a list of headings."""


def _show(token: Token, into: Collected) -> str:
    places = tuple(tuple(part.strip() for part in place.split(":")) for place in token.content.split(" / "))
    span = span_within(token, token.content, into)
    if len(places) > 2 or any(len(place) != 3 or not all(place) for place in places):
        hint = "write cell, row and column: `{output}` with `levels:L1:latency`, or the quotient of two with ` / `"
        into.error("SG135", "an output is named by its cell, row and column", span, hint)
        return f"<code>{escape(token.content, quote=False)}</code>"
    triples = tuple((cell, row, column) for cell, row, column in places)
    return into.slot(OutputSlot(triples, span, token.content))


DECLARED = (
    InlineRole(
        ("output",),
        "An entry of a table that a cell put out: `levels:L1:latency`, or a quotient, `a:b:c / a:d:c`.",
        _show,
        said=lambda _: SAID,
    ),
)
