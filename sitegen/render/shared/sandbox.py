"""Run the templates of a site in Jinja's sandbox, because the author of a site may be a stranger.

Without the sandbox a template is a program: `cycler.__init__.__globals__.os` leads to all of Python.  In the sandbox a
template reads the fields of a page, calls macros, and uses Jinja's filters.  Every other access and every failure
becomes a `TemplateFailure` with the template and the line.
"""

from __future__ import annotations

import datetime as dt
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache, wraps
from types import CodeType, MappingProxyType, TracebackType
from typing import Any, NoReturn, TypeVar

import jinja2
from jinja2 import nodes
from jinja2.environment import TemplateModule
from jinja2.exceptions import SecurityError
from jinja2.runtime import (
    BlockReference,
    Context,
    LoopContext,
    Macro,
    TemplateReference,
    markup_join,
    str_join,
)
from jinja2.sandbox import ImmutableSandboxedEnvironment, safe_range
from jinja2.utils import Cycler, Joiner, Namespace
from markupsafe import Markup

from sitegen.render.shared.budget import STEP, Budget, bytes_of
from sitegen.render.shared.counted_code import CountedCode
from sitegen.render.shared.sizes import (
    MOST_TEXT,
    NESTED,
    counted,
    filter_size,
    format_size,
    joined,
    refuse_text,
    weight,
)
from sitegen.render.shared.sums import sum_of
from sitegen.render.shared.templates import TemplateFailure, Templates

T = TypeVar("T")

LONGEST = 1_000_000
"""The most characters, elements or bits that one `*` or `**` may make."""
_SIZED = {"center": 1, "indent": 1, "batch": 1, "slice": 1, "tojson": 2, "round": 1}
"""Filters that make as many characters, elements or digits as an argument says, and the arguments that stand before
it."""
_OF_LETTERS = frozenset({"list", "sort", "unique", "batch", "slice", "groupby"})
"""Filters that make a list of the letters of a text."""
_OF_JINJA = (Context, nodes.EvalContext, jinja2.Environment)
"""The types of the first argument that Jinja itself gives to some filters."""
_SLOW = frozenset({"pprint", "urlize", "wordwrap"})
"""Filters that take about a microsecond for each letter."""
_READ = (str, list, tuple, dict, range)
"""The types of which a filter may read every item."""
PIECE = 72
"""The bytes of a text of some letters, and of its place in a list."""
LETTERS, BITS, PAIRS = 64, 1024, 8
"""The letters that a comparison reads, the products of bits that an operation takes, and the squares of pairs that
`dict` takes in about the time of one byte of the budget."""
SLOW = 32
"""The bytes of the budget for a letter that a slow filter reads."""
ESCAPED = 4
"""The most characters that escaping adds to one: `&#34;`."""
_WIDE = frozenset({"center", "ljust", "rjust", "zfill", "expandtabs"})
"""Methods of strings that make as many characters as an argument says."""
_LARGE = re.compile(r"\d{7}")
"""A number in a format that may be above LONGEST."""
_GIVEN = re.compile(r"%[^%\w]*\*|\{[^{}]*\{|%[^%\w]*\d*\.\*")
"""A width in a format that is an argument."""
_VALUES = (str, int, float, type(None), tuple, list, dict, MappingProxyType, Enum, dt.date, dt.time, dt.timedelta)
"""The types of the fields of a page, beside dataclasses of sitegen."""
_JINJAS = (
    *(LoopContext, Macro, BlockReference, TemplateModule, TemplateReference),
    *(Cycler, Joiner, Namespace, jinja2.Undefined),
)
_CALLED = (safe_range, dict, Cycler, Joiner, Namespace)
"""Jinja's own globals, except `lipsum`, whose work has no limit."""
_SCALARS = frozenset({int, float, bool, type(None)})
_COMPARED = frozenset(
    {"eq", "==", "equalto", "ne", "!=", "lt", "<", "lessthan", "le", "<=", "gt", ">", "greaterthan", "ge", ">=", "in"}
)
"""Tests that compare their arguments."""
_OWNERS = (*_VALUES, LoopContext, Cycler)
"""The types whose methods a template may call, if Jinja's sandbox allows them."""
_WRAPPED = frozenset({"format", "format_map"})
"""The methods of strings that the sandbox replaces by its own."""


class _OwnTemplate(jinja2.Template):
    """A template whose pages and parts of pages have a budget."""

    def render(self, *args: Any, **kwargs: Any) -> str:
        budget: Budget = self.environment.budget  # type: ignore[attr-defined]
        budget.begin(page="page" in kwargs)
        text = super().render(*args, **kwargs)
        try:
            budget.charge_output(text)
        except SecurityError as error:
            raise TemplateFailure(str(error), self.name or "", 1) from error
        return text


class OwnTemplates(ImmutableSandboxedEnvironment, Templates):
    """The templates of a site that has its own, whose names are `own`.  All of them run in the sandbox."""

    intercepted_binops = frozenset({"+", "-", "*", "/", "//", "**", "%"})
    intercepted_unops = frozenset({"-"})
    code_generator_class = CountedCode
    template_class = _OwnTemplate
    own: Collection[str] = ()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.budget = Budget()
        filters = self.filters | {"sum": sum_of}
        self.filters = {name: _sized(name, made, self.budget) for name, made in filters.items()}
        self.filters |= {name: _bounded(self.filters[name], skipped) for name, skipped in _SIZED.items()}
        self.filters["format"] = _bounded_format(self.filters["format"])
        self.tests |= {name: self._weighed_test(self.tests[name]) for name in _COMPARED}
        self.finalize = self._shown

    @property
    def step(self) -> bool:
        """Count a step, and return True: the first half of the test of a loop."""
        self.budget.charge(STEP)
        return True

    def made(self, value: T) -> T:
        """Count a value that was made just now, and return it."""
        self.budget.charge(bytes_of(value))
        return value

    def weighed(self, value: T) -> T:
        """Count what a comparison or a hash reads of a value, and return it.

        Nothing can stop a comparison or a hash once it runs.  Each of some thirty lists can hold the previous one
        twice: a comparison of two such lists takes minutes.
        """
        if isinstance(value, str):
            self.budget.charge(len(value) // LETTERS)
        elif value.__class__ not in _SCALARS and isinstance(value, NESTED):
            size = weight(value)
            if size > MOST_TEXT:
                raise SecurityError(f"a comparison or a key of more than {MOST_TEXT} characters and values is refused")
            self.budget.charge(size)
        return value

    def searched(self, value: T) -> T:
        """Count what `in` reads of the value on its right, and return it.  Of a mapping `in` reads nothing."""
        return value if isinstance(value, Mapping) else self.weighed(value)

    def _weighed_test(self, made: Any) -> Callable[..., bool]:
        @wraps(made)
        def weighed(*args: Any) -> Any:
            return made(*map(self.weighed, args))

        return weighed

    def getitem(self, obj: Any, argument: Any) -> Any:
        return super().getitem(obj, self.weighed(argument) if isinstance(argument, tuple) else argument)

    def concat(self, parts: Iterable[str]) -> str:
        made = joined(parts)
        return self.made(made) if isinstance(parts, list) else made  # a page has counted its parts

    def _shown(self, value: Any) -> Any:
        """Return a value that a template prints; raises SecurityError for a list that is too long a text."""
        if isinstance(value, (list, tuple, dict)):
            refuse_text(weight(value))
        elif isinstance(value, str):
            self.budget.charge(bytes_of(value) + (0 if isinstance(value, Markup) else ESCAPED * len(value)))
        return value

    def getattr(self, obj: Any, attribute: str) -> Any:
        # A page reads some 200 fields.  With the sandbox's own checks of each, a full build of 1,000 posts took
        # 1.12 times as long.
        if attribute in _safe_attributes(obj.__class__):
            return getattr(obj, attribute)
        if obj.__class__ is TemplateModule and type(macro := getattr(obj, attribute, None)) is Macro:
            return macro  # a page calls some seven macros of other templates: 1.5 % of a full build by the checks
        return super().getattr(obj, attribute)

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        return _is_plain(obj) and super().is_safe_attribute(obj, attr, value)

    def is_safe_callable(self, obj: Any) -> bool:
        if isinstance(obj, type) or obj is safe_range:
            return obj in _CALLED
        if isinstance(obj, (Macro, BlockReference, jinja2.Undefined)):  # calling an undefined value raises an error
            return True
        owner = getattr(obj, "__self__", None)
        if owner is not None and isinstance(owner, _OWNERS):
            return super().is_safe_callable(obj)
        # The sandbox wraps `str.format`.  Templates call joiners, and the loop of a recursive `for`.
        return isinstance(obj, (Joiner, LoopContext)) or getattr(obj, "__wrapped__", None) is not None

    def call(self, context: Any, obj: Any, *args: Any, **kwargs: Any) -> Any:
        if type(obj) is not Macro and not self.is_safe_callable(obj):
            name = getattr(obj, "__name__", type(obj).__name__)
            raise SecurityError(f"a template may not call `{name}`")
        if obj is dict or obj is Namespace:
            args = tuple(map(self._counted_pairs, args))
        method = getattr(obj, "__wrapped__", obj)
        if isinstance(owner := getattr(method, "__self__", None), str):
            if method.__name__ == "join":
                args = tuple(list(counted(iter(arg))) for arg in args)
            self.budget.charge(PIECE * _pieces(method.__name__, owner, (*args, *kwargs.values())))
            _refuse_method(method.__name__, owner, (*args, *kwargs.values()))
        elif type(obj) is not Macro:
            self.searched(owner)
            for arg in args:
                self.weighed(arg)
        return self.made(context.call(obj, *args, **kwargs))

    def _counted_pairs(self, pairs: Any) -> Any:
        """Return what a template gives to `dict`, as a list.  With keys of equal hashes, its time is quadratic."""
        if isinstance(pairs, Mapping):
            return pairs
        made = list(self.budget.counted(counted(iter(pairs))))
        self.budget.charge(len(made) ** 2 // PAIRS)
        return made

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        if operator == "%":
            if isinstance(left, str):
                _refuse_format(left, right if isinstance(right, tuple) else (right,))
        elif operator == "+":
            _refuse_sum(left, right)
        elif operator in ("*", "**") and _size(operator, left, right) > LONGEST:
            raise SecurityError(f"`{operator}` would make more than {LONGEST} characters, elements or bits")
        if isinstance(left, int) and isinstance(right, int):
            self.budget.charge(left.bit_length() * right.bit_length() // BITS)
        return self.made(super().call_binop(context, operator, left, right))

    def call_unop(self, context: Any, operator: str, arg: Any) -> Any:
        return self.made(super().call_unop(context, operator, arg))

    def call_concat(self, context: Context, parts: Sequence[Any]) -> str:
        """Return the parts of `a ~ b` as one text."""
        refuse_text(weight(parts))
        made = (markup_join if context.eval_ctx.autoescape else str_join)(parts)
        refuse_text(len(made))
        return self.made(made)

    def compile(self, *args: Any, **kwargs: Any) -> CodeType:  # type: ignore[override]
        try:
            made: CodeType = super().compile(*args, **kwargs)
            return made
        except jinja2.TemplateError:
            raise
        except Exception as error:  # Python's compiler refuses code that is nested too deeply
            name = str(args[1] if len(args) > 1 else kwargs.get("name"))
            raise TemplateFailure(_words(error), name if name in self.own else "", 1) from error

    def handle_exception(self, source: str | None = None) -> NoReturn:
        error = sys.exc_info()[1]
        assert error is not None
        name, line = self._place(error.__traceback__)
        if isinstance(error, (jinja2.TemplateSyntaxError, jinja2.TemplateNotFound)) or not (
            name or isinstance(error, jinja2.TemplateError)
        ):
            super().handle_exception(source)
        raise TemplateFailure(_words(error), name, line) from error

    def _place(self, traceback: TracebackType | None) -> tuple[str, int]:
        """Return the innermost line of the site's own templates in a traceback."""
        place = ("", 0)
        while traceback is not None:
            template = traceback.tb_frame.f_globals.get("__jinja_template__")
            if isinstance(template, jinja2.Template) and template.name in self.own:
                place = (str(template.name), template.get_corresponding_lineno(traceback.tb_lineno))
            traceback = traceback.tb_next
        return place


def _bounded(made: Callable[..., Any], skipped: int) -> Callable[..., Any]:
    """Return a filter that refuses a size above LONGEST among its arguments behind the skipped ones."""

    @wraps(made)
    def bounded(*args: Any, **kwargs: Any) -> Any:
        _refuse_sizes((*args[skipped:], *kwargs.values()))
        return made(*args, **kwargs)

    return bounded


def _sized(name: str, made: Callable[..., Any], budget: Budget) -> Callable[..., Any]:
    """Return a filter that refuses to make too long a text, and to read too long a list, and that uses a budget."""

    @wraps(made)
    def sized(*args: Any, **kwargs: Any) -> Any:
        kept = [arg for arg in args if isinstance(arg, _OF_JINJA)]
        values = [arg for arg in args if not isinstance(arg, _OF_JINJA)]
        budget.charge(sum(len(arg) * (1 if isinstance(arg, str) else STEP) for arg in values if isinstance(arg, _READ)))
        if name in _OF_LETTERS and values and isinstance(values[0], str):
            values[0] = iter(values[0])
        values = [budget.counted(counted(arg)) if isinstance(arg, Iterator) else arg for arg in values]
        if name == "join":
            values = [list(arg) if isinstance(arg, Iterator) else arg for arg in values]
        size = filter_size(name, [*values, *kwargs.values()])
        refuse_text(size)
        budget.charge(int(size) * SLOW if name in _SLOW else int(size) // LETTERS)
        result = made(*kept, *values, **kwargs)
        refuse_text(len(result) if isinstance(result, str) else 0)
        budget.charge(bytes_of(result))
        return result

    return sized


def _refuse_sum(left: Any, right: Any) -> None:
    if isinstance(left, str) and isinstance(right, str):
        refuse_text(len(left) + len(right))
    elif isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)) and len(left) + len(right) > LONGEST:
        raise SecurityError(f"`+` would make more than {LONGEST} elements")


def _bounded_format(made: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(made)
    def bounded(value: Any, *args: Any, **kwargs: Any) -> Any:
        _refuse_format(str(value), (*args, *kwargs.values()))
        return made(value, *args, **kwargs)

    return bounded


def _pieces(name: str, text: str, values: Collection[Any]) -> int:
    """Return the most texts into which a method of a string can split it."""
    if name not in ("split", "rsplit", "splitlines"):
        return 0
    separator = next(iter(values), None)
    return text.count(separator) + 1 if isinstance(separator, str) and separator else len(text) // 2 + 1


def _refuse_method(name: str, text: str, values: Collection[Any]) -> None:
    """Raise SecurityError for a call of a method of a string that may make a text of more than LONGEST characters."""
    if name in _WIDE:
        _refuse_sizes(values)
    elif name in _WRAPPED:
        _refuse_format(text, values)
    elif name == "join":
        refuse_text(weight(values) + sum(len(value) for value in values) * len(text))
    refuse_text(filter_size(name, [text, *values]) if name != "join" else 0)


def _refuse_format(text: str, values: Collection[Any]) -> None:
    if _LARGE.search(text):
        raise SecurityError(f"a format with a number above {LONGEST} is refused")
    widths = [value for value in values if isinstance(value, int)] if _GIVEN.search(text) else []
    _refuse_sizes(widths)
    refuse_text(format_size(text, [*values], widths))


def _refuse_sizes(values: Iterable[Any]) -> None:
    if any(isinstance(value, int) and abs(value) > LONGEST for value in values):
        raise SecurityError(f"a width or a number above {LONGEST} is refused")


def _is_plain(value: object) -> bool:
    """Return whether a value holds only what a page shows."""
    if isinstance(value, (*_VALUES, *_JINJAS)):
        return True
    kind = type(value)
    return kind.__module__.startswith("sitegen.") and is_dataclass(kind)


@cache
def _safe_attributes(kind: type) -> frozenset[str]:
    """Return the attributes of every value of a class that need no check: what a page shows, and what Jinja gives.

    Empty for a class whose every access is to be checked.
    """
    if kind in (str, Markup):
        return frozenset(name for name in dir(str) if not name.startswith("_")) - _WRAPPED
    if kind is LoopContext:
        return frozenset(name for name in dir(kind) if not name.startswith("_"))
    if not (kind.__module__.startswith("sitegen.") and is_dataclass(kind)):
        return frozenset()
    properties = {name for name in dir(kind) if isinstance(getattr(kind, name), property)}
    return frozenset(name for name in {field.name for field in fields(kind)} | properties if not name.startswith("_"))


def _size(operator: str, left: Any, right: Any) -> float:
    """Return an upper bound of the size that an operation makes; 0 when it makes only numbers of fixed size."""
    if operator == "**":
        whole = isinstance(left, int) and isinstance(right, int)
        return float(left.bit_length()) * max(right, 0) if whole else 0.0
    if isinstance(left, int) and isinstance(right, int):
        return float(left.bit_length() + right.bit_length())
    for many, times in ((left, right), (right, left)):
        if isinstance(times, int) and hasattr(many, "__len__"):
            return float(len(many)) * max(times, 0)
    return 0.0


def _words(error: BaseException) -> str:
    """Return the message of an error in one line; of Jinja's errors without the name of the class."""
    said = str(error).partition("\n")[0]
    if isinstance(error, RecursionError):
        return "it is nested too deeply, or calls itself without end"
    if isinstance(error, (SyntaxError, MemoryError)):
        return "loops, conditions or brackets are nested too deeply"
    if isinstance(error, jinja2.TemplateError):
        return said
    return f"{type(error).__name__}: {said}" if said else type(error).__name__
