"""Compute Liquid's expressions and conditions: a text of Liquid and the variables go in, a value comes out.

A value is a text, a number, a truth value, a list, or a mapping of names to values, as YAML has them.  `None` is
Liquid's `nil`.  What is not known, such as a variable that no text sets, raises `NotUnderstood`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sitegen.importing.jekyll.filters import FILTERS, shown, truth
from sitegen.importing.jekyll.inserts import MARK
from sitegen.importing.jekyll.not_understood import MOST_CHARACTERS, MOST_ITEMS, MOST_MADE, NotUnderstood

Variables = Mapping[str, Any]
COMPUTED = object()
"""The value of a name that Jekyll computes and the import does not, such as `site.posts`."""
_QUOTED = r"\"[^\"]*\"|'[^']*'"
_PIPE = re.compile(rf"((?:{_QUOTED}|[^|\"'])+)")
_ARGUMENT = re.compile(rf"{_QUOTED}|[^,\s]+")
_NUMBER = re.compile(r"-?[0-9]{1,18}(?:\.[0-9]{1,18})?")
_STEP = re.compile(r"\.?\[(?P<index>[^\[\]]+)\]|\.(?P<name>[A-Za-z_][\w-]*\??)")
_ROOT = re.compile(r"[A-Za-z_][\w-]*")
_CONSTANTS = {"nil": None, "null": None, "true": True, "false": False, "empty": "", "blank": ""}
_SIGN = re.compile(rf"{_QUOTED}|(?P<sign>==|!=|<>|>=|<=|>|<|\bcontains\b)")
_BEFORE_FILTERS = re.compile(rf"(?:{_QUOTED}|[^|\"'])*")
_JOINED = re.compile(rf"((?:{_QUOTED}|(?!\s(?:and|or)\s)[^\"'])+)(?:\s(and|or)\s)?")
Filters = Mapping[str, Callable[..., Any]]


def value_of(
    expression: str,
    variables: Variables,
    filters: Filters = FILTERS,
    spend: Callable[[int], None] = lambda size: None,
) -> Any:
    """Return the value of an expression with its filters; `spend` gets the size of what each filter changes."""
    head, *steps = (part.strip() for part in _PIPE.findall(expression.strip())) if expression.strip() else [""]
    value = operand(head, variables)
    for step in filter(None, steps):
        name, _, rest = step.partition(":")
        arguments = [operand(one, variables) for one in _ARGUMENT.findall(rest)]
        spend(len(value) if isinstance(value, str | list | tuple | Mapping) else 1)
        value = _filtered(filters.get(name.strip()), value, arguments)
    return value


def _filtered(known: Callable[..., Any] | None, value: Any, arguments: Sequence[Any]) -> Any:
    if known is None or any(map(_is_too_much, (value, *arguments))):
        raise NotUnderstood
    try:
        made = known(value, *arguments)
    except (TypeError, ValueError, AttributeError, LookupError, ArithmeticError, OSError, RecursionError) as mistake:
        raise NotUnderstood from mistake
    if (isinstance(made, str) and len(made) > MOST_MADE) or not _keeps_marks(value, made, arguments):
        raise NotUnderstood
    return made


def _keeps_marks(value: Any, made: Any, arguments: Sequence[Any]) -> bool:
    """Return whether a filter kept each mark of a text, so that it did not change a mark for what it stands for."""
    if not isinstance(value, str) or not MARK.search(value):
        return True
    before, after, given = (Counter(MARK.findall(shown(one))) for one in (value, made, list(arguments)))
    return before <= after <= before + given


def _is_too_much(value: Any) -> bool:
    """Return whether a value is longer than what a filter changes, so that a text that doubles stays small."""
    if isinstance(value, int | float):
        return abs(value) > MOST_ITEMS**5
    return isinstance(value, str | list | tuple | Mapping) and len(value) > (
        MOST_CHARACTERS if isinstance(value, str) else MOST_ITEMS
    )


def operand(word: str, variables: Variables) -> Any:
    """Return the value of a literal, a range or a variable."""
    word = word.strip()
    if re.fullmatch(_QUOTED, word):
        return word[1:-1]
    if _NUMBER.fullmatch(word):
        return float(word) if "." in word else int(word)
    if word.startswith("(") and ".." in word:
        if "(" in word[1:]:
            raise NotUnderstood
        first, _, last = word.strip("()").partition("..")
        return _range(operand(first, variables), operand(last, variables))
    return _CONSTANTS[word] if word in _CONSTANTS else _variable(word, variables)


def _range(first: Any, last: Any) -> list[int]:
    if not isinstance(first, int) or not isinstance(last, int) or last - first > MOST_ITEMS:
        raise NotUnderstood
    return list(range(first, last + 1))


def _variable(word: str, variables: Variables) -> Any:
    root = _ROOT.match(word)
    if not root or root[0] not in variables:
        raise NotUnderstood
    value, at = _known(variables[root[0]]), root.end()
    while at < len(word):
        if not (step := _STEP.match(word, at)):
            raise NotUnderstood
        value = _known(_part(value, step["name"] or operand(step["index"], variables)))
        at = step.end()
    return value


def _known(value: Any) -> Any:
    if value is COMPUTED:
        raise NotUnderstood
    return value() if callable(value) else value


def _part(value: Any, name: Any) -> Any:
    """Return the part of a value that `.name` or `[name]` means; None where there is none."""
    if isinstance(name, list | tuple | Mapping):
        raise NotUnderstood
    if isinstance(value, Mapping):
        return value[name] if name in value else len(value) if name == "size" else None
    if isinstance(value, list | tuple):
        at = {"first": 0, "last": -1}.get(str(name), name)
        found = value[at : at + 1 or None] if isinstance(at, int) else ()
        return found[0] if found else len(value) if name == "size" else None
    return len(value) if isinstance(value, str) and name == "size" else None


def is_true(condition: str, variables: Variables) -> bool:
    """Return whether a condition holds; `and` and `or` are read from the right, as Liquid does."""
    parts = [match.groups() for match in _JOINED.finditer(condition.strip())]
    if not parts:
        raise NotUnderstood
    holds = _holds(parts[-1][0], variables)
    for part, word in reversed(parts[:-1]):
        here = _holds(part, variables)
        holds = here and holds if word == "and" else here or holds
    return holds


def _holds(condition: str, variables: Variables) -> bool:
    plain = _BEFORE_FILTERS.match(condition)
    condition = plain[0] if plain else ""  # Liquid knows no filters here, and passes over them with what follows
    sign = next((match for match in _SIGN.finditer(condition) if match["sign"]), None)
    if not sign:
        return truth(operand(condition, variables))
    left, right = condition[: sign.start()], condition[sign.end() :].strip()
    return compared(operand(left, variables), sign["sign"], operand(right, variables), right)


def _is_empty(value: Any, literal: str) -> bool:
    """Return whether a value is `empty`, or `blank`: without characters but spaces, without items, `nil` or `false`."""
    if isinstance(value, str):
        return not (value.strip() if literal == "blank" else value)
    if isinstance(value, list | tuple | Mapping):
        return not value
    return literal == "blank" and not truth(value)


def _contains(left: Any, right: Any) -> bool:
    if _is_too_much(left) or isinstance(right, list | tuple | Mapping):
        raise NotUnderstood
    if isinstance(left, str):
        return shown(right) in left
    return isinstance(left, list | tuple | Mapping) and right in left


def compared(left: Any, sign: str, right: Any, literal: str = "") -> bool:
    """Return whether a comparison holds; `literal` is its right side as written, for `empty` and `blank`."""
    if literal in ("empty", "blank"):
        return _is_empty(left, literal) == (sign == "==")
    if isinstance(left, list | tuple | Mapping) and isinstance(right, list | tuple | Mapping):
        raise NotUnderstood  # the time of a comparison grows with what is in them, and no site needs one
    if sign in ("==", "!=", "<>"):
        return (left == right and isinstance(left, bool) == isinstance(right, bool)) == (sign == "==")
    if sign == "contains":
        return right is not None and _contains(left, right)
    if left is None or right is None:
        return False
    try:
        return bool({"<": left < right, ">": left > right, "<=": left <= right, ">=": left >= right}[sign])
    except TypeError as mistake:
        raise NotUnderstood from mistake
