"""Compare the cells of translations with those of their originals: a cell runs once, for all languages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sitegen.diagnostics import Diagnostic, did_you_mean
from sitegen.model.document import Cell, Document
from sitegen.model.linked import document_key, originals
from sitegen.model.site import Post, Site


def translated_cells(site: Site, documents: Mapping[str, Document]) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each cell of a translation that its original does not have in the same form."""
    first = {post.slug: post for post in originals(site)}
    for post in site.posts:
        if (original := first[post.slug]) is not post:
            yield from _differences(_cells(post, documents), _cells(original, documents), original.body.path)


def _differences(cells: Mapping[str, Cell], known: Mapping[str, Cell], path: str) -> Iterator[Diagnostic]:
    for label, cell in cells.items():
        if label not in known:
            hint = did_you_mean(label, known) or "a cell is measured where the post was written first: add it there"
            yield Diagnostic("SG209", f"no cell `{label}` in {path}", cell.span, hint)
        elif _executed(cell) != _executed(known[label]):
            hint = "the cells of a translation are those of its original, word for word"
            yield Diagnostic("SG209", f"the cell `{label}` is another in {path}", cell.span, hint)


def _executed(cell: Cell) -> tuple[object, ...]:
    """Return the parts of a cell that its run depends on; a caption is the translation's own."""
    return cell.language, cell.source, cell.implements, cell.launch, dict(cell.needs), cell.timeout_s, cell.raises


def _cells(post: Post, documents: Mapping[str, Document]) -> dict[str, Cell]:
    document = documents.get(document_key(post.body))
    return {cell.label: cell for cell in document.cells} if document else {}
