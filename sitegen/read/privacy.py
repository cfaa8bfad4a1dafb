"""Turn the text of a file as its author wrote it into the text that may be published.

Two things are taken out before anything reads a text, so that no page, feed, card or index can show them: the
`private:` blocks of the worklog, and the words of the redaction list, each of which becomes another word.  The list is
`private.yaml` beside `content/`, or the variable SITEGEN_PRIVATE, which holds the text of such a file.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from sitegen.diagnostics import Diagnostic, Span
from sitegen.model.variables import REDACTION_LIST
from sitegen.read.texts import read_text

if TYPE_CHECKING:
    from sitegen.read.yaml_nodes import Node

FILE = "private.yaml"
VARIABLE = REDACTION_LIST
_KEY = "redact"
_REDACTED = ("content/", "series/")
"""The folders whose texts are published with other words.  Code and records are never changed: they are measured."""
_DIARIES = "content/worklog/"
_PRIVATE = re.compile(r"(?P<indent>[ \t]*)(?:[-*+][ \t]+)*(?:\*\*|__)?private:(?:\*\*|__)?[ \t]*(?P<text>.*)", re.I)
_BETWEEN = r"(?:[\W_]|%20|&nbsp;){0,6}"
"""What may stand between the words of a name in an address or in HTML."""
_QUOTED = re.compile(r" `[^`]*`")
_TAG = re.compile(r"<[^<>]*>")
_FIRST_OF_CJK = "\u2e80"
"""Scripts from here on set no spaces between words, so a name may stand within other letters."""


@dataclass(frozen=True)
class Privacy:
    """The words and names that a site does not publish."""

    words: Mapping[str, str]
    """What stands in place of each word: `Ada Lovelace` → `A. L.`."""
    is_listed: bool = False
    """Whether there is a list, which may be empty or unreadable."""
    mistakes: tuple[Diagnostic, ...] = ()

    @property
    def key(self) -> bytes:
        """A digest of the list; empty without words and mistakes."""
        if not self.words and not self.mistakes:
            return b""
        return blake2b(repr((sorted(self.words.items()), self.mistakes)).encode(), digest_size=16).digest()

    def published(self, text: str, path: str) -> str:
        """Return a text of the site as it may be published; the lines keep their numbers."""
        if path.startswith(_DIARIES):
            text = without_private_blocks(text)
        if self.words and path.startswith(_REDACTED):
            text = self._written.sub(self._replacement, text)
        return text

    def found(self, text: str) -> Iterator[tuple[int, str]]:
        """Yield (place, word) of each word of the list in a text, also within addresses and HTML."""
        if self.words:
            for match in self._anywhere.finditer(text):
                yield match.start(), match[0]

    def publishes(self, content: str | bytes) -> str:
        """Return a word of the list that a file of the output contains, as it stands there; else an empty string."""
        text = content if isinstance(content, str) else content.decode("utf-8", "ignore")
        words = _TAG.sub("", text) if "<" in text else ""
        readings = (text, words, unescape(words or text) if "&" in text else "", unquote(text) if "%" in text else "")
        return next((word for reading in readings for _, word in self.found(reading)), "")

    def entry_of(self, found: str) -> int:
        """Return the number of the entry whose word was found in a text, counted from 1: a log may show the number."""
        entries = enumerate(self.words, 1)
        return next((number for number, word in entries if _pattern([word], _BETWEEN).fullmatch(found)), 0)

    def masked(self, text: str) -> str:
        """Return a text with `…` in place of each word of the list: a log may show it."""
        return self._anywhere.sub("…", text) if self.words else text

    def without_words(self) -> Privacy:
        """Return the same with an empty list."""
        return replace(self, words={})

    @cached_property
    def _written(self) -> re.Pattern[str]:
        return _pattern(self.words, r"\s+")

    @cached_property
    def _anywhere(self) -> re.Pattern[str]:
        return _pattern(self.words, _BETWEEN)

    @cached_property
    def _by_spelling(self) -> Mapping[str, str]:
        return {_spelling(word): other for word, other in self.words.items()}

    def _replacement(self, match: re.Match[str]) -> str:
        return self._by_spelling[_spelling(match[0])] + "\n" * match[0].count("\n")


def load_privacy(root: Path) -> Privacy:
    """Return what the site at `root` keeps to itself."""
    texts = [(VARIABLE, os.environ[VARIABLE])] if os.environ.get(VARIABLE) else []
    mistakes: list[Diagnostic] = []
    if is_listed := os.path.lexists(root / FILE):  # a link to nowhere and a pipe are lists that cannot be read
        text, unread = read_text(root, FILE)
        mistakes += unread
        texts += [(FILE, text)] if text is not None else []
    words: dict[str, str] = {}
    for path, text in texts:
        listed, wrong = parse_list(text, path)
        words |= listed
        mistakes += wrong
    return Privacy(words, is_listed or bool(texts), tuple(mistakes))


def parse_list(text: str, path: str = FILE) -> tuple[Mapping[str, str], tuple[Diagnostic, ...]]:
    """Return the words of a redaction list, each with what stands in its place, and the mistakes."""
    from sitegen.read.yaml_nodes import parse_yaml  # most sites have no list

    node, mistakes = parse_yaml(text, path)
    listed = node.get(_KEY) if node is not None and isinstance(node.value, Mapping) else None
    if listed is None or not isinstance(listed.value, Mapping):
        return {}, (*_unquoted(mistakes), _no_pairs(listed, path))
    words = {word.strip(): child.text for word, child in listed.value.items() if word.strip()}
    within = [listed.value[word].span for word, other in words.items() if Privacy(words).publishes(other)]
    message, hint = "this replacement contains a word of the list", "write initials or a role"
    return words, (*_unquoted(mistakes), *(Diagnostic("SG506", message, place, hint) for place in within))


def _no_pairs(listed: Node | None, path: str) -> Diagnostic:
    """Return the mistake of a list without pairs; `listed` is the value of `redact`, None where there is none."""
    example = "`  Ada Lovelace: A. L.`"
    if listed is None or listed.value is None:
        hint = f"write `{_KEY}:`, and below it lines such as {example}"
        return Diagnostic("SG506", "there is no list of words in it", listed.at if listed else Span(path), hint)
    found = "is a list" if isinstance(listed.value, tuple) else "has one text"
    hint = f"write each line without `-`, with what to print instead, as in {example}"
    return Diagnostic("SG506", f"`{_KEY}` {found}, but needs pairs", listed.at, hint)


def _unquoted(mistakes: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    """Yield the mistakes without what they quote of the list: a log may show them."""
    return (replace(one, message=_QUOTED.sub("", one.message)) for one in mistakes)


def without_private_blocks(text: str) -> str:
    """Return a diary with empty lines in place of its private ones.

    `private:` hides the rest of its line and the lines that are indented below it.  When nothing stands on the line or
    is indented below it, it hides the next block, up to an empty line.
    """
    if "private:" not in text.casefold():
        return text
    from sitegen.read.worklog_days import find_days, visible_lines

    days = {line.index for line in find_days(text).lines if line.date}
    lines, visible = text.split("\n"), dict(visible_lines(text))
    hidden: set[int] = set()
    for at, line in visible.items():
        if at not in hidden and (match := _PRIVATE.fullmatch(line)):
            end = min((day for day in days if day > at), default=len(lines))
            hidden |= {at, *_below(lines[:end], at, match, visible)}
    return "\n".join("" if at in hidden else line for at, line in enumerate(lines))


def _below(lines: list[str], at: int, opened: re.Match[str], visible: Mapping[int, str]) -> Iterator[int]:
    """Yield the numbers of the lines that a line `private:` hides below it."""
    width, first = _width(lines[at]), next((n for n in range(at + 1, len(lines)) if lines[n].strip()), len(lines))
    is_indented = first < len(lines) and _width(lines[first]) > width
    if opened["text"] and not is_indented:
        return
    for number in range(first, len(lines)):
        blank = not lines[number].strip() and number in visible
        if (blank and not is_indented) or (lines[number].strip() and is_indented and _width(lines[number]) <= width):
            return
        yield number


def _width(line: str) -> int:
    expanded = line.expandtabs(4)
    return len(expanded) - len(expanded.lstrip())


def _pattern(words: Iterable[str], between: str) -> re.Pattern[str]:
    """Return a pattern of all words, the longest first, in each form of Unicode."""
    spelled = {unicodedata.normalize(form, word) for word in words for form in ("NFC", "NFD")}
    return re.compile("|".join(_whole(word, between) for word in sorted(spelled, key=len, reverse=True)))


def _whole(word: str, between: str) -> str:
    """Return a pattern of a word that is no part of a longer word.

    A name of several words is found in any case.  A single word, such as `Max`, is found only as it is listed.
    """
    before = r"(?<![^\W_])" if word[0] < _FIRST_OF_CJK else ""
    after = r"(?![^\W_])" if word[-1] < _FIRST_OF_CJK else ""
    words = word.split()
    return f"(?{'i' if len(words) > 1 else ''}:{before}{between.join(map(re.escape, words))}{after})"


def _spelling(word: str) -> str:
    return " ".join(unicodedata.normalize("NFC", word).casefold().split())
