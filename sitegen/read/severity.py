"""Mistakes → how much they weigh where they stand."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from sitegen.diagnostics import Diagnostic, Severity


def worklog_never_fails(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Whatever stands in a worklog is a warning, whichever stage found it."""
    return tuple(
        replace(d, severity=Severity.WARNING) if d.span.path.startswith("content/worklog/") else d for d in diagnostics
    )
