"""A long list → its pages of 50."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

PER_PAGE = 50


def pages_of(entries: Sequence[T]) -> int:
    """How many pages it fills."""
    return -(-len(entries) // PER_PAGE)


def on_page(entries: Sequence[T], number: int) -> Sequence[T]:
    """What stands on page `number`, from 1."""
    return entries[(number - 1) * PER_PAGE : number * PER_PAGE]
