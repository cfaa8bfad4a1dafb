"""Run the blocks of Liquid's logic: loops over lists and site data, conditions, captured text.

A block of which a piece is not understood raises `NotUnderstood`; `_Liquid.logic` leaves such a block in the text as it
was written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from sitegen.importing.jekyll.liquid import Token
from sitegen.importing.jekyll.not_understood import MOST_CHARACTERS, NotUnderstood
from sitegen.importing.jekyll.values import compared, is_true, operand, value_of

_LOOP = re.compile(r"(?P<name>[\w-]+)\s+in\s+(?P<items>\([^()]*\)|[^\s|]+)(?P<options>.*)", re.DOTALL)
_LIMIT = re.compile(r"\b(limit|offset)\s*:\s*([\w.-]+)")
_OR = re.compile(r",|\sor\s")
DEEPEST = 50
"""Most blocks around another."""
STEP_CHARACTERS = 8
"""The characters for which each tag and each turn of a loop counts.

Without them a loop that writes nothing would never reach the bound.
"""


class Stop(Exception):
    """`{% break %}` or `{% continue %}` ends a turn of a loop."""

    def __init__(self, *, ends_loop: bool) -> None:
        self.ends_loop = ends_loop


class Runner(Protocol):
    """The runner of the pieces between the tags of a block."""

    variables: dict[str, Any]

    def spend(self, characters: int) -> None:
        """Count what logic writes, and raise `NotUnderstood` beyond the bound on a document."""

    def stretch(self, pieces: Sequence[Token], ends: Mapping[int, int], start: int, stop: int) -> None:
        """Write the pieces from `start` to `stop`."""

    def captured(self, pieces: Sequence[Token], ends: Mapping[int, int], start: int, stop: int) -> str:
        """Return the text of the pieces from `start` to `stop`."""


Block = tuple[Sequence[Token], Mapping[int, int], int, int]
"""All pieces, the ends of blocks among them, and the indices of the tags that begin and end this block."""


def branches(block: Block, *names: str) -> Iterator[tuple[Token, int, int]]:
    """Yield the tag, the first and the last index of each branch; `names` are the tags that begin another one."""
    pieces, ends, begin, end = block
    tag, start, at = pieces[begin], begin + 1, begin + 1
    while at < end:
        piece = pieces[at]
        if piece.kind == "tag" and piece.name in names:
            yield tag, start, at
            tag, start = piece, at + 1
        at = ends.get(at, at) + 1
    yield tag, start, end


def run_if(runner: Runner, block: Block) -> None:
    """Run the first branch whose condition holds."""
    for tag, start, stop in branches(block, "elsif", "else"):
        if tag.name == "else" or is_true(tag.markup, runner.variables) != (tag.name == "unless"):
            return runner.stretch(block[0], block[1], start, stop)
    return None


def run_case(runner: Runner, block: Block) -> None:
    """Run the first branch whose value the block has."""
    value = value_of(block[0][block[2]].markup, runner.variables)
    for tag, start, stop in branches(block, "when", "else"):
        wanted = _OR.split(tag.markup) if tag.name == "when" else ()
        if tag.name == "else" or any(compared(value, "==", operand(one, runner.variables), one) for one in wanted):
            return runner.stretch(block[0], block[1], start, stop)
    return None


def run_for(runner: Runner, block: Block) -> None:
    """Run a loop once for each item, or its `else` without any."""
    pieces, ends, begin, _ = block
    match = _LOOP.fullmatch(pieces[begin].markup)
    if match is None:
        raise NotUnderstood
    items = _items(match, runner)
    (_, start, stop), *others = branches(block, "else")
    if not items and others:
        return runner.stretch(pieces, ends, *others[0][1:])
    outer = {name: runner.variables[name] for name in (match["name"], "forloop") if name in runner.variables}
    for at, item in enumerate(items):
        runner.spend(STEP_CHARACTERS)
        runner.variables |= {match["name"]: item, "forloop": _place(at, len(items), outer.get("forloop"))}
        try:
            runner.stretch(pieces, ends, start, stop)
        except Stop as stopped:
            if stopped.ends_loop:
                break
    for name in (match["name"], "forloop"):
        runner.variables.pop(name, None)
    runner.variables |= outer
    return None


def _items(loop: re.Match[str], runner: Runner) -> Sequence[Any]:
    """Return the items that a loop goes over; copies count, as a loop that breaks off makes them for one turn."""
    variables = runner.variables
    value = operand(loop["items"], variables)
    runner.spend(len(value) if isinstance(value, Mapping) else 0)
    items = [list(pair) for pair in value.items()] if isinstance(value, Mapping) else value
    given = {name: operand(number, variables) for name, number in _LIMIT.findall(loop["options"])}
    if not isinstance(items, list | tuple | None) or any(not isinstance(number, int) for number in given.values()):
        raise NotUnderstood
    first = given.get("offset", 0)
    chosen = (items or ())[first : first + given["limit"] if "limit" in given else None]
    runner.spend(len(chosen))
    return chosen[::-1] if re.search(r"\breversed\b", loop["options"]) else chosen


def _place(at: int, length: int, parent: Any) -> Mapping[str, Any]:
    """Return the variable `forloop` of a turn; `parent` is that of the loop around it, or `nil`."""
    return {
        "index": at + 1,
        "index0": at,
        "rindex": length - at,
        "rindex0": length - at - 1,
        "first": at == 0,
        "last": at == length - 1,
        "length": length,
        "parentloop": parent,
    }


def run_capture(runner: Runner, block: Block) -> None:
    """Keep the text of a block as a variable."""
    pieces, ends, begin, end = block
    text = runner.captured(pieces, ends, begin + 1, end)
    if len(text) > MOST_CHARACTERS:
        raise NotUnderstood
    runner.variables[pieces[begin].markup.strip("\"' ")] = text


LOGIC: Mapping[str, Callable[[Runner, Block], None]] = {
    "capture": run_capture,
    "case": run_case,
    "for": run_for,
    "if": run_if,
    "unless": run_if,
}
