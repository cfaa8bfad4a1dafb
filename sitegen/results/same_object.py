"""A key of caches that compares by identity: records do not change, and comparing them by value is slow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class SameObject(Generic[T]):
    """A key that is equal only for the same object."""

    value: T

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SameObject) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)
