"""Count the files that a document includes: texts go in, and whether each may still be included comes out.

Ten files of which each includes the next one ten times would make a text without a practical end.
"""

from __future__ import annotations

from dataclasses import dataclass

MOST_FILES = 200
"""Most files that a document includes, those within included files among them."""
MOST_CHARACTERS = 2**20
"""Most characters of all files that a document includes."""
TOO_MUCH = f"an include beyond {MOST_FILES} files or {MOST_CHARACTERS:,} characters of a document"


@dataclass(slots=True)
class IncludedSoFar:
    """The number and the characters of the files that a document included so far."""

    files: int = 0
    characters: int = 0

    def has_room(self, text: str, times: int = 1) -> bool:
        """Count the text of a file or of a loop in it, and tell whether the document may include it."""
        characters = len(text) * times
        if self.files >= MOST_FILES or self.characters + characters > MOST_CHARACTERS:
            return False
        self.files, self.characters = self.files + 1, self.characters + characters
        return True

    def takes(self, characters: int) -> bool:
        """Count characters that a loop writes, and tell whether the document has room for them."""
        self.characters += characters
        return self.characters <= MOST_CHARACTERS
