"""Resolve the target of a link: a source file, a URL of the site, an anchor, a file to publish, or nothing.

An author may write any of `../sum/index.md`, `../sum/`, `/posts/sum/`, `/kernels/sum/`, `#anchor`, `plot.png`.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import quote, unquote

from sitegen.diagnostics import did_you_mean
from sitegen.inside import is_hidden
from sitegen.linking.near_addresses import NearAddresses, near_addresses
from sitegen.model import urls
from sitegen.model.dates import periods_of
from sitegen.model.document import Document
from sitegen.model.linked import document_key, originals
from sitegen.model.site import Post, Site


@dataclass(frozen=True, slots=True)
class AddressBook:
    """The addresses of a site."""

    sources: Mapping[str, str]
    """The URL of each source, by the path of its file or folder."""
    pages: Mapping[str, Collection[str] | None]
    """The ids on each page, by URL; None when they are unknown at this stage."""
    hidden: Mapping[str, str]
    """The kind of each text without a page, such as `a draft`, by its path and by its URL."""
    redirects: Mapping[str, str]
    """The new URL of each old one."""
    files: Collection[str]
    """The paths of all files under the site."""
    folders: Mapping[str, str] = field(default_factory=dict)
    """The URL of each post with a folder, by the folder: its images are published there."""
    index: list[NearAddresses] = field(default_factory=list, compare=False, repr=False)
    """The files and pages for hints; it is made when the first link leads nowhere."""

    def near(self, place: str, folder: str) -> set[str]:
        """Return the targets that are close to one, as a file of the folder writes them."""
        if not self.index:
            self.index.append(near_addresses((*self.sources, *_publishable(self), *(f"/{url}" for url in self.pages))))
        joined = place if place.startswith("/") else _joined(f"{folder}/", place) or place
        found = {*self.index[0].near(joined), *self.index[0].near(place)}
        return {name if name.startswith("/") else posixpath.relpath(name, folder) for name in found}


class Resolution(NamedTuple):  # a dataclass takes three times as long to make, and there are many
    """The result for one link: an `href` from the root with the `asset` to publish there, or a `problem` with a hint.

    The href of an asset is percent-encoded: a file may have any name.
    """

    href: str = ""
    asset: str = ""
    problem: str = ""
    hint: str = ""
    about_anchor: bool = False


def resolve(target: str, path: str, here: str, book: AddressBook) -> Resolution:
    """Return the resolution of `target`, which is written in the file `path` of the page `here`."""
    if urls.is_external(target):
        return Resolution(target)
    written, sign, anchor = target.partition("#")
    place = unquote(written.partition("?")[0])
    if not place:
        return _with_anchor(here, sign, anchor, book)
    url, asset = _page(place, path, here, book), ""
    if url is None:
        asset = _file(place, path, book)
        url = _asset_url(asset, book) if asset else None
    if url is None:
        return _nowhere(place, path, book)
    return Resolution(quote(url), asset) if asset else _with_anchor(url, sign, anchor, book)


def _page(place: str, path: str, here: str, book: AddressBook) -> str | None:
    for candidate in _sources(place, _folder(path)):
        if candidate in book.sources:
            return book.sources[candidate]
    url = place.lstrip("/") if place.startswith("/") else _joined(here, place)
    if not url and place.startswith("/"):
        return urls.HOME
    for candidate in filter(None, (url, f"{url}/", url.removesuffix("index.html"))):
        if candidate in book.pages:
            return candidate
        if candidate in book.redirects:
            return book.redirects[candidate]
    return None


_OF_MAIL = re.compile(r"[\w.+-]+@[A-Za-z][\w-]*(?:\.[\w-]+)*\.[A-Za-z]{2,}")
"""An address of e-mail; the picture `logo@2x.png` is none."""
_ENDINGS = (".md", "/index.md", "/kernel.yaml", "/index.ipynb")


@lru_cache(maxsize=1 << 16)
def _sources(place: str, folder: str) -> tuple[str, ...]:
    """Return the files that a link in a file of `folder` may mean, as Markdown editors and file browsers follow it."""
    base = place.lstrip("/") if place.startswith("/") else _joined(f"{folder}/", place)
    base = base.rstrip("/")
    stem = base.removesuffix("/index.md").removesuffix(".md")  # links stay valid when a post becomes a folder
    return (base, *(f"{stem}{end}" for end in _ENDINGS)) if base else ()


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _joined(folder: str, place: str) -> str:
    """Return the path of `place` from `folder`; empty when it leaves the site."""
    joined = posixpath.normpath(posixpath.join(folder, place))
    return "" if joined.startswith("..") or joined == "." else joined


def _file(place: str, path: str, book: AddressBook) -> str:
    """Return the file that a link means; empty unless it may be published."""
    for candidate in (*_sources(place, _folder(path))[:1], f"content{place}" if place.startswith("/") else ""):
        if candidate in book.files and _is_publishable(candidate):
            return candidate
    return ""


def _asset_url(asset: str, book: AddressBook) -> str:
    """Return the URL of a file: beside the page for a file of a post, else its path under content/."""
    folder = _folder(asset)
    while folder:
        if folder in book.folders:
            return book.folders[folder] + asset.removeprefix(f"{folder}/")
        folder = _folder(folder)
    return asset.removeprefix("content/")


def _with_anchor(url: str, sign: str, anchor: str, book: AddressBook) -> Resolution:
    if not anchor:
        return Resolution(f"{url}{sign}")
    ids, name = book.pages.get(url), unquote(anchor)
    if ids is not None and name not in ids:
        return Resolution(url, problem=f"no `#{name}` on that page", hint=did_you_mean(name, ids), about_anchor=True)
    return Resolution(f"{url}{sign}{name}")


def _nowhere(place: str, path: str, book: AddressBook) -> Resolution:
    sources = _sources(place, _folder(path))
    if hidden := next((source for source in sources if is_hidden(source) and source in book.files), ""):
        hint = "give it a name that does not begin with a dot"
        return Resolution(problem=f"`{hidden}` is hidden, and is not published", hint=hint)
    named = {*sources, place.lstrip("/"), f"{place.lstrip('/')}/"}
    for name in sorted(named & set(book.hidden)):
        hint = "it has no page yet: link it once it is published, or correct `draft` or `date` in its front matter"
        return Resolution(problem=f"the target of this link is {book.hidden[name]}", hint=hint)
    hint = did_you_mean(place, book.near(place, _folder(path)))
    if not hint and _OF_MAIL.fullmatch(place):
        hint = f"for an address of e-mail, write `mailto:{place}`"
    return Resolution(problem=f"`{place}` leads nowhere", hint=hint)


def _publishable(book: AddressBook) -> list[str]:
    return [file for file in book.files if _is_publishable(file) and not file.endswith((".json", ".yaml"))]


def _is_publishable(file: str) -> bool:
    """Return whether a text may show a file or link to it; hidden files may be an editor's, or hold secrets."""
    return file.startswith("content/") and not file.endswith(".md") and not is_hidden(file)


def address_book(
    site: Site,
    hidden: Mapping[str, Post],
    documents: Mapping[str, Document],
    files: Collection[str],
    why: Mapping[str, str],
) -> AddressBook:
    """Return the addresses of a site; `hidden` are the unpublished posts by path, `why` is the reason for each."""
    sources: dict[str, str] = {}
    pages: dict[str, Collection[str] | None] = dict.fromkeys(
        (urls.HOME, urls.POSTS, urls.SERIES, urls.KERNELS, urls.WORKLOG, urls.FEED, urls.SITEMAP)
    )
    config = site.config
    if site.terms:
        pages[urls.TERMS] = None
    if any(entry.tasks for entry in site.worklog):
        pages[urls.TASKS] = None
    if any("://" in entry.body.text for entry in site.worklog):
        pages[urls.LINKS] = None
    if site.kernels:
        pages |= dict.fromkeys((urls.RECORDS, urls.PREDICTIONS))
    if config.search:
        pages[urls.SEARCH] = None
    for post in site.posts:
        _add(sources, pages, post.body.path, urls.post_url(post, config), documents.get(document_key(post.body)))
    for page in site.pages:
        _add(sources, pages, page.body.path, urls.page_url(page, config), documents.get(document_key(page.body)))
    for term in site.terms:
        _add(sources, pages, term.body.path, urls.term_url(term.slug), documents.get(document_key(term.body)))
    for entry in site.worklog:
        url = urls.day_url(entry.date)
        sources[entry.body.path] = urls.WORKLOG if entry.body.path in sources else url
        pages[url] = None
        pages |= dict.fromkeys(map(urls.period_url, periods_of(entry.date)))
    if site.exercises:
        pages[urls.EXERCISES] = None
    for exercise in site.exercises:
        _add(sources, pages, exercise.body.path, urls.exercise_url(exercise.id), None)
    for series in site.series:
        _add(sources, pages, series.span.path, urls.series_url(series.id), None)
    for kernel in site.kernels:
        _add(sources, pages, f"{kernel.folder}/kernel.yaml", urls.kernel_url(kernel.name), None)
        for made in kernel.implementations:
            sources[made.file] = f"{urls.kernel_url(kernel.name)}#{made.name}"
    if any(p.needs or p.teaches for p in site.posts) or any(e.needs or e.teaches for e in site.exercises):
        pages[urls.CONCEPTS] = None
    for lang in {post.lang for post in site.posts}:
        pages |= dict.fromkeys(urls.in_language(url, lang, config) for url in (urls.HOME, urls.POSTS, urls.TAGS))
    tags = {(tag.name, post.lang) for post in site.posts for tag in post.tags}
    pages |= dict.fromkeys(urls.in_language(urls.tag_url(tag), lang, config) for tag, lang in tags)
    categories = {(post.category, post.lang) for post in site.posts if post.category}
    pages |= dict.fromkeys(urls.in_language(urls.category_url(name), lang, config) for name, lang in categories)
    pages |= dict.fromkeys(urls.in_language(urls.CATEGORIES, lang, config) for _, lang in categories)
    unpublished = dict(why) | {urls.post_url(post, config): why[path] for path, post in hidden.items()}
    return AddressBook(sources, pages, unpublished, redirects_of(site), files, _folders(site))


def _add(
    sources: dict[str, str],
    pages: dict[str, Collection[str] | None],
    path: str,
    url: str,
    document: Document | None,
) -> None:
    sources[path] = url
    pages[url] = document.ids if document else None


def redirects_of(site: Site) -> dict[str, str]:
    config = site.config
    by_name = {urls.address(ref.name): urls.post_url(post, config) for post in site.posts for ref in post.aliases}
    return by_name | {
        urls.address(ref.name): urls.page_url(page, config) for page in site.pages for ref in page.aliases
    }


def _folders(site: Site) -> dict[str, str]:
    """Map the folder of each post to the URL of the folder with its files."""
    return {post.folder: urls.files_url(urls.post_url(post, site.config)) for post in originals(site) if post.folder}
