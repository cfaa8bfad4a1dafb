"""Read and write fences of colons, which nest: `::: {.callout-note}` of Quarto, `:::{note}` of MyST."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from sitegen.importing.folders.passages import Kept

_OPENING = re.compile(r"(?P<indent>[ \t]*+):{3,}+[ \t]*+(?P<info>\{[^\n]*\}[^\n]*|[\w-][^\n]*)")
_CLOSING = re.compile(r"[ \t]*:{3,}[ \t]*")
_RUN = re.compile(r"^[ \t>]*(:{3,})", re.MULTILINE)
DEEPEST = 50
"""Most fences of colons around another."""
KINDS = {
    "note": "note",
    "tip": "tip",
    "hint": "hint",
    "important": "important",
    "warning": "warning",
    "caution": "caution",
    "danger": "danger",
    "attention": "warning",
    "error": "danger",
    "bug": "danger",
    "fail": "warning",
    "failure": "warning",
    "missing": "warning",
    "success": "tip",
    "check": "tip",
    "done": "tip",
}
"""The callout for each kind of callout of other programs; every other kind is a note with its name as title."""


_CODE = re.compile(r"(?P<indent>[ \t]*+)(?P<marks>:{3,}+)[ \t]*+(?P<info>\{(?:code|code-block|sourcecode)\}[^\n]*)")
_TICKS = re.compile(r"[ \t]*(?P<marks>`{3,}|~{3,})")


@dataclass(slots=True)
class _Open:
    info: str
    indent: str
    lines: list[str]


def code_in_backquotes(text: str) -> str:
    """Return the text with backquotes in place of the colons around code, in which nothing else is to be read."""
    if ":::" not in text:
        return text
    lines, ticks, at = text.split("\n"), "", 0
    last: dict[str, int] = {line.strip(): at for at, line in enumerate(lines) if _CLOSING.fullmatch(line)}
    while at < len(lines):
        code, fence = _CODE.fullmatch(lines[at]), _TICKS.match(lines[at])
        if ticks or fence:
            ticks = _after(ticks, fence["marks"] if fence else "", lines[at])
        elif code and last.get(code["marks"], -1) > at:
            end = next(one for one in range(at + 1, len(lines)) if lines[one].strip() == code["marks"])
            inside = max((len(run) for line in lines[at:end] for run in re.findall("`+", line)), default=0)
            marks = code["indent"] + "`" * max(3, inside + 1)
            lines[at], lines[end], at = f"{marks}{code['info']}", marks, end
        at += 1
    return "\n".join(lines)


def _after(ticks: str, marks: str, line: str) -> str:
    """Return the marks of the fence that is open below a line; empty where none is."""
    if not ticks:
        return marks
    return "" if marks.startswith(ticks) and line.strip() == marks else ticks


def containers(text: str, change: Callable[[str, str], str]) -> str:
    """Return the text with each fence of colons replaced, the inner ones first.

    `change` gets what stands behind the colons and the text within, without the indentation of the fence.  A fence that
    is never closed ends with the text.  Of a fence within `DEEPEST` others only the text stays.
    """
    stack, left_out = [_Open("", "", [])], 0

    def close() -> None:
        done = stack.pop()
        inner = "\n".join(line.removeprefix(done.indent) for line in done.lines)
        new = change(done.info, inner).split("\n")
        stack[-1].lines += [f"{done.indent}{line}".rstrip() if done.indent else line for line in new]

    for line in text.split("\n"):
        opening = _OPENING.fullmatch(line)
        if opening and len(stack) > DEEPEST:
            left_out += 1
        elif opening:
            stack.append(_Open(_info(opening["info"]), opening["indent"], []))
        elif left_out and _CLOSING.fullmatch(line):
            left_out -= 1
        elif _CLOSING.fullmatch(line) and len(stack) > 1:
            close()
        else:
            stack[-1].lines.append(line)
    while len(stack) > 1:
        close()
    return "\n".join(stack[0].lines)


def _info(written: str) -> str:
    """Return what stands behind the colons, without colons behind a name."""
    info = written.strip()
    return info if info.startswith("{") else info.rstrip(":").rstrip()


def container(kept: Kept, name: str, title: str, inner: str) -> str:
    """Return a fence of colons around a text, with more colons than the fences within have."""
    runs = _RUN.findall(kept.restored(inner))
    marks = ":" * max(3, 1 + max(map(len, runs), default=2))
    return f"{marks}{{{name}}}{f' {title}' if title else ''}\n{inner.strip(chr(10))}\n{marks}"


def callout(kept: Kept, kind: str, title: str, inner: str) -> str:
    """Return the callout for a kind of another program."""
    known = KINDS.get(kind.lower())
    shown = title or ("" if known else kind.replace("-", " ").capitalize())
    return container(kept, known or "note", " ".join(shown.split()), inner or " ")
