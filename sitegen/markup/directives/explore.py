"""Turn `{explore} Stride` around a figure into one figure for each value, of which the reader's slider shows one."""

from __future__ import annotations

import re

from sitegen.markup import options as o
from sitegen.markup.collected import Collected
from sitegen.markup.directive import Directive, Fence

MOST = 40
"""Most values of a figure."""
_RANGE = re.compile(r"(\d{1,6})\.\.(\d{1,6})")


def _values(value: o.Value) -> tuple[str, ...]:
    """Return the values of `1..4, 8`.  Raises Unfit."""
    values: list[str] = []
    for word in o.words(value):
        values += _expanded(word)
        if len(values) > MOST:
            raise o.Unfit(f"more than {MOST} values", "write fewer: each is a figure on the page")
    twice = next((one for at, one in enumerate(values) if one in values[:at]), "")
    if twice:
        raise o.Unfit(f"`{twice}` is given twice", word=twice)
    if len(values) < 2:
        raise o.Unfit("expected two values or more", "values are `1, 2, 4` or `1..8`")
    return tuple(values)


def _expanded(word: str) -> list[str]:
    match = _RANGE.fullmatch(word)
    if match is None:
        return [word]
    first, last = int(match[1]), int(match[2])
    if last < first:
        raise o.Unfit(f"the range `{word}` is empty", f"write the smaller number first, `{last}..{first}`", word)
    return [str(number) for number in range(first, min(last, first + MOST) + 1)]


OPTIONS = {
    "values": o.Setting(_values, "The values that the reader chooses from: `1, 2, 4`, or a range `1..8`."),
    "start": o.Setting(o.text, "The value of the figure that is shown first; without it, the first value."),
}


def _show(fence: Fence, into: Collected) -> str:
    from sitegen.markup.drawn.explore import explore  # late, because few texts have one

    return explore(fence, OPTIONS, into)


DECLARED = (
    Directive(("explore",), "A computed figure with a slider: `{x}` in it stands for the value.", OPTIONS, show=_show),
)
