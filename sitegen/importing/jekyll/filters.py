"""The filters of Liquid and of Jekyll, by name: values go in, values come out."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterator, Mapping
from decimal import ROUND_HALF_UP, Decimal
from functools import reduce
from html import escape
from itertools import islice
from operator import itemgetter
from typing import Any
from urllib.parse import quote, quote_plus

from sitegen.importing.jekyll.not_understood import MOST_CHARACTERS, MOST_ITEMS, MOST_MADE, NotUnderstood
from sitegen.importing.jekyll.permalinks import slugify

_NOT_PADDED = re.compile(r"%%|%-(?P<letter>[A-Za-z])")
_NUMBER = re.compile(r"\s*-?(?:\d{1,18}\.?\d{0,18}|\.\d{1,18})\s*", re.ASCII)
_TAG = re.compile(r"<[^<>]*>")
_UNSEEN = {"<script": "</script>", "<!--": "-->", "<style": "</style>"}
"""The beginnings and ends of what `strip_html` removes with its content."""
_BEGIN = re.compile("|".join(_UNSEEN))
ITEM_CHARACTERS = 8
"""The characters that the comparison of an item counts as."""
MOST_NAMES = 10
"""Most names of a path such as `a.b`, by which `where` and `sort` find the property of an item."""
MOST_DIGITS = 15
"""Most digits that `round` keeps behind the point or removes before it."""


def shown(value: Any) -> str:
    """Return the text that Liquid prints for a value."""
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, bool):
        return "" if value is None else str(value).lower()
    if isinstance(value, list | tuple):
        return "".join(map(shown, value))
    if isinstance(value, int | float | dt.date):
        return str(value)
    raise NotUnderstood


def truth(value: Any) -> bool:
    """Return whether a value counts as true: all but `nil` and `false` do, also 0 and the empty text."""
    return value is not None and value is not False


def size_of(value: Any) -> int:
    """Return the number of values in a list, those of the lists within it included; 1 for any other value."""
    return 1 + sum(map(size_of, value)) if isinstance(value, list | tuple) else 1


def _items(value: Any) -> list[Any]:
    """Return what a filter for lists goes over: the items, the pairs of a mapping, or the one value."""
    if isinstance(value, Mapping):
        return [list(pair) for pair in value.items()]
    return list(value) if isinstance(value, list | tuple) else [] if value is None else [value]


def _property(item: Any, name: str) -> Any:
    return item.get(name) if isinstance(item, Mapping) else None


def _getter(path: str) -> Callable[[Any], Any]:
    """Return what takes from an item its property `a`, or for the path `a.b` the property `b` of that."""
    names = path.split(".")
    if len(names) > MOST_NAMES:
        raise NotUnderstood
    return lambda item: reduce(_property, names, item)


def _sorted(value: Any, path: str | None = None, nils: str = "first") -> list[Any]:
    """Return the items in order of a property, as Jekyll does: those without it stand first unless `nils` is `last`."""
    if path is None:
        return sorted(_items(value))
    found_in = _getter(path)
    given = [(_as_number(found_in(item)), item) for item in _items(value)]
    without = [item for found, item in given if found is None]
    held = [item for _, item in sorted((pair for pair in given if pair[0] is not None), key=itemgetter(0))]
    return held + without if nils == "last" else without + held


def _as_number(found: Any) -> Any:
    """Return the number that a text holds: Jekyll sorts the numbers of a table by their size."""
    return float(found) if isinstance(found, str) and _NUMBER.fullmatch(found) else found


def _sorted_naturally(value: Any, name: str | None = None) -> list[Any]:
    """Return the items in order of their texts without regard to case; those without one stand last."""

    def key(item: Any) -> tuple[bool, str]:
        found = item if name is None else _property(item, name)
        return found is None, shown(found).casefold()

    return sorted(_items(value), key=key)


def where(value: Any, path: str, *wanted: Any, spend: Callable[[int], None] = lambda size: None) -> list[Any]:
    """Return the items whose property has the wanted value, or has any value where none is named.

    `spend` gets what the comparisons of each item count as.
    """
    if not isinstance(path, str) or any(isinstance(one, list | tuple | Mapping) for one in wanted):
        raise NotUnderstood
    found_in, items = _getter(path), list(value.values()) if isinstance(value, Mapping) else _items(value)
    kept = []
    for item in items:
        found = found_in(item)
        spend(ITEM_CHARACTERS * (len(found) if isinstance(found, list | tuple) else 1))
        kept += [item] if _matches(found, *wanted) else []
    return kept


def _matches(found: Any, *wanted: Any) -> bool:
    """Return whether a property or an item of it has the same text as the wanted value, as Jekyll compares them."""
    if not wanted:
        return truth(found)
    if wanted[0] is None or isinstance(found, Mapping):
        return found is wanted[0]
    if isinstance(found, list | tuple) and len(found) > MOST_ITEMS:
        raise NotUnderstood
    return shown(wanted[0]) in map(_text, _items(found))


def _sliced(value: Any, start: int, length: int = 1) -> Any:
    begin = start if start >= 0 else len(value) + start
    return value[begin : begin + length]


def _shown_date(value: Any, form: str) -> str:
    if isinstance(value, dt.date):
        moment = value
    elif isinstance(value, str) and not value.isdecimal():
        moment = dt.datetime.fromisoformat(value)
    else:
        moment = dt.datetime.fromtimestamp(int(value), dt.UTC)
    return moment.strftime(_NOT_PADDED.sub(lambda code: _not_padded(moment, code), form))


def _not_padded(moment: dt.date, code: re.Match[str]) -> str:
    """Return what `%-d` and the like stand for, without zeros and spaces in front; `%%` stays."""
    return moment.strftime(f"%{code['letter']}").lstrip("0 ") or "0" if code["letter"] else code[0]


def _number(value: Any) -> int | float:
    if isinstance(value, int | float):
        return value
    return float(value) if "." in value else int(value)


def _divided(value: Any, by: Any) -> int | float:
    left, right = _number(value), _number(by)
    return left // right if isinstance(left, int) and isinstance(right, int) else left / right


def _rounded(value: Any, digits: int = 0) -> int | float:
    """Return a number with so many digits behind the point; a half is rounded away from zero, as Ruby does."""
    if not -MOST_DIGITS <= digits <= MOST_DIGITS:
        raise NotUnderstood
    number = _number(value)
    rounded = Decimal(str(number)).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)
    return int(rounded) if digits <= 0 or isinstance(number, int) else float(rounded)


def _cut(text: str, length: int = 50, end: str = "...") -> str:
    return text if len(text) <= length else text[: max(length - len(end), 0)] + end


def _cut_words(text: str, number: int = 15, end: str = "...") -> str:
    words = text.split()
    return text if len(words) <= number else " ".join(words[:number]) + end


def _split(text: str, by: str) -> list[str]:
    """Return the parts of a text as Ruby does: a space gives words, nothing gives characters, no last part is empty."""
    parts = re.findall(r"\S+", text, re.ASCII) if by == " " else text.split(by) if by else list(text)
    while parts and not parts[-1]:
        parts.pop()
    return parts


def _default(value: Any, other: Any) -> Any:
    return value if truth(value) and value not in ("", [], {}) else other


def _slug(text: Any, mode: str = "default") -> str:
    if mode not in ("default", "latin", "pretty"):
        raise NotUnderstood
    return slugify(shown(text), pretty=mode == "pretty")


def unique(value: Any, spend: Callable[[int], None] = lambda size: None) -> list[Any]:
    """Return the items of which no earlier one is the same; `spend` gets the size of what is compared."""
    found = dict[str, Any]()
    for item in _items(value):
        key = repr(item)
        spend(len(key))
        found.setdefault(key, item)
    return list(found.values())


def _sentence(value: Any, word: str = "and") -> str:
    *most, last = map(shown, _items(value)) if _items(value) else [""]
    return f"{', '.join(most)}{',' if len(most) > 1 else ''} {word} {last}" if most else last


def _of_text(change: Callable[..., Any]) -> Callable[..., Any]:
    return lambda value, *arguments: change(_text(value), *map(_text, arguments))


def _replaced(text: str, part: str, other: str) -> str:
    if text.count(part) * len(other) > MOST_MADE:
        raise NotUnderstood
    return text.replace(part, other)


def _text(value: Any) -> str:
    """Return the text of a value; `NotUnderstood` where a list makes a long one."""
    parts = list(islice(_parts(value), MOST_ITEMS + 1))
    if len(parts) > MOST_ITEMS or sum(map(len, parts)) > MOST_CHARACTERS:
        raise NotUnderstood
    return "".join(parts)


def _parts(value: Any) -> Iterator[str]:
    """Yield the texts of a value, and an empty one for each list, so that empty lists count, too."""
    if isinstance(value, list | tuple):
        yield ""
        for item in value:
            yield from _parts(item)
    else:
        yield shown(value)


def _without_html(text: str) -> str:
    """Return the text without tags, comments, scripts and styles; the time grows with the length, not its square."""
    last = {begin: text.rfind(end) for begin, end in _UNSEEN.items()}
    kept, at = list[str](), 0
    for match in _BEGIN.finditer(text):
        if match.start() >= at and last[match[0]] >= match.end():
            end = _UNSEEN[match[0]]
            kept.append(text[at : match.start()])
            at = text.index(end, match.end()) + len(end)
    return _TAG.sub("", "".join([*kept, text[at:]]))


FILTERS: Mapping[str, Callable[..., Any]] = {
    "append": _of_text(lambda text, more: text + more),
    "array_to_sentence_string": _sentence,
    "capitalize": _of_text(str.capitalize),
    "cgi_escape": _of_text(quote_plus),
    "compact": lambda value: [item for item in _items(value) if item is not None],
    "concat": lambda value, other: _items(value) + _items(other),
    "date": _shown_date,
    "date_to_long_string": lambda value: _shown_date(value, "%d %B %Y"),
    "date_to_string": lambda value: _shown_date(value, "%d %b %Y"),
    "default": _default,
    "divided_by": _divided,
    "downcase": _of_text(str.lower),
    "escape": _of_text(escape),
    "escape_once": _of_text(lambda text: re.sub(r"&amp;(#?\w+;)", r"&\1", escape(text))),
    "first": lambda value: next(iter(_items(value)), None),
    "join": lambda value, by=" ": by.join(map(shown, _items(value))),
    "last": lambda value: next(reversed(_items(value)), None),
    "lstrip": _of_text(str.lstrip),
    "map": lambda value, name: [_property(item, name) for item in _items(value)],
    "minus": lambda value, other: _number(value) - _number(other),
    "modulo": lambda value, by: _number(value) % _number(by),
    "newline_to_br": _of_text(lambda text: text.replace("\n", "<br />\n")),
    "normalize_whitespace": _of_text(lambda text: " ".join(text.split())),
    "plus": lambda value, other: _number(value) + _number(other),
    "prepend": _of_text(lambda text, more: more + text),
    "remove": _of_text(lambda text, part: text.replace(part, "")),
    "remove_first": _of_text(lambda text, part: text.replace(part, "", 1)),
    "replace": _of_text(_replaced),
    "replace_first": _of_text(lambda text, part, other: text.replace(part, other, 1)),
    "reverse": lambda value: _items(value)[::-1],
    "round": _rounded,
    "rstrip": _of_text(str.rstrip),
    "size": lambda value: len(value) if isinstance(value, str | list | tuple | Mapping) else 0,
    "slice": _sliced,
    "slugify": _slug,
    "sort": _sorted,
    "sort_natural": _sorted_naturally,
    "split": _of_text(_split),
    "strip": _of_text(str.strip),
    "strip_html": _of_text(_without_html),
    "strip_newlines": _of_text(lambda text: text.replace("\n", "")),
    "times": lambda value, by: _number(value) * _number(by),
    "truncate": _cut,
    "truncatewords": _cut_words,
    "uniq": unique,
    "upcase": _of_text(str.upper),
    "uri_escape": _of_text(lambda text: quote(text, safe="/%:?#[]@!$&'()*+,;=~")),
    "url_encode": _of_text(quote_plus),
    "where": where,
    "xml_escape": _of_text(escape),
}
