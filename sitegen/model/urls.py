"""Where everything of a site stands: URLs from the site's root, without a slash before them (`posts/softmax/`).

The home page is the empty URL.  `relative` turns one into the href of a page, so that a site works below any folder.
"""

from __future__ import annotations

import datetime as dt
import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sitegen.model.site import Page, Post, SiteConfig

HOME, POSTS, SERIES, KERNELS, WORKLOG = "", "posts/", "series/", "kernels/", "worklog/"
CEILINGS = "ceilings/"
SEARCH = "search/"
EXERCISES, TERMS, TAGS, CATEGORIES = "exercises/", "terms/", "tags/", "categories/"
CARD = "social-card.png"
FEED, JSON_FEED, SITEMAP, NOT_FOUND = "feed.xml", "feed.json", "sitemap.xml", "404.html"

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")


def post_url(post: Post, config: SiteConfig) -> str:
    if post.permalink.strip("/"):
        return address(post.permalink)
    return in_language(f"{POSTS}{post.slug}/", post.lang, config)


def page_url(page: Page, config: SiteConfig) -> str:
    return in_language(f"{page.slug}/", page.lang, config)


def series_url(series: str) -> str:
    return f"{SERIES}{series}/"


def kernel_url(kernel: str) -> str:
    return f"{KERNELS}{kernel}/"


def ceilings_url(gpu: str) -> str:
    """`gpu` is its id: `nvidia-h200`."""
    return f"{CEILINGS}{gpu}/"


def day_url(date: dt.date) -> str:
    return f"{WORKLOG}{date.isoformat()}/"


def exercise_url(exercise: str) -> str:
    return f"{EXERCISES}{exercise}/"


def term_url(term: str) -> str:
    return f"{TERMS}{term}/"


@lru_cache(maxsize=4096)
def tag_url(tag: str) -> str:
    """A tag is words; its URL keeps their letters, of any script, `+`, and `#` as `sharp`: C, C++ and C# differ."""
    return f"{TAGS}{_words(tag)}/"


@lru_cache(maxsize=4096)
def category_url(category: str) -> str:
    """Spelled as the URL of a tag."""
    return f"{CATEGORIES}{_words(category)}/"


def _words(name: str) -> str:
    spelled = re.sub(r"(?<=\w)#", "sharp", name.lower())
    return re.sub(r"[^\w+.-]+", "-", spelled).strip("-")


def search_index_url(kind: str) -> str:
    """Of the folder with the index of a kind of pages: `posts`."""
    return f"pagefind/{kind}/"


def in_language(url: str, lang: str, config: SiteConfig) -> str:
    """Another language than the site's stands under its own folder."""
    return f"{lang}/{url}" if lang and lang != config.language else url


def list_page_url(url: str, number: int) -> str:
    """Page `number` of a list, from 1."""
    return url if number == 1 else f"{url}page/{number}/"


def address(written: str) -> str:
    """A permalink or an alias as a URL: `old` and `/old/` are one; a last part with a suffix is a file, unless a slash
    follows it: `/v1.2/` is a folder.
    """
    parts = written.strip("/")
    is_file = "." in parts.rpartition("/")[2] and not written.endswith("/")
    return parts if is_file or not parts else f"{parts}/"


def output_path(url: str) -> str:
    """`posts/softmax/` is the file `posts/softmax/index.html`; `404.html` is itself."""
    return f"{url}index.html" if not url or url.endswith("/") else url


def card_url(url: str) -> str:
    """Where the picture of a page stands: `posts/softmax/social-card.png`."""
    page = output_path(url)
    return f"{page.removesuffix('index.html').removesuffix('.html')}{'' if page.endswith('index.html') else '-'}{CARD}"


def twin_path(path: str) -> str:
    """Where the Markdown of the page in the file `path` stands: `posts/softmax/index.md`."""
    return f"{path.removesuffix('.html')}.md"


def is_external(url: str) -> bool:
    """It carries a scheme or a host: nothing of this site."""
    return (":" in url or url.startswith("//")) and _SCHEME.match(url) is not None


def relative(url: str, here: str) -> str:
    """The href of `url` on the page `here`: up to the root and down again; within a page only the anchor."""
    if is_external(url) or url.startswith("#"):
        return url
    path, sign, anchor = url.partition("#")
    if sign and path == here:
        return f"#{anchor}"
    return f"{'../' * here.count('/')}{url}" or "./"


def absolute(url: str, config: SiteConfig) -> str:
    """For canonical links, feeds and the sitemap."""
    return url if is_external(url) else f"{config.base_url}{url}"
