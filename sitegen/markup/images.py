"""Turn an image of a text into the slot that becomes its element, once the file is known."""

from __future__ import annotations

from collections.abc import Mapping

from markdown_it.token import Token

from sitegen.diagnostics import Span
from sitegen.markup.collected import Collected
from sitegen.markup.places import span_within, target_of
from sitegen.markup.words import plain_text
from sitegen.model.document import ImageSlot


def image(target: str, span: Span, attributes: Mapping[str, str], into: Collected) -> str:
    """Return the marker of an image's slot; the first image of a text is not lazy.

    `attributes` are those of the element without `src`; `alt` is among them.
    """
    first = not any(isinstance(slot, ImageSlot) for slot in into.slots)
    return into.slot(ImageSlot(target, span, tuple(attributes.items()), first))


def markdown_image(token: Token, into: Collected) -> str:
    """Return the marker of the slot of `![what it shows](plot.png)`."""
    target = target_of(token, "src")
    attributes = {name: str(value) for name, value in token.attrs.items() if name != "src"}
    attributes["alt"], span = plain_text(token.children or ()), span_within(token, target, into)
    if not attributes["alt"]:
        warn_without_words(span, f"write them as `![…]({target})`", into)
    return image(target, span, attributes, into)


def warn_without_words(span: Span, hint: str, into: Collected) -> None:
    into.warning("SG117", "an image needs words for those who do not see it", span, hint)
