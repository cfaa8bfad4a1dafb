"""Check the YAML of authors: read a tree of nodes into one of the model's dataclasses, by the annotations of the class.

Stored records are checked elsewhere: their shape in `results/shape.py`, each value by its field's rule in
`results/field_rules.py`, and their claims against each other in `results/judge.py`.

This is the only one of the three validators that knows the place of every value and reads on after a mistake: each
mistake becomes a diagnostic at its place, and the field gets its default or an empty value, so that one mistake never
hides another.  `model/plain.py` raises an exception at the first mistake in JSON that sitegen wrote itself;
`results/shape.py` checks stored records with pydantic.  pydantic is not used here because each value would need its
place twice (a `Ref` holds its Span, and an error's `loc` must lead back to the node), because all of its messages
would have to be rewritten for authors, and because importing it costs a tenth of a second in each `build`.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import re
import typing
from collections.abc import Callable, Collection, Iterable, Mapping
from enum import StrEnum
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin

from sitegen.diagnostics import Diagnostic, Span, did_you_mean, near_words
from sitegen.model.dates import YearError, in_calendar
from sitegen.model.site import Ref
from sitegen.read.languages import is_language, language_hint
from sitegen.read.yaml_nodes import Node, without_places

T = TypeVar("T")
Diagnostics = list[Diagnostic]
"""The diagnostics of one file; the functions below append to it."""
Converter = Callable[[Node, Diagnostics], Any]

DATE_FORMATS = "write `2026-11-22`, `2026-11-22 14:30` or `2026-11-22T14:30:00+09:00`"
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_TIME = re.compile(r"(\d{4}-\d\d-\d\d)[Tt ]+(\d\d:\d\d(?::\d\d)?)(?:\.\d+)?\s*(Z|z|[+-]\d\d:?\d\d)?")
_ONE_DIGIT = re.compile(r"(?<![\d.])\d(?!\d)")
_ADDRESS = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
"""Pattern of a value that can be part of an address as it is."""
_UNREADABLE = object()
_SUGGESTED = 40
"""The most unknown keys of one mapping for which a near word is sought, which takes half a millisecond for each."""


def read_as(
    cls: Callable[..., T],
    node: Node | None,
    diagnostics: Diagnostics,
    *,
    given: Mapping[str, Any] | None = None,
    noun: str = "key",
    keys: Mapping[str, str] | None = None,
    convert: Mapping[str, Converter] | None = None,
    also: Iterable[str] = (),
    foreign: Mapping[str, str] | None = None,
) -> T:
    """Return an instance of the dataclass `cls`.

    `given` are fields that do not come from the YAML; `keys` names the key of a field where it differs;
    `convert` reads fields whose YAML differs from the model; `also` are keys that the caller reads itself;
    `foreign` are the keys of another program, each with what to do about it.
    `node` None (it did not parse) gives an empty instance and no further diagnostics.
    """
    given, keys, convert, foreign = given or {}, keys or {}, convert or {}, foreign or {}
    hints = {name: hint for name, hint in _hints(cls).items() if name not in given}
    known = {keys.get(name, name): name for name in hints}
    values = dict(given)
    wanted = [key for key, name in known.items() if name in _required(cls)]
    if node is not None and node.value is not None and not isinstance(node.value, Mapping):
        wrong_type(node, "`key: value` lines", diagnostics, _keys_to_write(wanted, node))
    elif node is not None:
        entries = entries_of(node, diagnostics)
        names = sorted({*known, *also})
        strange = [(key, child) for key, child in entries.items() if key not in names]
        near = names if len(strange) <= _SUGGESTED else []
        lists = {key for key, name in known.items() if get_origin(hints[name]) is tuple and name not in convert}
        strangers = [_unknown_key(noun, key, child, near, foreign, lists) for key, child in strange]
        misspelt = {near_key for key, _ in strange if key not in foreign for near_key in near_words(key, near)[:1]}
        diagnostics += strangers
        for key, name in known.items():
            child = entries.get(key)
            if child is not None and child.value is not None:
                value = (
                    convert[name](child, diagnostics)
                    if name in convert
                    else read_value(hints[name], child, diagnostics)
                )
                values |= {name: value} if value is not _UNREADABLE else {}
            elif name in _required(cls) and key not in misspelt:
                diagnostics.append(missing_key(key, noun, child or node))
    blanks = {name: _blank(hint) for name, hint in hints.items() if name in _required(cls) and name not in values}
    return cls(**blanks, **values)


def read_value(hint: Any, node: Node, diagnostics: Diagnostics) -> Any:
    """Return the value that an annotation asks for, or append a diagnostic and return `_UNREADABLE`."""
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        hint = tuple(arg for arg in args if arg is not NoneType)
        return _moment(node, diagnostics) if len(hint) > 1 else read_value(hint[0], node, diagnostics)
    if origin is tuple:
        return _sequence(args[0], node, diagnostics)
    if origin is not None and issubclass(origin, Mapping):
        return _mapping(args[1], node, diagnostics)
    if dataclasses.is_dataclass(hint) and hint is not Ref:
        return read_as(typing.cast(type, hint), node, diagnostics)
    return without_places(node) if hint is Any else _scalar(hint, node, diagnostics)


def wrong_type(node: Node, expected: str, diagnostics: Diagnostics, hint: str = "") -> Any:
    """Append a diagnostic for a value of a wrong type, and return `_UNREADABLE`."""
    diagnostics.append(Diagnostic("SG011", f"expected {expected}, found {_shown(node)}", node.span, hint))
    return _UNREADABLE


def missing_key(key: str, noun: str, node: Node) -> Diagnostic:
    """Return the diagnostic for a missing key; `node` is the mapping that lacks it, or its empty value."""
    if node.key and node.value is None:
        return Diagnostic("SG010", f"{noun} `{key}` is empty", node.key, "write its value behind the colon")
    return Diagnostic("SG010", f"missing {noun} `{key}`", node.span, f"add `{key}: …`")


def _keys_to_write(keys: Iterable[str], node: Node) -> str:
    """Return the hint for a value that stands where keys are wanted; empty when none of them is required."""
    lines = [f"{key}: …" for key in keys]
    if node.key:
        return f"write `{{{', '.join(lines)}}}`" if lines else ""
    return f"write the lines {', '.join(f'`{line}`' for line in lines)}" if lines else ""


def minutes(node: Node, diagnostics: Diagnostics) -> Any:
    """Return a number of minutes; append a diagnostic for a negative one."""
    value = read_value(int, node, diagnostics)
    if not isinstance(value, int) or value >= 0:
        return value
    return wrong_type(node, "a number of minutes", diagnostics, "write digits alone, as in `20`")


def one_of(known: Iterable[str], what: str) -> Converter:
    """Return a function that reads a list of words, each of which must be known."""
    choices = tuple(known)

    def convert(node: Node, diagnostics: Diagnostics) -> tuple[str, ...]:
        refs: tuple[Ref, ...] = read_value(tuple[Ref, ...], node, diagnostics)
        diagnostics.extend(unknown_word(what, ref.name, ref.span, choices) for ref in refs if ref.name not in choices)
        return tuple(ref.name for ref in refs if ref.name in choices)

    return convert


def read_language(node: Node, diagnostics: Diagnostics) -> Any:
    """Return a language tag; append a diagnostic and return `_UNREADABLE` for another word."""
    if is_language(node.text):
        return node.text
    diagnostics.append(unknown_language(node.text, node.span))
    return _UNREADABLE


def unknown_language(word: str, span: Span) -> Diagnostic:
    """Return the diagnostic for a word that is no language tag."""
    return Diagnostic("SG014", f"`{word}` is not a language", span, language_hint(word))


def unknown_word(what: str, word: str, span: Span, known: Iterable[str], code: str = "SG014") -> Diagnostic:
    """Return the diagnostic for a word that is none of the known ones.

    A key with one near name can be mended; for a value the author decides.
    """
    known = tuple(known)
    listed = f"known: {', '.join(known)}" if known and (len(known) <= 12 or code == "SG012") else ""
    near = near_words(word, known) if code == "SG012" else []
    fix = near[0] if len(near) == 1 else None
    return Diagnostic(code, f"unknown {what} `{word}`", span, did_you_mean(word, known) or listed, fix=fix)


def _unknown_key(
    noun: str, key: str, child: Node, known: Iterable[str], foreign: Mapping[str, str], lists: Collection[str]
) -> Diagnostic:
    """Return the diagnostic for an unknown key; `lists` are the known keys whose value is a list."""
    if key in foreign:
        value = child.text if _ADDRESS.fullmatch(child.text or "") else "…"
        return Diagnostic("SG012", f"unknown {noun} `{key}`", child.at, foreign[key].replace("{value}", value))
    found = unknown_word(noun, key, child.at, known, "SG012")
    near = next(iter(near_words(key, known)), "")
    if near not in lists or isinstance(child.value, tuple | Mapping) or not child.text or "\n" in child.text:
        return found
    hint = f"{found.hint} Its value is a list: write `{near}: [{child.text}]`; known: {', '.join(known)}"
    return dataclasses.replace(found, hint=hint)


def entries_of(node: Node, diagnostics: Diagnostics, hint: Any = str) -> Mapping[str, Node]:
    """Return the values of a mapping by key; for another value append a diagnostic and return no values.

    `hint` is the annotation of the values, by which the message says what to write.
    """
    if isinstance(node.value, Mapping):
        return node.value
    if node.value is not None:
        wrong_type(node, "`key: value` lines", diagnostics, _pairs_to_write(hint, node))
    return {}


def _pairs_to_write(hint: Any, node: Node) -> str:
    """Return the hint for a list of words that stands where each word needs a value: `{x: {shape: …}, y: …}`."""
    words = [child.text for child in node.value] if isinstance(node.value, tuple) else []
    if not words or not all(words):
        return "write lines such as `name: value`"
    keys = [
        f"{key}: {_form_of(hint, key)}" for key in _required_keys(hint) if key != "name"
    ]  # that is the mapping's key
    value = f"{{{', '.join(keys)}}}" if keys else "…"
    return f"write a value behind each name: `{{{', '.join(f'{word}: {value}' for word in words[:3])}}}`"


def _form_of(hint: Any, key: str) -> str:
    """Return the form of the value of a key: `[…]` for a list, else `…`."""
    return "[…]" if get_origin(_hints(hint)[key]) is tuple else "…"


def items_of(node: Node, diagnostics: Diagnostics, hint: Any = str) -> tuple[Node, ...]:
    """Return the values of a list; for another value append a diagnostic and return no values.

    `hint` is the annotation of the values, by which the message says what to write.
    """
    if isinstance(node.value, tuple):
        return node.value
    wrong_type(node, "a list", diagnostics, _list_to_write(hint, node))
    return ()


def _list_to_write(hint: Any, node: Node) -> str:
    """Return the hint for a value that stands where a list is wanted."""
    if not isinstance(node.value, Mapping):
        return f"write `[{node.text}]`" if node.text else ""
    first, keys = next(iter(node.value), "…"), _required_keys(hint)
    if not keys:
        return f"write each entry behind a `-`, as in `- {first}`"
    if first in _hints(hint):
        return f"each entry of a list begins with `- `: write `- {first}: …`"
    return f"each entry of a list is a line such as `- {{{', '.join(f'{key}: …' for key in keys)}}}`"


def _required_keys(hint: Any) -> list[str]:
    """Return the keys that a dataclass must have, in their order; none for another annotation."""
    if not dataclasses.is_dataclass(hint) or hint is Ref:
        return []
    return [key for key in _hints(typing.cast(type, hint)) if key in _required(typing.cast(type, hint))]


def _sequence(hint: Any, node: Node, diagnostics: Diagnostics) -> tuple[Any, ...]:
    values = (read_value(hint, child, diagnostics) for child in items_of(node, diagnostics, hint))
    return tuple(value for value in values if value is not _UNREADABLE)


def _mapping(hint: Any, node: Node, diagnostics: Diagnostics) -> Mapping[str, Any]:
    values = {key: read_value(hint, child, diagnostics) for key, child in entries_of(node, diagnostics, hint).items()}
    return {key: value for key, value in values.items() if value is not _UNREADABLE}


def _scalar(hint: Any, node: Node, diagnostics: Diagnostics) -> Any:
    value = node.value
    if isinstance(value, tuple | Mapping) or value is None:
        return wrong_type(node, _EXPECTED.get(hint, "one word"), diagnostics)
    if hint is Ref:
        return Ref(node.text, node.span)
    if hint is str:
        return node.text
    if hint is dt.date:
        return _day(node, diagnostics)
    if issubclass(hint, StrEnum):
        return _member(hint, node, diagnostics)
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    right = isinstance(value, hint) and (hint is bool or not isinstance(value, bool))
    return value if right else wrong_type(node, _EXPECTED[hint], diagnostics, _WRITTEN.get(hint, ""))


_EXPECTED = {str: "text", Ref: "a name", bool: "true or false", int: "a whole number", float: "a number"}

_WRITTEN = {bool: "write `true` or `false`", int: "write digits, as in `128`", float: "write digits, as in `0.5`"}


def _member(hint: type[StrEnum], node: Node, diagnostics: Diagnostics) -> Any:
    if node.text in list(hint):
        return hint(node.text)
    diagnostics.append(unknown_word(hint.__name__.lower(), node.text, node.span, list(hint)))
    return _UNREADABLE


def _day(node: Node, diagnostics: Diagnostics, hint: str = "write `2026-11-22`") -> Any:
    if not _DATE.fullmatch(node.text):
        return wrong_type(node, "a date", diagnostics, _two_digits(node.text) or hint)
    return _calendar(node, diagnostics, lambda: dt.date.fromisoformat(node.text), hint)


def _moment(node: Node, diagnostics: Diagnostics) -> Any:
    """Return a date or a time; a time without an offset stays naive."""
    if _DATE.fullmatch(node.text):
        return _day(node, diagnostics, DATE_FORMATS)
    if not (parts := _TIME.fullmatch(node.text)):
        return wrong_type(node, "a date", diagnostics, _two_digits(node.text) or DATE_FORMATS)
    day, time, zone = parts.groups("")
    hint = _midnight(day, zone) if time in ("24:00", "24:00:00") else DATE_FORMATS
    return _calendar(node, diagnostics, lambda: _time_of(day, time, zone), hint)


def _two_digits(text: str) -> str:
    """Return the hint for a date or a time of which a number has one digit; empty for another text."""
    written = _ONE_DIGIT.sub(r"0\g<0>", text)
    is_one = written != text and (_DATE.fullmatch(written) or _TIME.fullmatch(written))
    return f"months, days and hours have two digits: write `{written}`" if is_one else ""


def _time_of(day: str, time: str, zone: str) -> dt.datetime:
    """Return the time.  Raises ValueError, also for the hour 24, which some versions of Python take."""
    if time.startswith("24"):
        raise ValueError("no hour 24")
    return dt.datetime.fromisoformat(f"{day}T{time}{zone.upper()}")


def _midnight(day: str, zone: str) -> str:
    """Return the hint for the hour 24 of a day: the hour 0 of the next."""
    try:
        following = dt.date.fromisoformat(day) + dt.timedelta(days=1)
    except (ValueError, OverflowError):
        return DATE_FORMATS
    written = f"{following}T00:00:00{zone.upper()}" if zone else f"{following} 00:00"
    return f"a day ends before hour 24: write `{written}`"


def _calendar(node: Node, diagnostics: Diagnostics, parse: Callable[[], dt.date], hint: str) -> Any:
    try:
        return in_calendar(parse())
    except ValueError as error:
        said = str(error) if isinstance(error, YearError) else hint
        diagnostics.append(Diagnostic("SG013", f"impossible date `{node.text}`", node.span, said))
        return _UNREADABLE


def _shown(node: Node) -> str:
    if isinstance(node.value, Mapping):
        return "`key: value` lines"
    if isinstance(node.value, tuple):
        return "a list"
    first = node.text.partition("\n")[0]
    return f"`{first[:40]}{'…' if len(node.text) > 40 else ''}`" if first else "nothing"


def _blank(hint: Any) -> Any:
    """Return an empty value of a type, for a required field that could not be read."""
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return _blank(args[0])
    if origin is not None:
        return () if origin is tuple else {}
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return hint(**{name: _blank(_hints(hint)[name]) for name in _required(hint)})
    return {dt.date: dt.date(1970, 1, 1), Span: Span(""), bool: False, int: 0, float: 0.0}.get(hint, "")


@cache
def _hints(cls: Callable[..., Any]) -> dict[str, Any]:
    hints = typing.get_type_hints(cls)
    return {field.name: hints[field.name] for field in _fields(cls)}


@cache
def _required(cls: Callable[..., Any]) -> frozenset[str]:
    unset = dataclasses.MISSING
    return frozenset(f.name for f in _fields(cls) if f.default is unset and f.default_factory is unset)


def _fields(cls: Callable[..., Any]) -> tuple[dataclasses.Field[Any], ...]:
    return dataclasses.fields(typing.cast(Any, cls))
