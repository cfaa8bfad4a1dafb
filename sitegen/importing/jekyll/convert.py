"""A Jekyll folder → the files of a site."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from sitegen import inside
from sitegen.diagnostics import Span
from sitegen.importing.jekyll.bibliography import OF_THE_SITE, keys, of_the_site, own_file, plain
from sitegen.importing.jekyll.blocks import blocks, html_text
from sitegen.importing.jekyll.config import site_yaml
from sitegen.importing.jekyll.front_matter import page_front_matter, post_front_matter
from sitegen.importing.jekyll.places import Place, Room, places_of
from sitegen.importing.jekyll.report import Placeless, Report
from sitegen.importing.jekyll.site import JekyllSite, Kind, Source, address_key, read_site
from sitegen.importing.jekyll.tags import without_liquid
from sitegen.importing.jekyll.work import Work
from sitegen.importing.planned import Planned

_MADE_BY_LIQUID = re.compile(r"\{%-?\s*(?:for|if|unless|case|assign|capture|include|paginate)\b")

_MARKUP = re.compile(r"\{%.*?%\}|\{\{.*?\}\}|<[^<>]*>|\]\([^()]*\)", re.DOTALL)
_WORD = re.compile(r"\w+")
_FEW = 20
"""Words that a page of Markdown may have between its Liquid and still be nothing but a template."""
_LAST_HEADING = re.compile(r"\n(?:#{1,6} [^\n]+|[^\n]+\n[=-]+)\s*\Z")


def import_jekyll(folder: Path) -> Planned:
    """Every file that the site would have, and what is to be said of those of the Jekyll folder."""
    report = Report()
    site = read_site(folder, report)
    if not site.sources:
        report.error("SG606", "no posts and no pages", Span(site.config.path), "is this the folder of a Jekyll site?")
        return Planned({}, tuple(report.found), report.texts)
    shown = JekyllSite(
        folder,
        site.config,
        tuple(s for s in site.sources if not _is_template(s, report)),
        site.files,
        site.dollars,
        report,
    )
    places = places_of(shown)
    shared = of_the_site(site)
    placeless = Placeless()
    files: dict[str, str | bytes | Path] = {"content/site.yaml": site_yaml(site.config, folder.resolve().name, report)}
    for source in shown.sources:
        files |= _document(shown, source, places, keys(shared), placeless)
    if shared:
        files[OF_THE_SITE] = shared
    placeless.tell(report)
    return Planned(files, tuple(report.found), report.texts)


def _is_template(source: Source, report: Report) -> bool:
    """A page that is only a list of other things, or the page for what is not found: sitegen makes its own."""
    if source.kind is not Kind.PAGE:
        return False
    if address_key(source.url) == "404":
        return True
    by_liquid = _MADE_BY_LIQUID.search(source.body.text)
    if by_liquid and not source.is_html and len(_WORD.findall(_MARKUP.sub(" ", source.body.text))) > _FEW:
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


def _document(
    site: JekyllSite, source: Source, places: Mapping[str, Place], known: frozenset[str], placeless: Placeless
) -> dict[str, str | bytes | Path]:
    """The text and the files beside it; nothing of a post without a date."""
    place = places[source.path]
    if place.room is Room.POSTS and source.date is None:
        site.report.error("SG608", "a post needs a date", Span(source.path), "write `date: 2024-01-05`")
        return {}
    work = Work(site, source, places)
    own = own_file(site, source.text("bibliography")) if source.text("bibliography") else ""
    work.keys = known | (keys(plain(site, own)) if own else frozenset())
    lines = without_liquid(source.body.text, source.body.first_line, work)
    read = html_text if source.is_html else blocks
    text = read(lines.text.rstrip("\n") + "\n", lines.numbers, work)
    if work.lists_works:
        text = _LAST_HEADING.sub("\n", text)
    return _files(work, text, own, placeless)


def _files(work: Work, text: str, bibliography: str, placeless: Placeless) -> dict[str, str | bytes | Path]:
    place, root = work.place, work.site.folder
    body = text.strip("\n") + "\n"
    if place.room is Room.POSTS:
        name = work.asset(bibliography) if bibliography else ""
        matter = post_front_matter(work, name, placeless)
        folder = f"content/posts/{place.slug}"
        path = f"{folder}/index.md" if work.assets else f"{folder}.md"
    elif place.room is Room.PAGES:
        matter, path, folder = page_front_matter(work, placeless), f"content/pages/{place.slug}.md", ""
        folder = f"content/pages/{place.slug}"
    else:
        matter, path, folder = "", f"content/worklog/{place.slug}.md", f"content/worklog/{place.slug}"
    assets = {f"{folder}/{name}": inside.resolved(root, asset) for asset, name in work.assets.items()}
    return {path: matter + body, **assets}
