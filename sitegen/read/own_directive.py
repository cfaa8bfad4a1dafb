"""Read the head of templates/directives/<name>.html, a Jinja comment with YAML, into the declaration of a directive."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from sitegen.diagnostics import Diagnostic, Span
from sitegen.read.shape import Diagnostics, entries_of, read_as
from sitegen.read.yaml_nodes import Node, parse_yaml

FOLDER = "templates/directives"
_PATH = re.compile(rf"{FOLDER}/([a-z][a-z0-9-]*)\.html")
_HEAD = re.compile(r"\s*\{#-?(?:[ \t]*\n)?(.*?)-?#\}", re.DOTALL)


class Content(StrEnum):
    """The kind of text between the lines of a fence."""

    NONE = "none"
    TEXT = "text"
    MARKDOWN = "markdown"


@dataclass(frozen=True, slots=True)
class OwnOption:
    """An option of a directive of the site."""

    about: str
    default: str = ""
    required: bool = False
    values: tuple[str, ...] = ()
    """The words that the option takes; empty: any text."""


@dataclass(frozen=True, slots=True)
class OwnDirective:
    """A directive of the site, as the head of its template declares it."""

    about: str
    argument: str = ""
    """What the text behind the name must be; empty: the directive takes none."""
    content: Content = Content.NONE
    options: Mapping[str, OwnOption] = field(default_factory=dict)


def directive_name(path: str) -> str:
    """Return the name of the directive of a template; empty for a file of another place or name."""
    match = _PATH.fullmatch(path)
    return match[1] if match else ""


def parse_own_directive(text: str, path: str) -> tuple[OwnDirective, tuple[Diagnostic, ...]]:
    """Return the directive that a template declares, and the mistakes in its head."""
    head = _HEAD.match(text)
    if not head:
        hint = "begin the file with `{#`, `about: …` and `#}`"
        return OwnDirective(""), (Diagnostic("SG139", "the head of this directive is missing", Span(path), hint),)
    line = text.count("\n", 0, head.start(1)) + 1
    column = head.start(1) - text.rfind("\n", 0, head.start(1))
    node, syntax = parse_yaml(head[1], path, line, column)
    diagnostics = list(syntax)
    directive = read_as(OwnDirective, node, diagnostics, noun="key of a directive", convert={"options": _options})
    return directive, tuple(diagnostics)


def _options(node: Node, diagnostics: Diagnostics) -> Mapping[str, OwnOption]:
    """Return the options; one that is a sentence alone has no other keys."""
    return {
        name: OwnOption(child.text)
        if child.text and isinstance(child.value, str)
        else read_as(OwnOption, child, diagnostics, noun="key of an option")
        for name, child in entries_of(node, diagnostics).items()
    }
