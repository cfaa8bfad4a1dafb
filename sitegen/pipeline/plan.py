"""Compare a linked site with the build before, and plan which sheets are printed and which files stay."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sitegen.pipeline.build_state import PrintedSheet, stamp_of
from sitegen.pipeline.link_site import LinkedSite
from sitegen.pipeline.print_reasons import NEW, TOUCHED, reasons
from sitegen.pipeline.site_sheets import common_dependencies, is_image_form, site_sheets
from sitegen.render.rules.dependencies import TEXT, Dependency, key_of, key_of_digests
from sitegen.render.rules.sheet import Sheet


@dataclass(frozen=True, slots=True)
class SheetFiles:
    """The files of a sheet: those that the last build left in the output, or those that were printed now."""

    printed: PrintedSheet
    digests: frozenset[bytes]
    """The digests of files among its dependencies, except the digest of its own text."""
    staged: Mapping[str, str] = field(default_factory=dict)
    """The name in the staging folder of each file that was printed now, by path; empty when the output has the same
    file.
    """
    slot_contents: tuple[str, ...] | None = None
    """The contents of the slots on the own page of a post or a day; None unless all are addresses, images or terms."""


@dataclass(frozen=True, slots=True)
class FullPlan:
    """The sheets to print when there is no output: all that are wanted."""

    site: LinkedSite
    sheets_to_print: Sequence[Sheet]


@dataclass(frozen=True, slots=True)
class UpdatePlan:
    """The sheets to print, and the files of the output that stay."""

    site: LinkedSite
    sheets_to_print: Sequence[Sheet]
    sheets: Mapping[str, Sheet]
    """All sheets by name, except those that are made from pages."""
    unchanged: Mapping[str, SheetFiles]
    """The sheets whose files in the output would be printed the same now."""
    comparison: Comparison


def plan_changed_pages(site: LinkedSite) -> UpdatePlan:
    """Plan to print the sheets whose dependencies changed since the last build; all when there was none."""
    with site.request.steps.step("plan"):
        sheets, comparison = site_sheets(site), Comparison(site)
        unchanged = {name: files for name, sheet in sheets.items() if (files := comparison.unchanged(sheet))}
        to_print = tuple(sheet for name, sheet in sheets.items() if name not in unchanged)
        return UpdatePlan(site, to_print, sheets, unchanged, comparison)


def plan_all_pages(site: LinkedSite, *, with_forms: bool = True) -> FullPlan:
    """Plan to print everything.  New forms of images take long to make, and may be left out."""
    return FullPlan(site, [sheet for sheet in site_sheets(site).values() if with_forms or not is_image_form(sheet)])


class Comparison:
    """The comparison of a site's sheets with those of the last build.

    When no sheet can be unchanged, because there was no build before or because a dependency of all pages changed, the
    dependencies of a sheet are found only by the worker that prints it.
    """

    def __init__(self, site: LinkedSite) -> None:
        files = site.parsed.files
        self._output, self._previous = site.request.output, files.previous
        self._common = common_dependencies(site)
        self._common_digests = key_of(self._common)[1]
        before, now = files.previous.digests if files.previous else {}, site.parsed.digests
        self._changed = sorted(p for p in {*before, *now} if before.get(p) != now.get(p)) if before else []

    @property
    def common_key(self) -> bytes:
        """A digest of the dependencies of all pages."""
        return key_of_digests(self._common_digests)

    def unchanged(self, sheet: Sheet) -> SheetFiles | None:
        """Return the files of a sheet in the output; None when they would be different now."""
        before = self._before(sheet)
        if before is None or before.digests[: len(self._common_digests)] != self._common_digests:
            return None
        dependencies = sheet.dependencies()
        same = before.key == key_of_digests((*self._common_digests, *key_of(dependencies)[1]))
        return SheetFiles(before, _digests(dependencies)) if same and self.left(before.files) else None

    def printed(self, sheet: Sheet, staged: Mapping[str, str], slot_contents: tuple[str, ...] | None) -> SheetFiles:
        """Return the files of a sheet that was printed now, with the reasons for which it was printed."""
        own = sheet.dependencies()
        dependencies, digests = (*self._common, *own), (*self._common_digests, *key_of(own)[1])
        key, names = key_of_digests(digests), tuple(dependency.name for dependency in dependencies)
        before = self._before(sheet)
        why = (
            NEW
            if before is None
            else TOUCHED
            if before.key == key
            else reasons(dependencies, digests, before, self._changed)
        )
        return SheetFiles(PrintedSheet(key, digests, names, tuple(staged), why), _digests(own), staged, slot_contents)

    def left(self, paths: Iterable[str]) -> bool:
        """Return whether the last build left these files in the output, and they are still as it wrote them."""
        stamps = self._previous.outputs if self._previous else {}
        return all(stamp_of(f"{self._output}/{path}") == stamps.get(path, ()) for path in paths)

    def _before(self, sheet: Sheet) -> PrintedSheet | None:
        return self._previous.sheets.get(sheet.name) if self._previous else None


def _digests(dependencies: Iterable[Dependency]) -> frozenset[bytes]:
    """Return the digests of files among dependencies, except that of the text on its own page."""
    values = (dependency.value for dependency in dependencies if dependency.files and dependency.name != TEXT)
    return frozenset(digest for value in values for digest in _digests_in(value))


def _digests_in(value: object) -> Iterator[bytes]:
    """Yield the digests in a value.  Most values are strings, so `type` is compared, which is the fastest test."""
    if type(value) is bytes:
        yield value
    elif type(value) is tuple:
        for one in value:
            if type(one) is not str:
                yield from _digests_in(one)
