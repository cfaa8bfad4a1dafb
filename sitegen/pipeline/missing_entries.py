"""Find the figures of cells that the stored tables of the cells do not have.

In: the figures `{output}` of all posts, and the records of their cells.  Out: a mistake for each row or column that is
not in the tables of its record.  A record of older code than today's may lack a column that the cell has by now, so it
is not compared.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping

from sitegen.diagnostics import Diagnostic
from sitegen.model.document import Document, OutputSlot
from sitegen.model.linked import Linked, document_key
from sitegen.model.record import CellRecord
from sitegen.model.site import Post
from sitegen.render.inputs.sources import Sources

_MOST_NAMES = 12
"""The number of rows or columns that a hint names at most."""
_NEAR, _AS_NEAR, _MOST_NEAR = 0.6, 0.2, 3
"""How like a name another one is that a hint proposes, how much less than the likest, and how many it proposes."""


def outputs_in(linked: Linked, documents: Mapping[str, Document]) -> tuple[tuple[Post, OutputSlot], ...]:
    """Return the figures of cells in all published posts, each with its post."""
    rich = frozenset(linked.rich)
    posts = [post for post in linked.site.posts if document_key(post.body) in rich] if rich else []
    return tuple(
        (post, slot) for post in posts for slot in documents[document_key(post.body)].slots if type(slot) is OutputSlot
    )


def missing_entries(sources: Sources, outputs: Iterable[tuple[Post, OutputSlot]]) -> Iterator[Diagnostic]:
    """Yield a mistake for each figure whose row or column is not in the tables that its page would show."""
    for post, slot in outputs:
        for cell, row, column in slot.places:
            record = next(iter(sources.cell_records(post.slug, cell)), None)
            if record and _is_of_todays_code(sources, post, record):
                yield from _mistakes(record, slot, row, column)


def _is_of_todays_code(sources: Sources, post: Post, record: CellRecord) -> bool:
    from sitegen.results.freshness import FreshnessState

    state = sources.evidence.of_cell(post.slug, record).state
    return state in (FreshnessState.FRESH, FreshnessState.OUTDATED)


def _mistakes(record: CellRecord, slot: OutputSlot, row: str, column: str) -> Iterator[Diagnostic]:
    """Yield a mistake when no table has the column, or when those that have it do not have the row."""
    from sitegen.results.cell_tables import entry_of, tables_of

    tables = tuple(tables_of(record))
    if not tables or entry_of(tables, row, column):
        return
    with_column = [table for table in tables if column in table.columns]
    if with_column:
        rows = dict.fromkeys(str(one[0]) for table in with_column for one in table.rows)
        yield _mistake(record, slot, "row", row, rows)
    else:
        columns = dict.fromkeys(name for table in tables for name in table.columns)
        yield _mistake(record, slot, "column", column, columns)


def _mistake(record: CellRecord, slot: OutputSlot, what: str, name: str, known: Iterable[str]) -> Diagnostic:
    names = [f"`{one}`" for one in known]
    near = " or ".join(f"`{one}`" for one in _near(name, known))
    there = f"{', '.join(names[:_MOST_NAMES])}{', …' if len(names) > _MOST_NAMES else ''}"
    hint = f"did you mean {near}? The table has {there}" if near else f"the table has {there}"
    return Diagnostic("SG217", f"the table of the cell `{record.label}` has no {what} `{name}`", slot.span, hint)


def _near(name: str, known: Iterable[str]) -> list[str]:
    """Return the names that are about equally near, the nearest first; the wrong one would print a wrong number."""
    likeness = {one: _likeness(name.lower(), one.lower()) for one in known}
    best = max(likeness.values(), default=0.0)
    near = [one for one, like in likeness.items() if like >= max(_NEAR, best - _AS_NEAR)]
    return sorted(near, key=lambda one: -likeness[one]) if len(near) <= _MOST_NEAR else []


def _likeness(one: str, other: str) -> float:
    """Return how like two names are, from 0 to 1, in whatever order their words stand."""
    pairs = ((one, other), (" ".join(sorted(one.split())), " ".join(sorted(other.split()))))
    return max(difflib.SequenceMatcher(None, a, b).ratio() for a, b in pairs)
