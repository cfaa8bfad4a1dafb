"""Turn TeX for MathJax, whose formulas share macros and labels, into formulas that are complete each on its own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_LABEL = re.compile(r"(?<![ \t])[ \t]*+\\label\{([^{}]+)\}[ \t]*")
_COMMAND = re.compile(r"\\([A-Za-z]+)")
_DEFINES = re.compile(
    r"\\(?:(?:(?:re)?new|provide)command\*?\s*\{?\\(?P<command>[A-Za-z]+)\}?\s*(?:\[(?P<count>\d)\]\s*)?"
    r"|def\s*\\(?P<def>[A-Za-z]+)(?P<arguments>(?:#\d)*)\s*"
    r"|DeclareMathOperator(?P<star>\*?)\s*\{?\\(?P<operator>[A-Za-z]+)\}?\s*)(?=\{)"
)
_ALSO = re.compile(r"\\(?:require|definecolor)(?:\{[^{}]*\})+|(?<!\\)%[^\n]*|\\DeclarePairedDelimiter[^\n]*")
"""What stands beside definitions and shows nothing either."""
_ARRAY = re.compile(r"&\s*(=|<|>|\\[A-Za-z]+)\s*&")


@dataclass(slots=True)
class Formulas:
    """The labels and macros that the formulas of one text share."""

    numbers: dict[str, int] = field(default_factory=dict)
    """The number of each label, counted in the order of the text."""
    macros: dict[str, str] = field(default_factory=dict)
    """The definition of each macro, by name."""
    anchors: set[str] = field(default_factory=set)
    """The labels of the displayed formulas that were converted so far."""

    def read(self, text: str) -> None:
        """Collect the labels and macros of a text."""
        for label in _LABEL.findall(text):
            self.numbers.setdefault(label, len(self.numbers) + 1)
        for name, definition, _, _ in _definitions(text):
            self.macros[name] = definition

    def inline(self, tex: str) -> str:
        """Return the TeX of a formula within a line, without labels."""
        return self._complete(_LABEL.sub("", tex))

    def displayed(self, tex: str) -> tuple[str, str]:
        """Return the TeX of a displayed formula and its first label; a formula with a label gets a number."""
        label = next((label for label in _LABEL.findall(tex) if label not in self.anchors), "")
        self.anchors |= {label} if label else set()
        return self._complete(_LABEL.sub("", tex)), label

    def only_defines(self, tex: str) -> bool:
        """Return whether a formula only defines macros, which are written into the formulas that need them."""
        rest, at = [], 0
        for _, _, start, end in _definitions(tex):
            rest.append(tex[at:start])
            at = end
        return at > 0 and not _ALSO.sub("", "".join([*rest, tex[at:]])).strip(" \n\t$")

    def _complete(self, tex: str) -> str:
        """Return the TeX with the definitions of the macros that it needs, directly or through other macros."""
        if "eqnarray" in tex:
            tex = _ARRAY.sub(r"&\1", tex.replace("{eqnarray", "{align"))
        own, written, at = list(_definitions(tex)), list[str](), 0
        for _, definition, start, end in own:
            written += [tex[at:start], definition]
            at = end
        tex = "".join([*written, tex[at:]])
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
    """Return the label for a formula: `eq-bound` for `eq:bound`, since labels of equations begin with `eq-`."""
    name = re.sub(r"[^\w-]+", "-", label).strip("-").removeprefix("eq-")
    return f"eq-{name or 'formula'}"


def _definitions(text: str) -> Iterator[tuple[str, str, int, int]]:
    """Yield name, definition, start and end of every macro; the definition is a `\\def`, which may repeat a name."""
    at = 0
    while match := _DEFINES.search(text, at):
        at = _closing(text, match.end())
        name, body = match["command"] or match["def"] or match["operator"], text[match.end() : at]
        arguments = match["arguments"] or "".join(f"#{number + 1}" for number in range(int(match["count"] or 0)))
        body = f"{{\\operatorname{match['star']}{body}}}" if match["operator"] else body
        yield name, f"\\def\\{name}{arguments}{body}", match.start(), at


def _closing(text: str, at: int) -> int:
    """Return the end of the group in braces that begins at `at`."""
    depth = 0
    for index in range(at, len(text)):
        if text[index] in "{}" and text[index - 1] != "\\":
            depth += 1 if text[index] == "{" else -1
            if depth == 0:
                return index + 1
    return len(text)
