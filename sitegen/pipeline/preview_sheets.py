"""Find the sheets that may make one path of the output, without asking all sheets for their dependencies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import PurePosixPath

from sitegen.pipeline.link_site import LinkedSite
from sitegen.pipeline.site_sheets import file_sheets, theme_sheet
from sitegen.render.rules.sheet import Sheet
from sitegen.render.rules.site_rules import PostSheets, sheets


class PreviewSheets:
    """The sheets of a site by name.

    To find the dependencies of all sheets takes longer than to print one.  So the sheet of a post is made alone, and
    the others in their order until the wanted one is among them.
    """

    def __init__(self, site: LinkedSite) -> None:
        self._known = {sheet.name: sheet for sheet in file_sheets(site)}
        self._pages, self._sources = sheets(site.sources), site.sources

    def use_theme(self, site: LinkedSite) -> None:
        """Replace the sheet of the theme's files by that of `site`."""
        sheet = theme_sheet(site)
        self._known[sheet.name] = sheet

    def all(self) -> Mapping[str, Sheet]:
        """Return all sheets except the sitemap."""
        self._known.update((sheet.name, sheet) for sheet in self._pages)
        return self._known

    def candidates(self, path: str) -> Iterator[Sheet]:
        """Yield the sheets that may make a path, the most likely first.

        These are its own sheet, the sheet of a folder or a page above it, and one that makes several files and is named
        by the first.
        """
        above = ["" if str(folder) == "." else f"{folder}/" for folder in PurePosixPath(path).parents]
        yield from (self._known[name] for name in (path, *above) if name in self._known)
        if own := self._find(path):
            yield own
        every = self.all()
        pages = (name for folder in above for name in (folder, f"{folder}index.html", f"{folder[:-1]}.html"))
        yield from (every[name] for name in pages if name in every)
        beside = [name for name in every if name.rpartition("/")[0] == path.rpartition("/")[0]]
        yield from (every[name] for name in beside if not name.endswith(".html"))

    def _find(self, name: str) -> Sheet | None:
        if name not in self._known and (post := self._posts.get(name)):
            self._known[name] = post
        while name not in self._known and (sheet := next(self._pages, None)):
            self._known[sheet.name] = sheet
        return self._known.get(name)

    @cached_property
    def _posts(self) -> PostSheets:
        return PostSheets(self._sources)
