"""What Jinja says of a site's own template → a diagnostic."""

from __future__ import annotations

from collections.abc import Iterable

import jinja2

from sitegen.diagnostics import Diagnostic, Span, did_you_mean

TEMPLATES = "templates"
"""The folder of a site's own templates, which stand over the theme's."""


def of_template(error: jinja2.TemplateError, known: Iterable[str]) -> Diagnostic:
    """A site's own template is the author's text: what Jinja says of it, at its place where Jinja knows that."""
    if isinstance(error, jinja2.TemplateNotFound):
        name = str(error.name)
        return Diagnostic("SG502", f"no template `{name}`", Span(TEMPLATES), did_you_mean(name, known))
    span = Span(TEMPLATES)
    if isinstance(error, jinja2.TemplateSyntaxError) and error.name:
        span = Span(f"{TEMPLATES}/{error.name}", error.lineno)
    return Diagnostic("SG502", f"a template fails: {error.message}", span)
