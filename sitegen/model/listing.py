"""How a listing is shown: what an author says about it in the options of its fence.

Lines are kept as they were written, `3,5-7` or the name of a region: which lines those are, only the source says.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Note:
    """A number at a line of code, and the text that it leads to."""

    number: int
    id: str
    """Of the text; the number's first place in the code is `{id}-line`."""
    lines: tuple[str, ...]
    """Each as in `3`, `5-7` or `inner`: the number stands at the first line of it."""


@dataclass(frozen=True, slots=True)
class Look:
    id: str = ""
    name: str = ""
    """What it is called when it has a caption or can be referred to: `Listing 2`."""
    caption: str = ""
    numbered: bool = False
    first_number: int = 1
    highlighted: str = ""
    focused: str = ""
    """The others are dimmed until the reader comes near; empty: none is."""
    inserted: str = ""
    deleted: str = ""
    notes: tuple[Note, ...] = ()
    folded: str = ""
    """`closed` or `open` behind a summary, or empty: always there."""
    summary: str = ""
    wrapped: bool = False
    """Long lines go on below; otherwise the listing scrolls."""


NUMBERED = Look(numbered=True)
"""Of code that is the subject of its text: kernels and cells."""
