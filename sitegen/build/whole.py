"""The pipeline, in memory and from the beginning: read → link → records → render.  Nothing runs an author's code."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from urllib.parse import unquote

import jinja2

from sitegen import inside
from sitegen.build.authors_templates import TEMPLATES, of_template
from sitegen.build.catalogues import vocabularies
from sitegen.build.files import mistakes_of_files
from sitegen.build.images import FORMS, Looker
from sitegen.build.probes import load_probes
from sitegen.build.update import ROOMS
from sitegen.build.user_cache import cache_of_site
from sitegen.build.versions import versions
from sitegen.diagnostics import Diagnostic, has_errors, in_reading_order
from sitegen.linking.image_files import with_images
from sitegen.linking.link import link_site
from sitegen.markup.documents import parse_documents
from sitegen.model.document import Document
from sitegen.model.image import variants_of
from sitegen.model.linked import Linked
from sitegen.model.site import Site
from sitegen.read.config import zone_of
from sitegen.read.load import load_site
from sitegen.render.inputs.evidence import Evidence, gather
from sitegen.render.shared.theme import load_theme
from sitegen.render.site import render_site
from sitegen.results.records import Records
from sitegen.results.store import load_records, record_text
from sitegen.results.verify import verify_records
from sitegen.write.assets import fingerprint
from sitegen.write.drawings import Drawings
from sitegen.write.scan import digest_file, scan


@dataclass(frozen=True)
class Loaded:
    """A site with everything that its pages are made from, and every mistake of every stage so far."""

    root: Path
    as_of: dt.date
    linked: Linked
    documents: Mapping[str, Document]
    records: Records
    diagnostics: tuple[Diagnostic, ...]

    @property
    def site(self) -> Site:
        return self.linked.site

    @property
    def texts(self) -> Mapping[str, str]:
        """Of every file that a diagnostic may point into."""
        return {**self.site.files, **self.records.files}

    @cached_property
    def evidence(self) -> Evidence:
        return gather(self.site, self.documents, self.records)


@dataclass(frozen=True)
class Built:
    """The output of a build: content by path below the output folder, empty when there are mistakes."""

    loaded: Loaded
    files: Mapping[str, str | bytes] = field(default_factory=dict)
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def failed(self) -> bool:
        return has_errors(self.diagnostics)


def load(root: Path, *, as_of: dt.date | None = None, everything: bool = False) -> Loaded:
    """`everything` takes drafts and posts of the future too: they are measured and previewed, never published.

    Raises OutputError when there is no folder for the cache.
    """
    site, of_reading = load_site(root)
    day = as_of or dt.datetime.now(zone_of(site.config)).date()
    documents, of_texts = parse_documents(site, vocabularies(root, site.config.language))
    seen = scan(root, ROOMS)
    linked, of_names = link_site(site, documents, as_of=day, files=frozenset(seen), everything=everything)
    linked, of_images = with_images(linked, documents, Looker(root, cache_of_site(root), versions(), {}))
    of_files = mistakes_of_files(root, seen, linked.assets.values())
    records, of_records = load_records(root, linked.site)
    doubted = verify_records(root, linked.site, records)
    texts = {
        path: record_text(root, path) for path in {one.span.path for one in doubted if "/results/" in one.span.path}
    }
    records = replace(records, files={**records.files, **texts})
    diagnostics = in_reading_order((*of_reading, *of_texts, *of_names, *of_images, *of_records, *of_files, *doubted))
    return Loaded(root, day, linked, documents, records, diagnostics)


def build(root: Path, *, as_of: dt.date | None = None, everything: bool = False, with_forms: bool = True) -> Built:
    """Every file of the site.  With mistakes, those pages that can be made all the same.

    The forms of images take long to make when there are new ones, and may be left out.
    """
    loaded = load(root, as_of=as_of, everything=everything)
    theme = load_theme(root)
    assets, of_theme = fingerprint(theme.assets)
    diagnostics = in_reading_order((*loaded.diagnostics, *theme.mistakes, *of_theme))
    try:
        pages = render_site(
            loaded.linked,
            loaded.documents,
            loaded.evidence,
            as_of=loaded.as_of,
            theme=theme,
            assets=assets.urls,
            probes=load_probes(),
            drawn=Drawings(cache_of_site(root) / "cards"),
        )
    except jinja2.TemplateError as error:
        if not (root / TEMPLATES).is_dir():
            raise
        return Built(loaded, diagnostics=in_reading_order((*diagnostics, of_template(error, theme.templates))))
    assets_of_texts = loaded.linked.assets.items()
    shown = {url: inside.read_bytes(root, path) for url, path in assets_of_texts if inside.is_file(root, path)}
    files = {**assets.files, **shown, **(_forms(loaded) if with_forms else {}), **pages}
    return Built(loaded, dict(sorted(files.items())), diagnostics)


def _forms(loaded: Loaded) -> dict[str, bytes]:
    """The forms of all images, by URL."""
    from sitegen.write.images import variant_contents

    found: dict[str, bytes] = {}
    for href, image in loaded.linked.images.items() if loaded.site.config.images else ():
        root, path = loaded.root, loaded.linked.assets[unquote(href)]
        source, folder = partial(inside.read_bytes, root, path), cache_of_site(root) / FORMS
        found |= variant_contents(source, digest_file(root, path), variants_of(unquote(href), image), folder)
    return found
