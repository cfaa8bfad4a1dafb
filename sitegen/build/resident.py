"""A site that stays in memory: what was saved is read again, and a page is printed when somebody asks for it.

A text that shows the others the same face as before (`faces`) takes the place of the one before, and templates leave
all texts as they are; after any other change the site is linked again, of parts of which only the changed ones are
read.  Nothing is written but the cache, once, at the start.
"""

from __future__ import annotations

import datetime as dt
import gc
import time
from collections import ChainMap
from collections.abc import Collection, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import cast

import jinja2

from sitegen import inside
from sitegen.build import state as states
from sitegen.build.authors_templates import TEMPLATES, of_template
from sitegen.build.composed import Composed, Link, link
from sitegen.build.faces import face_of
from sitegen.build.index import Index, known_digests
from sitegen.build.stages import Stages
from sitegen.build.texts import Fragments, Parsed, Read, Reader, read_part, setting_of, without_text
from sitegen.build.update import OUTPUT, ROOMS, Job, state_file
from sitegen.build.user_cache import cache_of_site, compiled_templates
from sitegen.build.versions import versions
from sitegen.diagnostics import Diagnostic, Severity, render_report
from sitegen.markup.pieces import Pieces
from sitegen.model import urls
from sitegen.model.site import Markdown, Page, Post, Term
from sitegen.read.root import SITE_FILE
from sitegen.read.texts import LazyTexts
from sitegen.render.inputs.sources import Sources
from sitegen.render.rules.discovery_rules import sitemap
from sitegen.render.rules.rule import Files, Sheet
from sitegen.render.rules.site_rules import PostSheets, sheets
from sitegen.render.shared.frame import Printer, base_path
from sitegen.render.shared.theme import environment
from sitegen.write.cache import pack
from sitegen.write.fragments import FragmentFiles
from sitegen.write.output import locked_output
from sitegen.write.scan import Signature, digest_of, scan, signature_of

KEPT = 500
"""Printed sheets that stay in memory."""


@dataclass(frozen=True, slots=True)
class _Saved:
    """What became of the files of a site."""

    paths: Set[str]
    """Of those that are new, gone or have other content."""
    before: Mapping[str, Parsed | None]
    """The parts that were read again, as they were, by name."""
    moved: bool
    """Whether a file is new or gone."""


class _Parts:
    """All parts of a site, read as a build reads them, and then kept."""

    def __init__(self, job: Job) -> None:
        shelf = FragmentFiles(job.cache / "fragments")
        self.index, self._reader = Index(job, shelf), Reader(job.root, job.seen, shelf)
        read = self._reader.read(known_digests(job), self.index.entries, job.processes, lambda count: None)
        self.entries = read.entries
        """For the cache."""
        self.job = replace(job, last=None)
        self.parsed, self.digests = dict(read.parsed), dict(read.digests)
        self._pieces: dict[str, Mapping[bytes, str]] = {}
        self._html: dict[str, str] = {}
        on_shelf = Fragments(shelf, read.parsed, lambda name: self._reader.html_of(name))
        self.fragments: Mapping[str, str] = ChainMap(self._html, cast(dict[str, str], on_shelf))
        """The HTML of each document: of what was read again from memory, of the others from the shelf."""

    @property
    def read(self) -> Read:
        """In the order of their files, as they must be put together."""
        self.parsed = {name: self.parsed[name] for name in self._reader.wanted}
        return Read(self.parsed, self.digests, {}, ())

    def has_other_setting(self) -> bool:
        """Whether texts were read for another time zone, language or catalogue than the site has now."""
        return setting_of(self.parsed[SITE_FILE].part, self.digests) != self._reader.setting

    def take_in(self, paths: Collection[str] | None) -> _Saved:
        """`paths` are those that may have changed; None: any."""
        before, seen = self.job.seen, self._look(paths)
        self.job = replace(self.job, seen=seen)
        looked = {path for path in seen if before.get(path) != seen[path]} | (set(paths or ()) & seen.keys())
        contents = {path: _content(self.job.root, path) for path in looked}
        new = {path: data for path, data in contents.items() if digest_of(data) != self.digests.get(path)}
        moved = seen.keys() != before.keys()
        stale = self._stale(new, moved) if new or moved else {}
        again = {name: self._parse(name, files, new) for name, files in stale.items()}
        kept = {name: self.parsed.get(name) for name in stale}
        self.parsed.update(again)
        self.digests.update((path, digest_of(data)) for path, data in new.items())
        gone = before.keys() - seen.keys()
        for path in gone:
            del self.digests[path]
        return _Saved(new.keys() | gone, kept, moved)

    def _look(self, paths: Collection[str] | None) -> Mapping[str, Signature]:
        """The files that there are; when only known ones may have changed, only those are looked at."""
        seen = dict(self.job.seen)
        for path in paths or ():
            try:
                stat = (self.job.root / path).stat()
            except OSError:
                if path in seen:
                    break
                continue  # a file of an editor, gone again
            if path not in seen:
                break
            seen[path] = signature_of(stat)
        else:
            if paths is not None:
                return seen
        return scan(self.job.root, ROOMS)

    def _stale(self, new: Collection[str], moved: bool) -> dict[str, tuple[str, ...]]:
        """The parts that are read of other files than before, each with its files."""
        wanted = self._reader.wanted
        if moved:
            setting, self._reader = (
                self._reader.setting,
                Reader(self.job.root, self.job.seen, self._reader.shelf),
            )
            self._reader.settle(setting)
        changed = set(new)
        return {
            name: files
            for name, files in self._reader.wanted.items()
            if wanted.get(name) != files or not changed.isdisjoint(files)
        }

    def _parse(self, name: str, files: tuple[str, ...], new: Mapping[str, bytes | OSError]) -> Parsed:
        from sitegen.markup.documents import texts_of  # not at the start: nothing may be new
        from sitegen.markup.parse import document_of

        contents = {path: new[path] if path in new else _content(self.job.root, path) for path in files}
        part, found = read_part(name, contents, self._reader.setting.zone)
        documents, mistakes = {}, list(found)

        def pieces_of(key: str) -> Pieces:
            return Pieces(self._pieces_of(name, key))

        for key, text in texts_of(part, self._reader.spoken, pieces_of) if part else ():
            document, of_document = document_of(text)
            documents[key] = replace(document, html="")
            self._html[key], self._pieces[key] = document.html, text.into.pieces.used
            mistakes += of_document
        return Parsed(without_text(part), diagnostics=tuple(mistakes), packed=pack((documents, {})))

    def _pieces_of(self, name: str, key: str) -> Mapping[bytes, str]:
        """What is known of the pieces of a text from its HTML as it was."""
        if key in self._pieces or name not in self.parsed:
            return self._pieces.get(key, {})
        places = self.parsed[name].pieces.get(key, ())
        html = self.fragments[key] if places else ""
        return {piece: html[start:end] for piece, start, end in places}


def _content(root: Path, path: str) -> bytes | OSError:
    try:
        return inside.read_bytes(root, path)
    except OSError as error:
        return error


@dataclass(frozen=True, slots=True)
class _Print:
    """A sheet's files as they were printed last."""

    files: Files
    good: bool
    """Whether its text had no mistakes."""
    says: frozenset[str]
    """The files of the site that say what it shows."""
    current: bool = True
    """Whether they would be the same now."""


class _Sheets:
    """By name.  To know what all pages show takes longer than to print one, so that of a post is made alone, and the
    others in their order until the one that is looked for is among them.
    """

    def __init__(self, files: Iterable[Sheet], sources: Sources) -> None:
        self.known = {sheet.name: sheet for sheet in files}
        self._pages, self._sources = sheets(sources), sources

    @cached_property
    def _posts(self) -> PostSheets:
        return PostSheets(self._sources)

    def find(self, name: str) -> Sheet | None:
        if name not in self.known and (post := self._posts.get(name)):
            self.known[name] = post
        while name not in self.known and (sheet := next(self._pages, None)):
            self.known[sheet.name] = sheet
        return self.known.get(name)

    def all(self) -> Mapping[str, Sheet]:
        self.known.update((sheet.name, sheet) for sheet in self._pages)
        return self.known


class Resident:
    """The site in `root`, drafts and posts of the future, too.  For one thread; `follow` comes before all else."""

    def __init__(self, root: Path, *, as_of: dt.date | None = None) -> None:
        self.root = root
        self.rooms: Collection[str] = ROOMS
        self.base_path = "/"
        """Of base_url, with a slash at both ends: where the site is mounted."""
        self._as_of = as_of
        self._sound = False
        self._printed: dict[str, _Print] = {}

    def follow(self, paths: Collection[str] | None = None, *, processes: int = 1) -> tuple[str, ...]:
        """Take in what was saved; gives the output paths of the pages of the texts among it.

        `paths` are those that may have changed, from the root; None: any.  Raises OutputError when the cache cannot be
        written.  After an exception everything is read again the next time.
        """
        sound, self._sound = self._sound, False
        saved = self._take_in(paths) if sound else self._begin(processes)
        self._sound = True
        self._printer = Printer(self._site.sources, self._templates)
        self._wrong = frozenset(d.span.path for d in self._site.found if d.severity is Severity.ERROR)
        self._held = frozenset(map(self._page_of, self._wrong))
        if SITE_FILE not in self._wrong:
            self.base_path = base_path(self._site.sources.config.base_url)
        return tuple(filter(None, map(self._page_of, saved)))

    def warm(self) -> None:
        """Load what reads a text, so that the first save need not wait for it."""
        from sitegen.markup.parse import parse_document

        parse_document(Markdown("# Text\n\n$x$\n\n```python\nx\n```\n", ""))

    @property
    def report(self) -> str:
        """All mistakes, as the author sees them; empty when there are none."""
        found = dict.fromkeys((*self._site.found, *self._unreadable, *self._failed.values()))
        return render_report(found, LazyTexts(self.root, self._parts.job.seen))

    @property
    def failed(self) -> bool:
        """Whether a build would fail."""
        return bool(self._wrong or self._unreadable or self._failed)

    @property
    def styles(self) -> Mapping[str, str]:
        """The output path of each style sheet of the theme, by its path without a digest: `assets/site.css`."""
        return {f"assets/{name}": url for name, url in self._site.assets.urls.items() if name.endswith(".css")}

    def digest(self, path: str) -> bytes:
        """Of an image or another file that a text shows, by its output path; of anything else empty."""
        return self._parts.digests.get(self._site.link.linked.assets.get(path, ""), b"")

    def file(self, path: str) -> str | bytes | None:
        """What stands at an output path; of a page whose text or template has mistakes, what stood there before."""
        found = (self._files(sheet) for sheet in self._may_hold(path))
        return next((files[path] for files in found if path in files), None)

    def _begin(self, processes: int) -> Collection[str]:
        output, cache, version = self.root / OUTPUT, cache_of_site(self.root), versions()
        with locked_output(cache, output):
            last, seen = states.load(state_file(cache, output), version), scan(self.root, ROOMS)
            now = time.time_ns()
            job = Job(self.root, output, cache, self._as_of, True, processes, version, Stages(), now, seen, last)
            self._parts = _Parts(job)
            self._link()
            self._parts.index.save(self._parts.entries)
        self._load_templates()
        gc.freeze()  # a search for garbage need not go through the site
        return ()

    def _take_in(self, paths: Collection[str] | None) -> Collection[str]:
        """Gives the names of the parts that were read again."""
        saved = self._parts.take_in(paths)
        if self._parts.has_other_setting():
            return self._begin(processes=1)
        of_theme = {path for path in saved.paths if path.startswith(f"{TEMPLATES}/")}
        alike = not saved.moved and saved.paths <= of_theme | saved.before.keys()
        if alike and all(self._is_alike(name, before) for name, before in saved.before.items()):
            self._replace(saved.before.keys())
        else:
            self._link()
        if of_theme:
            self._compose(self._site.link)
            self._load_templates()
        return saved.before.keys()

    def _is_alike(self, name: str, before: Parsed | None) -> bool:
        """Whether all others may stay as they are.  A mistake of linking could stand on another line now."""
        face = face_of(self._parts.parsed[name])
        same = before is not None and face is not None and face == face_of(before)
        return same and all(found.span.path != name for found in self._site.beside_texts)

    def _replace(self, paths: Collection[str]) -> None:
        """Texts take the places of those before; outdated are the sheets that say to show something of them."""
        self._site.link.texts.forget()
        for path in paths:
            self._site.link.documents.take(self._parts.parsed[path])
        for name, printed in self._printed.items():
            if not printed.says.isdisjoint(paths):
                self._outdate(name)

    def _link(self) -> None:
        self._compose(link(self._parts.job, self._parts.read, self._parts.index))
        self._sheets = _Sheets(self._site.of_files(), self._site.sources)

    def _compose(self, link: Link) -> None:
        """All that pages are made from; they are printed anew when they are asked for."""
        self._site = Composed(self._parts.job, self._parts.read, link, self._parts.fragments, self._parts.index)
        self._failed: dict[str, Diagnostic] = {}
        """What templates said of sheets that could not be printed."""
        for name in self._printed:
            self._outdate(name)

    def _outdate(self, name: str) -> None:
        self._printed[name] = replace(self._printed[name], current=False)

    def _load_templates(self) -> None:
        """Compile what changed, and hear of every mistake in it before a page is asked for."""
        site = self._site
        self._sheets.known |= {sheet.name: sheet for sheet in [site.of_theme()]}
        self._templates = environment(site.theme, compiled_templates(self.root, self._parts.job.version))
        self._unreadable: list[Diagnostic] = []
        for name in site.theme.templates:
            if inside.is_file(self.root, f"{TEMPLATES}/{name}"):
                try:
                    self._templates.get_template(name)
                except jinja2.TemplateError as error:
                    self._unreadable.append(of_template(error, site.theme.templates))

    def _page_of(self, name: str) -> str:
        """The output path of the page of a text, by the text's; empty of any other part."""
        one, config = self._parts.parsed.get(name), self._site.sources.config
        match one.part if one else None:
            case Post() as post:
                return urls.output_path(urls.post_url(post, config))
            case Page() as page:
                return urls.output_path(urls.page_url(page, config))
            case Term(slug=slug):
                return urls.output_path(urls.term_url(slug))
            case _:
                return ""

    def _may_hold(self, path: str) -> Iterator[Sheet]:
        """Its own; that of a folder or a page above it; one that makes several files, named by the first."""
        above = ["" if str(folder) == "." else f"{folder}/" for folder in PurePosixPath(path).parents]
        known = self._sheets.known
        yield from (known[name] for name in (path, *above) if name in known)
        if own := self._sheets.find(path):
            yield own
        every = self._sheets.all()
        yield from (every[n] for folder in above for n in (folder, f"{folder}index.html") if n in every)
        beside = [name for name in every if name.rpartition("/")[0] == path.rpartition("/")[0]]
        yield from (every[name] for name in beside if not name.endswith(".html"))
        if path == urls.SITEMAP:
            yield sitemap(self._listed())

    def _listed(self) -> Iterator[tuple[str, str]]:
        for sheet in [sheet for sheet in self._sheets.all().values() if sheet.listed]:
            paths = [sheet.name] if sheet.name.endswith(".html") else self._files(sheet)
            yield from ((path, sheet.modified) for path in paths)

    def _files(self, sheet: Sheet) -> Files:
        """As they were printed, if they would be the same now; else printed anew."""
        before, held = self._printed.get(sheet.name), sheet.name in self._held or SITE_FILE in self._wrong
        if before and (before.current or (before.good and held)):
            return before.files
        try:
            files = sheet.make(self._printer)
        except jinja2.TemplateError as error:
            if not (self.root / TEMPLATES).is_dir():
                raise
            self._failed[sheet.name] = of_template(error, self._site.theme.templates)
            return before.files if before else {}
        self._failed.pop(sheet.name, None)
        self._printed.pop(sheet.name, None)
        says = frozenset(path for part in sheet.shows() for path in part.files)
        self._printed[sheet.name] = _Print(files, not held, says)
        if len(self._printed) > KEPT:
            del self._printed[next(iter(self._printed))]
        return files
