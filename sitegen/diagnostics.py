"""Hold an author's mistake as data, and render it as text: its place, what is wrong, what to do.

Every room returns `Diagnostic`s beside its result instead of raising, so that one run reports
all mistakes of a site.  `render_diagnostics` is the only printer; the terminal and the browser
overlay show the same text.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

_UNPRINTABLE = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Pattern of characters, other than white space, that control a terminal, that show the text around them in another
order, or that cannot be written in UTF-8."""
FRAME_WIDTH = 160
"""Most characters of a source line that are shown; a longer line is cut around the column."""
MOST_CHARACTERS = 1000
"""Most characters of a message or a hint that are printed: both may quote the author's text."""
MOST_OF_A_FILE, MOST_IN_ALL = 50, 200
"""Most diagnostics that a report shows of one file, and of all files; it counts the others."""

UNQUOTED = frozenset({"SG504", "SG506"})
"""Codes of diagnostics whose marked line is not printed: it has a private word, and strangers may read a log."""


class Severity(StrEnum):
    """The effect of a mistake on a build."""

    ERROR = "error"
    """The build fails, and the previous output stays."""
    WARNING = "warning"
    """The mistake is printed, and the build goes on."""


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A place in an author's file; lines and columns count from 1, as editors do."""

    path: str
    """Relative to the site's root, with forward slashes."""
    line: int = 1
    col: int = 1
    length: int = 1
    """Number of characters that are marked."""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One mistake; `code` (`SG012`) is permanent, `hint` says what to do."""

    code: str
    message: str
    span: Span
    hint: str = ""
    severity: Severity = Severity.ERROR
    fix: str | None = None
    """The text that mends the mistake in place of the marked one; None when a person must decide."""


def near_words(word: str, known: Iterable[str]) -> list[str]:
    """Return the known words that are close to this one, the closest first; case comes last among the differences."""
    words = sorted(set(known))
    same = [one for one in words if one.lower() == word.lower()]
    return [*same, *(one for one in difflib.get_close_matches(word, words, cutoff=0.6) if one not in same)]


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return `did you mean `x`?` when a known word is close to this one, else an empty string."""
    close = near_words(word, known)
    return f"did you mean `{close[0]}`?" if close else ""


def has_errors(diagnostics: Iterable[Diagnostic]) -> bool:
    """Tell whether a build with these diagnostics fails."""
    return any(d.severity is Severity.ERROR for d in diagnostics)


def in_reading_order(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Return the diagnostics without repetitions, sorted by file and position, as an author corrects them."""
    return tuple(sorted(dict.fromkeys(diagnostics), key=lambda d: (d.span, d.code, d.message)))


def render_diagnostic(diagnostic: Diagnostic, text: str | None) -> str:
    """Return headline, place, the marked line and the hint; `text` is the content of the file, None when unknown."""
    return _rendered(diagnostic, _lines_of(text), 0)


def _lines_of(text: str | None) -> list[str]:
    """Return the lines as editors count them: only a line feed ends one, a form feed does not."""
    return text.removesuffix("\n").split("\n") if text else []


def _rendered(diagnostic: Diagnostic, lines: list[str], repeated: int) -> str:
    """Return one diagnostic as text; `repeated` is the number of equal ones on its line after it."""
    span = diagnostic.span
    headline = f"{diagnostic.severity}[{diagnostic.code}]: {_clipped(diagnostic.message)}"
    place = f"  {span.path}:{span.line}:{span.col}"
    again = [f"    … and {repeated:,} more on this line"] if repeated else []
    shown = [] if diagnostic.code in UNQUOTED else lines
    text = "\n".join([headline, place, *_frame(span, _clipped(diagnostic.hint), shown), *again])
    return printable(text)


def printable(text: str) -> str:
    """Return a text that cannot control a terminal or reverse its letters: what may do so becomes U+FFFD."""
    return _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def _frame(span: Span, hint: str, lines: list[str]) -> list[str]:
    """Return the line of the span, at most FRAME_WIDTH characters of it, and the line with caret and hint."""
    if not 0 < span.line <= len(lines):
        return [f"    hint: {hint}"] if hint else []
    number, (source, col) = str(span.line), _window(lines[span.line - 1], span.col)
    caret = " " * (col - 1) + "^" * max(1, min(span.length, len(source) - col + 1))
    gutter = " " * len(number)
    return [f"    {number} | {source}", f"    {gutter} | {caret} {hint}".rstrip()]


def _window(source: str, col: int) -> tuple[str, int]:
    """Return the part of a long line around a column, with `…` for omitted text, and the column in that part."""
    if len(source) <= FRAME_WIDTH:
        return source, min(col, len(source) + 1)
    begin = max(0, min(col - 1 - FRAME_WIDTH // 2, len(source) - FRAME_WIDTH))
    end = begin + FRAME_WIDTH
    left, right = ("…" if begin else ""), ("…" if end < len(source) else "")
    return f"{left}{source[begin:end]}{right}", min(col - 1, len(source)) - begin + len(left) + 1


def _clipped(text: str) -> str:
    return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]}…"


def render_diagnostics(diagnostics: Iterable[Diagnostic], texts: Mapping[str, str]) -> str:
    """Return the diagnostics as text in reading order, a blank line between two; `texts` maps a path to its text.

    Diagnostics beyond MOST_OF_A_FILE in one file, or MOST_IN_ALL in all files, are only counted, by code.
    """
    once = _once_a_line(in_reading_order(diagnostics))
    shown = _shown(once)
    lines: dict[str, list[str]] = {}
    parts = []
    for one in shown:
        path = one.span.path
        if path not in lines:
            lines[path] = _lines_of(texts.get(path))
        parts.append(_rendered(one, lines[path], once[one] - 1))
    return "\n\n".join([*parts, *_left_out(once, shown)])


def _once_a_line(ordered: Iterable[Diagnostic]) -> dict[Diagnostic, int]:
    """Map the first of equal diagnostics on one line to their number."""
    firsts: dict[tuple[str, str, str, str, int], Diagnostic] = {}
    counts: dict[Diagnostic, int] = {}
    for one in ordered:
        said = (one.severity, one.code, one.message, one.span.path, one.span.line)
        first = firsts.setdefault(said, one)
        counts[first] = counts.get(first, 0) + 1
    return counts


def _shown(ordered: Collection[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Return the diagnostics that are printed, in the same order; when there are too many, warnings go first."""
    if len(ordered) <= MOST_OF_A_FILE:
        return tuple(ordered)
    of_file: dict[str, int] = {}
    chosen: set[Diagnostic] = set()
    for one in sorted(ordered, key=lambda d: d.severity is not Severity.ERROR):
        count = of_file.get(one.span.path, 0)
        if count < MOST_OF_A_FILE and len(chosen) < MOST_IN_ALL:
            of_file[one.span.path] = count + 1
            chosen.add(one)
    return tuple(one for one in ordered if one in chosen)


def _left_out(ordered: Mapping[Diagnostic, int], shown: Collection[Diagnostic]) -> list[str]:
    """Return a line for each code with hidden diagnostics: `… and 12 more of SG301, the first at a.md:7:1`."""
    if len(ordered) == len(shown):
        return []
    hidden: dict[str, list[Diagnostic]] = {}
    for one in ordered.keys() - set(shown):
        hidden.setdefault(one.code, []).append(one)
    lines = []
    for code, some in sorted(hidden.items()):
        first = min(one.span for one in some)
        count = sum(ordered[one] for one in some)
        lines.append(f"… and {count:,} more of {code}, the first at {first.path}:{first.line}:{first.col}")
    return ["\n".join(lines)]


def errors_of(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Return the errors among diagnostics, in the same order."""
    return tuple(one for one in diagnostics if one.severity is Severity.ERROR)


def render_report(
    diagnostics: Collection[Diagnostic], texts: Mapping[str, str], *, without_warnings: bool = False
) -> str:
    """Return all diagnostics or the errors as text, and the numbers of all; empty when there are none."""
    if not diagnostics:
        return ""
    errors = errors_of(diagnostics)
    counts = f"{_number(len(errors), 'error')}, {_number(len(diagnostics) - len(errors), 'warning')}"
    rendered = render_diagnostics(errors if without_warnings else diagnostics, texts)
    return f"{rendered}\n\n{counts}" if rendered else counts


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
