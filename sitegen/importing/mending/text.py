"""Mend an imported text: take its mistakes, return the text without them and a warning for each mend."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from sitegen.diagnostics import Diagnostic, Severity, Span
from sitegen.importing.mending.places import block_around, line_around, offset_of
from sitegen.importing.mending.rules import RULES, Mend
from sitegen.read.source import split_front_matter

CODE = "SG610"
"""The code of the warnings."""
_HINT = "look at the place, and write it as you want it"


def mended(text: str, mistakes: Sequence[Diagnostic], *, whole_blocks: bool = False) -> tuple[str, list[Diagnostic]]:
    """Return the text with its mistakes mended, the last one first so that no place moves, and the warnings.

    A mistake that no rule mends is left for the next round.  With `whole_blocks`, the block around each mistake is
    shown as code.
    """
    first = len(text) - len(split_front_matter(text, "")[0].body.text)
    warnings, untouched = list[Diagnostic](), len(text)
    for mistake in sorted(mistakes, key=lambda mistake: mistake.span, reverse=True):
        at = offset_of(text, mistake.span.line, mistake.span.col)
        mend = _mend(text, at, mistake, first, whole_blocks=whole_blocks)
        if mend is None or mend.end > untouched:
            continue
        text, untouched = text[: mend.start] + mend.new + text[mend.end :], mend.start
        warnings.append(_warning(mistake.span, mend.said))
    return text, warnings[::-1]


def _mend(text: str, at: int, mistake: Diagnostic, first: int, *, whole_blocks: bool) -> Mend | None:
    if at < first:
        start, end = line_around(text, at)
        return Mend(start, end, f"# {text[start:end]}", f"`{text[start:end].strip()}` stands as a comment")
    if whole_blocks:
        start, end = block_around(text, at, first)
        shown = as_code(text[start:end]) if text[start:end].endswith("\n") else as_code(text[start:end]).rstrip("\n")
        return Mend(start, end, shown, f"this block stands as code: {mistake.message}")
    found = (rule(text, at, mistake) for rule in RULES.get(mistake.code, ()))
    return next((mend for mend in found if mend), None)


def shown_as_code(text: str, mistakes: Iterable[Diagnostic]) -> tuple[str, list[Diagnostic]]:
    """Return the text with everything below its front matter as one listing, and the warning."""
    body = split_front_matter(text, "")[0].body.text
    mistake = min(mistakes, key=lambda mistake: mistake.span)
    said = f"the text stands as code: {mistake.message}"
    return text[: len(text) - len(body)] + as_code(body), [_warning(mistake.span, said)]


def as_code(block: str) -> str:
    """Return a block as a listing."""
    marks = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`{3,}", block)), default=2))
    annotated = " annotate=false" if re.search(r"<\d+>", block) else ""
    return f"{marks}text{annotated}\n{block.strip(chr(10))}\n{marks}\n"


def _warning(span: Span, said: str) -> Diagnostic:
    return Diagnostic(CODE, said, span, _HINT, Severity.WARNING)
