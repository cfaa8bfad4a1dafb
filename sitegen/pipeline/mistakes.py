"""Turn the mistakes of a site into the report that the author sees, and into the exception that ends a build."""

from __future__ import annotations

from collections.abc import Collection

from sitegen.diagnostics import Diagnostic, render_report
from sitegen.pipeline.read_files import SiteFiles
from sitegen.pipeline.request import MistakesError
from sitegen.read.texts import LazyTexts


def report_of(diagnostics: Collection[Diagnostic], files: SiteFiles) -> str:
    """Return the mistakes as the author sees them, each with its line."""
    return render_report(diagnostics, texts_of(files))


def texts_of(files: SiteFiles) -> LazyTexts:
    """Return the text of every file of a site, which a mistake may be in: also of templates and data."""
    return LazyTexts(files.request.root, files.signatures, files.request.privacy.published)


def mistakes_error(diagnostics: Collection[Diagnostic], files: SiteFiles) -> MistakesError:
    """Return the exception for a build that ends because of these mistakes."""
    return MistakesError(diagnostics, report_of(diagnostics, files))
