"""Collect the link definitions of included files, and find those that a text uses: texts in, definitions out.

A file such as `_includes/links.md` defines hundreds of links for all texts of a site; each text needs a few of them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sitegen.importing.jekyll.inserts import MARK

DEFINITION = re.compile(r"^[ ]{0,3}\[(?!\^)([^\]]+)\]:\s*<?([^\s<>]+)>?(\s+(?:\"[^\"]*\"|'[^']*'|\([^)]*\)))?\s*$")
_COMMENT = re.compile(
    r"[ ]{0,3}\[(?:(?P<sign>//)\]:|(?P<word>comment)\]:[ \t]*(?:#|<>)(?!\S)|(?!\^)[^\]]+\]:[ \t]*(?:#|<>)[ \t]+\S)",
    re.IGNORECASE,
)
UNKNOWN = "\ufdd1"
"""The sign in place of a piece of Liquid that is not understood; a line with it defines nothing."""
_FENCE = re.compile(r"[ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)?(?P<marks>`{3,}+|~{3,}+)(?P<info>[^`\n]*+)$")
_ITEM = re.compile(r"[ ]{0,3}(?:[-*+][ \t]|\d+[.)][ \t]|\[\^)")
_LABEL = r"(?:\\.|[^\[\]\\]){1,999}+"
_REFERENCE = re.compile(rf"\[(?P<words>{_LABEL})\](?:\[(?P<label>{_LABEL})?\])?(?!\()", re.DOTALL)
_TICKS = re.compile(r"(?<![\\`])`+")
_LINE_START = re.compile(r"\n[ \t]*(?:>[ \t]?)*")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")


@dataclass(frozen=True, slots=True)
class Definition:
    """The address and the title of a link as an included file has them, and the line of the include in the text."""

    address: str
    title: str
    line: int


def is_comment(line: str) -> bool:
    """Return whether a line is a definition that nobody means as a link, such as `[//]: # words`.

    kramdown takes all words behind the colon for the address, so it shows none of them.
    """
    match = _COMMENT.match(line)
    return match is not None and bool(match["sign"] or match["word"] or not DEFINITION.match(line))


def split_definitions(text: str, line: int) -> tuple[str, dict[str, Definition]]:
    """Return the text without its link definitions, and the definitions by `key_of` their labels; the first stays."""
    rest, found = [], dict[str, Definition]()
    for is_code, written in _lines(text):
        match = None if is_code or UNKNOWN in written or MARK.search(written) else DEFINITION.match(written)
        if match is None:
            rest.append(written)
        else:
            found.setdefault(key_of(match[1]), Definition(match[2], match[3] or "", line))
    return "\n".join(rest), found


def used_labels(text: str) -> Iterator[str]:
    """Yield the label of each link by reference outside of code, as it is written, on one line."""
    prose = "\n".join("" if is_code else line for is_code, line in _lines(text))
    for paragraph in re.split(r"\n[ \t]*\n", prose):
        for match in _REFERENCE.finditer(_without_code_spans(paragraph)):
            yield " ".join(_LINE_START.sub(" ", match["label"] or match["words"]).split())


def missing_definitions(text: str, definitions: Mapping[str, Definition]) -> dict[str, Definition]:
    """Return the definitions that a text uses and does not have, by the label as the text writes it."""
    own = {key_of(match[1]) for is_code, line in _lines(text) if not is_code and (match := DEFINITION.match(line))}
    missing: dict[str, tuple[str, Definition]] = {}
    for label in used_labels(text):
        if (key := key_of(label)) in definitions and key not in own:
            missing.setdefault(label.casefold(), (label, definitions[key]))
    return dict(missing.values())


def key_of(label: str) -> str:
    """Return what labels of the same link share: letter case, white space and backslashes make no difference."""
    return " ".join(_ESCAPED.sub(r"\1", label).split()).casefold()


def _lines(text: str) -> Iterator[tuple[bool, str]]:
    """Yield each line, and whether it is code; a fence of a directive, such as a figure, has text in it."""
    marks, is_code, below_item, may_begin = "", False, False, True
    for line in text.split("\n"):
        fence = _FENCE.match(line)
        if fence and not marks:
            marks, is_code = fence["marks"], not fence["info"].strip().startswith("{")
            yield True, line
        elif fence and fence["marks"].startswith(marks) and not fence["info"].strip():
            marks = ""
            yield True, line
        elif marks:
            yield is_code, line
        else:
            is_indented = line.startswith(("    ", "\t"))
            yield is_indented and may_begin and not below_item, line
            below_item = below_item if is_indented or not line.strip() else bool(_ITEM.match(line))
            may_begin = not line.strip() or (is_indented and may_begin)


def _without_code_spans(paragraph: str) -> str:
    """Return a paragraph without its code; a run of backquotes that no other run closes is text."""
    runs, out, at = list(_TICKS.finditer(paragraph)), [], 0
    left = Counter(len(run[0]) for run in runs)
    opening = None
    for run in runs:
        left[len(run[0])] -= 1
        if opening is None and left[len(run[0])]:
            opening = run
            out.append(paragraph[at : run.start()])
        elif opening is not None and run[0] == opening[0]:
            opening, at = None, run.end()
    return "".join([*out, paragraph[at:]])
