"""Translate the English words of pages with the catalogue of a language, such as `templates/languages/ko.json`.

A catalogue maps an English text to its translation; a text that it lacks stays English.  A template marks a text as `{{
_("Older") }}`.  The text is replaced before the template is compiled, so it costs no time on a page.  A `{name}` in a
text is a value.  Dates are texts, too: the translation of `{day} {month} {year}` is the form of a date.  Digits and the
decimal point stay English: the languages in which people write about kernels share them, as they share the units.
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
class PageLanguage(Vocabulary):
    """A language of pages, with the words of its catalogue."""

    @property
    def name(self) -> str:
        """The name of the language in that language, such as `한국어`; the tag when there is no catalogue."""
        return self.words.get("English", "English" if self.tag.partition("-")[0] == "en" else self.tag)

    @property
    def territory(self) -> str:
        """The language and its country in the form of Open Graph, `ko_KR`; empty when no country is known."""
        language, _, land = self.tag.partition("-")
        land = land or self.words.get("US", "US" if language == "en" else "")
        return f"{language}_{land.upper()}" if len(land) == 2 else ""

    def day(self, date: dt.date) -> str:
        """Return a date as text: `21 November 2026`."""
        if "{day} {month} {year}" not in self.words:
            return numbers.day(date)
        month = self.say(numbers.MONTHS[date.month - 1])
        return self.say("{day} {month} {year}", day=date.day, month=month, year=date.year)

    def minutes(self, words: int) -> str:
        """Return the time to read so many words as text: `14 min`."""
        return self._counted("{n} min", numbers.minutes(words)) or numbers.reading_time(words)

    def posts(self, count: int) -> str:
        """Return a number of posts as text: `3 posts`."""
        return self._counted("{n} posts", count) or numbers.count(count, "post")

    def _counted(self, english: str, count: int) -> str:
        return self.say(english, n=count) if english in self.words else ""


def language(tag: str, templates: Mapping[str, str]) -> PageLanguage:
    """Return the language of a tag, with the catalogue of the tag or of its first part: `pt-BR`, else `pt`."""
    for name in catalogue_files(tag):
        if text := templates.get(name):
            return PageLanguage(tag, _catalogue(text, name))
    return PageLanguage(tag)


def _catalogue(text: str, name: str) -> Mapping[str, str]:
    """Return the words of a catalogue.  Raises TemplateSyntaxError, because an author sees a catalogue as one of the
    templates.
    """
    try:
        return parse_catalogue(text)
    except json.JSONDecodeError as error:
        raise jinja2.TemplateSyntaxError(*_mistake(error), name) from error
    except ValueError as error:
        raise jinja2.TemplateSyntaxError(str(error), 1, name) from error


def _mistake(error: json.JSONDecodeError) -> tuple[str, int]:
    """Return what is wrong and the line to change: JSON shows a comma too many or too few one line too late."""
    before, at = error.doc[: error.pos].rstrip(), error.doc[error.pos : error.pos + 1]
    line = before.count("\n") + 1
    if before.endswith(",") and at == "}":
        return "a comma stands behind the last entry", line
    if "',' delimiter" in error.msg and at == '"' and line < error.lineno:
        return "a comma is missing at the end of this line", line
    return error.msg, error.lineno


def translated(source: str, words: Mapping[str, str]) -> str:
    """Return the text of a template in another language."""
    return _SAID.sub(lambda said: _VALUE.sub(r"{{ \1 }}", words.get(said[1], said[1])), source)


def texts_of(templates: Iterable[str]) -> set[str]:
    """Return every English text that these templates mark for translation."""
    return {said[1] for source in templates for said in _SAID.finditer(source)}
