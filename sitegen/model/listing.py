"""The display options of a code listing, from the options of its fence.

Lines are kept as they were written, `3,5-7` or the name of a region: the source is needed to number them.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Note:
    """A number at a line of code, and the text that it leads to."""

    number: int
    id: str
    """Id of the text; the id of the number's first place in the code is `{id}-line`."""
    lines: tuple[str, ...]
    """Lines, each as `3`, `5-7` or `inner`; the number stands at the first line of each."""


@dataclass(frozen=True, slots=True)
class Look:
    """The display options of one listing."""

    id: str = ""
    name: str = ""
    """Printed name, when it has a caption or can be referred to: `Listing 2`."""
    caption: str = ""
    numbered: bool = False
    first_number: int = 1
    highlighted: str = ""
    focused: str = ""
    """Lines in focus: the others are dimmed until the reader points at the listing; empty: none is dimmed."""
    inserted: str = ""
    deleted: str = ""
    notes: tuple[Note, ...] = ()
    folded: str = ""
    """`closed` or `open` for a listing behind a summary; empty: always shown."""
    summary: str = ""
    wrapped: bool = False
    """True when long lines are wrapped; otherwise the listing scrolls."""


NUMBERED = Look(numbered=True)
"""Options of a kernel or a cell, whose code is the subject of its text."""
