"""Parse an edited post, and return its document when no other page shows anything new of the post."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sitegen.markup.parse import parse_post_text
from sitegen.markup.pieces import Pieces
from sitegen.model.document import Document
from sitegen.model.site import Markdown
from sitegen.pipeline.additions import site_additions
from sitegen.pipeline.catalogues import vocabulary
from sitegen.pipeline.parsed_part import PiecePlace
from sitegen.pipeline.patchable_pages import PatchablePage
from sitegen.pipeline.request import BuildRequest
from sitegen.pipeline.text_interface import interface_of_text
from sitegen.read.source import decode, split_front_matter


@dataclass(frozen=True, slots=True)
class EditedText:
    """A text of which its own page alone shows something new."""

    content: bytes | str
    """The identity of its content, as `rules.keys` has it."""
    document: Document
    pieces: tuple[PiecePlace, ...]
    body: Markdown


def edited_post(
    request: BuildRequest, page: PatchablePage, path: str, data: bytes, digest: bytes, known: Mapping[bytes, str]
) -> EditedText | None:
    """Return the post in a file; None when it has a mistake, or something new that other pages show.

    `known` are the pieces of the text before the edit.
    """
    text, unreadable = decode(data, path)
    text = request.privacy.published(text, path)
    front, broken = split_front_matter(text, path)
    if unreadable or broken:
        return None
    pieces, spoken = Pieces(known), vocabulary(page.lang, request.root)
    document, mistakes = parse_post_text(front.body, pieces, spoken, site_additions(request.root)[0])
    above = text.removesuffix(front.body.text)
    if mistakes or interface_of_text(above, document) != page.interface:
        return None
    return EditedText(digest, document, pieces.places(document.html), front.body)
