"""Translate the English texts of the theme by the catalogue of a language, `languages/ko.json`.

A text that the catalogue lacks stays English, as does every text of a language without a catalogue.  `{name}` in a
text stands for a value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b

FOLDER = "languages/"
_VALUE = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Vocabulary:
    """A language and its catalogue."""

    tag: str = "en"
    """Language tag of BCP 47: `ko`, `pt-BR`."""
    words: Mapping[str, str] = field(default_factory=dict)
    """Translations by the English text."""

    def say(self, english: str, **values: object) -> str:
        """Return the translation of a text, with values filled in: `say("page {number}", number=2)`.

        A `{name}` without a value stays as it is.
        """
        said = self.words.get(english, english)
        return _VALUE.sub(lambda name: str(values.get(name[1], name[0])), said) if values else said

    @cached_property
    def digest(self) -> str:
        """Digest of all translations; empty without a catalogue."""
        if not self.words:
            return ""
        return blake2b(json.dumps(self.words, sort_keys=True).encode(), digest_size=6).hexdigest()


ENGLISH = Vocabulary()


def catalogue_files(tag: str) -> tuple[str, ...]:
    """Return the names of the files that may be the catalogue of a language, the best first: `pt-BR`, then `pt`."""
    return tuple(f"{FOLDER}{one}.json" for one in dict.fromkeys((tag, tag.partition("-")[0])))


def parse_catalogue(text: str) -> dict[str, str]:
    """Return the translations of a catalogue.  Raises ValueError, or its subclass JSONDecodeError with the line."""
    words = json.loads(text)
    if not isinstance(words, dict) or not all(isinstance(word, str) for word in words.values()):
        raise ValueError('a catalogue is `{"English": "…"}`')
    return words
