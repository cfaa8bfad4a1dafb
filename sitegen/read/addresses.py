"""Report slugs, permalinks and aliases that are no addresses or that two things of a site claim."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from sitegen.diagnostics import Diagnostic, Span
from sitegen.model import urls
from sitegen.model.site import Post, Ref, Site
from sitegen.model.urls import (
    DOWNLOADS,
    FEED,
    JSON_FEED,
    LISTS,
    NOT_FOUND,
    SITEMAP,
    category_url,
    day_url,
    exercise_url,
    in_language,
    kernel_url,
    tag_url,
)
from sitegen.read.pages import front_matter_span

_LISTS = tuple(url.rstrip("/") for url in (*LISTS, "assets/", DOWNLOADS))
_FILES = (*(FEED, JSON_FEED, SITEMAP, NOT_FOUND), "robots.txt", "llms.txt", "_redirects")
_MADE = re.compile(
    r"(/[\w-]+)?/(posts|worklog(/tasks|/links)?|(tags|categories)/[^/]+)/(page/\d+/|feed\.xml)"
    r"|/worklog/(tasks|links|\d{4}(-\d\d|-w\d\d)?)/|/(assets|ceilings|downloads|search)/.+|/\.sitegen.*"
)
"""Addresses of pages and files that a build makes as they are needed."""
_WORD = re.compile(r"\w")
_LONGEST = 200
"""Bytes of a part of an address: file systems take 255, with a suffix while a file is written."""
_LONGEST_WHOLE = 1000
"""Bytes of a whole address: a path has at most 4096 with the folder of the site."""
_ADDRESS = re.compile(r"/?[\w.+~-]+(/[\w.+~-]+)*/?")
_FIT = re.compile(r"\w[\w.+~]*")
"""Pattern of the parts of a name that may stay in an address."""
_HIDDEN = re.compile(r"(?:^|/)\.(?!well-known(?:/|$))")
"""Pattern of a part that begins with a dot: `..`, or a file that a server or git reads, such as `.git/config`."""
_PART = r"[^\s/?#%\\\x00-\x1f\x7f](?:[^/?#%\\\x00-\x1f\x7f]*[^\s/?#%\\\x00-\x1f\x7f])?"
OLD_ADDRESS = re.compile(rf"/?{_PART}(/{_PART})*/?")
"""Pattern of an alias: it comes from another site, which may have had spaces and commas in its addresses."""


@dataclass(frozen=True, slots=True)
class _Claim:
    """An address that a file claims, its name in messages, the file, and the place at which a clash is shown."""

    address: str
    what: str
    owner: str
    span: Span | None
    """None for a permalink, whose place is sought only when there is a mistake: that reads its file again."""
    form: re.Pattern[str] = _ADDRESS
    name: str = ""
    """The name of the file or folder, when the address is made of it."""


def first_of_each_slug(posts: Iterable[Post]) -> tuple[tuple[Post, ...], tuple[Diagnostic, ...]]:
    """Return the posts without those whose slug an earlier post of the same language has, and a diagnostic for each."""
    kept: dict[tuple[str, str], Post] = {}
    diagnostics = []
    for post in posts:
        first = kept.setdefault((post.slug, post.lang), post)
        if first is not post:
            message = f"the slug `{post.slug}` is taken: {first.body.path} has it too"
            diagnostics.append(Diagnostic("SG020", message, post.span, "rename one of the two"))
    return tuple(kept.values()), tuple(diagnostics)


def address_clashes(site: Site) -> tuple[Diagnostic, ...]:
    """Return a diagnostic for every slug, permalink and alias that is no address or is taken.

    Content comes first: an alias never takes the address of a page.
    """
    diagnostics = list(_unfit_names(site))
    taken = dict(_reserved_addresses(site))
    for claim in (*_content_claims(site), *_alias_claims(site)):
        if mistake := _mistake_of(claim, taken):
            code, message, hint = mistake
            span = claim.span or front_matter_span(site.files.get(claim.owner, ""), claim.owner, "permalink")
            if code == "SG024" and claim.name:  # the mistake is the name of the file, and no line in it
                span = Span(claim.owner)
            diagnostics.append(Diagnostic(code, message, span, hint))
        else:
            taken[normalised_address(claim.address)] = claim.owner
    return tuple(diagnostics)


def _mistake_of(claim: _Claim, taken: Mapping[str, str]) -> tuple[str, str, str] | None:
    """Return the code, the message and the hint for a claim of what is no address or is taken."""
    address = normalised_address(claim.address)
    if not claim.form.fullmatch(claim.address) or _HIDDEN.search(claim.address):
        hint = "an address is letters, digits, `-`, `_`, `.` and slashes, as `/old/`, and no part begins with a dot"
        return "SG024", f"{claim.what} is not an address", _new_name(claim) or hint
    if too_long := _length_mistake(claim.address):
        return "SG024", f"the address {too_long[0]}", too_long[1]
    if owner := taken.get(address) or _build_page_at(address):
        return "SG021", f"{claim.what} is already the address of {owner}", "choose another"
    return None


def _new_name(claim: _Claim) -> str:
    """Return the hint for the name of a file or folder that is no address; empty for an address that is written."""
    fit = "-".join(_FIT.findall(claim.name.lower()))
    if not fit:
        return ""
    head, _, last = claim.owner.rpartition("/")
    kind, suffix = ("file", f".{last.rpartition('.')[2]}") if last.startswith(claim.name) else ("folder", "")
    old = claim.owner if suffix else head
    place = old.removesuffix(f"{claim.name}{suffix}")
    return f"it is part of the address of the page: rename the {kind} to `{place}{fit}{suffix}`"


def _unfit_names(site: Site) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each tag and category of which no address can be made."""
    for post in site.posts:
        for tag in post.tags:
            if mistake := _name_mistake(tag.name):
                yield Diagnostic("SG024", f"the tag {mistake[0]}", tag.span, mistake[1])
        if post.category and (mistake := _name_mistake(post.category)):
            span = front_matter_span(site.files.get(post.body.path, ""), post.body.path, "category")
            yield Diagnostic("SG024", f"the category {mistake[0]}", span, mistake[1])


@lru_cache(maxsize=4096)
def _name_mistake(name: str) -> tuple[str, str] | None:
    """Return the end of a message and a hint when no address can be made of a name."""
    if not _WORD.search(name):
        return f"`{name}` has no letter or digit", "its address is made of its letters and digits"
    return _length_mistake(tag_url(name))


def _length_mistake(address: str) -> tuple[str, str] | None:
    if (whole := len(address.encode())) > _LONGEST_WHOLE:
        return f"`{address[:20]}…` is too long", f"it has {whole} bytes, and an address at most {_LONGEST_WHOLE}"
    longest = max(address.split("/"), key=lambda part: len(part.encode()))
    if (size := len(longest.encode())) <= _LONGEST:
        return None
    return f"`{longest[:20]}…` is too long", f"it has {size} bytes, and a folder's name at most {_LONGEST}"


def normalised_address(address: str) -> str:
    """Return the address with a leading slash: `old` and `/old/` are one address; a part with a suffix is a file."""
    return f"/{urls.address(address)}"


def _reserved_addresses(site: Site) -> Iterator[tuple[str, str]]:
    """Yield the addresses that sitegen gives to pages and files itself, and what has each."""
    yield "/", "the home page"
    if site.config.search:
        yield "/search/", "the search page"
    yield from ((f"/{name}/", f"the list of {name}") for name in _LISTS)
    yield from ((f"/{name}", f"the file {name}") for name in _FILES)
    yield from ((f"/{kernel_url(kernel.name)}", f"the kernel {kernel.name}") for kernel in site.kernels)
    yield from ((f"/{exercise_url(one.id)}", f"the exercise {one.id}") for one in site.exercises)
    yield from ((f"/{day_url(entry.date)}", f"the day {entry.date.isoformat()}") for entry in site.worklog)
    for lang in sorted({post.lang for post in site.posts} - {"", site.config.language}):
        yield f"/{lang}/", f"the home page in `{lang}`"
        yield from ((f"/{lang}/{name}/", f"the list of {name} in `{lang}`") for name in ("posts", "tags", "categories"))
        yield from ((f"/{lang}/{name}", f"the file {lang}/{name}") for name in (FEED, JSON_FEED))
    for name, lang in sorted({(tag.name, post.lang) for post in site.posts for tag in post.tags}):
        yield f"/{in_language(tag_url(name), lang, site.config)}", f"the tag {name}"
    for name, lang in sorted({(post.category, post.lang) for post in site.posts if post.category}):
        yield f"/{in_language(category_url(name), lang, site.config)}", f"the category {name}"


def _build_page_at(address: str) -> str:
    return "a page that the build makes" if _MADE.fullmatch(address) else ""


def _content_claims(site: Site) -> Iterator[_Claim]:
    for page in site.pages:
        address = _in_language(f"/{page.slug}/", page.lang, site)
        yield _Claim(address, f"the name `{page.slug}`", page.body.path, page.span, name=page.slug)
    for post in site.posts:
        if post.permalink:
            yield _Claim(post.permalink, f"the permalink `{post.permalink}`", post.body.path, None)
        else:
            address = _in_language(f"/posts/{post.slug}/", post.lang, site)
            yield _Claim(address, f"the name `{post.slug}`", post.body.path, post.span, name=post.slug)
    for series in site.series:
        yield _Claim(f"/series/{series.id}/", f"the name `{series.id}`", series.span.path, series.span, name=series.id)
    for term in site.terms:
        yield _Claim(f"/terms/{term.slug}/", f"the name `{term.slug}`", term.body.path, term.span, name=term.slug)


def _alias_claims(site: Site) -> Iterator[_Claim]:
    owned: list[tuple[str, Ref]] = [(post.body.path, alias) for post in site.posts for alias in post.aliases]
    owned += [(page.body.path, alias) for page in site.pages for alias in page.aliases]
    for owner, alias in owned:
        yield _Claim(alias.name, f"the alias `{alias.name}`", owner, alias.span, OLD_ADDRESS)


def _in_language(address: str, lang: str, site: Site) -> str:
    return f"/{lang}{address}" if lang and lang != site.config.language else address
