"""Turn `{bytes-in-flight}` and `{intensity}` into a roof on logarithmic axes and the point of a program below it.

Both are the same line: a rate grows with what a program offers until it meets a limit of the GPU.  By Little's law,
bandwidth is at most bytes in flight / latency (Little, 1961, doi:10.1287/opre.9.3.383).  By the roofline model,
operations/s are at most arithmetic intensity · bandwidth (Williams, Waterman and Patterson, 2009,
doi:10.1145/1498765.1498785).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from markupsafe import Markup

from sitegen.markup.collected import Collected
from sitegen.markup.drawn.figure import FigureKind, FigureSource, as_table, facts, grouped, note, percent, picture
from sitegen.markup.svg import Pair, path, polyline, tag, text

_LEFT, _TOP, _WIDTH, _HEIGHT = 48.0, 14.0, 292.0, 160.0
"""Together with the room at the right as wide as the text on a phone."""
_OF_FLIGHT, _OF_INTENSITY = (-8, 4), (-8, 2)
"""Exponents of 2 at the ends of the horizontal axis, of what is offered over what is needed."""
_KB = 1024


@dataclass(frozen=True, slots=True)
class Limit:
    """The quantity that a program offers, and how much of it the limit of the GPU needs, both in one unit."""

    offered: float
    needed: float
    told: tuple[tuple[str, str], ...]
    words: str
    x_title: str
    axis: tuple[int, int]


def _read_flight(given: FigureSource, into: Collected) -> Limit | None:
    values = given.values
    if not _has_all(given, ("bandwidth", "latency", "sms", "threads", "bytes"), into):
        return None
    offered = float(values["threads"] * values["bytes"])
    needed = values["bandwidth"] * values["latency"] / values["sms"]
    share = min(1.0, offered / needed)
    rate = _rate(share * values["bandwidth"], "B/s")
    told = (
        ("in flight on an SM", f"{grouped(values['threads'])} × {values['bytes']} bytes, {offered / _KB:.3g} KB"),
        ("needed on an SM", f"{needed / _KB:.3g} KB"),
        ("bandwidth at most", f"{rate}, {percent(share)}"),
    )
    words = (
        f"An SM has {offered / _KB:.3g} KB in flight and needs {needed / _KB:.3g} KB: "
        f"at most {percent(share)} of the bandwidth, {rate}."
    )
    return Limit(offered, needed, told, words, "KB in flight on an SM", _OF_FLIGHT)


def _read_intensity(given: FigureSource, into: Collected) -> Limit | None:
    values = given.values
    if not _has_all(given, ("bandwidth", "compute", "operations", "bytes"), into):
        return None
    offered, needed = values["operations"] / values["bytes"], values["compute"] / values["bandwidth"]
    share = min(1.0, offered / needed)
    rate = _rate(share * values["compute"], "FLOP/s")
    limited = "the memory" if offered < needed else "the arithmetic"
    told = (
        (
            "intensity",
            f"{grouped(values['operations'])} / {grouped(values['bytes'])} = {offered:.3g} operations a byte",
        ),
        ("where the roof bends", f"{needed:.3g} operations a byte"),
        ("arithmetic at most", f"{rate}, {percent(share)}"),
        ("limited by", limited),
    )
    words = (
        f"{offered:.3g} operations a byte, and the roof bends at {needed:.3g}: "
        f"at most {percent(share)} of the arithmetic, {rate}, limited by {limited}."
    )
    return Limit(offered, needed, told, words, "operations for each byte moved", _OF_INTENSITY)


def _has_all(given: FigureSource, names: tuple[str, ...], into: Collected) -> bool:
    missing = [name for name in names if name not in given.options.by_name]
    if missing:
        lines = " ".join(f"`:{name}: …`" for name in missing)
        message = (
            f"the directive `{{{given.fence.name}}}` needs {len(missing)} more option{'s' if len(missing) > 1 else ''}"
        )
        into.error("SG111", message, given.fence.span, f"add {lines}")
    return all(name in given.values for name in names)


def _rate(value: float, unit: str) -> str:
    scale, prefix = next((pair for pair in ((1e15, "P"), (1e12, "T"), (1e9, "G")) if value >= pair[0]), (1e6, "M"))
    return f"{value / scale:.3g} {prefix}{unit}"


def _draw(limit: Limit, alt: str) -> str:
    lowest, highest = limit.axis
    roof = [_place(limit, x) for x in (2.0**lowest, 1.0, 2.0**highest)]
    x, y = _place(limit, limit.offered / limit.needed)
    content = [
        *_axes(limit),
        path(polyline(roof), "roof"),
        path(f"M{x:.0f} {_TOP + _HEIGHT:g}V{y:.0f}", "drop"),
        tag("circle", class_="own", cx=x, cy=y, r="6"),
        text(limit.x_title, _LEFT + _WIDTH / 2, _TOP + _HEIGHT + 36, "mid"),
    ]
    svg = picture(content, _LEFT + _WIDTH + 18, _TOP + _HEIGHT + 44, alt or limit.words, "The limit")
    is_outside = not lowest <= math.log2(limit.offered / limit.needed) <= highest
    how = note("the line is the limit of the GPU; the point is the program", "it lies outside" if is_outside else "")
    return svg + facts(limit.told) + how


def _place(limit: Limit, offered: float) -> Pair:
    """Return the point of the roof at what is offered over what is needed; points beyond the axis lie at its end."""
    lowest, highest = limit.axis
    exponent = min(max(math.log2(offered), lowest), highest)
    x = _LEFT + (exponent - lowest) / (highest - lowest) * _WIDTH
    return x, _TOP + min(exponent, 0.0) / lowest * _HEIGHT


def _axes(limit: Limit) -> Iterator[Markup]:
    """Yield the lines and the numbers of both axes, at the powers of ten."""
    lowest, highest = limit.axis
    scale = _KB if limit.x_title.startswith("KB") else 1
    across = [(n, _place(limit, n * scale / limit.needed)[0]) for n in _decades(limit.needed / scale, lowest, highest)]
    up = [(n, _place(limit, n)[1]) for n in _decades(1, lowest, 0)]
    frame = f"M{_LEFT:g} {_TOP + _HEIGHT:g}h{_WIDTH:g}M{_LEFT:g} {_TOP:g}v{_HEIGHT:g}"
    lines = "".join(f"M{x:.0f} {_TOP:g}v{_HEIGHT:g}" for _, x in across)
    yield path(frame + lines + "".join(f"M{_LEFT:g} {y:.0f}h{_WIDTH:g}" for _, y in up), "grid")
    for number, x in across:
        yield text(f"{number:g}", x, _TOP + _HEIGHT + 18, "mid")
    for share, y in up:
        yield text(percent(share), _LEFT - 8, y + 4, "e")


def _decades(one: float, lowest: int, highest: int) -> list[float]:
    """Return the powers of ten between the ends of an axis, which are `one` times a power of two."""
    first, last = math.ceil(math.log10(one * 2.0**lowest)), math.floor(math.log10(one * 2.0**highest))
    return [float(f"1e{exponent}") for exponent in range(first, last + 1)]


def _text(limit: Limit) -> str:
    return as_table("The limit in numbers", ["", "value"], limit.told)


def _facts(limit: Limit) -> tuple[tuple[str, str], ...]:
    return limit.told


FLIGHT = FigureKind(_read_flight, _draw, _text, _facts)
INTENSITY = FigureKind(_read_intensity, _draw, _text, _facts)
