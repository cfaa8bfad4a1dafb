"""A site's own templates → what Jinja says of them as a diagnostic, and what may be relied upon."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import jinja2

from sitegen.diagnostics import Diagnostic, Span, did_you_mean
from sitegen.render.shared.templates import TemplateFailure

TEMPLATES = "templates"
"""The folder of a site's own templates, which stand over the theme's."""

_TAG = re.compile(r"\{\{.*?\}\}|\{%.*?%\}", re.DOTALL)
_AS_IT_IS = re.compile(r"\{\{-?\s*page\.body\s*-?\}\}")
_OTHERWISE = re.compile(r"\.\s*body\b|[\"']body[\"']|\bpage\s*(?:[|\[]|-?\}\})|\bend(?:call|filter|set)\b")
"""Something else of a text than its HTML, a page as a whole, or a block whose content goes through something."""


def of_template(error: jinja2.TemplateError, known: Iterable[str]) -> Diagnostic:
    """A site's own template is the author's text: what Jinja says of it, at its place where Jinja knows that."""
    if isinstance(error, jinja2.TemplateNotFound):
        name = str(error.name)
        return Diagnostic("SG502", f"no template `{name}`", Span(TEMPLATES), did_you_mean(name, known))
    span = Span(TEMPLATES)
    if isinstance(error, (jinja2.TemplateSyntaxError, TemplateFailure)) and error.name:
        span = Span(f"{TEMPLATES}/{error.name}", error.lineno)
    return Diagnostic("SG502", f"a template fails: {error.message}", span)


def shows_texts_as_they_are(templates: Mapping[str, str]) -> bool:
    """Whether what a page shows of its text is sure to be the text's HTML and nothing that is made of it."""
    pages = (template for name, template in templates.items() if name.endswith(".html"))
    tags = (tag for template in pages for tag in _TAG.findall(template))
    return not any(_OTHERWISE.search(tag) and not _AS_IT_IS.fullmatch(tag) for tag in tags)
