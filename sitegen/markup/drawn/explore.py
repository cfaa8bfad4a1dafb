"""Turn `{explore}` around a figure with `{x}` in it into the figure of each value, of which a slider shows one.

All figures are drawn at build time.  Without a script, one figure stands still, above a table of what is computed for
every value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from html import escape
from typing import Any

from markupsafe import Markup

from sitegen.markup import options as o
from sitegen.markup.collected import Collected
from sitegen.markup.directive import Fence, closes
from sitegen.markup.directives import layout, limits, memory_access
from sitegen.markup.drawn import access as drawn_access
from sitegen.markup.drawn import layout as drawn_layout
from sitegen.markup.drawn import limits as drawn_limits
from sitegen.markup.drawn import timeline as drawn_timeline
from sitegen.markup.drawn.figure import FigureKind, as_table, figure, source_of
from sitegen.markup.looks import OF_DRAWN
from sitegen.markup.svg import join, tag

PLACE = "{x}"
"""The text that stands for the value."""
_FIGURES: Mapping[str, tuple[Mapping[str, o.Setting], FigureKind]] = {
    "bytes-in-flight": (limits.OF_FLIGHT, drawn_limits.FLIGHT),
    "intensity": (limits.OF_INTENSITY, drawn_limits.INTENSITY),
    "layout": (layout.OPTIONS, drawn_layout.FIGURE),
    "memory-access": (memory_access.OPTIONS, drawn_access.FIGURE),
    "timeline": (OF_DRAWN, drawn_timeline.FIGURE),
}
"""The options and the kind of each figure that can be explored."""
_OPENING = re.compile(r"\s*(?:`{3,}|~{3,})\{([^{}\s]*)\}[ \t]*(.*)$")


@dataclass(frozen=True, slots=True)
class _State:
    value: str
    picture: str
    facts: Mapping[str, str]


def explore(fence: Fence, settings: Mapping[str, o.Setting], into: Collected) -> str:
    """Return the HTML of a figure with a slider; it is empty after an error, which is reported."""
    given = source_of(fence, settings, into)
    inner = _figure_in(fence, given.options, into)
    if not given.values.get("values") or inner is None or not _is_complete(fence, given.options, inner, into):
        return ""
    values: Sequence[str] = given.values["values"]
    start = given.values.get("start", values[0])
    if start not in values:
        mistake = o.named("value", start, values)
        into.error("SG105", f"option `start`: {mistake}", given.span("start"), mistake.hint)
        return ""

    @cache
    def states() -> Sequence[_State]:
        return _states(inner, values, into)

    source = (inner.name, inner.argument, inner.content, *values)
    pictures = into.remembered(lambda: _pictures(states(), start), "states", start, *source)
    table = into.remembered(lambda: _table(fence.argument, states()), "table of states", fence.argument, *source)
    if not pictures:
        return ""
    knob = _knob(fence.argument, values.index(start), len(values), start, into)
    shown = source_of(_with_value(inner, start), _FIGURES[inner.name][0], into)
    return figure(f"{knob}{pictures}{table}", "", shown, into)


def _figure_in(fence: Fence, options: o.Options, into: Collected) -> Fence | None:
    """Return the fence in the text of `{explore}`; None after an error."""
    lines = options.rest.rstrip().split("\n")
    blank = next((at for at, line in enumerate(lines) if line.strip()), 0)
    opening = _OPENING.match(lines[blank])
    if opening is None or not closes(lines[-1], lines[blank]) or len(lines) - blank < 2:
        hint = "write a fence such as ```` ```{memory-access} ```` in it, and one more backtick around it"
        into.error("SG111", "the directive `{explore}` needs one figure in it", fence.span, hint)
        return None
    name, argument, line = opening[1], opening[2].strip(), options.rest_line + blank
    span = into.span_of("{" + name + "}", line)
    if name not in _FIGURES:
        into.unknown("SG101", "figure to explore", name, _FIGURES, span)
        return None
    content = "\n".join(lines[blank + 1 : -1]) + "\n"
    return Fence(name, argument, content, line, span, into.span_of(argument, line) if argument else span)


def _is_complete(fence: Fence, options: o.Options, inner: Fence, into: Collected) -> bool:
    """Report a missing name, missing values, or a figure that does not use them."""
    before = len(into.diagnostics)
    if not fence.argument:
        into.error("SG111", "the directive `{explore}` needs the name of what varies", fence.span, "`{explore} Stride`")
    if "values" not in options.by_name:
        into.error("SG111", "the directive `{explore}` needs values", fence.span, "add a line `:values: 1, 2, 4`")
    if PLACE not in inner.argument + inner.content:
        hint = f"write `{PLACE}` where the value goes, such as `:stride: {PLACE}`"
        into.error("SG111", f"the figure in `{{explore}}` has no `{PLACE}`", inner.span, hint)
    return len(into.diagnostics) == before


def _with_value(inner: Fence, value: str) -> Fence:
    return replace(inner, argument=inner.argument.replace(PLACE, value), content=inner.content.replace(PLACE, value))


def _states(inner: Fence, values: Sequence[str], into: Collected) -> Sequence[_State]:
    """Return the state of each value; none if a value gives a wrong figure, of which the first is reported."""
    made: list[_State] = []
    for value in values:
        before = len(into.diagnostics)
        state = _state(_with_value(inner, value), value, into)
        for at in range(before, len(into.diagnostics)):
            mistake = into.diagnostics[at]
            into.diagnostics[at] = replace(mistake, message=f"{mistake.message} (where `{PLACE}` is `{value}`)")
        if state is None or len(into.diagnostics) > before:
            return ()
        made.append(state)
    return made


def _state(fence: Fence, value: str, into: Collected) -> _State | None:
    settings, kind = _FIGURES[fence.name]
    before = len(into.diagnostics)
    given = source_of(fence, settings, into)
    data = kind.read(given, into) if len(into.diagnostics) == before else None
    if data is None:
        return None
    return _State(value, kind.draw(data, given.values.get("fig-alt", "")), dict(kind.facts(data)))


def _pictures(states: Sequence[_State], start: str) -> str:
    parts = (
        tag("div", Markup("\n" + state.picture), data_x=state.value, hidden=None if state.value == start else "")
        for state in states
    )
    return join(parts, "\n") + "\n" if states else ""


def _knob(name: str, at: int, count: int, start: str, into: Collected) -> Markup:
    """Return the slider, which a script shows, beside the name and the value of what varies."""
    id = into.new_id("explore-1")
    slider = Markup(f'<input type="range" id="{escape(id)}" max="{count - 1}" value="{at}" hidden>')
    label = tag("label", f"{name}:", for_=id)
    said = Markup('<output class="vh"></output>')
    return tag("p", join([label, tag("b", start), slider, said], " "), class_="knob") + "\n"


def _table(name: str, states: Sequence[_State]) -> str:
    """Return a table of the facts that differ between the values."""
    titles = list(dict.fromkeys(title for state in states for title in state.facts))
    differing = [title for title in titles if len({state.facts.get(title, "") for state in states}) > 1]
    rows: Iterator[Sequence[Any]] = (
        [state.value, *(state.facts.get(title, "") for title in differing)] for state in states
    )
    return as_table("All values", [name, *differing], rows) if differing else ""
