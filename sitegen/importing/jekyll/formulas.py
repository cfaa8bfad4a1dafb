"""TeX for MathJax, which keeps macros and labels from formula to formula → TeX of formulas that stand alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_LABEL = re.compile(r"[ \t]*\\label\{([^{}]+)\}[ \t]*")
_COMMAND = re.compile(r"\\([A-Za-z]+)")
_DEFINES = re.compile(
    r"\\(?:(?:(?:re)?new|provide)command\*?\s*\{?\\(?P<command>[A-Za-z]+)\}?\s*(?:\[(?P<count>\d)\]\s*)?"
    r"|def\s*\\(?P<def>[A-Za-z]+)(?P<arguments>(?:#\d)*)\s*"
    r"|DeclareMathOperator(?P<star>\*?)\s*\{?\\(?P<operator>[A-Za-z]+)\}?\s*)(?=\{)"
)
_ARRAY = re.compile(r"&\s*(=|<|>|\\[A-Za-z]+)\s*&")


@dataclass(slots=True)
class Formulas:
    """What the formulas of one text share."""

    numbers: dict[str, int] = field(default_factory=dict)
    """Of each label, in the order of the text."""
    macros: dict[str, str] = field(default_factory=dict)
    """Name → its definition."""
    anchors: set[str] = field(default_factory=set)
    """Labels that a displayed formula has."""

    def read(self, text: str) -> None:
        for label in _LABEL.findall(text):
            self.numbers.setdefault(label, len(self.numbers) + 1)
        for name, definition, _, _ in _definitions(text):
            self.macros[name] = definition

    def inline(self, tex: str) -> str:
        """Without labels, which have no place within a line."""
        return self._complete(_LABEL.sub("", tex))

    def displayed(self, tex: str) -> tuple[str, str]:
        """The TeX and its label, the first of several; what has a label is numbered when it is shown."""
        label = next((label for label in _LABEL.findall(tex) if label not in self.anchors), "")
        self.anchors |= {label} if label else set()
        return self._complete(_LABEL.sub("", tex)), label

    def only_defines(self, tex: str) -> bool:
        """Whether a formula shows nothing: its macros stand in those that need them."""
        rest, at = [], 0
        for _, _, start, end in _definitions(tex):
            rest.append(tex[at:start])
            at = end
        return at > 0 and not "".join([*rest, tex[at:]]).strip(" \n$")

    def _complete(self, tex: str) -> str:
        """With the macros that it needs, and those that they need."""
        if "eqnarray" in tex:
            tex = _ARRAY.sub(r"&\1", tex.replace("{eqnarray", "{align"))
        own = list(_definitions(tex))
        for _, definition, start, end in reversed(own):
            tex = tex[:start] + definition + tex[end:]
        needed = self._needed(tex, {name for name, *_ in own})
        return "".join(definition for name, definition in self.macros.items() if name in needed) + tex

    def _needed(self, tex: str, known: set[str]) -> set[str]:
        needed: set[str] = set()
        waiting = [tex]
        while waiting:
            for name in _COMMAND.findall(waiting.pop()):
                if name in self.macros and name not in needed | known:
                    needed.add(name)
                    waiting.append(self.macros[name])
        return needed


def formula_id(label: str) -> str:
    """`eq:bound` → `eq-bound`: the label of an equation begins so."""
    name = re.sub(r"[^\w-]+", "-", label).strip("-").removeprefix("eq-")
    return f"eq-{name or 'formula'}"


def _definitions(text: str) -> Iterator[tuple[str, str, int, int]]:
    """Name, definition, start and end of every macro; all as `\\def`, which may define a name again."""
    at = 0
    while found := _DEFINES.search(text, at):
        at = _closing(text, found.end())
        name, body = found["command"] or found["def"] or found["operator"], text[found.end() : at]
        arguments = found["arguments"] or "".join(f"#{number + 1}" for number in range(int(found["count"] or 0)))
        body = f"{{\\operatorname{found['star']}{body}}}" if found["operator"] else body
        yield name, f"\\def\\{name}{arguments}{body}", found.start(), at


def _closing(text: str, at: int) -> int:
    """The end of the group that begins at `at`."""
    depth = 0
    for index in range(at, len(text)):
        if text[index] in "{}" and text[index - 1] != "\\":
            depth += 1 if text[index] == "{" else -1
            if depth == 0:
                return index + 1
    return len(text)
