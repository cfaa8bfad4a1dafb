"""Compare the figures of a built site with those that its records give now: counts, and a doubt for each that differs.

The site is printed again in memory, through the same formatters, and the pages are compared figure by figure.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import zip_longest
from pathlib import Path

from sitegen import inside
from sitegen.model.site import Site
from sitegen.model.titles import FIELDS, titled
from sitegen.model.urls import CEILINGS, KERNELS
from sitegen.pipeline.in_memory import SiteInMemory
from sitegen.render.outputs.page_figures import PageFigure, figures_of_page
from sitegen.results.records import Records

_EVERY = (KERNELS.strip("/"), CEILINGS.strip("/"))
"""The names of all kernels together, and of the ceilings of all GPUs, in `data-record`."""


class DoubtKind(StrEnum):
    DIFFERENT = "different"
    """The page has another figure than its record gives."""
    UNTRACED = "untraced"
    """No element of the page says which record the figure comes from."""
    UNKNOWN_RECORD = "unknown record"
    """The element names a record that the site does not have."""
    OTHER_PAGE = "other page"
    """The site prints no such page, the folder lacks one, or the page has more or fewer figures."""


@dataclass(frozen=True, slots=True)
class PageDoubt:
    """A figure of a built page, or a page, that cannot be traced to a record."""

    kind: DoubtKind
    path: str
    """The path of the page below the output folder."""
    message: str
    figure: PageFigure | None = None


@dataclass(frozen=True, slots=True)
class VerifiedPages:
    """The figures of the pages of an output folder."""

    pages: int
    found: int
    traced: int
    doubts: tuple[PageDoubt, ...]

    @property
    def untraced(self) -> int:
        return sum(doubt.kind in (DoubtKind.UNTRACED, DoubtKind.UNKNOWN_RECORD) for doubt in self.doubts)

    @property
    def wrong(self) -> tuple[PageDoubt, ...]:
        """The doubts of which one makes the folder wrong, not only incomplete."""
        return tuple(d for d in self.doubts if d.kind in (DoubtKind.DIFFERENT, DoubtKind.OTHER_PAGE))


def verify_pages(out: Path, printed: SiteInMemory) -> VerifiedPages:
    """Compare every HTML page below a folder with the page that the site prints now.  Raises OSError."""
    texts = {path: str(text) for path, text in printed.files.items() if path.endswith(".html")}
    built = {path: inside.read_bytes(out, path).decode() for path in sorted(_pages_below(out))}
    names, site = record_names(printed.loaded.site, printed.loaded.records), printed.loaded.site
    written = "\n".join(getattr(one, name) for one in titled(site) for name in FIELDS[type(one)])
    found, doubts = 0, [*_other_pages(built, texts)]
    for path in built.keys() & texts.keys():
        figures = figures_of_page(built[path])
        found += len(figures)
        doubts += _doubts(path, figures, figures_of_page(texts[path]), names, written)
    in_figures = sum(doubt.figure is not None for doubt in doubts)
    order = sorted(doubts, key=lambda one: (one.path, one.figure.line if one.figure else 0))
    return VerifiedPages(len(built), found, found - in_figures, tuple(order))


def record_names(site: Site, records: Records) -> frozenset[str]:
    """Return the words that `data-record` may have: the kernels, the posts with cells that ran, the GPUs with a record,
    and the names of all kernels and of all ceilings.
    """
    posts = {f"posts/{post}" for post, _, _ in records.cells}
    gpus = {*records.gpus(), *(gpu for _, _, gpu in records.cells)}
    return frozenset({*_EVERY, *(kernel.name for kernel in site.kernels), *posts, *gpus})


def _pages_below(out: Path) -> Iterator[str]:
    return (path for path in inside.files_below(out) if path.endswith(".html"))


def _other_pages(built: Collection[str], printed: Collection[str]) -> Iterator[PageDoubt]:
    for path in sorted(set(built) - set(printed)):
        yield PageDoubt(DoubtKind.OTHER_PAGE, path, "the site prints no such page")
    for path in sorted(set(printed) - set(built)):
        yield PageDoubt(DoubtKind.OTHER_PAGE, path, "the page is missing")


def _doubts(
    path: str,
    figures: tuple[PageFigure, ...],
    printed: tuple[PageFigure, ...],
    names: Collection[str],
    written: str,
) -> Iterator[PageDoubt]:
    """Yield a doubt for each figure of a page, at most one for each.

    `written` are the titles and descriptions of the site.  `sitegen check` finds what is typed into them.
    """
    if len(figures) != len(printed):
        message = f"it has {len(figures)} figures, and the site prints {len(printed)}: build it again"
        yield PageDoubt(DoubtKind.OTHER_PAGE, path, message)
    for figure, other in zip_longest(figures, printed):
        if figure is None or other is None:
            return
        if (figure.text, figure.words, figure.record) != (other.text, other.words, other.record):
            yield PageDoubt(DoubtKind.DIFFERENT, path, _difference(figure, other), figure)
            if figure.record != other.record or len(figures) != len(printed):
                return  # what follows is compared with figures of other places
        elif not figure.record and figure.words not in written:
            yield PageDoubt(DoubtKind.UNTRACED, path, f"no record is named for `{figure.text}`", figure)
        elif unknown := [word for word in figure.record.split() if word not in names]:
            message = f"`{figure.text}` names a record that the site does not have: {', '.join(unknown)}"
            yield PageDoubt(DoubtKind.UNKNOWN_RECORD, path, message, figure)


def _difference(figure: PageFigure, other: PageFigure) -> str:
    record = f"{figure.record} gives" if figure.record else "the site prints"
    if figure.text == other.text:
        return f"beside `{figure.text}` stands “{figure.words[:60]}”, and {record} “{other.words[:60]}”"
    return f"the page says `{figure.text}`, and {record} `{other.text}`"
