"""Collect the diagnostics of an import, each with file and line.

SG601 Liquid · SG602 front matter · SG603 link or image · SG604 HTML · SG605 kramdown · SG606 a file that is left out
SG607 an address that cannot be kept · SG608 date · SG609 _config.yml
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from sitegen.diagnostics import Diagnostic, Severity, Span


@dataclass(slots=True)
class ImportReport:
    """The diagnostics of one import, and the texts of the source by path, from which their frames are cut."""

    texts: dict[str, str] = field(default_factory=dict)
    diagnostics: list[Diagnostic] = field(default_factory=list)

    def warn(self, code: str, message: str, span: Span, hint: str = "") -> None:
        self.diagnostics.append(Diagnostic(code, message, span, hint, Severity.WARNING))

    def error(self, code: str, message: str, span: Span, hint: str = "") -> None:
        self.diagnostics.append(Diagnostic(code, message, span, hint))

    def span_of(self, words: str, path: str, line: int) -> Span:
        """Return the place of the first line of `words` in a line of a file; the whole line where it is not there."""
        lines = _lines(self.texts.get(path, ""))
        source = lines[line - 1] if 0 < line <= len(lines) else ""
        first = words.strip().partition("\n")[0]
        col = source.find(first) if first else -1
        if col >= 0:
            return Span(path, line, col + 1, len(first))
        indent = len(source) - len(source.lstrip())
        return Span(path, line, indent + 1, max(len(source.strip()), 1))


@lru_cache(maxsize=1)
def _lines(text: str) -> Sequence[str]:
    """Return the lines of a text; those of the last one are kept, because a text may have thousands of warnings."""
    return text.split("\n")


@dataclass(slots=True)
class UnknownKeys:
    """Keys of front matter that mean nothing to sitegen, with every place of each key."""

    destinations: dict[str, list[Span]] = field(default_factory=dict)

    def add(self, key: str, span: Span) -> None:
        self.destinations.setdefault(key, []).append(span)

    def tell(self, report: ImportReport) -> None:
        """Report each key once, with all its places."""
        for key, (first, *others) in self.destinations.items():
            also = f"; also in {', '.join(f'{span.path}:{span.line}' for span in others)}" if others else ""
            hint = f"it stays in the file as a comment{also}"
            report.warn("SG602", f"front matter key `{key}` has no place here", first, hint)
