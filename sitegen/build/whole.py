"""The pipeline, in memory and from the beginning: read → link → records → render.  Nothing runs an author's code."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from urllib.parse import unquote

import jinja2

from sitegen.build.authors_templates import TEMPLATES, of_template
from sitegen.build.catalogues import vocabularies
from sitegen.build.images import FORMS, Looker
from sitegen.build.probes import load_probes
from sitegen.build.update import CACHE
from sitegen.build.versions import versions
from sitegen.diagnostics import Diagnostic, has_errors, in_reading_order
from sitegen.linking.image_files import with_images
from sitegen.linking.link import link_site
from sitegen.markup.documents import parse_documents
from sitegen.model.document import Document
from sitegen.model.image import forms
from sitegen.model.linked import Linked
from sitegen.model.site import Site
from sitegen.read.config import zone_of
from sitegen.read.load import load_site
from sitegen.render.evidence import Evidence, gather
from sitegen.render.site import render_site
from sitegen.render.theme import load_theme
from sitegen.results.records import Records
from sitegen.results.store import load_records
from sitegen.write.assets import fingerprint
from sitegen.write.drawings import Drawings
from sitegen.write.scan import digest_file

IGNORED = (".git", ".sitegen", ".venv", "public", "node_modules", "__pycache__")
"""Folders of a site in which no text can refer to a file."""


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
    """`everything` takes drafts and posts of the future too: they are measured and previewed, never published."""
    site, of_files = load_site(root)
    day = as_of or dt.datetime.now(zone_of(site.config)).date()
    documents, of_texts = parse_documents(site, vocabularies(root, site.config.language))
    linked, of_names = link_site(site, documents, as_of=day, files=frozenset(_paths(root)), everything=everything)
    linked, of_images = with_images(linked, documents, Looker(root, root / CACHE, versions(), {}))
    records, of_records = load_records(root, linked.site)
    diagnostics = in_reading_order((*of_files, *of_texts, *of_names, *of_images, *of_records))
    return Loaded(root, day, linked, documents, records, diagnostics)


def build(root: Path, *, as_of: dt.date | None = None, everything: bool = False, with_forms: bool = True) -> Built:
    """Every file of the site.  With mistakes, those pages that can be made all the same.

    The forms of images take long to make when there are new ones, and may be left out.
    """
    loaded = load(root, as_of=as_of, everything=everything)
    theme = load_theme(root)
    assets, of_theme = fingerprint(theme.assets)
    diagnostics = in_reading_order((*loaded.diagnostics, *of_theme))
    try:
        pages = render_site(
            loaded.linked,
            loaded.documents,
            loaded.evidence,
            as_of=loaded.as_of,
            theme=theme,
            assets=assets.urls,
            probes=load_probes(),
            drawn=Drawings(root / CACHE / "cards"),
        )
    except jinja2.TemplateError as error:
        if not (root / TEMPLATES).is_dir():
            raise
        return Built(loaded, diagnostics=in_reading_order((*diagnostics, of_template(error, theme.templates))))
    shown = {url: (root / path).read_bytes() for url, path in loaded.linked.assets.items()}
    files = {**assets.files, **shown, **(_forms(loaded) if with_forms else {}), **pages}
    return Built(loaded, dict(sorted(files.items())), diagnostics)


def _forms(loaded: Loaded) -> dict[str, bytes]:
    """The forms of all images, by URL."""
    from sitegen.write.images import made

    found: dict[str, bytes] = {}
    for href, image in loaded.linked.images.items() if loaded.site.config.images else ():
        source = loaded.root / loaded.linked.assets[unquote(href)]
        found |= made(source, digest_file(source), forms(unquote(href), image), loaded.root / CACHE / FORMS)
    return found


def _paths(root: Path) -> Iterator[str]:
    """Every file under the site that a text could refer to, relative to its root."""
    for folder, subfolders, names in os.walk(root):
        subfolders[:] = [name for name in subfolders if name not in IGNORED]
        relative = Path(folder).relative_to(root)
        yield from ((relative / name).as_posix() for name in names)
