"""English words of the pages → those of another language, by a catalogue: `templates/languages/ko.json`.

A catalogue says for an English text what stands for it; what it lacks stays English.  In a template a text is
`{{ _("Older") }}`, and is replaced before the template is compiled: a page pays nothing for it.  A `{name}` in a text
is a value.  Dates are texts, too: how a catalogue puts `{day} {month} {year}` is how they are written.  Digits and the
decimal point are those of English: it is what the languages written about kernels share with its units.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import jinja2

from sitegen.model.vocabulary import Vocabulary, catalogue_files, parse_catalogue
from sitegen.render.shared import numbers

_SAID = re.compile(r'\{\{ _\("([^"]*)"\) \}\}')
_VALUE = re.compile(r"\{([\w.]+)\}")


@dataclass(frozen=True)
class Language(Vocabulary):
    """A language with the words of its catalogue, as pages use it."""

    @property
    def name(self) -> str:
        """The name that its speakers give it: `한국어`; without a catalogue the tag."""
        return self.words.get("English", "English" if self.tag.partition("-")[0] == "en" else self.tag)

    @property
    def territory(self) -> str:
        """The language and its land as Open Graph writes them: `ko_KR`; empty where no land is known."""
        language, _, land = self.tag.partition("-")
        land = land or self.words.get("US", "US" if language == "en" else "")
        return f"{language}_{land.upper()}" if len(land) == 2 else ""

    def day(self, date: dt.date) -> str:
        """`21 November 2026`."""
        if "{day} {month} {year}" not in self.words:
            return numbers.day(date)
        month = self.say(numbers.MONTHS[date.month - 1])
        return self.say("{day} {month} {year}", day=date.day, month=month, year=date.year)

    def minutes(self, words: int) -> str:
        """`14 min`, to read a text of so many words."""
        return self._counted("{n} min", numbers.minutes(words)) or numbers.reading_time(words)

    def posts(self, count: int) -> str:
        """`3 posts`."""
        return self._counted("{n} posts", count) or numbers.count(count, "post")

    def _counted(self, english: str, count: int) -> str:
        return self.say(english, n=count) if english in self.words else ""


def language(tag: str, templates: Mapping[str, str]) -> Language:
    """Return the language of a tag, by the catalogue of the tag or of its first part: `pt-BR`, else `pt`."""
    for name in catalogue_files(tag):
        if text := templates.get(name):
            return Language(tag, _catalogue(text, name))
    return Language(tag)


def _catalogue(text: str, name: str) -> Mapping[str, str]:
    """Raises TemplateSyntaxError: to its author a catalogue is a template like the others."""
    try:
        return parse_catalogue(text)
    except json.JSONDecodeError as error:
        raise jinja2.TemplateSyntaxError(error.msg, error.lineno, name) from error
    except ValueError as error:
        raise jinja2.TemplateSyntaxError(str(error), 1, name) from error


def translated(source: str, words: Mapping[str, str]) -> str:
    """The text of a template in another language."""
    return _SAID.sub(lambda said: _VALUE.sub(r"{{ \1 }}", words.get(said[1], said[1])), source)


def texts_of(templates: Iterable[str]) -> set[str]:
    """Every English text that these templates say."""
    return {said[1] for source in templates for said in _SAID.finditer(source)}
