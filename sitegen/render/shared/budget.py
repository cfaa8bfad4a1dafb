"""Bound what the templates of a site make and do: sizes in bytes in, an error when a page has used up its budget.

`sizes.py` bounds one text.  A template can put many such texts into a list, or a macro can call itself twice in each
call.  So the sum of all texts, and of all steps, needs a bound too.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from math import inf
from sys import getsizeof
from threading import local
from typing import Any

from jinja2.exceptions import SecurityError

MOST_MADE = 128_000_000
"""The most bytes of texts, lists and numbers that templates may make for one page, also of those that they throw away
again.  A step of a template counts as STEP bytes."""
STEP = 64
MOST_SECONDS = 4.0
"""The most seconds of a processor that templates may work for one page."""
LOOK = 16_000
"""The clock is read again when so many more bytes were made."""
_REFUSED = "the templates of one page {}: shorten the loop, the recursion or the list at this line"
SPARE, A_PAGE = 64_000_000, 1_000_000
"""Pages and parts of pages may have SPARE characters in all, and A_PAGE more for each page."""


class OverBudgetError(SecurityError):
    """The error of a template that has used up the budget of its page."""


class Budget(local):
    """The memory and time that the templates of an environment have used in a thread."""

    def __init__(self) -> None:
        self.made = 0
        """The bytes of the present page."""
        self.next_look = LOOK
        self.end = inf
        """When the present page must be done, on the clock of the thread."""
        self.left = SPARE
        """The characters that all further pages may have."""

    def begin(self, *, page: bool) -> None:
        """Begin a page, or a part of one."""
        self.made, self.next_look = 0, LOOK
        self.end = time.thread_time() + MOST_SECONDS
        self.left += A_PAGE if page else 0

    def charge(self, size: int) -> None:
        """Count so many bytes."""
        self.made += size
        if self.made >= self.next_look:
            self._look()

    def charge_output(self, text: str) -> None:
        """Count the text of a page, or of a part of one."""
        self.left -= len(text)
        if self.left < 0:
            raise OverBudgetError(f"the pages so far have more than {A_PAGE} characters a page: make them shorter")

    def counted(self, values: Iterator[Any]) -> Iterator[Any]:
        """Yield the values, and count each."""
        for value in values:
            self.charge(STEP + getsizeof(value))
            yield value

    def _look(self) -> None:
        self.next_look = self.made + LOOK
        if self.made > MOST_MADE:
            raise OverBudgetError(_REFUSED.format(f"make more than {MOST_MADE} bytes"))
        if time.thread_time() > self.end:
            raise OverBudgetError(_REFUSED.format(f"take more than {MOST_SECONDS:.0f} s"))


def bytes_of(value: Any) -> int:
    """Return about the bytes of a value that was made just now; items of a collection count as small objects."""
    return getsizeof(value) + (STEP * len(value) if isinstance(value, (list, tuple, Mapping)) else 0)
