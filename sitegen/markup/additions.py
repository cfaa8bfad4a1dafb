"""Hold what a site adds to the markup: its own directives, and the data of content/data/."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


class Unreadable(tuple[()]):
    """The data of a file that has a mistake, which has a diagnostic; a template that loops over it shows nothing."""


@dataclass(frozen=True, slots=True)
class Additions:
    """The directives and the data of one site."""

    directives: Mapping[str, Any] = field(default_factory=dict)
    """The `Directive` of each name; its module imports this one."""
    data: Mapping[str, Any] = field(default_factory=dict)
    """The value of each file of content/data/, by its name without the ending: dicts, lists and scalars."""


NOTHING_ADDED = Additions()
