"""Number the things with captions, and turn references such as `@fig-roofline` into links such as `Figure 2`.

The number is the place among the figures, tables, listings or labelled equations of one text; a section has that of its
heading.  A reference may stand before what it names, so that it is a mark in the HTML until the whole text is known.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from urllib.parse import quote

from sitegen.diagnostics import Span, did_you_mean
from sitegen.markup.collected import Collected, NumberedName, Reference

KINDS = {"fig": "Figure", "tbl": "Table", "lst": "Listing", "eq": "Equation", "sec": "Section"}
"""The kinds of labelled things, by the part of a label before its first hyphen, as in Quarto."""
NAMES = {"fig": "Figure {n}", "tbl": "Table {n}", "lst": "Listing {n}", "eq": "Equation {n}", "sec": "Section {n}"}
_MARK = re.compile("\0@(\\d+)\0")


def kind_of(label: str) -> str:
    """Return the kind of a label, `fig` for `fig-roofline`; empty for a label without a kind."""
    kind, hyphen, _ = label.partition("-")
    return kind if hyphen and kind in KINDS else ""


def next_name(kind: str, into: Collected) -> NumberedName:
    """Return the name of the next thing of a kind, in the language of the text."""
    number = into.numbers[kind] = into.numbers.get(kind, 0) + 1
    return NumberedName(into.spoken.say(NAMES[kind], n=number), str(number))


def numbered(kind: str, into: Collected, label: str = "", span: Span | None = None) -> tuple[str, str]:
    """Return the name of the next thing of a kind, `Figure 2`, and its id, which is empty without a label."""
    name = next_name(kind, into)
    if not label or span is None:
        return name.whole, ""
    if (said := kind_of(label)) and said != kind:
        what = f"`{label}` is a label for a {KINDS[said].lower()}, and this is a {KINDS[kind].lower()}"
        into.error("SG121", what, span, f"call it `{kind}-{label.partition('-')[2]}`")
    id = into.take_id(label, span)
    into.names[id] = name
    return name.whole, id


def named(kind: str, captioned: bool, label: str, span: Span, into: Collected) -> tuple[str, str]:
    """Return the name and the id of a thing that is numbered only with a caption or with a label of a kind."""
    if captioned or kind_of(label):
        return numbered(kind, into, label, span)
    return "", into.take_id(label, span) if label else ""


def reference(label: str, span: Span, words: str | None, into: Collected) -> str:
    """Return the mark of a link to the thing with the label.

    `words` stand before its number; None asks for its whole name, such as `Figure 2`.
    """
    into.references.append(Reference(label, span, words))
    return f"\0@{len(into.references) - 1}\0"


def with_references(html: str, into: Collected) -> str:
    """Return the HTML of the whole text with links in place of the marks."""
    return _MARK.sub(lambda mark: _link(into.references[int(mark[1])], into), html) if into.references else html


def _link(wanted: Reference, into: Collected) -> str:
    id = into.id_prefix + wanted.label
    if id not in into.names:
        _report(wanted, into)
        return escape(f"@{wanted.label}")
    named = into.names[id]
    name = named.whole if wanted.words is None else f"{wanted.words} {named.number}".strip()
    return f'<a href="#{quote(id)}">{escape(name).replace(" ", "&nbsp;", 1)}</a>'


def _report(wanted: Reference, into: Collected) -> None:
    kind = KINDS[kind_of(wanted.label)].lower()
    known = [id.removeprefix(into.id_prefix) for id in into.names]
    hint = did_you_mean(wanted.label, known) or _listed(label for label in known if kind_of(label))
    into.error("SG120", f"no {kind} of this text has the label `{wanted.label}`", wanted.span, hint)


def _listed(labels: Iterable[str]) -> str:
    shown = [f"`{label}`" for label in labels]
    return f"known: {', '.join(shown)}" if 0 < len(shown) <= 12 else "write `{#label}` behind what it names"
