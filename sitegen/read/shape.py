"""A tree of YAML nodes → one of the model's dataclasses, checked against the class's own annotations.

There is no second set of classes and no pydantic: it would have to be told the place of every value twice (a `Ref`
holds its Span, and an error's `loc` must find its node again), its messages would all have to be put in other words,
and importing it costs a tenth of a second in each `build`.  Here a value, its place and its annotation meet in one
function.  What is wrong becomes a diagnostic and the reading goes on: a value that cannot be read gives way to the
field's default, or to an empty value of its type, so that one mistake never hides another.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import re
import typing
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin

from sitegen.diagnostics import Diagnostic, Span, did_you_mean
from sitegen.model.site import Ref
from sitegen.read.languages import is_language, language_meant
from sitegen.read.yaml_nodes import Node, plain

T = TypeVar("T")
Found = list[Diagnostic]
"""Where the checks of one file put what they find."""
Convert = Callable[[Node, Found], Any]

DATE_FORMATS = "write `2026-11-22`, `2026-11-22 14:30` or `2026-11-22T14:30:00+09:00`"
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_TIME = re.compile(r"(\d{4}-\d\d-\d\d)[Tt ]+(\d\d:\d\d(?::\d\d)?)(?:\.\d+)?\s*(Z|z|[+-]\d\d:?\d\d)?")
_UNREADABLE = object()


def read_as(
    cls: Callable[..., T],
    node: Node | None,
    found: Found,
    *,
    given: Mapping[str, Any] | None = None,
    noun: str = "key",
    keys: Mapping[str, str] | None = None,
    convert: Mapping[str, Convert] | None = None,
    also: Iterable[str] = (),
) -> T:
    """An instance of the dataclass `cls`.

    `given` are fields that do not come from the YAML; `keys` names the key of a field where it differs;
    `convert` reads fields whose YAML differs from the model; `also` are keys that the caller reads itself.
    `node` None (it did not parse) gives an empty instance and no further diagnostics.
    """
    given, keys, convert = given or {}, keys or {}, convert or {}
    hints = {name: hint for name, hint in _hints(cls).items() if name not in given}
    known = {keys.get(name, name): name for name in hints}
    values = dict(given)
    if node is not None:
        entries = entries_of(node, found)
        strangers = [
            unknown(noun, key, child.at, sorted({*known, *also}), "SG012")
            for key, child in entries.items()
            if key not in known and key not in also
        ]
        misspelt = {stranger.hint for stranger in strangers}
        found += strangers
        for key, name in known.items():
            child = entries.get(key)
            if child is not None and child.value is not None:
                value = convert[name](child, found) if name in convert else read_value(hints[name], child, found)
                values |= {name: value} if value is not _UNREADABLE else {}
            elif name in _required(cls) and f"did you mean `{key}`?" not in misspelt:
                found.append(missing(key, noun, child or node))
    blanks = {name: _blank(hint) for name, hint in hints.items() if name in _required(cls) and name not in values}
    return cls(**blanks, **values)


def read_value(hint: Any, node: Node, found: Found) -> Any:
    """The value that an annotation asks for, or the marker `_UNREADABLE` and a diagnostic."""
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        hint = tuple(arg for arg in args if arg is not NoneType)
        return _moment(node, found) if len(hint) > 1 else read_value(hint[0], node, found)
    if origin is tuple:
        return _sequence(args[0], node, found)
    if origin is not None and issubclass(origin, Mapping):
        return _mapping(args[1], node, found)
    if dataclasses.is_dataclass(hint) and hint is not Ref:
        return read_as(typing.cast(type, hint), node, found)
    return plain(node) if hint is Any else _scalar(hint, node, found)


def wrong(node: Node, expected: str, found: Found, hint: str = "") -> Any:
    found.append(Diagnostic("SG011", f"expected {expected}, found {_shown(node)}", node.span, hint))
    return _UNREADABLE


def missing(key: str, noun: str, node: Node) -> Diagnostic:
    """`node` is the mapping that lacks the key, or the empty value of the key."""
    if node.key and node.value is None:
        return Diagnostic("SG010", f"{noun} `{key}` is empty", node.key)
    return Diagnostic("SG010", f"missing {noun} `{key}`", node.span)


def one_of(known: Iterable[str], what: str) -> Convert:
    """Reads a list of words, each of which must be known."""
    choices = tuple(known)

    def convert(node: Node, found: Found) -> tuple[str, ...]:
        refs: tuple[Ref, ...] = read_value(tuple[Ref, ...], node, found)
        found.extend(unknown(what, ref.name, ref.span, choices) for ref in refs if ref.name not in choices)
        return tuple(ref.name for ref in refs if ref.name in choices)

    return convert


def read_language(node: Node, found: Found) -> Any:
    if is_language(node.text):
        return node.text
    found.append(no_language(node.text, node.span))
    return _UNREADABLE


def no_language(word: str, span: Span) -> Diagnostic:
    return Diagnostic("SG014", f"`{word}` is not a language", span, language_meant(word))


def unknown(what: str, word: str, span: Span, known: Iterable[str], code: str = "SG014") -> Diagnostic:
    """The diagnostic for a word that is none of a few."""
    known = tuple(known)
    listed = f"known: {', '.join(known)}" if 0 < len(known) <= 12 else ""
    return Diagnostic(code, f"unknown {what} `{word}`", span, did_you_mean(word, known) or listed)


def entries_of(node: Node, found: Found) -> Mapping[str, Node]:
    """The values of a mapping by key; of anything but a mapping none, and a diagnostic."""
    if isinstance(node.value, Mapping):
        return node.value
    if node.value is not None:
        wrong(node, "`key: value` lines", found)
    return {}


def items_of(node: Node, found: Found) -> tuple[Node, ...]:
    """The values of a list; of anything but a list none, and a diagnostic."""
    if isinstance(node.value, tuple):
        return node.value
    scalar = node.text and not isinstance(node.value, Mapping)
    wrong(node, "a list", found, f"write `[{node.text}]`" if scalar else "")
    return ()


def _sequence(hint: Any, node: Node, found: Found) -> tuple[Any, ...]:
    values = (read_value(hint, child, found) for child in items_of(node, found))
    return tuple(value for value in values if value is not _UNREADABLE)


def _mapping(hint: Any, node: Node, found: Found) -> Mapping[str, Any]:
    values = {key: read_value(hint, child, found) for key, child in entries_of(node, found).items()}
    return {key: value for key, value in values.items() if value is not _UNREADABLE}


def _scalar(hint: Any, node: Node, found: Found) -> Any:
    value = node.value
    if isinstance(value, tuple | Mapping) or value is None:
        return wrong(node, _EXPECTED.get(hint, "one word"), found)
    if hint is Ref:
        return Ref(node.text, node.span)
    if hint is str:
        return node.text
    if hint is dt.date:
        return _day(node, found)
    if issubclass(hint, StrEnum):
        return _member(hint, node, found)
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    right = isinstance(value, hint) and (hint is bool or not isinstance(value, bool))
    return value if right else wrong(node, _EXPECTED[hint], found)


_EXPECTED = {str: "text", Ref: "a name", bool: "true or false", int: "a whole number", float: "a number"}


def _member(hint: type[StrEnum], node: Node, found: Found) -> Any:
    if node.text in list(hint):
        return hint(node.text)
    found.append(unknown(hint.__name__.lower(), node.text, node.span, list(hint)))
    return _UNREADABLE


def _day(node: Node, found: Found, hint: str = "write `2026-11-22`") -> Any:
    if not _DATE.fullmatch(node.text):
        return wrong(node, "a date", found, hint)
    return _calendar(node, found, lambda: dt.date.fromisoformat(node.text), hint)


def _moment(node: Node, found: Found) -> Any:
    """A date or a time; a time without an offset stays naive."""
    if _DATE.fullmatch(node.text):
        return _day(node, found, DATE_FORMATS)
    if not (parts := _TIME.fullmatch(node.text)):
        return wrong(node, "a date", found, DATE_FORMATS)
    day, time, zone = parts.groups("")
    return _calendar(node, found, lambda: dt.datetime.fromisoformat(f"{day}T{time}{zone.upper()}"), DATE_FORMATS)


def _calendar(node: Node, found: Found, parse: Callable[[], dt.date], hint: str) -> Any:
    try:
        return parse()
    except ValueError:
        found.append(Diagnostic("SG013", f"impossible date `{node.text}`", node.span, hint))
        return _UNREADABLE


def _shown(node: Node) -> str:
    if isinstance(node.value, Mapping):
        return "`key: value` lines"
    if isinstance(node.value, tuple):
        return "a list"
    first = node.text.partition("\n")[0]
    return f"`{first[:40]}{'…' if len(node.text) > 40 else ''}`" if first else "nothing"


def _blank(hint: Any) -> Any:
    """An empty value of a type, for a field that is required and could not be read."""
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
