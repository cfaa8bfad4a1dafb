"""Read YAML text of any form into a tree of `Node`s, from the events of PyYAML (libyaml).

`yaml.compose` is not used because libyaml's composer recurses in C: a file of 100,000 brackets would end the process.
Anchors, aliases and tags are errors: no file of a site needs them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import yaml

from sitegen.diagnostics import Diagnostic, Span
from sitegen.read.yaml_tree import Node, plain_scalar

_DEEPEST = 32
_LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
_UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_OTHER_BREAKS = re.compile("[\r\x85\u2028\u2029]")
"""Characters that are line breaks for libyaml but not for editors: they would shift the line numbers."""
_ENDED_LIST = re.compile(r"(?:^|[:-] )[\[{].*[\]}]\s*$")
_QUOTES = "a value that holds `: ` needs quotes"
_TAB = ("a tab cannot indent", "indent with spaces")
_BEHIND_LIST = (
    "a text stands behind the end of a list",
    "a value that begins with `[` or `{` is a list or a mapping: put a text that begins so in quotes",
)
_INDENT = "keys of one mapping begin in one column, and so do the `-` of one list"
_IN_OUR_WORDS = {
    "mapping values are not allowed in this context": ("unexpected `:`", _QUOTES),
    "found character that cannot start any token": ("a value cannot begin with this sign", "put the value in quotes"),
    "found unknown escape character": ("unknown escape", "use single quotes, or write the backslash twice"),
    "could not find expected ':'": ("expected `key: value`", ""),
    "did not find expected key": ("this does not fit what stands above", _INDENT),
    "did not find expected '-' indicator": ("this does not fit what stands above", _INDENT),
    "did not find expected node content": ("expected a value", ""),
    "found unexpected end of stream": ("this quote is never closed", "write the same quote at the end of the value"),
    "did not find expected ',' or ']'": ("this `[` is never closed", "write `]` at its end"),
    "did not find expected ',' or '}'": ("this `{` is never closed", "write `}` at its end"),
}


def read_events(text: str, path: str, first_line: int, first_col: int) -> tuple[Node | None, tuple[Diagnostic, ...]]:
    """Return the tree of a document, or None when it is not YAML, and its mistakes.

    `text` begins at this line and column of its file.
    """
    reader = _EventReader(text, path, first_line, first_col)
    try:
        node = reader.document()
    except _Mistake as mistake:
        return None, (*reader.duplicates, mistake.diagnostic)
    return node, tuple(reader.duplicates)


class _Mistake(Exception):
    def __init__(self, diagnostic: Diagnostic) -> None:
        self.diagnostic = diagnostic


class _EventReader:
    """Recursive-descent parser over the events; a duplicate key does not end the reading."""

    def __init__(self, text: str, path: str, first_line: int, first_col: int) -> None:
        self.text, self.path = text, path
        self.line, self.col = first_line, first_col
        self.lines = _OTHER_BREAKS.sub(" ", text).split("\n")
        self.duplicates: list[Diagnostic] = []

    def document(self) -> Node:
        if odd := _UNPRINTABLE.search(self.text):
            raise self.unprintable(odd)
        events = self.events()
        event = next(events)
        if isinstance(event, yaml.StreamEndEvent):
            return Node(None, Span(self.path, self.line, self.col))
        node = self.node(next(events), events, 0)
        if isinstance(event := next(events), yaml.DocumentStartEvent):
            raise self.invalid("a second document begins here", event.start_mark, "one file is one document")
        return node

    def events(self) -> Iterator[Any]:
        """Yield the events without stream starts and document ends: the first is the start of a document."""
        try:
            for event in yaml.parse("\n".join(self.lines), Loader=_LOADER):
                if not isinstance(event, yaml.StreamStartEvent | yaml.DocumentEndEvent):
                    yield event
        except yaml.MarkedYAMLError as error:
            raise self.syntax(error) from None

    def node(self, event: Any, events: Iterator[Any], depth: int, key: Span | None = None) -> Node:
        if isinstance(event, yaml.AliasEvent) or event.anchor:
            raise self.invalid("anchors and aliases are not read here", event.start_mark, "write the value out")
        if event.tag not in (None, "!"):
            raise self.invalid("tags are not read here", event.start_mark, "write the value without `!`")
        if depth > _DEEPEST:
            raise self.invalid("nested too deeply", event.start_mark)
        if isinstance(event, yaml.ScalarEvent):
            return self.scalar(event, key)
        if isinstance(event, yaml.SequenceStartEvent):
            return self.sequence(event, events, depth, key)
        return self.mapping(event, events, depth, key)

    def unprintable(self, odd: re.Match[str]) -> _Mistake:
        before = self.text[: odd.start()].split("\n")
        span = Span(self.path, self.line + len(before) - 1, self.col + len(before[-1]))
        return _Mistake(Diagnostic("SG002", f"invalid YAML: character U+{ord(odd[0]):04X} may not stand here", span))

    def scalar(self, event: Any, key: Span | None = None) -> Node:
        first, last = event.start_mark, event.end_mark
        if event.style in ("'", '"'):
            return Node(event.value, self.between(first, last, inset=1), event.value, key)
        if event.style in ("|", ">"):
            return Node(event.value, self.between(first, first), event.value, key)
        return Node(plain_scalar(event.value), self.between(first, last), event.value, key)

    def sequence(self, start: Any, events: Iterator[Any], depth: int, key: Span | None) -> Node:
        children = []
        while not isinstance(event := next(events), yaml.SequenceEndEvent):
            children.append(self.node(event, events, depth + 1))
        return Node(tuple(children), self.between(start.start_mark, event.end_mark), "", key)

    def mapping(self, start: Any, events: Iterator[Any], depth: int, key: Span | None) -> Node:
        children: dict[str, Node] = {}
        while not isinstance(event := next(events), yaml.MappingEndEvent):
            if not isinstance(event, yaml.ScalarEvent):
                raise self.invalid("a key must be a word", event.start_mark)
            name = self.scalar(event)
            child = self.node(next(events), events, depth + 1, name.span)
            if name.text in children:
                self.duplicates.append(_duplicate(name, children[name.text]))
            children.setdefault(name.text, child)
        return Node(children, self.between(start.start_mark, event.end_mark), "", key)

    def between(self, first: Any, last: Any, inset: int = 0) -> Span:
        """Return the span from one mark to another, or to the end of the first line."""
        end = last.column if last.line == first.line else len(self.lines[first.line].rstrip())
        length = max(1, end - first.column - 2 * inset)
        return Span(self.path, self.line + first.line, self.col + first.column + inset, length)

    def syntax(self, error: yaml.MarkedYAMLError) -> _Mistake:
        problem, hint = _IN_OUR_WORDS.get(error.problem or "", (error.problem or "unreadable", ""))
        unclosed = problem.endswith("never closed")  # reported at its end, mended at its beginning
        mark = error.context_mark if unclosed else error.problem_mark
        here = self.lines[mark.line] if mark and mark.line < len(self.lines) else ""
        if mark and here[mark.column : mark.column + 1] == "\t":
            problem, hint = _TAB
        if (
            mark
            and problem == _IN_OUR_WORDS["did not find expected key"][0]
            and _ENDED_LIST.search(here[: mark.column])
        ):
            problem, hint = _BEHIND_LIST
        return self.invalid(problem, mark or error.problem_mark, hint)

    def invalid(self, problem: str, mark: Any, hint: str = "") -> _Mistake:
        line, col = (min(mark.line, len(self.lines) - 1), mark.column) if mark else (0, 0)
        while line and not self.lines[line].strip():  # blank lines at the end hold no mistake
            line, col = line - 1, len(self.lines[line - 1].rstrip())
        span = Span(self.path, self.line + line, self.col + col)
        return _Mistake(Diagnostic("SG002", f"invalid YAML: {problem}", span, hint))


def _duplicate(name: Node, first: Node) -> Diagnostic:
    line = first.at.line
    return Diagnostic(
        "SG003", f"duplicate key `{name.text}`", name.span, f"it stands on line {line} already: remove one of the two"
    )
