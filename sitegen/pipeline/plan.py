"""A linked site and the build before → the plan: which sheets are printed, and which files of the output stay."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sitegen.pipeline.build_state import PrintedSheet, stamp_of
from sitegen.pipeline.link_site import LinkedSite
from sitegen.pipeline.print_reasons import NEW, TOUCHED, reasons
from sitegen.pipeline.site_sheets import common_parts, is_image_form, site_sheets
from sitegen.render.rules.dependencies import TEXT, Part, key_of, key_of_parts
from sitegen.render.rules.rule import Sheet


@dataclass(frozen=True, slots=True)
class SheetFiles:
    """The files of a sheet: as the last build left them in the output, or printed now."""

    printed: PrintedSheet
    digests: frozenset[bytes]
    """The digests of files in what the sheet shows, but for its own text."""
    staged: Mapping[str, str] = field(default_factory=dict)
    """Printed now: the name in the staging folder by path, empty where the output has the same file already."""
    slot_contents: tuple[str, ...] | None = None
    """The contents of the slots of the post whose own page it is; None unless all are addresses and images."""


@dataclass(frozen=True, slots=True)
class FullPlan:
    """Which sheets of a site are printed when there is no output: all that are wanted."""

    site: LinkedSite
    sheets_to_print: Sequence[Sheet]


@dataclass(frozen=True, slots=True)
class UpdatePlan:
    """Which sheets of a site are printed, and which files of the output stay."""

    site: LinkedSite
    sheets_to_print: Sequence[Sheet]
    sheets: Mapping[str, Sheet]
    """All sheets by name, but those that are made of pages."""
    unchanged: Mapping[str, SheetFiles]
    """The sheets whose files stand in the output as they would be printed now."""
    comparison: Comparison


def plan_changed_pages(site: LinkedSite) -> UpdatePlan:
    """Plan to print the sheets that show something else than in the last build: all, when there was none."""
    with site.request.steps.step("compare"):
        sheets, comparison = site_sheets(site), Comparison(site)
        unchanged = {name: files for name, sheet in sheets.items() if (files := comparison.unchanged(sheet))}
        to_print = tuple(sheet for name, sheet in sheets.items() if name not in unchanged)
        return UpdatePlan(site, to_print, sheets, unchanged, comparison)


def plan_all_pages(site: LinkedSite, *, with_forms: bool = True) -> FullPlan:
    """Plan to print everything.  The forms of images take long to make when there are new ones, and may be left out."""
    return FullPlan(site, [sheet for sheet in site_sheets(site).values() if with_forms or not is_image_form(sheet)])


class Comparison:
    """Compares the sheets of a site with those of the last build.

    Where no sheet can be unchanged, for there was no build or all pages show something else now, no sheet is asked what
    it shows until a worker prints it.
    """

    def __init__(self, site: LinkedSite) -> None:
        files = site.parsed.files
        self._output, self._previous = site.request.output, files.previous
        self._common = common_parts(site)
        self._parts = key_of(self._common)[1]
        before, now = files.previous.digests if files.previous else {}, site.parsed.digests
        self._changed = sorted(p for p in {*before, *now} if before.get(p) != now.get(p)) if before else []

    def unchanged(self, sheet: Sheet) -> SheetFiles | None:
        """Return the files of a sheet in the output; None when they would be different now."""
        before = self._before(sheet)
        if before is None or before.parts[: len(self._parts)] != self._parts:
            return None
        shows = sheet.shows()
        same = before.key == key_of_parts((*self._parts, *key_of(shows)[1]))
        return SheetFiles(before, _digests(shows)) if same and self._stands(before) else None

    def printed(self, sheet: Sheet, staged: Mapping[str, str], slot_contents: tuple[str, ...] | None) -> SheetFiles:
        """Return the files of a sheet that was printed now, with the reasons for which it was."""
        own = sheet.shows()
        shows, parts = (*self._common, *own), (*self._parts, *key_of(own)[1])
        key, names = key_of_parts(parts), tuple(part.what for part in shows)
        before = self._before(sheet)
        why = NEW if before is None else TOUCHED if before.key == key else reasons(shows, parts, before, self._changed)
        return SheetFiles(PrintedSheet(key, parts, names, tuple(staged), why), _digests(own), staged, slot_contents)

    def _before(self, sheet: Sheet) -> PrintedSheet | None:
        return self._previous.sheets.get(sheet.name) if self._previous else None

    def _stands(self, before: PrintedSheet) -> bool:
        """Return whether all files of a sheet stand in the output as they were written."""
        assert self._previous is not None
        stamps = self._previous.outputs
        return all(stamp_of(f"{self._output}/{path}") == stamps.get(path, ()) for path in before.files)


def _digests(shows: Iterable[Part]) -> frozenset[bytes]:
    """Return the digests of files in what a sheet shows, but for the text on its own page."""
    values = (part.value for part in shows if part.files and part.what != TEXT)
    return frozenset(digest for value in values for digest in _digests_in(value))


def _digests_in(value: object) -> Iterator[bytes]:
    """Yield the digests in a value.  Most values are words, so the type is asked in the fastest way."""
    if type(value) is bytes:
        yield value
    elif type(value) is tuple:
        for one in value:
            if type(one) is not str:
                yield from _digests_in(one)
