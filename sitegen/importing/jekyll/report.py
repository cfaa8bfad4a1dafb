"""What an import says of its source, each with file and line.

SG601 Liquid · SG602 front matter · SG603 link or image · SG604 HTML · SG605 kramdown · SG606 a file that is left out
SG607 an address that cannot be kept · SG608 date · SG609 _config.yml
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sitegen.diagnostics import Diagnostic, Severity, Span


@dataclass(slots=True)
class Report:
    """Collects; `texts` are those of the source."""

    texts: dict[str, str] = field(default_factory=dict)
    found: list[Diagnostic] = field(default_factory=list)

    def warn(self, code: str, message: str, span: Span, hint: str = "") -> None:
        self.found.append(Diagnostic(code, message, span, hint, Severity.WARNING))

    def error(self, code: str, message: str, span: Span, hint: str = "") -> None:
        self.found.append(Diagnostic(code, message, span, hint))

    def span_of(self, words: str, path: str, line: int) -> Span:
        """Where the first line of `words` stands in that line of the file; without it, the whole line."""
        lines = self.texts.get(path, "").split("\n")
        source = lines[line - 1] if 0 < line <= len(lines) else ""
        first = words.strip().partition("\n")[0]
        col = source.find(first) if first else -1
        if col >= 0:
            return Span(path, line, col + 1, len(first))
        indent = len(source) - len(source.lstrip())
        return Span(path, line, indent + 1, max(len(source.strip()), 1))


@dataclass(slots=True)
class Placeless:
    """Keys of front matter that mean nothing here, each named once with all places where it stands."""

    places: dict[str, list[Span]] = field(default_factory=dict)

    def add(self, key: str, span: Span) -> None:
        self.places.setdefault(key, []).append(span)

    def tell(self, report: Report) -> None:
        for key, (first, *others) in self.places.items():
            also = f"; also in {', '.join(f'{span.path}:{span.line}' for span in others)}" if others else ""
            hint = f"it stays in the file as a comment{also}"
            report.warn("SG602", f"front matter key `{key}` has no place here", first, hint)
