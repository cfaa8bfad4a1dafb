"""What a text can cite: works, by key, as a .bib file lists them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Name:
    family: str
    """`von Neumann`, or the whole name of an organisation."""
    given: str = ""


@dataclass(frozen=True, slots=True)
class Work:
    """Plain text everywhere: what LaTeX wrote is decoded."""

    key: str
    title: str
    authors: tuple[Name, ...] = ()
    """Of a work without authors its editors."""
    year: str = ""
    where: tuple[str, ...] = ()
    """What it stands in or who brought it out, in the order in which that is said: `IEEE Micro`, `vol. 28, no. 2`."""
    doi: str = ""
    arxiv: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True)
class Bibliography:
    path: str
    works: tuple[Work, ...]
