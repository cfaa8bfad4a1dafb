"""Compute the URL of every page of a site, from the site's root and without a leading slash: `posts/softmax/`.

The home page is the empty URL.  `relative` turns a URL into an href, so that a site works below any folder.
"""

from __future__ import annotations

import datetime as dt
import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sitegen.model.site import Page, Post, SiteConfig

HOME, POSTS, SERIES, KERNELS, WORKLOG = "", "posts/", "series/", "kernels/", "worklog/"
TASKS, LINKS = f"{WORKLOG}tasks/", f"{WORKLOG}links/"
CEILINGS = "ceilings/"
RECORDS, PREDICTIONS = "records/", "predictions/"
SEARCH = "search/"
SEARCH_PAGES = "search/pages.json"
SEARCH_WORDS = "search/words.txt"
EXERCISES, TERMS, TAGS, CATEGORIES = "exercises/", "terms/", "tags/", "categories/"
CONCEPTS = "concepts/"
DOWNLOADS = "downloads/"
"""The folder of the programs that a reader downloads."""
LISTS = (
    *(POSTS, SERIES, KERNELS, WORKLOG, EXERCISES, TERMS, TAGS, CATEGORIES, CEILINGS, CONCEPTS),
    *(RECORDS, PREDICTIONS),
)
"""Every list of pages.  No page, post or alias may take its address, and links lead to it where it has a page."""
CARD = "social-card.png"
FEED, JSON_FEED, SITEMAP, NOT_FOUND = "feed.xml", "feed.json", "sitemap.xml", "404.html"

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")


def post_url(post: Post, config: SiteConfig) -> str:
    """Return the URL of a post: its permalink, or one made of language and slug."""
    if post.permalink.strip("/"):
        return address(post.permalink)
    return in_language(f"{POSTS}{post.slug}/", post.lang, config)


def page_url(page: Page, config: SiteConfig) -> str:
    """Return the URL of a page without a date."""
    return in_language(f"{page.slug}/", page.lang, config)


def series_url(series: str) -> str:
    """Return the URL of a series by its id."""
    return f"{SERIES}{series}/"


def series_review_url(series: str) -> str:
    """Return the URL of the page with the questions of a series."""
    return f"{series_url(series)}review/"


def series_csv_url(series: str) -> str:
    """Return the URL of the questions of a series as a file for flash-card programs."""
    return f"{series_review_url(series)}{series}.csv"


def series_text_url(series: str) -> str:
    """Return the URL of the page with all posts of a series."""
    return f"{series_url(series)}all/"


def series_markdown_url(series: str) -> str:
    """Return the URL of all posts of a series as one Markdown file: the twin of their page."""
    return twin_path(output_path(series_text_url(series)))


def kernel_url(kernel: str) -> str:
    """Return the URL of a kernel by its name."""
    return f"{KERNELS}{kernel}/"


def program_url(kernel: str, implementation: str) -> str:
    """Return the URL of the program that checks and times an implementation."""
    return f"{DOWNLOADS}kernels/{kernel}_{implementation}.py"


def post_program_url(post: Post, suffix: str) -> str:
    """Return the URL of the cells of a post as one file: `downloads/posts/softmax.ipynb` for `ipynb`."""
    return f"{DOWNLOADS}posts/{post.slug}{f'.{post.lang}' if post.lang else ''}.{suffix}"


def series_zip_url(series: str) -> str:
    """Return the URL of the zip with all programs of a series."""
    return f"{DOWNLOADS}series/{series}.zip"


def code_folder(kernel: str) -> str:
    """Return the URL below which the PTX and SASS of a kernel have their pages."""
    return f"{kernel_url(kernel)}code/"


def ceilings_url(gpu: str) -> str:
    """Return the URL of a GPU's ceilings; `gpu` is its id: `nvidia-h200`."""
    return f"{CEILINGS}{gpu}/"


def day_url(date: dt.date) -> str:
    """Return the URL of a day of the worklog."""
    return f"{WORKLOG}{date.isoformat()}/"


def period_url(period: str) -> str:
    """Return the URL of a week, a month or a year of the worklog: `2026-w48`, `2026-11`, `2026`."""
    return f"{WORKLOG}{period}/"


def exercise_url(exercise: str) -> str:
    """Return the URL of an exercise by its id."""
    return f"{EXERCISES}{exercise}/"


def exercise_zip_url(exercise: str) -> str:
    """Return the URL of the archive with the folder of an exercise that checks itself."""
    return f"{exercise_url(exercise)}{exercise}.zip"


def term_url(term: str) -> str:
    """Return the URL of a glossary entry by its slug."""
    return f"{TERMS}{term}/"


@lru_cache(maxsize=4096)
def tag_url(tag: str) -> str:
    """Return the URL of a tag's page.

    Letters of any script and `+` are kept, and `#` becomes `sharp`, so that C, C++ and C# differ.
    """
    return f"{TAGS}{_words(tag)}/"


@lru_cache(maxsize=4096)
def category_url(category: str) -> str:
    """Return the URL of a category's page, spelled as that of a tag."""
    return f"{CATEGORIES}{_words(category)}/"


def _words(name: str) -> str:
    spelled = re.sub(r"(?<=\w)#", "sharp", name.lower())
    return re.sub(r"[^\w+.-]+", "-", spelled).strip("-")


def search_terms_path(number: int) -> str:
    """Return the path of a file of terms of the search index."""
    return f"{SEARCH}terms/{number}.txt"


def search_text_path(path: str) -> str:
    """Return the path of the text that search shows of the page in the file `path`."""
    return f"{SEARCH}texts/{path}.json"


def in_language(url: str, lang: str, config: SiteConfig) -> str:
    """Return the URL below the folder of its language, when that is not the site's language."""
    return f"{lang}/{url}" if lang and lang != config.language else url


def list_page_url(url: str, number: int) -> str:
    """Return the URL of page `number` of a list, counted from 1."""
    return url if number == 1 else f"{url}page/{number}/"


def address(written: str) -> str:
    """Return the URL of a permalink or an alias.

    `old` and `/old/` are the same URL.  A last part with a suffix is a file, unless a slash follows it: `/v1.2/` is a
    folder.
    """
    parts = written.strip("/")
    is_file = "." in parts.rpartition("/")[2] and not written.endswith("/")
    return parts if is_file or not parts else f"{parts}/"


def output_path(url: str) -> str:
    """Return the path of a page's file: `posts/softmax/index.html` for `posts/softmax/`, `404.html` for itself."""
    return f"{url}index.html" if not url or url.endswith("/") else url


def files_url(page: str) -> str:
    """Return the URL of the folder with the files of a page: `2024/sum/` for `2024/sum.html`, else the page's own.

    Two pages such as `2024/sum.html` and `2024/max.html` may have different files of one name.
    """
    return page if not page or page.endswith("/") else f"{page.rpartition('.')[0]}/"


def card_url(url: str) -> str:
    """Return the URL of a page's social card: `posts/softmax/social-card.png`."""
    page = output_path(url)
    return f"{page.removesuffix('index.html').removesuffix('.html')}{'' if page.endswith('index.html') else '-'}{CARD}"


def twin_path(path: str) -> str:
    """Return the path of the Markdown version of the page in the file `path`: `posts/softmax/index.md`."""
    return f"{path.removesuffix('.html')}.md"


def is_external(url: str) -> bool:
    """Tell whether a URL has a scheme or a host, and so leads out of the site."""
    return (":" in url or url.startswith("//")) and _SCHEME.match(url) is not None


def relative(url: str, here: str) -> str:
    """Return the href of `url` on the page `here`; within a page it is only the anchor."""
    if is_external(url) or url.startswith("#"):
        return url
    path, sign, anchor = url.partition("#")
    if sign and path == here:
        return f"#{anchor}"
    return f"{'../' * here.count('/')}{url}" or "./"


def absolute(url: str, config: SiteConfig) -> str:
    """Return the absolute address of a URL, for canonical links, feeds and the sitemap."""
    return url if is_external(url) else f"{config.base_url}{url}"
