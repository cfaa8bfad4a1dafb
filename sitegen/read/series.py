"""Read series/<id>.yaml into a Series: phases, or the short form with `posts:` alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from sitegen.diagnostics import Diagnostic, Span
from sitegen.model.site import Phase, Ref, Series
from sitegen.read.pages import stem
from sitegen.read.shape import Diagnostics, read_as
from sitegen.read.yaml_nodes import Node, parse_yaml

_SHORT_FORM = ("posts", "exercises", "planned", "topics")
"""Keys of a phase that may stand in the series itself when it has no phases."""


def parse_series(text: str, path: str) -> tuple[Series, tuple[Diagnostic, ...]]:
    """Return the series and its mistakes."""
    node, syntax = parse_yaml(text, path)
    diagnostics = list(syntax)
    title = node.get("title") if node else None
    given = {"id": stem(path), "span": title.span if title else Span(path)}
    series = read_as(Series, node, diagnostics, given=given, noun="series key", also=_SHORT_FORM)
    if node is not None and (short := _short_form(node, diagnostics)):
        series = replace(series, phases=(short,))
    diagnostics += _listed_twice(series.posts)
    return series, tuple(diagnostics)


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
    title: Mapping[str, str] = {"title": ""}
    return read_as(Phase, Node(keys, node.span), diagnostics, given=title)


def _listed_twice(posts: Iterable[Ref]) -> list[Diagnostic]:
    first: dict[str, Ref] = {}
    twice = [post for post in posts if first.setdefault(post.name, post) is not post]
    return [
        Diagnostic("SG023", f"the post `{p.name}` stands twice", p.span, f"first on line {first[p.name].span.line}")
        for p in twice
    ]
