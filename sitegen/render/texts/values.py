"""Write the figures of records within a sentence: with unit and digits, a link to the evidence, and their sources.

The style sheet shows `data-from` at the pointer and at the focus.  The list at the end of the text, to which each
figure refers by `aria-describedby`, is for screen readers, for print and for feeds.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from functools import partial

from markupsafe import Markup

from sitegen.model.document import Document, ValueSlot
from sitegen.model.urls import absolute, ceilings_url, kernel_url, relative
from sitegen.model.value import ValueExpression
from sitegen.render.inputs.sources import Sources
from sitegen.render.shared import numbers
from sitegen.render.shared.figure_text import figure_text
from sitegen.render.shared.frame import Printer
from sitegen.render.shared.language import PageLanguage
from sitegen.results.quantities import Measured, Origin, Quantity, quantity_of

SourceName = tuple[str, str, str]
"""Kernel, GPU and run of a measurement."""


def figures_in(printer: Printer, document: Document, here: str, lang: str) -> Mapping[int, Markup]:
    """Return the HTML of each figure of a text, by the index of its slot."""
    quantities, spoken = _quantities(printer, document), printer.language(lang)
    numbered = _numbered(quantities)
    shown = partial(_figure, measured=printer.sources.recorded, numbered=numbered, here=here, spoken=spoken)
    return {at: shown(slot, quantity) for at, (slot, quantity) in quantities.items()}


def sources_of_figures(printer: Printer, document: Document, here: str, lang: str) -> Markup:
    """Return the list of the measurements from which the figures of a text come; empty when no figure is known."""
    quantities, spoken, sources = _quantities(printer, document), printer.language(lang), printer.sources
    prefix = next((slot.id_prefix for slot, _ in quantities.values()), "")
    origins = {_source(o): o for _, one in reversed(quantities.values()) for o in reversed(one.origins)}
    entries = Markup("\n").join(
        Markup('<li id="{}">{}</li>').format(f"{prefix}source-{number}", _entry(origins[name], spoken, here, sources))
        for name, number in _numbered(quantities).items()
    )
    if not entries:
        return Markup()
    title = spoken.say("Where the figures come from")
    return Markup('<section class="sources"><h2>{}</h2>\n<ol>\n{}\n</ol></section>\n').format(title, entries)


def plain_figures(printer: Printer, document: Document, lang: str, first: int = 0) -> Mapping[int, str]:
    """Return each figure of a text as plain text, by the index of its slot, from a slot on."""
    spoken = printer.language(lang)
    quantities = _quantities(printer, document).items()
    return {at: plain_figure(quantity, spoken) for at, (_, quantity) in quantities if at >= first}


def plain_figure(quantity: Quantity, spoken: PageLanguage) -> str:
    """Return a figure for a title or a description: `4.04 TB/s`, `4.04 TB/s (stale)`, `[not measured yet]`."""
    if quantity.missing is not None:
        return f"[{spoken.say(quantity.missing)}]"
    text = figure_text(quantity)
    return f"{text} ({spoken.say('stale')})" if quantity.stale else text


def _quantities(printer: Printer, document: Document) -> dict[int, tuple[ValueSlot, Quantity]]:
    return {
        at: (slot, quantity_of(slot.value, printer.sources.recorded))
        for at, slot in enumerate(document.slots)
        if isinstance(slot, ValueSlot)
    }


def _numbered(quantities: Mapping[int, tuple[ValueSlot, Quantity]]) -> Mapping[SourceName, int]:
    names = dict.fromkeys(_source(origin) for _, one in quantities.values() for origin in one.origins)
    return {name: number for number, name in enumerate(names, start=1)}


def _source(origin: Origin) -> SourceName:
    return origin.kernel, origin.gpu, origin.run_id


def _figure(
    slot: ValueSlot,
    quantity: Quantity,
    measured: Measured,
    numbered: Mapping[SourceName, int],
    here: str,
    spoken: PageLanguage,
) -> Markup:
    if quantity.missing is not None:
        why = spoken.say(quantity.missing)
        return Markup('<span class="figure-absent" title="{}">[{}]</span>').format(slot.value.text, why)
    text, stale, record = figure_text(quantity), quantity.stale, record_of(slot.value)
    said = Markup('<span class="vh said"> ({})</span>').format(spoken.say("stale")) if stale else Markup()
    if slot.is_linked or not quantity.origins:
        return Markup('<span data-record="{}">{}{}</span>').format(record, text, said)
    used = [numbered[name] for name in dict.fromkeys(map(_source, quantity.origins))]
    return Markup(
        '<a class="figure{}" href="{}" data-record="{}" data-from="{}" data-n="{}" aria-describedby="{}">{}{}</a>'
    ).format(
        " stale" if stale else "",
        href_of(quantity.origins[0], measured, here),
        record,
        "\n".join(_facts(quantity, spoken)),
        ", ".join(map(str, used)),
        " ".join(f"{slot.id_prefix}source-{number}" for number in used),
        text,
        said,
    )


def record_of(value: ValueExpression) -> str:
    """Return the records of an expression as `sitegen verify` reads them: kernels, or `ceilings`."""
    return " ".join(dict.fromkeys(reference.kernel or "ceilings" for reference in value.references))


def href_of(origin: Origin, measured: Measured, here: str) -> str:
    """Return the link to the evidence: the implementation on the page of its kernel, or the ceilings of the GPU."""
    kernel = measured.kernels.get(origin.kernel)
    if kernel is None:
        return relative(ceilings_url(origin.gpu), here)
    is_ours = any(made.name == origin.name for made in kernel.implementations)
    return relative(f"{kernel_url(kernel.name)}#{origin.name if is_ours else f'record-{origin.gpu}'}", here)


def _facts(quantity: Quantity, spoken: PageLanguage) -> Iterator[str]:
    """Yield the lines of the note at the pointer."""
    yield from (f"{one.kernel}/{one.name} {one.cell}" for one in dict.fromkeys(quantity.origins) if one.name)
    if quantity.low < quantity.high:
        low, high = (numbers.figure(end, quantity.unit, 4) for end in (quantity.low, quantity.high))
        yield spoken.say("95 % interval {low} to {high}", low=low, high=high)
    yield from dict.fromkeys(machine_and_day(origin, spoken) for origin in quantity.origins)
    if quantity.stale:
        yield spoken.say("stale: {why}", why=quantity.stale)


def machine_and_day(origin: Origin, spoken: PageLanguage) -> str:
    return f"{origin.run.environment.gpu}, {spoken.day(dt.date.fromisoformat(origin.run.date))}"


def _entry(origin: Origin, spoken: PageLanguage, here: str, sources: Sources) -> Markup:
    run = origin.run
    machine = run.environment
    facts = [
        *([origin.kernel] if origin.kernel else []),
        machine_and_day(origin, spoken),
        spoken.say("run {id}", id=run.id),
        f"{spoken.say('driver')} {machine.driver}",
        f"torch {machine.torch}",
        f"Triton {machine.triton}",
    ]
    url = f"{kernel_url(origin.kernel)}{origin.gpu}.json" if origin.kernel else ceilings_url(origin.gpu)
    link = Markup('<a href="{}">{}</a>').format(relative(url, here), absolute(url, sources.config))
    return Markup("{}, {}").format(", ".join(facts), link)
