"""Read series/<id>.yaml into a Series: phases, or the short form with `posts:` alone.

A topic, a planned post and an exercise may be a name alone: `planned: [Attention, {title: A scan, needs: [sum]}]`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from sitegen.diagnostics import Diagnostic, Span
from sitegen.model.site import Phase, PlannedPost, Ref, Series, SeriesExercise, Topic
from sitegen.read.pages import stem
from sitegen.read.shape import Converter, Diagnostics, items_of, minutes, read_as
from sitegen.read.yaml_nodes import Node, parse_yaml

_SHORT_FORM = ("posts", "exercises", "planned", "topics")
"""Keys of a phase that may stand in the series itself when it has no phases."""


def parse_series(text: str, path: str) -> tuple[Series, tuple[Diagnostic, ...]]:
    """Return the series and its mistakes."""
    node, syntax = parse_yaml(text, path)
    diagnostics = list(syntax)
    title = node.get("title") if node else None
    given = {"id": stem(path), "span": title.span if title else Span(path)}
    series = read_as(
        Series,
        node,
        diagnostics,
        given=given,
        noun="series key",
        convert={"phases": lambda phases, into: tuple(_phase(one, into) for one in items_of(phases, into, Phase))},
        also=_SHORT_FORM,
    )
    if node is not None and (short := _short_form(node, diagnostics)):
        series = replace(series, phases=(short,))
    diagnostics += _listed_twice("post", series.posts)
    diagnostics += _listed_twice("exercise", [one.id for phase in series.phases for one in phase.exercises])
    return series, tuple(diagnostics)


def _phase(node: Node, diagnostics: Diagnostics, given: Mapping[str, str] | None = None) -> Phase:
    return read_as(Phase, node, diagnostics, given=given, convert=_OF_PHASE)


def _named(cls: Callable[..., Any], name: str, special: Mapping[str, Converter] | None = None) -> Converter:
    """Return a function that reads a list of instances of `cls`; a text in the list is its key `name`.

    `special` has functions that read certain keys.
    """

    def convert(node: Node, diagnostics: Diagnostics) -> tuple[Any, ...]:
        items = items_of(node, diagnostics)
        whole = [one if isinstance(one.value, Mapping) else Node({name: one}, one.span) for one in items]
        return tuple(read_as(cls, one, diagnostics, convert=special) for one in whole)

    return convert


_OF_PHASE: Mapping[str, Converter] = {
    "topics": _named(Topic, "title"),
    "planned": _named(PlannedPost, "title"),
    "exercises": _named(SeriesExercise, "id", {"minutes": minutes}),
}


def _short_form(node: Node, diagnostics: Diagnostics) -> Phase | None:
    keys = {key: child for key in _SHORT_FORM if (child := node.get(key))}
    if not keys:
        return None
    if node.get("phases"):
        hint = "list them in a phase, or leave `phases` out"
        diagnostics += [
            Diagnostic("SG015", f"`{key}` cannot stand beside `phases`", child.at, hint) for key, child in keys.items()
        ]
        return None
    return _phase(Node(keys, node.span), diagnostics, {"title": ""})


def _listed_twice(what: str, names: Iterable[Ref]) -> Iterator[Diagnostic]:
    first: dict[str, Ref] = {}
    for ref in names:
        if first.setdefault(ref.name, ref) is not ref:
            hint = f"first on line {first[ref.name].span.line}"
            yield Diagnostic("SG023", f"the {what} `{ref.name}` stands twice", ref.span, hint)
