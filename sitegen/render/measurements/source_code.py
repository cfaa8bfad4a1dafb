"""Turn the sources of a kernel's implementations into folded listings: a source, and its difference to another."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from sitegen.markup.code import listing
from sitegen.markup.differences import difference
from sitegen.markup.regions import unmarked
from sitegen.model.kernel import Implementation, Kernel
from sitegen.model.listing import NUMBERED, Look
from sitegen.model.urls import kernel_url
from sitegen.render.inputs.implementations import file_name, language_of, source_of
from sitegen.render.shared import numbers
from sitegen.render.shared.frame import Printer

MOST_FOLDED = 60_000
"""The most characters of source that a kernel's page folds in, so that the page stays below 60 KB gzipped, also with
the records of two GPUs.

Of a kernel with more, the page folds in what each step changed, and its sources stand beside their SASS.
"""
MOST_DIFFERENT = 150
"""The most lines of a difference on the page of a kernel whose sources stand elsewhere: a longer one is nearly a new
program."""
CONTEXT = 2
"""The number of equal lines that stand before and after each difference."""
_LEAST_EQUAL = 0.2
"""The least share of equal lines for which a difference is shown; below it the program is a new one."""
_GAP = Markup('<span class="ln gap">⋯\n</span>')
_MANY_BLANK = re.compile(r"\n(?:[ \t]*\n){3,}")
_REGISTER = re.compile(r"\b(U?[RP])\d+\b")
_CHANGED = re.compile(r"<(?:ins|del)\b")


@dataclass(frozen=True, slots=True)
class SourceListing:
    """The lines of a source, or of its difference to another one, behind a summary."""

    summary: str
    label: str
    """The name of the scroller for readers who do not see it."""
    language: str
    """The language as an author writes it behind a fence, `cuda`."""
    numbered: bool
    lines: Markup


def folds_sources(printer: Printer, kernel: Kernel) -> bool:
    """Return whether the sources of a kernel are short enough for its own page."""
    site = printer.sources.site
    return sum(len(source_of(site, one)) for one in kernel.implementations) <= MOST_FOLDED


def source_url(kernel: Kernel, implementation: Implementation) -> str:
    """Return the URL of the source as text, which a browser shows instead of saving it."""
    return f"{kernel_url(kernel.name)}{file_name(implementation)}.txt"


def _shown(printer: Printer, one: Implementation) -> str:
    """Return a source without the lines that mark regions, and with at most two blank lines in one place: a mark stands
    between blank lines.
    """
    return _MANY_BLANK.sub("\n\n\n", unmarked(source_of(printer.sources.site, one))[0])


def source_listing(printer: Printer, one: Implementation) -> SourceListing | None:
    """Return the listing of a source with line numbers; None when there is no source."""
    code = _shown(printer, one)
    if not code:
        return None
    language = language_of(one)
    summary = f"Source, {numbers.count(len(code.splitlines()), 'line')}"
    lines = printer.html_of((code, language), lambda: "".join(listing(code, language, NUMBERED)))
    return SourceListing(summary, f"Source of {one.name}", language, numbered=True, lines=lines)


def difference_listing(printer: Printer, before: Implementation, after: Implementation) -> SourceListing | None:
    """Return the lines around each difference of two sources; None when they are equal, in two languages, or differ in
    most of their lines.
    """
    old, new = (_shown(printer, one) for one in (before, after))
    if not old or not new or old == new or language_of(before) != language_of(after):
        return None
    lines = printer.html_of((old, new, language_of(after)), lambda: _difference(old, new, language_of(after)))
    if not lines:
        return None
    label = f"Source of {after.name} against that of {before.name}"
    return SourceListing(f"Source against {file_name(before)}", label, language_of(after), numbered=False, lines=lines)


def short_difference(printer: Printer, before: Implementation, after: Implementation) -> SourceListing | None:
    """Return the difference for a page that does not fold in the sources; None for a long one."""
    found = difference_listing(printer, before, after)
    return found if found and found.lines.count("\n") <= MOST_DIFFERENT else None


def sass_difference(printer: Printer, before: str, old: str, after: str, new: str) -> SourceListing:
    """Return the lines around each difference of the SASS of two implementations, `before` and `after`.

    The numbers of registers do not count: another number of the same kind of register is no difference.
    """
    lines = printer.html_of((old, new, "sass"), lambda: _sass_difference(old, new))
    label = f"SASS of {after} against that of {before}"
    return SourceListing(f"SASS against {before}", label, "sass", numbered=False, lines=lines)


def _sass_difference(old: str, new: str) -> str:
    joined, look, _ = difference(old, new, {}, Look(), _without_registers)
    html = listing(joined, "text", look)
    return "".join(_near(html, [at for at, line in enumerate(html) if _CHANGED.match(line)]))


def _without_registers(sass: str) -> str:
    return _REGISTER.sub(lambda register: register[1], sass)


def _difference(old: str, new: str, language: str) -> str:
    """Return the HTML of a difference; empty when fewer than a fifth of the lines are equal."""
    joined, look, _ = difference(old, new, {}, Look())
    html = listing(joined, language, look)
    changed = [at for at, line in enumerate(html) if _CHANGED.match(line)]
    if len(html) - len(changed) < _LEAST_EQUAL * len(html):
        return ""
    return "".join(_near(html, changed))


def _near(html: Sequence[str], changed: Sequence[int]) -> list[str]:
    """Return the changed lines with their context, and a gap where equal lines are left out between them."""
    kept = sorted({at + n for at in changed for n in range(-CONTEXT, CONTEXT + 1)} & set(range(len(html))))
    shown: list[str] = []
    for before, at in zip([-1, *kept], kept, strict=False):
        shown += [_GAP] if at != before + 1 else []
        shown.append(html[at])
    return shown
