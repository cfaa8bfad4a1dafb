"""Print every page of a linked site and its records.  The function is pure: the same values give the same bytes."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping

from sitegen.model.document import Document
from sitegen.model.linked import Linked
from sitegen.render.inputs.evidence import Evidence
from sitegen.render.inputs.sources import Drawn, Sources, draw_again
from sitegen.render.rules.discovery_rules import sitemap
from sitegen.render.rules.site_rules import sheets
from sitegen.render.shared.frame import Printer
from sitegen.render.shared.theme import Theme, environment


def render_site(
    linked: Linked,
    documents: Mapping[str, Document],
    evidence: Evidence,
    *,
    as_of: dt.date,
    theme: Theme,
    assets: Mapping[str, str],
    probes: Mapping[str, str],
    program_parts: Mapping[str, str],
    drawn: Drawn = draw_again,
) -> dict[str, str | bytes]:
    """Return all pages, feeds and data files by output path, sorted.

    `documents` are by `document_key`.  `assets` gives the URL of each asset of the theme by its name, such as
    `site.css`; the caller writes the assets.  `probes` are the sources of the ceiling probes, by file name.
    `program_parts` are the modules of downloaded programs, by name.  `drawn` may keep drawings that take long.
    """
    fragments = {name: document.html for name, document in documents.items()}
    sources = Sources(
        linked,
        documents,
        fragments,
        as_of,
        assets,
        load_evidence=lambda: evidence,
        load_probes=lambda: probes,
        load_program_parts=lambda: program_parts,
        drawn=drawn,
    )
    printer = Printer(sources, environment(theme))
    pages: dict[str, str | bytes] = {}
    listed: list[tuple[str, str]] = []
    for sheet in sheets(sources):
        made = sheet.make(printer)
        listed += ((path, sheet.modified) for path in made) if sheet.listed else ()
        pages |= made
    pages |= sitemap(listed).make(printer)
    return dict(sorted(pages.items()))
