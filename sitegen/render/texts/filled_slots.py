"""Fill the slots in a Document's HTML: links, images, listings, cells, tables and charts of measurements.

The modules that draw measurements are imported where they are used: most texts show none, and an edited text should not
wait for the import.
"""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup, escape

from sitegen.linking.kernel_refs import implementations_by_name
from sitegen.markup.code import code_figure
from sitegen.markup.differences import kernel_listing
from sitegen.model.document import (
    BenchmarkSlot,
    CellSlot,
    CiteSlot,
    ClaimSlot,
    Document,
    FileSlot,
    ImageSlot,
    LinkSlot,
    ListingSlot,
    OutputSlot,
    PlotSlot,
    Slot,
    TermSlot,
    ValueSlot,
    fill_slots,
)
from sitegen.model.linked import document_key
from sitegen.model.site import Post, WorklogEntry
from sitegen.model.urls import day_url, kernel_url, relative
from sitegen.render.inputs.implementations import file_name, language_of, source_of
from sitegen.render.shared.frame import Printer
from sitegen.render.shared.placeholder import absent
from sitegen.render.texts.images import render_image

_PLAIN = (LinkSlot, ImageSlot, FileSlot, TermSlot)
"""The slots whose content is an address or an image.  A tuple, because making a union for each slot takes longer."""


@dataclass(frozen=True, slots=True)
class Place:
    """The place on the site where a Document is shown."""

    name: str
    """The Document's key."""
    here: str
    """The page's URL."""
    post: Post | None = None
    """The post whose cells stand in the Document."""
    lang: str = ""
    """The language of the text; empty means that of the site."""


def fill(printer: Printer, document: Document, place: Place) -> Markup:
    """Return the HTML of a text with all slots filled, and its list of references."""
    return printer.of_text(place.name, lambda html: filled(printer, document, place, html))


def filled(printer: Printer, document: Document, place: Place, fragment: str) -> Markup:
    """Return the HTML of a text, `fragment`, with all slots filled, and its list of references."""
    html = Markup(_translated(fill_slots(fragment, contents_of(printer, document, place)), printer, place))
    if any(isinstance(slot, ValueSlot) for slot in document.slots):
        from sitegen.render.texts.values import sources_of_figures

        html += sources_of_figures(printer, document, place.here, place.lang)
    works = printer.sources.linked.references.get(place.name)
    if not works:
        return html
    from sitegen.render.texts.citations import references

    return html + references(document, works, printer.language(place.lang))


def _translated(html: str, printer: Printer, place: Place) -> str:
    """Return a text in another language than English with the words of its tables and charts in that language."""
    spoken = printer.language(place.lang)
    if not spoken.words:
        return html
    from sitegen.render.texts.figure_words import in_its_language

    return in_its_language(html, spoken)


def contents_of(printer: Printer, document: Document, place: Place) -> list[str]:
    """Return the content of each slot, in order."""
    contents = [str(fill_slot(printer, document, place, index)) for index in range(len(document.slots))]
    if not any(isinstance(slot, ValueSlot) for slot in document.slots):
        return contents
    from sitegen.render.texts.values import figures_in

    shown = figures_in(printer, document, place.here, place.lang)
    contents = [str(shown.get(index, content)) for index, content in enumerate(contents)]
    return [fill_slots(content, contents) for content in contents]  # figures in the captions of tables and charts


def plain_contents(printer: Printer, text: Post | WorklogEntry) -> tuple[str, ...] | None:
    """Return the contents of the slots of a post or a day when all of them are addresses, images or terms, and there is
    no list of references; else None.
    """
    document, name = printer.sources.document(text.body), document_key(text.body)
    plain = all(isinstance(slot, _PLAIN) for slot in document.slots)
    if not plain or printer.sources.linked.references.get(name):
        return None
    place = Place(name, day_url(text.date)) if isinstance(text, WorklogEntry) else _place_of_post(printer, name, text)
    return tuple(contents_of(printer, document, place))


def _place_of_post(printer: Printer, name: str, post: Post) -> Place:
    return Place(name, printer.sources.post_url(post), post, post.lang)


def fill_slot(printer: Printer, document: Document, place: Place, index: int) -> Markup:
    """Return the content of one slot."""
    slot: Slot = document.slots[index]
    if isinstance(slot, _PLAIN):
        target = printer.sources.linked.hrefs.get(
            (place.name, index), "" if isinstance(slot, TermSlot) else slot.target
        )
        if isinstance(slot, ImageSlot):
            return render_image(slot, target, printer.sources.linked, place.here)
        return escape(relative(target, place.here))
    if isinstance(slot, ValueSlot):
        return Markup()  # `contents_of` fills them all together, because they share their notes
    if isinstance(slot, ClaimSlot):
        from sitegen.render.texts.claims import render_claim

        return render_claim(printer, slot, place.here, place.lang)
    if isinstance(slot, CiteSlot):
        from sitegen.render.texts.citations import citation

        return citation(slot, printer.sources.linked.references.get(place.name))
    if isinstance(slot, ListingSlot):
        return _listing(printer, slot, place) + _run_line(printer, document, place, index)
    if isinstance(slot, CellSlot):
        from sitegen.render.measurements.cells import render_cell

        cell = next(cell for cell in document.cells if cell.label == slot.label)
        return render_cell(printer, cell, slot.number, place.post, place.here)
    if isinstance(slot, OutputSlot):
        from sitegen.render.measurements import cell_outputs

        return cell_outputs.render_output(printer, slot, place.post, printer.language(place.lang))
    if isinstance(slot, BenchmarkSlot):
        from sitegen.render.measurements import benchmark_table

        return benchmark_table.render_slot(printer, slot, place.here, f"b{index}")
    if isinstance(slot, PlotSlot):
        from sitegen.render.measurements import plots

        return plots.render_slot(printer, slot, place.post, place.here, f"p{index}")
    from sitegen.render.measurements import kernel_charts

    return kernel_charts.render_slot(printer, slot, place.here, f"f{index}")


def _run_line(printer: Printer, document: Document, place: Place, index: int) -> Markup:
    """Return how to run the implementation of a listing, at its first listing in the text."""
    from sitegen.render.downloads.run_lines import implementation_line

    slot = document.slots[index]
    kernel = printer.sources.kernel(slot.kernel) if isinstance(slot, ListingSlot) else None
    if kernel is None or not isinstance(slot, ListingSlot):
        return Markup()
    one = next((one for one in kernel.implementations if one.name == slot.implementation), None)
    earlier = [before for before in document.slots[:index] if isinstance(before, ListingSlot)]
    shown = any((before.kernel, before.implementation) == (slot.kernel, slot.implementation) for before in earlier)
    if one is None or shown or not source_of(printer.sources.site, one):
        return Markup()
    return implementation_line(printer, kernel, one, place.here, place.lang)


def _listing(printer: Printer, slot: ListingSlot, place: Place) -> Markup:
    """Return the source of an implementation, or a named region of it, with a link to its kernel."""
    kernel = printer.sources.kernel(slot.kernel)
    known = implementations_by_name(kernel) if kernel else {}
    implementation, before = known.get(slot.implementation), known.get(slot.against)
    source = source_of(printer.sources.site, implementation) if implementation else ""
    if implementation is None or not source:
        name = f"{slot.kernel}/{slot.implementation}"
        return absent(printer, f"The source of {name} is not here.")
    old = source_of(printer.sources.site, before) if before else None
    anchor = f"#{implementation.name}" if kernel and implementation in kernel.implementations else ""
    code, look, regions = kernel_listing(source, slot.region, slot.look, old)
    spoken = printer.language(place.lang)
    return Markup(
        code_figure(
            code,
            language_of(implementation),
            look,
            regions=regions,
            title=f"{slot.kernel}/{file_name(implementation)}",
            region=slot.region,
            against=file_name(before) if before else "",
            href=relative(kernel_url(slot.kernel) + anchor, place.here),
            label=spoken.say("Source of {title}", title=f"{slot.kernel} {implementation.name}"),
            spoken=spoken,
        )
    )
