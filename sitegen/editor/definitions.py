"""Find where the name under the cursor is defined: a file of the site, and a line of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from sitegen.diagnostics import Span
from sitegen.model.site import Site
from sitegen.read.own_directive import FOLDER

_NAME = re.compile(r"[@#]?[\w][\w./:-]*")
Read = Callable[[str], str]
"""Returns the text of a file of the site; empty when there is none."""


def definition(line: str, column: int, path: str, site: Site, read: Read) -> Span | None:
    """Return the place at which the name at a column of a line, from 0, is defined; None when there is none."""
    word = next((m[0] for m in _NAME.finditer(line) if m.start() <= column <= m.end()), "")
    return next(_places(word.rstrip("./:"), path, site, read), None) if word else None


def _places(word: str, path: str, site: Site, read: Read) -> Iterator[Span]:
    if word.startswith("@"):
        yield from _label(word[1:], path, read)
        yield from _work(word[1:], site, read)
    yield from _of_kernel(word.partition("@")[0], site)
    yield from (term.span for term in site.terms if word in (term.slug, term.title, *term.aliases))
    yield from (post.span for post in site.posts if word in (post.slug, f"posts/{post.slug}"))
    yield from (one.span for one in site.exercises if word == one.id)
    yield from (series.span for series in site.series if word == series.id)
    if read(template := f"{FOLDER}/{word}.html"):
        yield Span(template)
    yield from _work(word, site, read)


def _of_kernel(word: str, site: Site) -> Iterator[Span]:
    name, _, implementation = word.removeprefix("kernels/").partition("/")
    for kernel in site.kernels:
        if kernel.name == name and not implementation:
            yield Span(f"{kernel.folder}/kernel.yaml")
        elif kernel.name == name:
            yield from (Span(one.file) for one in kernel.implementations if one.name == implementation)


def _label(label: str, path: str, read: Read) -> Iterator[Span]:
    """Yield the place where a label of a text is given: `{#fig-roof}`, `:label: fig-roof` or `#| label: fig-roof`."""
    given = re.compile(rf"\{{#{re.escape(label)}\b|label:\s*{re.escape(label)}\s*$")
    yield from _found(given, path, read)


def _work(key: str, site: Site, read: Read) -> Iterator[Span]:
    for path, bibliography in site.bibliographies.items():
        if any(work.key == key for work in bibliography.works):
            yield from _found(re.compile(rf"@\w+\s*\{{\s*{re.escape(key)}\b"), path, read)


def _found(pattern: re.Pattern[str], path: str, read: Read) -> Iterator[Span]:
    for number, line in enumerate(read(path).split("\n"), start=1):
        if match := pattern.search(line):
            yield Span(path, number, match.start() + 1, len(match[0]))
