"""Find what is wrong with the redaction list of a site as a whole: it is required and missing, or git tracks it."""

from __future__ import annotations

import os
from collections.abc import Iterator

from sitegen.diagnostics import Diagnostic, Span
from sitegen.execute.git import git
from sitegen.model.site import SiteConfig
from sitegen.pipeline.request import BuildRequest
from sitegen.read.privacy import FILE, VARIABLE
from sitegen.read.root import SITE_FILE


def list_mistakes(request: BuildRequest, config: SiteConfig) -> Iterator[Diagnostic]:
    """Yield the mistakes in the redaction list, and say when it is required and missing, or in the repository."""
    privacy = request.privacy
    yield from privacy.mistakes
    if config.redact and not privacy.is_listed:
        hint = f"write {FILE} beside content/, or put its text into the variable {VARIABLE}"
        yield Diagnostic("SG505", "`redact: required`, and there is no redaction list", Span(SITE_FILE), hint)
    if os.path.lexists(request.root / FILE) and git(request.root, "ls-files", "--", FILE):
        hint = f"`git rm --cached {FILE}`, and add it to .gitignore; older commits still have it"
        yield Diagnostic("SG507", f"git tracks {FILE}, with the words that nobody should read", Span(FILE), hint)
