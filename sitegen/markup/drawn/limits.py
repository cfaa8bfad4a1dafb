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
from sitegen.markup.drawn.figure import FigureKind, FigureSource, as_table, facts, note, percent, picture
from sitegen.markup.svg import Pair, path, polyline, tag, text

_LEFT, _TOP, _WIDTH, _HEIGHT = 64.0, 14.0, 500.0, 160.0
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
        ("in flight on an SM", f"{values['threads']:,} × {values['bytes']} bytes, {offered / _KB:.3g} KB"),
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
        ("intensity", f"{values['operations']:,} / {values['bytes']:,} = {offered:.3g} operations a byte"),
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
    svg = picture(content, _LEFT + _WIDTH + 24, _TOP + _HEIGHT + 44, alt or limit.words, "The limit")
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
    lowest, highest = limit.axis
    steps = range(lowest, highest + 1)
    places = [_place(limit, 2.0**step) for step in steps]
    lines = "".join(f"M{x:.0f} {_TOP:g}v{_HEIGHT:g}" for x, _ in places)
    lines += "".join(f"M{_LEFT:g} {y:.0f}h{_WIDTH:g}" for _, y in places[: 1 - lowest])
    yield path(lines, "grid")
    scale = _KB if limit.x_title.startswith("KB") else 1
    for step, (x, y) in zip(steps, places, strict=True):
        yield text(f"{limit.needed * 2.0**step / scale:.3g}", x, _TOP + _HEIGHT + 18, "mid")
        if step <= 0:
            yield text(percent(2.0**step), _LEFT - 8, y + 4, "e")


def _text(limit: Limit) -> str:
    return as_table("The limit in numbers", ["", "value"], limit.told)


def _facts(limit: Limit) -> tuple[tuple[str, str], ...]:
    return limit.told


FLIGHT = FigureKind(_read_flight, _draw, _text, _facts)
INTENSITY = FigureKind(_read_intensity, _draw, _text, _facts)
