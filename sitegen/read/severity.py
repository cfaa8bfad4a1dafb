"""Lower the severity of diagnostics by the place of the mistake."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from sitegen.diagnostics import Diagnostic, Severity


def worklog_never_fails(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Return the diagnostics with those in a worklog as warnings, whatever stage reported them."""
    return tuple(
        replace(d, severity=Severity.WARNING) if d.span.path.startswith("content/worklog/") else d for d in diagnostics
    )
