"""A catalogue, `languages/ko.json`, and a language → what is said in it in place of an English text.

What a catalogue lacks stays English, and so is all of a language without one.  A `{name}` in a text is a value.
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
    tag: str = "en"
    """Of BCP 47: `ko`, `pt-BR`."""
    words: Mapping[str, str] = field(default_factory=dict)
    """What stands for an English text."""

    def say(self, english: str, **values: object) -> str:
        """`say("page {number}", number=2)`; what has no value in it stays as it is written."""
        said = self.words.get(english, english)
        return _VALUE.sub(lambda found: str(values.get(found[1], found[0])), said) if values else said

    @cached_property
    def digest(self) -> str:
        """Of everything that it says; empty without a catalogue."""
        if not self.words:
            return ""
        return blake2b(json.dumps(self.words, sort_keys=True).encode(), digest_size=6).hexdigest()


ENGLISH = Vocabulary()


def catalogues_of(tag: str) -> tuple[str, ...]:
    """The names of the files that may be its catalogue, the best first: `pt-BR`, then `pt`."""
    return tuple(f"{FOLDER}{one}.json" for one in dict.fromkeys((tag, tag.partition("-")[0])))


def words_of(text: str) -> dict[str, str]:
    """What a catalogue says.  Raises ValueError, of which JSONDecodeError knows the line."""
    found = json.loads(text)
    if not isinstance(found, dict) or not all(isinstance(word, str) for word in found.values()):
        raise ValueError('a catalogue is `{"English": "…"}`')
    return found
