"""Turn the folder of a Jekyll site into the files of a sitegen site."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from sitegen import inside
from sitegen.diagnostics import Span
from sitegen.importing.jekyll.authors import SiteAuthors, authors_of
from sitegen.importing.jekyll.bibliography import (
    BIBLIOGRAPHY,
    entry_keys,
    post_bibliography,
    site_bibliography,
    without_front_matter,
)
from sitegen.importing.jekyll.blocks import convert_blocks, convert_html
from sitegen.importing.jekyll.config import site_yaml
from sitegen.importing.jekyll.conversion import Conversion
from sitegen.importing.jekyll.destinations import Destination, SiteSection, destinations_of
from sitegen.importing.jekyll.front_matter import page_front_matter, post_front_matter
from sitegen.importing.jekyll.inserts import without_marks
from sitegen.importing.jekyll.report import ImportReport, UnknownKeys
from sitegen.importing.jekyll.site import DocumentKind, JekyllDocument, JekyllSite, address_key, read_site
from sitegen.importing.jekyll.tags import replace_liquid
from sitegen.importing.jekyll.words import has_words
from sitegen.importing.plan import ImportPlan

_MADE_BY_LIQUID = re.compile(r"\{%-?\s*(?:for|if|unless|case|assign|capture|include|paginate)\b")

_LAST_HEADING = re.compile(r"\n(?:#{1,6} [^\n]+|[^\n]+\n[=-]+)\s*\Z")


def import_jekyll(folder: Path) -> ImportPlan:
    """Plan every file of the new site; the diagnostics are about the files of the Jekyll folder."""
    report = ImportReport()
    site = read_site(folder, report)
    if not site.sources:
        report.error("SG606", "no posts and no pages", Span(site.config.path), "is this the folder of a Jekyll site?")
        return ImportPlan({}, tuple(report.diagnostics), report.texts)
    kept_site = replace(site, sources=tuple(source for source in site.sources if not _is_template(site, source)))
    destinations = destinations_of(kept_site)
    shared = site_bibliography(site)
    unknown_keys, authors = UnknownKeys(), authors_of(kept_site)
    settings = site_yaml(site.config, folder.resolve().name, report) + authors.yaml
    files: dict[str, str | bytes | Path] = {"content/site.yaml": settings}
    sources: dict[str, tuple[str, str]] = {}
    for source in kept_site.sources:
        made = _document(kept_site, source, destinations, entry_keys(shared), unknown_keys, authors)
        files |= made
        sources |= {path: (source.path, source.body.text) for path, text in made.items() if isinstance(text, str)}
    if shared:
        files[BIBLIOGRAPHY] = shared
    unknown_keys.tell(report)
    return ImportPlan(files, tuple(report.diagnostics), report.texts, sources=sources)


def _is_template(site: JekyllSite, source: JekyllDocument) -> bool:
    """Return whether a page only lists other pages, or is the 404 page: sitegen makes its own."""
    report = site.report
    if source.kind is not DocumentKind.PAGE:
        return False
    if address_key(source.url) == "404":
        report.warn("SG606", "this is the 404 page", Span(source.path), "it is left out; every site has one")
        return True
    by_liquid = _MADE_BY_LIQUID.search(source.body.text)
    if by_liquid and (has_words(source.body.text) or _is_made_of_data(site, source)):
        return False
    empty = not source.body.text.strip()
    if not by_liquid and not empty:
        return False
    what = "this page is made by Liquid" if by_liquid else "this page has no text of its own"
    line = source.body.first_line + source.body.text.count("\n", 0, by_liquid.start() if by_liquid else 0)
    hint = f"it is left out; lists of posts, tags and series are made anyhow; `{source.url}` will not answer"
    report.warn(
        "SG606",
        what,
        Span(source.path, line if by_liquid else 1),
        hint if source.url != "/" else "it is left out; every site has a home page",
    )
    return True


def _is_made_of_data(site: JekyllSite, source: JekyllDocument) -> bool:
    """Return whether the Liquid of a page is all understood and writes words, such as those of files of `_data/`."""
    alone = replace(site, report=ImportReport(dict(site.report.texts)), shared={})
    place = Destination(SiteSection.PAGES, "page", "/page/", ())
    made = replace_liquid(source.body.text, source.body.first_line, Conversion(alone, source, {source.path: place}))
    return not alone.report.diagnostics and has_words(made.text)


def _document(
    site: JekyllSite,
    source: JekyllDocument,
    destinations: Mapping[str, Destination],
    known: frozenset[str],
    unknown_keys: UnknownKeys,
    authors: SiteAuthors,
) -> dict[str, str | bytes | Path]:
    """Return the text and the files beside it; nothing for a post without a date, which is an error."""
    destination = destinations[source.path]
    if destination.section is SiteSection.POSTS and source.date is None:
        site.report.error("SG608", "a post needs a date", Span(source.path), "write `date: 2024-01-05`")
        return {}
    conversion = Conversion(site, source, destinations)
    own = post_bibliography(site, source.text("bibliography")) if source.text("bibliography") else ""
    conversion.keys = known | (entry_keys(without_front_matter(site, own)) if own else frozenset())
    lines = replace_liquid(without_marks(source.body.text), source.body.first_line, conversion)
    read = convert_html if source.is_html else convert_blocks
    text = read(lines.text.rstrip("\n") + "\n", lines.numbers, conversion)
    if conversion.lists_works:
        text = _LAST_HEADING.sub("\n", text)
    return _files(conversion, text, own, unknown_keys, authors.of_post.get(source.path, ()))


def _files(
    conversion: Conversion, text: str, bibliography: str, unknown_keys: UnknownKeys, authors: Sequence[str]
) -> dict[str, str | bytes | Path]:
    destination, root = conversion.destination, conversion.site.folder
    body = text.strip("\n") + "\n"
    if destination.section is SiteSection.POSTS:
        name = conversion.asset(bibliography) if bibliography else ""
        matter = post_front_matter(conversion, name, authors, unknown_keys)
        folder = f"content/posts/{destination.slug}"
        path = f"{folder}/index.md" if conversion.assets else f"{folder}.md"
    elif destination.section is SiteSection.PAGES:
        matter, path, folder = page_front_matter(conversion, unknown_keys), f"content/pages/{destination.slug}.md", ""
        folder = f"content/pages/{destination.slug}"
    else:
        matter, path, folder = "", f"content/worklog/{destination.slug}.md", f"content/worklog/{destination.slug}"
    assets = {f"{folder}/{name}": inside.resolved(root, asset) for asset, name in conversion.assets.items()}
    return {path: matter + body, **assets}
