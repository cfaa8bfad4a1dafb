"""Turn the roles `{value}` and `{predicted}` into slots for figures of records, and `{given}` into a figure with its
source.
"""

from __future__ import annotations

from html import escape

from markdown_it.token import Token

from sitegen.markup.collected import Collected
from sitegen.markup.directive import InlineRole
from sitegen.markup.places import span_within
from sitegen.markup.words import join_figure
from sitegen.model.document import ValueSlot
from sitegen.read.values import NoFigure, ValueMistake, parse_value, split_given

SAID = "…"
"""The word for a figure in a list of headings and in an image's description, which are made before a record is read."""


def _show(token: Token, into: Collected) -> str:
    try:
        value = parse_value(token.content, is_predicted=token.info == "predicted")
    except ValueMistake as mistake:
        hint = f"inside the backquotes, {mistake.hint}" if isinstance(mistake, NoFigure) else mistake.hint
        into.error("SG135", mistake.message, span_within(token, mistake.word, into), hint)
        return f"<code>{escape(token.content, quote=False)}</code>"
    span = span_within(token, token.content, into)
    return into.slot(ValueSlot(value, span, bool(token.meta.get("within_link")), into.id_prefix))


def _show_given(token: Token, into: Collected) -> str:
    figure, source = split_given(token.content)
    if not (figure and source):
        hint = "write `{given}` with the figure and its source: `2.4 TB/s; arithmetic`"
        into.error("SG136", "this figure has no source", span_within(token, token.content, into), hint)
        figure = figure or source
    return f'<span class="given" title="{escape(source)}">{escape(join_figure(figure), quote=False)}</span>'


def _figure_of(content: str) -> str:
    return split_given(content)[0] or content


DECLARED = (
    InlineRole(
        ("value",),
        "A figure of a record, with its unit, or simple arithmetic over figures.",
        _show,
        said=lambda _: SAID,
        is_link=True,
    ),
    InlineRole(
        ("predicted",),
        "The share of the ceiling that was predicted for an implementation before its run.",
        _show,
        said=lambda _: SAID,
        is_link=True,
    ),
    InlineRole(
        ("given",),
        "A figure that no record of the site has, with its source behind a semicolon.",
        _show_given,
        said=_figure_of,
    ),
)
