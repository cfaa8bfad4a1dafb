"""Read content/exercises/<id>/index.md into an `Exercise`."""

from __future__ import annotations

from sitegen.diagnostics import Diagnostic, Span
from sitegen.model.exercise import Exercise
from sitegen.read.shape import read_as
from sitegen.read.source import no_front_matter, split_front_matter
from sitegen.read.yaml_nodes import parse_yaml


def parse_exercise(text: str, path: str) -> tuple[Exercise, tuple[Diagnostic, ...]]:
    """Return the exercise and its mistakes; `path` is content/exercises/<id>/index.md."""
    front, unclosed = split_front_matter(text, path)
    diagnostics = list(unclosed)
    node = None
    if front.yaml is None:
        diagnostics = diagnostics or [no_front_matter(path, "title")]
    else:
        node, syntax = parse_yaml(front.yaml, path, first_line=front.yaml_line)
        diagnostics += syntax
    title = node.get("title") if node else None
    given = {"id": path.split("/")[-2], "body": front.body, "span": title.span if title else Span(path)}
    exercise = read_as(Exercise, node, diagnostics, given=given, noun="front matter key")
    return exercise, tuple(diagnostics)
