"""Print all posts of a series as one page, for reading at a stretch and for paper, and as one Markdown file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import chain

from markupsafe import Markup

from sitegen.model.linked import document_key
from sitegen.model.site import Post, Series
from sitegen.model.urls import SERIES, relative, series_markdown_url, series_text_url, series_url
from sitegen.render.inputs.sources import Sources
from sitegen.render.outputs.markdown_twins import post_as_markdown
from sitegen.render.shared import numbers
from sitegen.render.shared.frame import Link, Printer
from sitegen.render.shared.structured import COLLECTION
from sitegen.render.texts.filled_slots import Place, filled
from sitegen.render.texts.kept_text import kept_text
from sitegen.render.texts.side_by_side import one_level_lower, with_prefix, without_landmarks


@dataclass(frozen=True, slots=True)
class TextPart:
    """A post on the page of all posts."""

    id: str
    """Its slug, which is also the prefix of the ids in its text."""
    number: int
    phase: str
    """The phase that begins with it, `Phase 1, Memory`; empty for every other post."""
    title: str
    lede: str
    day: str
    href: str
    """The link to the post's own page."""
    text: Markup


@dataclass(frozen=True, slots=True)
class SeriesText:
    stylesheet: str
    series: Link
    tagline: str
    size: str
    markdown: Link
    """The Markdown file, which lies beside the page, with the name under which it is saved."""
    parts: tuple[TextPart, ...]

    @property
    def body(self) -> Markup:
        """All texts, from which the frame sees whether there is a formula."""
        return Markup().join(part.text for part in self.parts)


def series_text_files(printer: Printer, series: Series) -> dict[str, str]:
    """Return the page with all posts of a series and its Markdown file, by output path."""
    sources, here, file = printer.sources, series_text_url(series.id), series_markdown_url(series.id)
    parts = tuple(_parts(sources, series))
    words = sum(sources.document(post.body).words for _, post in parts)
    places = {relative(sources.post_url(post), here): post.slug for _, post in parts}
    page = SeriesText(
        stylesheet=relative(sources.assets["series.css"], here),
        series=Link(series.title, relative(series_url(series.id), here)),
        tagline=series.tagline,
        size=f"{numbers.count(len(parts), 'post')}, {numbers.count(words, 'word')}",
        markdown=Link(f"{series.id}.md", file.rpartition("/")[2]),
        parts=tuple(_part(printer, *part, number, here, places) for number, part in enumerate(parts, 1)),
    )
    title, description = f"{series.title}: all posts on one page", series.tagline
    path, html = printer.page(
        "series_text.html", here, page, title=title, description=description, section=SERIES, about=COLLECTION
    )
    return {path: html, file: _markdown(printer, file, series)}


def _parts(sources: Sources, series: Series) -> Iterator[tuple[str, Post]]:
    """Yield each post once, in the order of the series, with the phase that begins with it, `Phase 1, Memory`."""
    seen: set[str] = set()
    for number, (phase, entries) in enumerate(zip(series.phases, sources.entries[series.id], strict=True), 1):
        title = f"Phase {number}, {phase.title}" if phase.title else ""
        for post in entries:
            if isinstance(post, Post) and post.slug not in seen:
                seen.add(post.slug)
                yield title, post
                title = ""


def _part(printer: Printer, phase: str, post: Post, number: int, here: str, places: Mapping[str, str]) -> TextPart:
    sources = printer.sources
    return TextPart(
        id=post.slug,
        number=number,
        phase=phase,
        title=post.title,
        lede=post.description,
        day=sources.stamp(post.date),
        href=relative(sources.post_url(post), here),
        text=kept_text(printer, here, post, partial(_text, printer, post, here, places), tuple(places.items())),
    )


def _text(printer: Printer, post: Post, here: str, places: Mapping[str, str], html: str) -> Markup:
    place = Place(document_key(post.body), here, post, post.lang)
    own = filled(printer, printer.sources.document(post.body), place, html)
    return with_prefix(without_landmarks(one_level_lower(own)), post.slug, places)


def _markdown(printer: Printer, file: str, series: Series) -> str:
    """Return the posts as one file, in which each phase and each post begins with a heading of the first level."""
    head = [f"# {series.title}\n", *([f"> {series.tagline}\n"] if series.tagline else [])]
    posts = (
        [
            *([f"# {phase}\n"] if phase else []),
            str(kept_text(printer, file, post, partial(_as_markdown, printer, post))),
        ]
        for phase, post in _parts(printer.sources, series)
    )
    return "\n".join([*head, *chain.from_iterable(posts)])


def _as_markdown(printer: Printer, post: Post, html: str) -> str:
    return post_as_markdown(printer, post)
