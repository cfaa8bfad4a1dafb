"""content/worklog/*.md → days."""

from __future__ import annotations

from collections.abc import Mapping

from sitegen.diagnostics import Diagnostic
from sitegen.model.site import Markdown, WorklogEntry


def parse_worklog(
    files: Mapping[str, str],
) -> tuple[tuple[WorklogEntry, ...], Markdown | None, tuple[Diagnostic, ...]]:
    return (), None, ()
