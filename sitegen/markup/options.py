"""Turn option lines at the head of a fence into checked values, each mistake at its own place.

`#| key: value` and `//| key: value` are YAML (several such lines are one mapping, as in Quarto);
`:key: value` is one plain value, or YAML when it begins with a bracket, a brace or a quote.
A fence without a directive has its options in the line that opens it, `key=value` or `key="several words"`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sitegen.diagnostics import Span, did_you_mean
from sitegen.markup.collected import Collected

if TYPE_CHECKING:
    from sitegen.markup.option_yaml import OptionPlace

Value = Any
"""Text, or a tuple or dict of Values: YAML without types, since every option says what it takes."""
OptionKind = Callable[[Value], object]
"""Turns a Value into what the option means; raises Unfit in words for the author."""


class Unfit(ValueError):
    """A value that an option does not take; `word` is the part of it that is wrong."""

    def __init__(self, message: str, hint: str = "", word: str = "") -> None:
        super().__init__(message)
        self.hint, self.word = hint, word


_COMMENT = re.compile(r"\s*(?:#\||//\||%%\|) ?")
_COLON = re.compile(r"\s*:([A-Za-z][\w-]*):[ \t]*")
_ATTRIBUTE = re.compile(r"([^\s=]+)(?:=(\"[^\"]*\"|'[^']*'|\S*))?")


@dataclass(frozen=True, slots=True)
class Setting:
    """An option that a directive takes."""

    kind: OptionKind
    about: str
    """A sentence for the manual."""


@dataclass(frozen=True, slots=True)
class Option:
    """An option as the author wrote it."""

    value: Value
    key_span: Span
    span: Span


@dataclass(slots=True)
class Options:
    """The options at the head of a fence; `rest` is the text below them, from line `rest_line` of the document."""

    by_name: dict[str, Option] = field(default_factory=dict)
    rest: str = ""
    rest_line: int = 0
    broken: bool = False
    """True if some of it was not YAML: an option that seems to be missing may be there."""

    def span(self, name: str, otherwise: Span) -> Span:
        return self.by_name[name].span if name in self.by_name else otherwise


def read_options(content: str, line: int, into: Collected) -> Options:
    """Split the text of a fence that begins on `line` into options and the rest."""
    lines = content.split("\n")
    options, at = Options(), 0
    while at < len(lines):
        if _COMMENT.match(lines[at]):
            at = _read_comments(lines, at, line, options, into)
        elif match := _COLON.match(lines[at]):
            _read_colon(lines[at], match, line + at, options, into)
            at += 1
        else:
            break
    options.rest, options.rest_line = "\n".join(lines[at:]), line + at
    return options


def is_option(line: str) -> bool:
    """Tell whether a text begins as an option does: `:key: value`, or `#| key: value`."""
    return bool(_COLON.match(line) or _COMMENT.match(line))


def read_attributes(info: str, line: int, into: Collected) -> Options:
    """Return the options in `key=value key="several words" flag` on `line` of the document; a lone word is `true`."""
    options = Options()
    start = max(into.lines[line].find(info), 0) if info else 0
    for match in _ATTRIBUTE.finditer(info):
        key_span = into.span(line, start + match.start(1), len(match[1]))
        span = into.span(line, start + match.start(2), len(match[2])) if match[2] else key_span
        value = "true" if match[2] is None else match[2].strip("\"'")
        _add(match[1], Option(value, key_span, span), options, into)
    return options


def checked(options: Options, settings: Mapping[str, Setting], where: str, into: Collected) -> dict[str, Any]:
    """Return the values by option; an unknown option or a wrong value is reported and left out."""
    values: dict[str, Any] = {}
    for name, option in options.by_name.items():
        if name not in settings:
            into.unknown("SG103", f"option of {where}", name, settings, option.key_span)
            continue
        try:
            values[name] = settings[name].kind(option.value)
        except Unfit as mistake:
            span = into.within(option.span, mistake.word)
            into.error("SG105", f"option `{name}`: {mistake}", span, mistake.hint)
    return values


def _read_comments(lines: list[str], at: int, line: int, options: Options, into: Collected) -> int:
    texts: list[str] = []
    prefixes: list[int] = []
    start = at
    while at < len(lines) and (match := _COMMENT.match(lines[at])):
        texts.append(lines[at][match.end() :])
        prefixes.append(match.end())
        at += 1

    def place(row: int, col: int, length: int) -> Span:
        row = min(row, len(texts) - 1)
        number = line + start + row
        return into.span(number, _indent(into, number, lines[start + row]) + prefixes[row] + col, length)

    _add_mapping("\n".join(texts), place, options, into)
    return at


def _read_colon(text: str, match: re.Match[str], number: int, options: Options, into: Collected) -> None:
    indent = _indent(into, number, text)
    raw = text[match.end() :].rstrip()
    key_span = into.span(number, indent + match.start(1), len(match[1]))
    span = into.span(number, indent + match.end(), len(raw))
    value: Value = raw
    if raw[:1] in ("[", "{", '"', "'"):
        from sitegen.markup.option_yaml import NotYamlError, read_value

        try:
            value = read_value(raw)
        except NotYamlError as mistake:
            options.broken = True
            into.error("SG119", f"this is not valid YAML: {mistake}", span)
            return
    _add(match[1], Option(value, key_span, span), options, into)


def _add_mapping(text: str, place: Callable[[int, int, int], Span], options: Options, into: Collected) -> None:
    from sitegen.markup.option_yaml import NoMappingError, NotYamlError, read_mapping

    def span(place_in_text: OptionPlace) -> Span:
        return place(place_in_text.row, place_in_text.column, place_in_text.length)

    try:
        for entry in read_mapping(text):
            _add(entry.name, Option(entry.value, span(entry.key_place), span(entry.place)), options, into)
    except NoMappingError:
        into.error("SG119", "an option line is `key: value`", place(0, 0, len(text.split("\n", 1)[0])))
    except NotYamlError as mistake:
        options.broken = True
        into.error("SG119", f"this is not valid YAML: {mistake}", place(mistake.row, mistake.column, 1))


def _add(name: str, option: Option, options: Options, into: Collected) -> None:
    if name in options.by_name:
        first = options.by_name[name].key_span.line
        into.error("SG104", f"option `{name}` is given twice", option.key_span, f"the first is on line {first}")
        return
    options.by_name[name] = option


def _indent(into: Collected, number: int, text: str) -> int:
    """Return the columns that a list, a quote or an indented fence puts before a line of its text."""
    return max(into.lines[number].find(text), 0) if number < len(into.lines) else 0


def text(value: Value) -> str:
    if not isinstance(value, str):
        raise Unfit("expected text")
    return value


def words(value: Value) -> tuple[str, ...]:
    """Return the words of `a, b` or `[a, b]`; an item `vs: torch` of a list is the text `vs: torch`."""
    if isinstance(value, str):
        return tuple(word.strip() for word in value.split(",") if word.strip())
    if not isinstance(value, tuple):
        raise Unfit("expected a list")
    return tuple(_word(item) for item in value)


def _word(item: Value) -> str:
    if isinstance(item, dict) and len(item) == 1:
        (key, value), *_ = item.items()
        item = f"{key}: {value}" if isinstance(value, str) else item
    if not isinstance(item, str):
        raise Unfit("expected a list of words")
    return item


def flag(value: Value) -> bool:
    if value not in ("true", "false"):
        raise Unfit("expected `true` or `false`")
    return bool(value == "true")


def seconds(value: Value) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not 0 < number <= 24 * 3600:
        raise Unfit("expected seconds, more than 0 and at most a day")
    return number


def mapping(value: Value) -> dict[str, Value]:
    if not isinstance(value, dict):
        raise Unfit("expected a mapping, `{key: value}`")
    return value


def label(value: Value) -> str:
    """Return a label, which becomes an id and a file name.  Raises Unfit."""
    if not isinstance(value, str) or not re.fullmatch(r"[A-Za-z0-9][\w-]*", value):
        raise Unfit("a label is letters, digits, `-` and `_`, such as `first-look`")
    return value


def named(what: str, word: str, known: Iterable[str]) -> Unfit:
    """Return the mistake of an unknown word, with the known word that is nearest to it."""
    names = list(known)
    hint = did_you_mean(word, names) or f"known: {', '.join(f'`{name}`' for name in names)}"
    return Unfit(f"unknown {what} `{word}`", hint, word)
