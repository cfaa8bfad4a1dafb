"""What was read of a site → the site as it is linked, with everything that its pages are made from."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from sitegen import inside
from sitegen.build.extras import missing_extras
from sitegen.build.files import mistakes_of_files
from sitegen.build.images import FORMS, Looker
from sitegen.build.index import Index
from sitegen.build.probes import load_probes
from sitegen.build.texts import Parsed, Read
from sitegen.build.update import Job, today
from sitegen.diagnostics import Diagnostic, in_reading_order
from sitegen.linking.image_files import with_images
from sitegen.linking.link import link_site, resolved, unpublished
from sitegen.model.document import Document
from sitegen.model.image import ImageVariant, variants_of
from sitegen.model.linked import Linked
from sitegen.model.site import Post
from sitegen.model.urls import page_url
from sitegen.read.load import assemble, is_text
from sitegen.read.root import SITE_FILE
from sitegen.read.severity import worklog_never_fails
from sitegen.read.texts import LazyTexts
from sitegen.render.inputs.sources import Sources
from sitegen.render.rules.dependencies import Part
from sitegen.render.rules.rule import Files, Sheet, digest_of_measured, these
from sitegen.render.rules.site_rules import sheets
from sitegen.render.shared.frame import Printer, navigation
from sitegen.render.shared.language import Language
from sitegen.render.shared.theme import load_theme
from sitegen.write.assets import fingerprint
from sitegen.write.drawings import Drawings
from sitegen.write.scan import could_be_read

if TYPE_CHECKING:
    from sitegen.render.inputs.evidence import Evidence
    from sitegen.results.records import Records


class Documents(Mapping[str, Document]):
    """The document of each text, by `document_key`, unpacked when it is asked for."""

    def __init__(self, parsed: Iterable[Parsed]) -> None:
        self._owners = {key: one for one in parsed for key in one.keys}

    def take(self, parsed: Parsed) -> None:
        """In place of those of the same texts."""
        self._owners |= dict.fromkeys(parsed.keys, parsed)

    def __getitem__(self, key: str) -> Document:
        return self._owners[key].documents[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._owners)

    def __len__(self) -> int:
        return len(self._owners)


@dataclass(frozen=True, slots=True)
class Link:
    """All texts of a site together, for one day."""

    linked: Linked
    documents: Documents
    posts: tuple[Post, ...]
    """Also those that are not published."""
    as_of: dt.date
    found: tuple[Diagnostic, ...]
    """The mistakes that only show when the texts are together."""
    texts: LazyTexts
    """As the site has them."""


def link(job: Job, read: Read, index: Index) -> Link:
    texts = LazyTexts(job.root, filter(is_text, job.seen))
    site, of_site = assemble({name: one.part for name, one in read.parsed.items() if one.part is not None}, texts)
    documents = Documents(read.parsed.values())
    as_of = job.as_of or today(site.config.timezone)
    files, all_posts = frozenset(job.seen), job.everything
    key = _key_of_links(read.digests, () if all_posts else unpublished(site, as_of))
    known = index.links(key)
    linked, of_names = link_site(site, documents, as_of=as_of, files=files, everything=all_posts, known=known)
    if known is None and (found := resolved(linked, of_names)):
        index.keep_links(key, found)
    look = Looker(job.root, job.cache, job.version, read.digests, job.processes)
    linked, of_images = with_images(linked, documents, look)
    return Link(linked, documents, site.posts, as_of, (*of_site, *of_names, *of_images), texts)


def _key_of_links(digests: Mapping[str, bytes], hidden: Iterable[str]) -> bytes:
    """Of all files, and of what is not published."""
    found = blake2b("\0".join(sorted(hidden)).encode(), digest_size=16)
    found.update(b"".join(b"\0%s\0%s" % (path.encode(), digests[path]) for path in sorted(digests)))
    return found.digest()


class Composed:
    """A linked site with everything that its pages are made from and every mistake in it."""

    def __init__(self, job: Job, read: Read, link: Link, fragments: Mapping[str, str], index: Index) -> None:
        self._job, self.read, self.link = job, read, link
        self.theme = load_theme(job.root)
        self.assets, of_assets = fingerprint(self.theme.assets)
        self.sources = Sources(
            link.linked,
            link.documents,
            fragments,
            link.as_of,
            self.assets.urls,
            self._evidence,
            load_probes,
            read.digests,
            Drawings(job.cache / "cards"),
        )
        of_records = index.mistakes_in_records(digest_of_measured(self.sources), self._mistakes_in_records)
        of_extras = missing_extras(job.root, link.linked.site.config)
        unread = [path for path in link.linked.assets.values() if not could_be_read(read.digests[path])]
        of_files = mistakes_of_files(job.root, job.seen, unread)
        of_theme = (*self.theme.mistakes, *of_assets)
        self.beside_texts = (*link.found, *of_theme, *of_records, *of_extras, *of_files)
        """The mistakes that no text has by itself."""

    @property
    def found(self) -> tuple[Diagnostic, ...]:
        of_texts = worklog_never_fails(d for one in self.read.parsed.values() for d in one.diagnostics)
        return in_reading_order((*of_texts, *self.beside_texts))

    @property
    def _has_records(self) -> bool:
        return any("/results/" in path for path in self._job.seen)

    def _mistakes_in_records(self) -> tuple[Diagnostic, ...]:
        if not self._has_records:
            return ()
        from sitegen.results.verify import verify_records

        records, mistakes = self._records
        return (*mistakes, *verify_records(self._job.root, self.sources.site, records))

    @cached_property
    def _records(self) -> tuple[Records, tuple[Diagnostic, ...]]:
        if not self._has_records:
            from sitegen.results.records import Records

            return Records(), ()
        from sitegen.results.store import load_records

        return load_records(self._job.root, self.sources.site)

    def _evidence(self) -> Evidence:
        from sitegen.render.inputs.evidence import gather

        return gather(self.sources.site, self.sources.documents, self._records[0])

    def common(self) -> tuple[Part, ...]:
        """What every page shows."""
        site = self.sources.site
        footer = tuple((page.title, page_url(page, site.config)) for page in site.pages)
        sections = tuple(navigation(self.sources, Language(lang)) for lang in self.sources.posts_by_language)
        return (
            Part("the templates", tuple(sorted(self.theme.templates.items())), ("templates/",)),
            Part("the theme's files", tuple(self.assets.urls.items()), ("templates/assets/",)),
            Part("the configuration", self.read.digests.get(SITE_FILE, b""), (SITE_FILE,)),
            Part("navigation and footer", (sections, footer, bool(site.terms))),
        )

    def sheets(self) -> dict[str, Sheet]:
        """All but the sitemap, by name; a page stands over a file of the same name."""
        return {sheet.name: sheet for sheet in (*self.of_files(), *sheets(self.sources))}

    def of_files(self) -> Iterator[Sheet]:
        """Those that are no pages."""
        yield self.of_theme()
        yield from self._shown_files()

    def of_theme(self) -> Sheet:
        """The theme's own files."""
        return Sheet("assets/", these(), lambda printer: self.assets.files, listed=False)

    def _shown_files(self) -> Iterator[Sheet]:
        """Images and what else texts link to."""
        for url, path in self.sources.linked.assets.items():
            if could_be_read(digest := self.read.digests[path]):
                part = Part("the file", digest, (path,))
                yield Sheet(url, these(part), partial(_copy, self._job.root, path, url), listed=False)
        if self.sources.config.images:
            yield from self._forms_of_images()

    def _forms_of_images(self) -> Iterator[Sheet]:
        linked, folder = self.sources.linked, self._job.cache / FORMS
        for href, image in linked.images.items():
            url = unquote(href)
            if wanted := tuple(variants_of(url, image)):
                path = linked.assets[url]
                digest = self.read.digests[path]
                part = Part("the image", (digest, tuple(form.url for form in wanted)), (path,))
                make = partial(_forms, self._job.root, path, digest, wanted, folder)
                yield Sheet(f"{url}.forms", these(part), make, slow=True, listed=False)


def _copy(root: Path, path: str, url: str, printer: Printer) -> Files:
    return {url: inside.read_bytes(root, path)}


def _forms(
    root: Path, path: str, digest: bytes, wanted: Sequence[ImageVariant], folder: Path, printer: Printer
) -> Files:
    from sitegen.write.images import variant_contents

    return variant_contents(partial(inside.read_bytes, root, path), digest, wanted, folder)
