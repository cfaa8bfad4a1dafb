"""Find the figures in a Markdown text that look measured and are typed by hand: `4.04 TB/s`, `1.5 ×`, `40 registers`.

Code, roles, formulas, addresses and shapes are left out.  The search reads the source and not the tokens, so that a
build, which does not ask for it, pays nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sitegen.markup.registry import directives
from sitegen.model.figure_table import Unit

_FENCE = re.compile(r"[ \t>]*(`{3,}|~{3,}|:{3,})[ \t]*(.*)$")
_DIRECTIVE = re.compile(r"\{([\w-]+)\}")
_CAPTION = re.compile(r"[ \t>]*(?::|#\||//\||%%\|)[ \t]*(?:[a-z]+-cap|caption|title):")
_HIDDEN = re.compile(
    r"\{[A-Za-z][\w-]*\}(`+)(?!`).+?(?<!`)\1(?!`)"  # a role
    r"|(?<!`)(`+)(?!`).+?(?<!`)\2(?!`)"  # code
    r"|\$[^$\s](?:[^$]*[^$\s])?\$"  # a formula
    r"|\]\([^)\s]*\)|<[^>]*>|https?://\S+|\[-?@[^\]]*\]|\{[#.][^}]*\}"
)
_OPEN_ROLE = re.compile(r"\{[A-Za-z][\w-]*\}(`+)[^`]*$")
"""A role that goes on in the next line."""
_SPACE = r"[ \u00a0\u202f]?"
_NUMBER = r"(?<![\w.,^/×~−+±-])(?<!±[ \u00a0])(\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?)"
_SCALES: Mapping[str, tuple[Unit, float]] = {
    "KB/s": (Unit.BYTES_PER_S, 1e3),
    "MB/s": (Unit.BYTES_PER_S, 1e6),
    "GB/s": (Unit.BYTES_PER_S, 1e9),
    "TB/s": (Unit.BYTES_PER_S, 1e12),
    "PB/s": (Unit.BYTES_PER_S, 1e15),
    "GFLOP/s": (Unit.FLOPS_PER_S, 1e9),
    "TFLOP/s": (Unit.FLOPS_PER_S, 1e12),
    "PFLOP/s": (Unit.FLOPS_PER_S, 1e15),
    "GFLOPS": (Unit.FLOPS_PER_S, 1e9),
    "TFLOPS": (Unit.FLOPS_PER_S, 1e12),
    "PFLOPS": (Unit.FLOPS_PER_S, 1e15),
    "ns": (Unit.MICROSECONDS, 1e-3),
    "µs": (Unit.MICROSECONDS, 1.0),
    "μs": (Unit.MICROSECONDS, 1.0),
    "us": (Unit.MICROSECONDS, 1.0),
    "ms": (Unit.MICROSECONDS, 1e3),
    "%": (Unit.SHARE, 0.01),
    "×": (Unit.RATIO, 1.0),
    "x": (Unit.RATIO, 1.0),
    "times": (Unit.RATIO, 1.0),
    "registers": (Unit.COUNT, 1.0),
    "register": (Unit.COUNT, 1.0),
}
_UNITS = "|".join(sorted(map(re.escape, _SCALES.keys() - {"×", "x", "times"}), key=len, reverse=True))
_WITH_UNIT = re.compile(rf"{_NUMBER}{_SPACE}({_UNITS})(?![\w/])")
_THAN = r"(?=\s+(?:faster|slower|torch|as\b|the\s+(?:speed|time)))"
_TIMES = re.compile(rf"{_NUMBER}{_SPACE}(×|x{_THAN}|times{_THAN})(?!{_SPACE}[\d(\[$]|\w)")
_OCCUPANCY = re.compile(rf"{_NUMBER}(?= occupancy)|(?<=occupancy of ){_NUMBER}(?!{_SPACE}%)")
_NOT_MEASURED = re.compile(r"(?:95|99|100)[ \u00a0]%[ \u00a0](?:confidence |of all )?(?:interval|confidence)")


@dataclass(frozen=True, slots=True)
class TypedFigure:
    """A figure as it stands in a text; lines and columns count from 0."""

    line: int
    col: int
    text: str
    value: float
    """The value in the unit."""
    unit: Unit
    step: float
    """The value of the last digit."""
    figure: str = ""
    """The figure that the words name, such as `registers`; empty for any figure of the unit."""

    def is_near(self, value: float) -> bool:
        """Tell whether a value rounds to the typed one."""
        return abs(value - self.value) <= self.step * 0.5000001


def typed_figures(lines: Sequence[str]) -> Iterator[TypedFigure]:
    """Yield the typed figures of a Markdown text without its front matter, in reading order."""
    for number, line in _without_long_roles(prose(lines)):
        yield from typed_in_line(number, line)


def _without_long_roles(lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Yield the lines with spaces for the roles that end in a later line of their paragraph."""
    ticks, last = "", -1
    for number, line in lines:
        ticks = ticks if number == last + 1 and line.strip() else ""
        end = line.find(ticks) + len(ticks) if ticks in line else len(line)
        shown = " " * end + line[end:] if ticks else line
        ticks, last = "" if ticks in line else ticks, number
        if not ticks and (opened := _OPEN_ROLE.search(_HIDDEN.sub(_blank, shown))):
            ticks, shown = opened[1], shown[: opened.start()]
        yield number, shown


def typed_in_line(number: int, line: str) -> Iterator[TypedFigure]:
    """Yield the typed figures of one line of prose, from left to right."""
    shown = _NOT_MEASURED.sub(_blank, _HIDDEN.sub(_blank, line))
    found = [*_WITH_UNIT.finditer(shown), *_TIMES.finditer(shown), *_OCCUPANCY.finditer(shown)]
    for match in sorted(found, key=lambda match: match.start()):
        digits = next(group for group in match.groups() if group)
        unit = match[2] if match.re is not _OCCUPANCY else ""
        yield _typed(number, match, digits, unit or "")


def _typed(number: int, match: re.Match[str], digits: str, unit: str) -> TypedFigure:
    kind, scale = _SCALES[unit] if unit else (Unit.SHARE, 1.0)
    figure = "registers" if unit.startswith("register") else "" if unit else "occupancy"
    decimals = len(digits.partition(".")[2])
    step = 10.0**-decimals * scale
    return TypedFigure(number, match.start(), match[0], float(digits.replace(",", "")) * scale, kind, step, figure)


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


@dataclass(slots=True)
class _OpenFence:
    marker: str
    is_prose: bool
    """True for a directive whose content is Markdown."""


@dataclass(slots=True)
class _State:
    """The fences that are open at a line, and whether a formula or a comment is."""

    fences: list[_OpenFence] = field(default_factory=list)
    until: str = ""
    """The text that ends an open formula or comment."""


def prose(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield the lines of prose, and the captions among the options of directives."""
    state = _State()
    for number, line in enumerate(lines):
        if state.until:
            state.until = "" if state.until in line else state.until
        elif _is_fence(line, state):
            continue
        elif state.fences and not state.fences[-1].is_prose:
            if _CAPTION.match(line):
                yield number, line
        elif not _opens(line, state):
            yield number, line


def _is_fence(line: str, state: _State) -> bool:
    """Take in a line that opens or closes a fence, and tell whether it does."""
    match = _FENCE.match(line)
    inner = state.fences[-1] if state.fences else None
    if match is None:
        return False
    if inner and match[1].startswith(inner.marker) and not match[2].strip(" `~:"):
        state.fences.pop()
        return True
    if inner and not inner.is_prose:
        return False
    name = _DIRECTIVE.match(match[2])
    known = directives().get(name[1]) if name and name[1] != "example" else None  # its figures show how to write one
    state.fences.append(_OpenFence(match[1], bool(known and known.wrap)))
    return True


def _opens(line: str, state: _State) -> bool:
    """Take in a line that begins a formula or a comment of several lines, and tell whether it does."""
    for begin, end in (("$$", "$$"), ("<!--", "-->")):
        if line.lstrip(" >").startswith(begin):
            rest = line.lstrip(" >")[len(begin) :]
            state.until = "" if end in rest else end
            return True
    return False
