"""The works of a .bib file, which texts cite by key."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Author:
    """The name of a person or an organisation."""

    family: str
    """`von Neumann`, or the whole name of an organisation."""
    given: str = ""


@dataclass(frozen=True, slots=True)
class Work:
    """One work; all fields are plain text, with LaTeX commands decoded."""

    key: str
    title: str
    authors: tuple[Author, ...] = ()
    """The authors, or the editors of a work without authors."""
    year: str = ""
    where: tuple[str, ...] = ()
    """Venue, volume and publisher, in the order in which a reference gives them: `IEEE Micro`, `vol. 28, no. 2`."""
    doi: str = ""
    arxiv: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True)
class Bibliography:
    """The works of one file."""

    path: str
    works: tuple[Work, ...]
