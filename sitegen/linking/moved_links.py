"""Find the links of a site that lead to an old address, which an alias redirects, and give each the new one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sitegen.diagnostics import Diagnostic, Severity
from sitegen.linking.targets import redirects_of
from sitegen.model import urls
from sitegen.model.document import Document, LinkSlot
from sitegen.model.linked import document_key, texts
from sitegen.model.site import Site


def moved_links(site: Site, documents: Mapping[str, Document]) -> Iterator[Diagnostic]:
    """Yield a warning for each link from the site's root, as `/old/#anchor`, whose page has another address now."""
    moved = redirects_of(site)
    for text in texts(site) if moved else ():
        document = documents.get(document_key(text))
        for slot in document.slots if document else ():
            if not isinstance(slot, LinkSlot) or not slot.target.startswith("/"):
                continue
            place, sign, anchor = slot.target.partition("#")
            if (new := moved.get(urls.address(place))) is not None:
                now = f"/{new}{sign}{anchor}"
                fix = now if slot.span.length == len(slot.target) else None
                message = f"`{slot.target}` is an old address of this page"
                yield Diagnostic("SG215", message, slot.span, f"write `{now}`", Severity.WARNING, fix)
