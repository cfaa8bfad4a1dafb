"""Write the table of contents of a book as a series: titles and paths in, the file of a series out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sitegen.importing.folders.placing import Place
from sitegen.importing.jekyll.yaml_text import scalar
from sitegen.write.scaffold import slug_of


def series_of(
    title: str, chapters: Iterable[tuple[str, Sequence[str]]], places: Mapping[str, Place]
) -> Mapping[str, str]:
    """Return a series of the posts in the order of the parts, each a phase; none without posts."""
    phases: list[str] = []
    for part, paths in chapters:
        slugs = [places[path].slug for path in paths if path in places and places[path].section == "posts"]
        if slugs:
            phases.append(f"  - title: {scalar(part or 'Chapters')}\n    posts: [{', '.join(slugs)}]\n")
    series = f"title: {scalar(title)}\nphases:\n{''.join(phases)}"
    return {f"series/{slug_of(title) or 'book'}.yaml": series} if phases else {}
