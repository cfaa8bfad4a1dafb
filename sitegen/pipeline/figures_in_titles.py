"""Fill the figures of records into titles, descriptions and summaries, which every list, card and feed shows as plain
text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TypeVar

from sitegen.diagnostics import Diagnostic, Span
from sitegen.linking.kernel_refs import place_of
from sitegen.linking.value_refs import KnownNames, reference_mistakes
from sitegen.model.kernel import Kernel
from sitegen.model.site import Page, Post, Series, Site
from sitegen.model.titles import FIELDS, Titled, has_figures, titled
from sitegen.read.values import ValueMistake, parse_value, split_given
from sitegen.render.shared.language import language
from sitegen.render.texts.values import plain_figure
from sitegen.results.quantities import Measured, quantity_of

_ROLE = re.compile(r"\{(value|predicted|given|spec)\}(`+)(?!`)(.+?)(?<!`)\2(?!`)")
AnyTitled = TypeVar("AnyTitled", Post, Page, Kernel, Series)


def mistakes_in_titles(site: Site, known: KnownNames) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each figure in a title that cannot be read or has an unknown name."""
    for one in filter(has_figures, titled(site)):
        for role in (role for name in FIELDS[type(one)] for role in _ROLE.finditer(getattr(one, name))):
            yield from _mistakes(site, known, role, Span(_path(one)))


def with_figures(site: Site, measured: Measured, templates: Mapping[str, str]) -> Site:
    """Return the site with each figure in the place of its role, in the language of its text."""

    def fill(one: AnyTitled) -> AnyTitled:
        if not has_figures(one):
            return one
        spoken = language(getattr(one, "lang", "") or site.config.language, templates)

        def shown(role: re.Match[str]) -> str:
            return _shown(role, lambda expression: plain_figure(quantity_of(expression, measured), spoken))

        filled = {name: _ROLE.sub(shown, getattr(one, name)) for name in FIELDS[type(one)]}
        return replace(one, **filled)  # type: ignore[arg-type]

    return replace(
        site,
        posts=tuple(map(fill, site.posts)),
        pages=tuple(map(fill, site.pages)),
        kernels=tuple(map(fill, site.kernels)),
        series=tuple(map(fill, site.series)),
    )


def _shown(role: re.Match[str], read: Callable[..., str]) -> str:
    name, text = role[1], role[3].strip()
    if name == "given":
        return split_given(text)[0] or text
    if name == "spec":
        return text
    try:
        return read(parse_value(text, is_predicted=name == "predicted"))
    except ValueMistake:
        return text


def _mistakes(site: Site, known: KnownNames, role: re.Match[str], file: Span) -> Iterator[Diagnostic]:
    place = place_of(site, file, role[3].strip())
    if role[1] == "given" and not all(split_given(role[3])):
        hint = "write `{given}` with the figure and its source: `2.4 TB/s; arithmetic`"
        yield Diagnostic("SG136", "this figure has no source", place, hint)
    if role[1] not in ("value", "predicted"):
        return
    try:
        value = parse_value(role[3], is_predicted=role[1] == "predicted")
    except ValueMistake as mistake:
        yield Diagnostic("SG135", mistake.message, place_of(site, place, mistake.word), mistake.hint)
        return
    for reference in value.references:
        yield from reference_mistakes(site, known, reference, place)


def _path(one: Titled) -> str:
    if isinstance(one, Kernel):
        return f"{one.folder}/kernel.yaml"
    return one.span.path if isinstance(one, Series) else one.body.path
