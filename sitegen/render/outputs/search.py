"""Make the search page, and the indexes that Pagefind makes from the words of other pages.

Both exist where `site.yaml` says `search: true`.  An index is a folder of small files, of which a browser loads those
that a question needs.  Each kind of page has its own index.  One index with a filter by kind would not do: Pagefind
writes the values of a filter in random order, and the same pages must give the same bytes.

Beside each index stands `names.json`, with which `finding.js` puts pages in order and corrects words: the address, the
language and the names of each page, and the words of all headings.
"""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import TemplateRuntimeError

from sitegen import inside
from sitegen.model.urls import CATEGORIES, SEARCH, TAGS, TERMS, output_path, relative, search_index_url
from sitegen.render.shared.frame import POLICY, Link, Printer, navigation

POLICY_WITH_WASM = POLICY.replace("script-src 'self'", "script-src 'self' 'wasm-unsafe-eval'")
"""The policy of the search page, which also allows WebAssembly, in which Pagefind searches."""
_BESIDE_THE_TEXT = (
    "head, .skip, .masthead, .colophon, .eyebrow, .meta, .plate, .prov, .turn, .toc, .figures, .sources, nav, svg, "
    "button, .no, .mk, .back, annotation, .ladder figure, .facts, [aria-labelledby='used'], .numbers, .claim details, "
    "table.data thead, table.data td:not(.l), table.data th[scope='row']"
)
"""Parts of a page without sentences.  The heads and the numbers of a table would stand as one chain of words in what a
reader sees of the page; cells with words, which have the class `l`, stay.
"""
NAMES = "names.json"
_PROGRAM = ("pagefind.js", "pagefind-worker.js", "wasm.*.pagefind")
_WORD = re.compile(r"[^\W\d]\w{3,}")
"""A word that is long enough to be corrected."""
_HEADS = {
    "posts": "Posts",
    "worklog": "Worklog",
    "kernels": "Kernels",
    "exercises": "Exercises",
    "terms": "Terms",
    "pages": "Other pages",
}
_INDEX = ("pagefind-entry.json", "*.pf_*")
"""The files of an index.  Pagefind's other files are user interfaces, which this site does not use."""


@dataclass(frozen=True, slots=True)
class SearchKind:
    name: str
    """The kind of page, such as `posts`."""
    text: str
    index: str
    """The link to the folder of the index."""


@dataclass(frozen=True, slots=True)
class SearchPage:
    stylesheet: str
    script: str
    finding: str
    """The script that puts what is found in order."""
    kinds: tuple[SearchKind, ...]
    """The kinds that a reader can search alone.  The index of the first kind also holds Pagefind's program."""
    lists: tuple[Link, ...]
    """The lists for a reader without JavaScript."""


def search_page(printer: Printer, kinds: tuple[str, ...]) -> tuple[str, str]:
    sources, spoken = printer.sources, printer.language()
    there = {url: text for text, url in navigation(sources, spoken)}
    there |= {CATEGORIES: spoken.say("Categories")} if sources.posts_by_category() else {}
    there |= {TAGS: spoken.say("Tags")} if sources.posts_by_tag() else {}
    there |= {TERMS: spoken.say("Terms")} if sources.site.terms else {}
    page = SearchPage(
        stylesheet=relative(sources.assets["search.css"], SEARCH),
        script=relative(sources.assets["search.js"], SEARCH),
        finding=relative(sources.assets["finding.js"], SEARCH),
        kinds=tuple(SearchKind(k, spoken.say(_HEADS[k]), relative(search_index_url(k), SEARCH)) for k in kinds),
        lists=tuple(Link(text, relative(url, SEARCH)) for url, text in there.items()),
    )
    return printer.page(
        "search.html", SEARCH, page, title=spoken.say("Search"), section=SEARCH, policy=POLICY_WITH_WASM
    )


def index_files(
    printer: Printer,
    kind: str,
    pages: Mapping[str, tuple[str, ...]],
    content: Callable[[str], bytes],
    *,
    program: bool,
) -> dict[str, str | bytes]:
    """Return the index of a kind of pages, by output path; with `program` also Pagefind's program, which reads all
    indexes.

    `pages` gives by output path the language of a page and its names besides the title, and `content` reads a page.
    """
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for path in pages:
            inside.write_bytes(folder, f"site/{path}", content(path))
        _run_pagefind(folder, printer.sources.config.language)
        wanted = (*_INDEX, *(_PROGRAM if program else ()))
        files = sorted(file for pattern in wanted for file in (folder / "index").rglob(pattern))
        made = {file.relative_to(folder / "index").as_posix(): file.read_bytes() for file in files}
    made[NAMES] = _names(made, pages, printer.sources.config.language)
    return {f"{search_index_url(kind)}{path}": data for path, data in made.items()}


def _names(made: Mapping[str, bytes], pages: Mapping[str, tuple[str, ...]], language: str) -> bytes:
    """Return the names of the pages by the ids that Pagefind gives them, and the words of their headings."""
    fragments = {Path(path).stem: _fragment(data) for path, data in made.items() if path.endswith(".pf_fragment")}
    named, words = {}, set[str]()
    for name, fragment in fragments.items():
        url = str(fragment["url"]).removeprefix("/")
        lang, *others = pages[output_path(url)]
        named[name] = [url, lang or language, str(fragment["meta"].get("title", "")), *others]
        words.update(word for anchor in fragment["anchors"] for word in _WORD.findall(anchor["text"].lower()))
    text = json.dumps({"pages": named, "words": sorted(words)}, ensure_ascii=False, separators=(",", ":"))
    return text.encode()


def _fragment(data: bytes) -> dict[str, Any]:
    """Return what Pagefind keeps of a page: JSON behind a signature, compressed."""
    text = gzip.decompress(data)
    fragment: dict[str, Any] = json.loads(text[text.index(b"{") :])
    return fragment


def _run_pagefind(folder: Path, language: str) -> None:
    """Run Pagefind on all pages as if they had one language, because otherwise a reader of English would not find a
    Korean post.  Raises TemplateRuntimeError when Pagefind finds no text in the pages.
    """
    from pagefind.service import get_executable

    words = [str(get_executable()), "--site", "site", "--output-path", "index", "--silent"]
    words += ["--exclude-selectors", _BESIDE_THE_TEXT, "--force-language", language.partition("-")[0].lower()]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        said = " ".join(dict.fromkeys(done.stderr.split("\n"))).strip() or f"it ended with {done.returncode}"
        raise TemplateRuntimeError(f"Pagefind finds no text in its pages; is `<head>` closed before it? ({said})")
