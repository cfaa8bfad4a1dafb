"""The constants of an implementation, and the implementation with other values of them.

A `.cu` file has those of `launch.constants` in kernel.yaml, and the numbers that a line `constexpr int NAME = 4;` or
`#define NAME 4` of the file defines.  A Triton file has the numbers that its module assigns (`NAME = 4`, also as
`tl.constexpr(4)`), and the keyword arguments of its launches (`kernel[grid](…, BLOCK=block, num_warps=4)`).
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sitegen.diagnostics import did_you_mean
from sitegen.model.formula import names_in
from sitegen.model.kernel import Implementation, Language, Launch
from sitegen.read.python import NOT_PARSED

_DEFINED = re.compile(
    r"^[ \t]*(?:(?:static )?constexpr \w+ (?P<name>\w+) = |#define (?P<macro>\w+) +)"
    r"(?P<value>-?[\d.]+f?)(?=[ \t]*(?:;|//|$))",
    re.M,
)
_NUMBER = re.compile(r"-?\d+(\.\d+)?|True|False")


class UnknownConstant(ValueError):
    """A constant that the implementation does not have or does not use, or a value that is no number."""


@dataclass(frozen=True, slots=True)
class Place:
    """The characters of a source that hold the value of a constant."""

    start: int
    end: int


def parse_settings(words: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the values by constant of words such as `THREADS=128,256`.  Raises UnknownConstant."""
    settings: dict[str, tuple[str, ...]] = {}
    for word in words:
        name, equals, values = word.partition("=")
        several = tuple(value.strip() for value in values.split(","))
        if not equals or not all(_NUMBER.fullmatch(value) for value in several):
            raise UnknownConstant(f"`--set {word}` is not of the form NAME=NUMBER,NUMBER,…")
        settings[name.strip()] = several
    return settings


def combinations(settings: Mapping[str, Sequence[str]]) -> list[dict[str, str]]:
    """Return every combination of the values; one empty combination without settings."""
    return [dict(zip(settings, values, strict=True)) for values in itertools.product(*settings.values())]


def constants_in(implementation: Implementation, source: str) -> tuple[str, ...]:
    """Return the names of the constants that can be set."""
    launch = implementation.launch.constants if implementation.launch else {}
    return tuple(dict.fromkeys((*launch, *places(implementation.language, source))))


def with_constants(implementation: Implementation, source: str, values: Mapping[str, str]) -> Implementation:
    """Return the implementation with other values.  Raises UnknownConstant for a constant that it does not have.

    Values inside the source are replaced there, and the implementation then carries its source.
    """
    known = constants_in(implementation, source)
    for name in values:
        if name not in known:
            raise UnknownConstant(_unknown(implementation, name, known))
    launch = implementation.launch
    launched = set(launch.constants if launch else ())
    if launch and launched & values.keys():
        given = {name: value for name, value in values.items() if name in launched}
        implementation = replace(implementation, launch=replace(launch, constants={**launch.constants, **given}))
    inside = {name: value for name, value in values.items() if name not in launched}
    return _with_source(implementation, source, inside) if inside else implementation


def unused_constants(implementation: Implementation, texts: Iterable[str], names: Iterable[str]) -> Iterator[str]:
    """Yield a sentence for each constant of the launch that neither the launch nor one of the texts uses.

    `texts` are those of the file and of the headers that it reaches.
    """
    launch = implementation.launch
    if launch is None:
        return
    words = set(re.findall(r"\w+", "\n".join(texts))) | _names_used_by(launch)
    for name in names:
        if name in launch.constants and name not in words:
            used = f"neither {implementation.file} nor its launch in kernel.yaml uses the constant `{name}`"
            yield f"{used}, so that other values of it would change nothing"


def literal_blocks(implementation: Implementation, source: str, names: Iterable[str]) -> Iterator[str]:
    """Yield a sentence for each constant whose present value stands in `block` as a number, which would stay."""
    launch = implementation.launch
    if launch is None:
        return
    present = {**_values_in(source, places(implementation.language, source)), **launch.constants}
    for name in names:
        if present.get(name) in launch.block and name not in _names_used_by(launch):
            block = f"`block: [{', '.join(launch.block)}]` of {implementation.name} in kernel.yaml is a number"
            yield f"{block}, which does not change with `{name}`; write `{name}` there if it is meant"


def _values_in(source: str, found: Mapping[str, Sequence[Place]]) -> dict[str, str]:
    return {name: source[several[0].start : several[0].end] for name, several in found.items()}


def _names_used_by(launch: Launch) -> set[str]:
    """Return the names in the shape, the arguments and the constants of a launch."""
    shape = (*launch.grid, *launch.block, *launch.cluster, launch.shared)
    return {name for part in (*shape, *launch.args, *launch.constants.values()) for name in names_in(part)}


def places(language: Language, source: str) -> dict[str, list[Place]]:
    """Return where the source holds the value of each constant.  A source with a syntax error has none."""
    found: dict[str, list[Place]] = {}
    pairs = _places_in_python(source) if language is Language.TRITON else _places_in_cuda(source)
    for name, place in pairs:
        found.setdefault(name, []).append(place)
    return found


def _with_source(implementation: Implementation, source: str, values: Mapping[str, str]) -> Implementation:
    found = places(implementation.language, source)
    edits = sorted(
        ((place, value) for name, value in values.items() for place in found[name]), key=lambda e: -e[0].start
    )
    for place, value in edits:
        source = source[: place.start] + value + source[place.end :]
    return replace(implementation, source=source, line=implementation.line or 1)


def _unknown(implementation: Implementation, name: str, known: Sequence[str]) -> str:
    near = did_you_mean(name, known)
    listed = f"it has {', '.join(f'`{one}`' for one in known)}" if known else "it has no constants"
    hints = [near] if near and len(known) == 1 else [near, listed]
    return "; ".join(filter(None, [f"{implementation.file} has no constant `{name}`", *hints]))


def _places_in_cuda(source: str) -> Iterator[tuple[str, Place]]:
    for match in _DEFINED.finditer(source):
        yield match["name"] or match["macro"], Place(*match.span("value"))


def _places_in_python(source: str) -> Iterator[tuple[str, Place]]:
    try:
        module = ast.parse(source)
    except NOT_PARSED:
        return
    at = _Offsets(source)
    for statement in module.body:
        if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            value = _inside_constexpr(statement.value)
            if len(targets) == 1 and isinstance(targets[0], ast.Name) and _is_number(value):
                yield targets[0].id, at.place(value)
    for node in ast.walk(module):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Subscript):
            yield from ((word.arg, at.place(word.value)) for word in node.keywords if word.arg)


def _inside_constexpr(value: ast.expr) -> ast.expr:
    wrapped = isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "constexpr"
    return value.args[0] if wrapped and isinstance(value, ast.Call) and value.args else value


def _is_number(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and isinstance(value.value, int | float)


class _Offsets:
    """The places of nodes in a text; Python counts their columns in bytes of UTF-8."""

    def __init__(self, source: str) -> None:
        self._lines = source.split("\n")
        self._starts = list(itertools.accumulate((len(line) + 1 for line in self._lines), initial=0))

    def place(self, node: ast.expr) -> Place:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return Place(self._offset(node.lineno, node.col_offset), self._offset(node.end_lineno, node.end_col_offset))

    def _offset(self, line: int, column: int) -> int:
        return self._starts[line - 1] + len(self._lines[line - 1].encode()[:column].decode())
