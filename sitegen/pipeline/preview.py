"""Print the pages of a site that somebody edits, each when it is requested.  The site stays in memory.

Saved files are parsed again.  A text whose interface is unchanged (`text_interface`) replaces its old version, and a
changed template changes no text.  After any other change the site is linked again.  The preview writes only the cache,
once, at the start.
"""

from __future__ import annotations

import datetime as dt
import gc
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import jinja2

from sitegen import inside
from sitegen.diagnostics import Diagnostic
from sitegen.model import urls
from sitegen.model.site import Exercise, Markdown, Page, Post, Term
from sitegen.pipeline.broken_claims import is_fatal
from sitegen.pipeline.build import Route, build
from sitegen.pipeline.kept_sheets import KeptSheet, KeptSheets
from sitegen.pipeline.link_site import LinkedSite, gather, link
from sitegen.pipeline.link_texts import link_texts
from sitegen.pipeline.mistakes import report_of
from sitegen.pipeline.parse_texts import ParsedSite, parse_texts
from sitegen.pipeline.parsed_part import ParsedPart
from sitegen.pipeline.preview_sheets import PreviewSheets
from sitegen.pipeline.print_pages import new_printer
from sitegen.pipeline.private_words import PrivateWordError, guarded
from sitegen.pipeline.read_files import SITE_FOLDERS, SiteFiles, read_files
from sitegen.pipeline.request import make_request
from sitegen.pipeline.saved_texts import SavedTexts, read_saved_files
from sitegen.pipeline.site_templates import TEMPLATES, template_mistake
from sitegen.pipeline.text_interface import interface_of_part
from sitegen.read.root import SITE_FILE
from sitegen.render.rules.discovery_rules import sitemap
from sitegen.render.rules.sheet import Files, Sheet
from sitegen.render.shared.frame import Printer, base_path
from sitegen.write.output import locked_output

KEPT_SHEETS = 500
"""The most printed sheets that stay in memory."""

Content = str | bytes | None
"""The content of a file of the output; None when there is no such file."""


@dataclass(frozen=True, slots=True)
class PagePlan:
    """The sheets that may make one path of the output.  They are printed one after another, until one of them makes the
    path.
    """

    path: str
    candidates: Iterable[Sheet]


class _OtherSettingError(Exception):
    """The site has another time zone, language or catalogue, so that every text must be parsed again."""


class PreviewSite:
    """The site in `root`, with drafts and posts of the future.  It serves one thread, and `follow` must be called
    first.
    """

    _site: LinkedSite
    _texts: SavedTexts
    _printer: Printer

    def __init__(self, root: Path, *, as_of: dt.date | None = None) -> None:
        self.root = root
        self.rooms: Collection[str] = SITE_FOLDERS
        self.base_path = "/"
        """The path of base_url, with a slash at both ends, under which the site is served."""
        self._as_of = as_of
        self._is_sound = False
        self._kept = KeptSheets(KEPT_SHEETS)

    def follow(self, paths: Collection[str] | None = None, *, processes: int = 1) -> tuple[str, ...]:
        """Take in saved files, and return the output paths of the pages of the texts among them.

        `paths` are the files that may have changed, from the root; None means any file.  Raises OutputError when the
        cache cannot be written.  After an exception everything is read again the next time.
        """
        is_sound, self._is_sound = self._is_sound, False
        parts = self._take_in_saved(paths) if is_sound else self._start(processes)
        self._is_sound = True
        self._printer = Printer(self._site.sources, self._printer.templates)
        self._files_with_errors = frozenset(d.span.path for d in self._site.mistakes if is_fatal(d))
        self._pages_with_errors = frozenset(map(self._page_of, self._files_with_errors))
        if SITE_FILE not in self._files_with_errors:
            self.base_path = base_path(self._site.sources.config.base_url)
        return tuple(filter(None, map(self._page_of, parts)))

    def warm(self) -> None:
        """Import what parses a text, so that the first save need not wait for it."""
        from sitegen.markup.parse import parse_document

        parse_document(Markdown("# Text\n\n$x$\n\n```python\nx\n```\n", ""))

    @property
    def report(self) -> str:
        """All mistakes, as the author sees them; empty when there are none."""
        return report_of(self.mistakes, self._texts.parsed.files)

    @property
    def mistakes(self) -> tuple[Diagnostic, ...]:
        """All mistakes of the texts and of the templates that were printed so far."""
        return tuple(dict.fromkeys((*self._site.mistakes, *self._broken_templates, *self._failed.values())))

    @property
    def linked(self) -> LinkedSite:
        """The site as it was linked last."""
        return self._site

    @property
    def failed(self) -> bool:
        """Whether a build would fail."""
        return bool(self._files_with_errors or self._broken_templates or self._failed)

    @property
    def styles(self) -> Mapping[str, str]:
        """The output path of each style sheet of the theme, by its path without a digest: `assets/site.css`."""
        return {f"assets/{name}": url for name, url in self._site.assets.urls.items() if name.endswith(".css")}

    def digest(self, path: str) -> bytes:
        """Return the digest of an image or another file that a text shows, by its output path; empty for others."""
        return self._texts.parsed.digests.get(self._site.texts.linked.assets.get(path, ""), b"")

    def file(self, path: str) -> Content:
        """Return the file at an output path; for a page whose text or template has errors, the version before the
        errors.
        """
        return build(self._request, self._route(path))

    def _route(self, path: str = "", saved: Collection[str] | None = ()) -> Route[PagePlan, Content, Content]:
        """Return the route to one page, or without `path` only to the linked site.

        `saved` are the files that may have been saved since.
        """
        return Route(
            read=partial(self._read, saved),
            finish_early=lambda files: None,
            parse=self._parse,
            link=self._link,
            plan=partial(self._plan, path),
            stage=lambda request: nullcontext(),
            print=self._print,
            publish=lambda content: content,
        )

    def _start(self, processes: int) -> Collection[str]:
        """Read, parse and link the whole site, as an update does.  Returns no parts, because none was saved."""
        self._request = make_request(self.root, as_of=self._as_of, everything=True, processes=processes)
        route = replace(self._route(), read=read_files, parse=self._parse_all, link=self._link_all)
        with locked_output(self._request.cache, self._request.output):
            build(self._request, route)
        gc.freeze()  # excludes the site from searches for garbage
        return ()

    def _take_in_saved(self, saved: Collection[str] | None) -> Collection[str]:
        """Parse and link saved files, and return the names of the parts that were parsed again."""
        try:
            build(self._request, self._route(saved=saved))
        except _OtherSettingError:
            return self._start(processes=1)
        return self._texts.changes.parts_before.keys()

    def _parse_all(self, files: SiteFiles) -> ParsedSite:
        self._texts = SavedTexts(parse_texts(files))
        return self._texts.parsed

    def _link_all(self, parsed: ParsedSite) -> LinkedSite:
        site = self._use_site(link(parsed))
        self._load_templates()
        return site

    def _read(self, saved: Collection[str] | None, _request: object) -> SiteFiles:
        files = self._texts.parsed.files
        return read_saved_files(files, saved) if saved or saved is None else files

    def _parse(self, files: SiteFiles) -> ParsedSite:
        if files is not self._texts.parsed.files:
            self._texts.parse(files)
            if self._texts.has_other_setting():
                raise _OtherSettingError
        return self._texts.parsed

    def _link(self, parsed: ParsedSite) -> LinkedSite:
        """Put the parsed texts into the linked site, and link it again when other pages may show something new."""
        if parsed is self._site.parsed:
            return self._site
        changes = self._texts.changes
        of_theme = {path for path in changes.paths if path.startswith(f"{TEMPLATES}/")}
        is_alike = not changes.is_moved and changes.paths <= of_theme | changes.parts_before.keys()
        if is_alike and all(self._has_same_interface(name, part) for name, part in changes.parts_before.items()):
            self._replace_texts(parsed, changes.parts_before)
        else:
            self._use_site(gather(link_texts(parsed), self._site.records))
        if of_theme:
            self._use_theme()
        return self._site

    def _plan(self, path: str, site: LinkedSite) -> PagePlan:
        return PagePlan(path, self._candidates(path) if path else ())

    def _print(self, plan: PagePlan) -> Content:
        """Print sheets until one of them makes the path."""
        printed = (self._files(sheet) for sheet in plan.candidates)
        return next((files[plan.path] for files in printed if plan.path in files), None)

    def _has_same_interface(self, name: str, before: ParsedPart | None) -> bool:
        """Return whether all other texts may stay.  They may not when linking found a mistake in the text, whose line
        could be another now.
        """
        interface = interface_of_part(self._texts.parsed.parts[name])
        is_same = before is not None and interface is not None and interface == interface_of_part(before)
        return is_same and all(mistake.span.path != name for mistake in self._site.mistakes_beside_texts)

    def _replace_texts(self, parsed: ParsedSite, names: Collection[str]) -> None:
        """Replace texts with their new versions, and outdate the sheets that depend on their files."""
        self._site = replace(self._site, texts=replace(self._site.texts, parsed=parsed))
        self._site.texts.sources.forget()
        for name in names:
            self._site.texts.documents.put(parsed.parts[name])
        self._kept.outdate(names)

    def _use_site(self, site: LinkedSite) -> LinkedSite:
        """Serve the pages of a site that was linked now."""
        self._site, self._sheets = site, PreviewSheets(site)
        self._outdate_all()
        return site

    def _use_theme(self) -> None:
        """Read the theme again; the texts stay linked."""
        self._site = gather(self._site.texts, self._site.records)
        self._sheets.use_theme(self._site)
        self._outdate_all()
        self._load_templates()

    def _outdate_all(self) -> None:
        self._failed: dict[str, Diagnostic] = {}
        """The mistakes for which sheets could not be printed, by the name of the sheet."""
        self._kept.outdate_all()

    def _load_templates(self) -> None:
        """Compile the changed templates, and find every mistake in them before a page is requested."""
        self._printer = new_printer(self._site)
        self._broken_templates: list[Diagnostic] = []
        templates = self._site.theme.templates
        for name in templates:
            if inside.is_file(self.root, f"{TEMPLATES}/{name}"):
                try:
                    self._printer.templates.get_template(name)
                except jinja2.TemplateError as error:
                    self._broken_templates.append(template_mistake(error, self.root, templates))

    def _page_of(self, name: str) -> str:
        """Return the output path of the page of a text, by the text's path; empty for any other part."""
        parsed, config = self._texts.parsed.parts.get(name), self._site.sources.config
        match parsed.part if parsed else None:
            case Post() as post:
                return urls.output_path(urls.post_url(post, config))
            case Page() as page:
                return urls.output_path(urls.page_url(page, config))
            case Term(slug=slug):
                return urls.output_path(urls.term_url(slug))
            case Exercise(id=id):
                return urls.output_path(urls.exercise_url(id))
            case _:
                return ""

    def _candidates(self, path: str) -> Iterator[Sheet]:
        yield from self._sheets.candidates(path)
        if path == urls.SITEMAP:
            yield sitemap(self._pages_of_sitemap())

    def _pages_of_sitemap(self) -> Iterator[tuple[str, str]]:
        for sheet in [sheet for sheet in self._sheets.all().values() if sheet.listed]:
            paths = [sheet.name] if sheet.name.endswith(".html") else self._files(sheet)
            yield from ((path, sheet.modified) for path in paths)

    def _files(self, sheet: Sheet) -> Files:
        """Return the files of a sheet: the last printed ones while they are current, else newly printed ones."""
        before, has_errors = (
            self._kept.get(sheet.name),
            sheet.name in self._pages_with_errors or SITE_FILE in self._files_with_errors,
        )
        if before and (before.is_current or (before.is_good and has_errors)):
            return before.files
        try:
            files = guarded(sheet, self._site).make(self._printer)
        except PrivateWordError as error:
            self._failed[sheet.name] = error.mistakes[0]
            return before.files if before else {}
        except jinja2.TemplateError as error:
            self._failed[sheet.name] = template_mistake(error, self.root, self._site.theme.templates)
            return before.files if before else {}
        self._failed.pop(sheet.name, None)
        dependencies = frozenset(path for part in sheet.dependencies() for path in part.files)
        self._kept.keep(sheet.name, KeptSheet(files, not has_errors, dependencies))
        return files
