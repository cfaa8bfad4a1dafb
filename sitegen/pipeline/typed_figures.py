"""Warn of figures that are typed into prose, and offer the `{value}` that a record gives."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from sitegen.diagnostics import Diagnostic, Severity, Span
from sitegen.markup.typed_figures import TypedFigure, typed_figures, typed_in_line
from sitegen.model.figure_table import CEILING_NAMES, FIGURES, Unit, ceiling_unit
from sitegen.model.kernel import Kernel
from sitegen.model.linked import Linked
from sitegen.model.site import Exercise, Page, Post, Term
from sitegen.model.titles import FIELDS
from sitegen.model.value import CellName, FigureReference, Source
from sitegen.read.source import split_front_matter
from sitegen.results.quantities import PROBES, Measured, figure

TYPED_FIGURE = "SG137"
_LIMIT = re.compile(r"\b(?:at (?:most|least)|(?:more|less) than|exceeds|within|up to|above|below|fills?)[ \u00a0±−*]*$")
"""Words before a figure that is a limit."""
_PREDICTION = ("predict", "예측")
"""Words of a line whose figures are predictions."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A role, and the value that it shows in the unit."""

    role: str
    value: float
    unit: Unit
    figure: str
    names: tuple[str, ...] = ()
    """The names in it: implementation, baseline, workload."""

    def named_in(self, line: str) -> int:
        """Return how many of its names stand in a line of prose."""
        return sum(name in line for name in self.names)


def typed_in_file(path: str, text: str) -> tuple[TypedFigure, ...]:
    """Return the typed figures of the title, the description and the body of a file."""
    body = split_front_matter(text, path)[0].body
    lines = text.split("\n")
    keys = tuple(f"{name}:" for name in FIELDS[Post])
    head = body.first_line - 1
    heads = ((number, line) for number, line in enumerate(lines[:head]) if line.startswith(keys))
    in_head = (typed for number, line in heads for typed in typed_in_line(number, line))
    return (*in_head, *(replace(typed, line=typed.line + head) for typed in typed_figures(lines[head:])))


def typed_figure_warnings(
    linked: Linked,
    texts: Mapping[str, str],
    kernels_of: Mapping[str, Iterable[str]],
    measured: Measured,
    typed_in: Callable[[str, str], Iterable[TypedFigure]],
) -> Iterator[Diagnostic]:
    """Yield a warning for each typed figure in posts, pages, terms and exercises of a site that has kernels.

    A figure of the worklog is one of its day, and needs no record.

    `texts` are the files of the site; `kernels_of` gives the kernels that a post shows, by its path.  `typed_in`
    is `typed_in_file`, or a function that keeps its results.
    """
    offers, site = Offers(measured), linked.site
    if not site.kernels:
        return
    bodies: list[Post | Page | Term | Exercise] = [*site.posts, *site.pages, *site.terms, *site.exercises]
    for path in dict.fromkeys(one.body.path for one in bodies):
        text = texts.get(path, "")
        ours, lines = tuple(kernels_of.get(path, ())), text.split("\n")
        for typed in typed_in(path, text):
            if ours or not _is_limit(typed, lines[typed.line]):
                yield _warning(typed, path, offers, ours or tuple(measured.kernels), lines[typed.line])


def _is_limit(typed: TypedFigure, line: str) -> bool:
    """Tell whether a share, a ratio or a time is a limit that the text states: `at most 4 ×`, `exceeds 1 %`.

    It may be one only in a text without kernels, such as a manual: beside a kernel, `more than 90 %` is a result.
    """
    return typed.unit in (Unit.SHARE, Unit.RATIO, Unit.MICROSECONDS) and bool(_LIMIT.search(line[: typed.col]))


def _warning(typed: TypedFigure, path: str, offers: Offers, kernels: Iterable[str], line: str) -> Diagnostic:
    span = Span(path, typed.line + 1, typed.col + 1, len(typed.text))
    nearest = offers.nearest(typed, kernels, line)
    given = f"{{given}}`{typed.text}; …` with its source"
    if nearest:
        hint = f"write {nearest.role}, or if another figure is meant {given}"
    else:
        hint = f"no record of a kernel of this text has it: correct it, or write {given}"
    return Diagnostic(TYPED_FIGURE, f"the figure `{typed.text}` is typed", span, hint, Severity.WARNING)


class Offers:
    """The figures of the records, by kernel; those of a kernel are computed when the first text asks for them."""

    def __init__(self, measured: Measured) -> None:
        self._measured = measured
        self._by_kernel: dict[str, tuple[Offer, ...]] = {}

    def nearest(self, typed: TypedFigure, kernels: Iterable[str], line: str) -> Offer | None:
        """Return the offer that rounds to a typed figure, None when there is none.

        Of several it is the one with the most of its names in the line, and of these the nearest.
        """
        is_prediction = any(word in line.lower() for word in _PREDICTION)
        offers = [one for name in kernels for one in self._of_kernel(name)] + list(self._ceilings)
        wanted = [
            one
            for one in offers
            if one.unit is typed.unit and typed.is_near(one.value) and typed.figure in ("", one.figure)
        ]
        preferred = [one for one in wanted if one.role.startswith("{predicted}") is is_prediction]
        order = [(-one.named_in(line), abs(one.value - typed.value)) for one in preferred or wanted]
        return (preferred or wanted)[order.index(min(order))] if order else None

    def _of_kernel(self, name: str) -> tuple[Offer, ...]:
        if name not in self._by_kernel:
            kernel = self._measured.kernels.get(name)
            self._by_kernel[name] = tuple(_offers(kernel, self._measured)) if kernel else ()
        return self._by_kernel[name]

    @cached_property
    def _ceilings(self) -> tuple[Offer, ...]:
        offers = []
        for name in CEILING_NAMES:
            known = figure(FigureReference(Source.CEILING, name), self._measured)
            if known.value is not None:
                offers.append(Offer(f"{{value}}`ceiling {name}`", known.value, ceiling_unit(name), name))
        return tuple(offers)


def _offers(kernel: Kernel, measured: Measured) -> Iterator[Offer]:
    """Yield every figure of a kernel that prose may quote."""
    ours = [made.name for made in kernel.implementations]
    subjects = [*ours, *kernel.baselines, *PROBES]
    wanted = [(name, "") for name, unit in FIGURES.items() if unit in _OFFERED]
    wanted += [("x", name) for name in (*kernel.baselines, *ours)]
    for workload in kernel.workloads:
        for dtype in kernel.dtypes:
            for name in subjects:
                for kind, argument in wanted if name not in PROBES else wanted[:3]:
                    cell = CellName(workload.name, dtype)
                    reference = FigureReference(Source.EVALUATION, kind, kernel.name, name, cell, argument)
                    known = figure(reference, measured)
                    if known.value is not None and name != argument:
                        where = f"{kernel.name}/{name}@{workload.name}:{dtype} {kind} {argument}".strip()
                        names = (name, workload.name.split("x")[-1], *([argument] if argument else []))
                        yield Offer(f"{{value}}`{where}`", known.value, reference.unit, kind, names)
    for made in kernel.implementations:
        if made.predicted_of_ceiling is not None:
            yield Offer(
                f"{{predicted}}`{kernel.name}/{made.name}`", made.predicted_of_ceiling, Unit.SHARE, "of-ceiling"
            )


_OFFERED = frozenset({Unit.MICROSECONDS, Unit.BYTES_PER_S, Unit.FLOPS_PER_S, Unit.SHARE, Unit.RATIO, Unit.COUNT})
