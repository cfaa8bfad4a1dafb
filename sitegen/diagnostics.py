"""An author's mistake, as data and as text: where it stands, what is wrong, what to do.

Every room returns `Diagnostic`s beside its result instead of raising, so that one run reports
all mistakes of a site.  `render_diagnostics` is the only printer; the terminal and the browser
overlay show the same text.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    ERROR = "error"
    """The build fails, the previous output stays."""
    WARNING = "warning"
    """Printed, and the build goes on."""


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A place in an author's file; lines and columns count from 1, as editors do."""

    path: str
    """Relative to the site's root, with forward slashes."""
    line: int = 1
    col: int = 1
    length: int = 1
    """Characters that the caret line marks."""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One mistake: `code` is permanent (`SG012`), `hint` says what to do."""

    code: str
    message: str
    span: Span
    hint: str = ""
    severity: Severity = Severity.ERROR


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`did you mean `x`?` when a known word is close to this one, else an empty string."""
    close = difflib.get_close_matches(word, sorted(set(known)), n=1, cutoff=0.6)
    return f"did you mean `{close[0]}`?" if close else ""


def has_errors(diagnostics: Iterable[Diagnostic]) -> bool:
    return any(d.severity is Severity.ERROR for d in diagnostics)


def in_reading_order(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Without repetitions, by file and position: the order in which an author mends them."""
    return tuple(sorted(dict.fromkeys(diagnostics), key=lambda d: (d.span, d.code, d.message)))


def render_diagnostic(diagnostic: Diagnostic, text: str | None) -> str:
    """Headline, place, the offending line with a caret, and the hint.  `text` is the whole file."""
    span = diagnostic.span
    headline = f"{diagnostic.severity}[{diagnostic.code}]: {diagnostic.message}"
    place = f"  {span.path}:{span.line}:{span.col}"
    return "\n".join([headline, place, *_frame(diagnostic, text)])


def _frame(diagnostic: Diagnostic, text: str | None) -> list[str]:
    span, hint = diagnostic.span, diagnostic.hint
    lines = text.removesuffix("\n").split("\n") if text else []  # as editors count: a form feed ends no line
    if not 0 < span.line <= len(lines):
        return [f"    hint: {hint}"] if hint else []
    number, source = str(span.line), lines[span.line - 1]
    caret = " " * (span.col - 1) + "^" * max(1, min(span.length, len(source) - span.col + 1))
    gutter = " " * len(number)
    return [f"    {number} | {source}", f"    {gutter} | {caret} {hint}".rstrip()]


def render_diagnostics(diagnostics: Iterable[Diagnostic], texts: Mapping[str, str]) -> str:
    """All of them in reading order, a blank line between two; `texts` maps a path to its text."""
    ordered = in_reading_order(diagnostics)
    return "\n\n".join(render_diagnostic(d, texts.get(d.span.path)) for d in ordered)


def render_report(diagnostics: Collection[Diagnostic], texts: Mapping[str, str]) -> str:
    """All of them and their count; empty when there are none."""
    if not diagnostics:
        return ""
    errors = sum(d.severity is Severity.ERROR for d in diagnostics)
    counts = (_number(errors, "error"), _number(len(diagnostics) - errors, "warning"))
    return f"{render_diagnostics(diagnostics, texts)}\n\n{', '.join(counts)}"


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
