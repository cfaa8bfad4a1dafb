"""Divide a long list into pages, and limit the entries of short lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

PER_PAGE = 50
NEWEST_ON_HOME = 6
"""The most posts on the home page."""
NEWEST_OF_CATEGORY = 3
"""The most posts of a category on its card."""
FEED_ENTRIES = 20
"""The most posts or days in a feed."""


def pages_of(entries: Sequence[T]) -> int:
    """Return the number of pages that the entries fill."""
    return -(-len(entries) // PER_PAGE)


def on_page(entries: Sequence[T], number: int) -> Sequence[T]:
    """Return the entries of page `number`, which counts from 1."""
    return entries[(number - 1) * PER_PAGE : number * PER_PAGE]
