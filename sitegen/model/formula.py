"""Evaluate the arithmetic of kernel.yaml, such as `M * N * itemsize`, with dims, params and constants.

Expressions come from a file that a stranger may have written, so they are parsed here and never given to eval().

Grammar, as Python's own precedence has it: integers and floats, names, + - * // % / **, unary minus,
parentheses, and the functions min(a, b, …), max(a, b, …), cdiv(a, b).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

Number = int | float

FUNCTIONS = ("min", "max", "cdiv")
_TOKEN = re.compile(
    r"\s*(?:(\d+\.\d*(?:[eE][-+]?\d+)?|\d+(?:[eE][-+]?\d+)?)|([A-Za-z_]\w*)|(\*\*|//|[-+*/%(),]))", re.ASCII
)
_LIMIT = 2**200
"""Largest result: no size is larger, and `2 ** 2 ** 99` must not fill the memory."""
_DEEPEST = 50


class FormulaError(ValueError):
    """A mistake in an expression; `col` is its column, counted from 1."""

    def __init__(self, message: str, col: int) -> None:
        super().__init__(message, col)
        self.message, self.col = message, col

    def __str__(self) -> str:
        return self.message


def evaluate(text: str | int | float, names: Mapping[str, Number]) -> Number:
    """Return the value of an expression.  Raises FormulaError with the column of the mistake."""
    return _evaluated(str(text), tuple((name, type(value), value) for name, value in names.items()))


@lru_cache(maxsize=4096)
def _evaluated(text: str, names: tuple[tuple[str, type, Number], ...]) -> Number:
    """Return the value of an expression.

    The result is cached because a build asks for the cost of a workload once for each of its evaluations and figures.
    The types are part of the cache key because 1, 1.0 and True are equal.
    """
    parser = _Parser(text, {name: value for name, _, value in names})
    value = parser.sum()
    parser.expect_end()
    return value


def evaluate_int(text: str | int, names: Mapping[str, Number]) -> int:
    """Return the value of an expression for a size.  Raises FormulaError, also when it is not a whole number."""
    value = evaluate(text, names)
    if value != int(value):
        raise FormulaError(f"{text} is {value}, not a whole number", 1)
    return int(value)


def names_in(text: str | int | float) -> frozenset[str]:
    """Return the names in an expression, without those of functions."""
    words = {m[2] for m in _TOKEN.finditer(str(text)) if m[2]}
    return frozenset(words - set(FUNCTIONS))


def cdiv(a: Number, b: Number) -> Number:
    """Return a / b, rounded up."""
    return -(-a // b)


class _Parser:
    """Recursive descent that computes as it goes; one token of look-ahead."""

    def __init__(self, text: str, names: Mapping[str, Number]) -> None:
        self.text, self.names, self.at, self.depth = text, names, 0, 0
        self.next()

    def next(self) -> None:
        self.start = self.at + len(self.text[self.at :]) - len(self.text[self.at :].lstrip())
        if self.start == len(self.text):
            self.number, self.name, self.sign, self.at = None, None, "end", self.start
            return
        token = _TOKEN.match(self.text, self.start)
        if not token:
            raise FormulaError(f"unexpected `{self.text[self.start]}`", self.start + 1)
        self.number, self.name, self.sign = token[1], token[2], token[3]
        self.at = token.end()

    def fail(self, message: str) -> FormulaError:
        return FormulaError(message, self.start + 1)

    def take(self, *signs: str) -> str:
        sign = self.sign if self.sign in signs else ""
        if sign:
            self.next()
        return sign or ""

    def expect(self, sign: str) -> None:
        if not self.take(sign):
            raise self.fail(f"expected `{sign}`")

    def expect_end(self) -> None:
        if self.sign != "end":
            raise self.fail(f"unexpected `{self.name or self.number or self.sign}`")

    def sum(self) -> Number:
        value = self.product()
        while sign := self.take("+", "-"):
            other = self.product()
            value = value + other if sign == "+" else value - other
        return value

    def product(self) -> Number:
        value, start = self.unary(), self.start
        while sign := self.take("*", "//", "/", "%"):
            other = self.unary()
            if sign != "*" and other == 0:
                raise FormulaError("division by zero", start + 1)
            value = _multiplied(sign, value, other)
            self.check(value)
            start = self.start
        return value

    def unary(self) -> Number:
        if self.depth == _DEEPEST:
            raise self.fail("nested too deeply")
        self.depth += 1
        value = -self.unary() if self.take("-") else self.power()
        self.depth -= 1
        return value

    def power(self) -> Number:
        base = self.atom()
        if not self.take("**"):
            return base
        exponent = self.unary()
        if abs(exponent) > 200 or abs(base) > _LIMIT:
            raise self.fail("this power is larger than any size")
        if base == 0 and exponent < 0:
            raise self.fail("division by zero")
        value: Number = base**exponent
        self.check(value)
        return value

    def check(self, value: Number) -> None:
        if isinstance(value, complex) or abs(value) > _LIMIT:
            raise self.fail("the result is larger than any size")

    def atom(self) -> Number:
        if self.take("("):
            value = self.sum()
            self.expect(")")
            return value
        if (number := self.number) is not None:
            self.check(float(number))
            self.next()
            return float(number) if re.search(r"[.eE]", number) else int(number)
        if (name := self.name) is not None:
            return self.call(name) if name in FUNCTIONS else self.lookup(name)
        raise self.fail("expected a number or a name")

    def lookup(self, name: str) -> Number:
        if name not in self.names:
            raise self.fail(f"unknown name `{name}`")
        self.next()
        return self.names[name]

    def call(self, name: str) -> Number:
        start = self.start
        self.next()
        self.expect("(")
        values = [self.sum()]
        while self.take(","):
            values.append(self.sum())
        self.expect(")")
        return _called(name, values, start)


def _multiplied(sign: str, a: Number, b: Number) -> Number:
    if sign == "*":
        return a * b
    if sign == "//":
        return a // b
    return a % b if sign == "%" else a / b


def _called(name: str, values: list[Number], start: int) -> Number:
    if name == "cdiv":
        if len(values) != 2 or values[1] == 0:
            raise FormulaError("cdiv takes two values, the second not zero", start + 1)
        return cdiv(values[0], values[1])
    return min(values) if name == "min" else max(values)
