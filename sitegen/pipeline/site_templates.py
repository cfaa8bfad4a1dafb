"""Turn Jinja's errors in a site's own templates into diagnostics, and find whether pages show their texts unchanged."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path

import jinja2

from sitegen.diagnostics import Diagnostic, Span, did_you_mean
from sitegen.render.shared.templates import TemplateFailure

TEMPLATES = "templates"
"""The folder of a site's own templates, which replace the theme's."""

_NO_FIELD = re.compile(r"'(sitegen\.[\w.]+)\.(\w+) object' has no attribute '(\w+)'")
_FIELDS = "the reference of templates lists the fields of each page"
_TAG = re.compile(r"\{\{.*?\}\}|\{%.*?%\}", re.DOTALL)
_UNCHANGED = re.compile(r"\{\{-?\s*(?:page\.body|(?:page|month)\.word_sum)\s*-?\}\}")
_CHANGED = re.compile(
    r"\.\s*(?:body|word_sum)\b|[\"'](?:body|word_sum)[\"']|\bpage\s*(?:[|\[]|-?\}\})|\bend(?:call|filter|set)\b"
)
"""A tag that shows something of a text other than its HTML, changes a sum of words, shows a page as a whole, or filters
the content of a block.
"""


def template_mistake(error: jinja2.TemplateError, root: Path, known: Iterable[str]) -> Diagnostic:
    """Return Jinja's error as a mistake of the author, with its place when Jinja knows it.

    `known` are the names of all templates.  Raises the error again when the site has no templates of its own.
    """
    if not (root / TEMPLATES).is_dir():
        raise error
    if isinstance(error, jinja2.TemplateNotFound):
        name = str(error.name)
        return Diagnostic("SG502", f"no template `{name}`", Span(TEMPLATES), did_you_mean(name, known))
    span = Span(TEMPLATES)
    if isinstance(error, (jinja2.TemplateSyntaxError, TemplateFailure)) and error.name:
        span = Span(f"{TEMPLATES}/{error.name}", error.lineno)
    if match := _NO_FIELD.match(str(error.message)):
        module, name, field = match.groups()
        names = [one.name for one in fields(getattr(sys.modules[module], name))]
        return Diagnostic("SG502", f"`{name}` has no field `{field}`", span, did_you_mean(field, names) or _FIELDS)
    if span.path.endswith(".json"):
        hint = "correct the JSON at this line"
        return Diagnostic("SG502", f"the words of a language cannot be read: {error.message}", span, hint)
    return Diagnostic("SG502", f"a template fails: {error.message}", span, "correct the template at this line")


def shows_texts_unchanged(templates: Mapping[str, str]) -> bool:
    """Return whether pages surely show nothing of a text but its HTML and sums of words, unchanged."""
    pages = (template for name, template in templates.items() if name.endswith(".html"))
    tags = (tag for template in pages for tag in _TAG.findall(template))
    return not any(_CHANGED.search(tag) and not _UNCHANGED.fullmatch(tag) for tag in tags)
