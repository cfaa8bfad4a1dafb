"""Read BibTeX with a bound on what its strings become: the text of a file in, its commands out.

A string can hold the previous one ten times.  So a file of a kilobyte can become a title of gigabytes.
"""

from __future__ import annotations

from pybtex.database.input.bibtex import LowLevelParser
from pybtex.scanner import PybtexSyntaxError

MOST_OF_STRINGS = 4_000_000
"""The most characters that the strings of a file may have, counted each time that they are used."""


class TooLongError(PybtexSyntaxError):  # type: ignore[misc]
    """The error of the string with which a file exceeds the bound."""


class BoundedParser(LowLevelParser):  # type: ignore[misc]
    """The parser of pybtex; it takes an error of each command from where the strings are too long."""

    used = 0
    """The characters of all strings so far."""

    def substitute_macro(self, name: str) -> str:
        text: str = super().substitute_macro(name)
        self.used += len(text)
        if self.used > MOST_OF_STRINGS:
            raise TooLongError(f"the strings of this file have more than {MOST_OF_STRINGS:,} characters", self)
        return text
