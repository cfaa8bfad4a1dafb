"""Read the text files of a folder into a `Site`.

Every file is read once; its path says what kind of file it is.  The parser of a kind of file is imported when a file
of that kind is read, since after an edit only one file is read.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from sitegen import inside
from sitegen.diagnostics import Diagnostic, Severity, Span, did_you_mean, in_reading_order
from sitegen.model.bibliography import Bibliography
from sitegen.model.kernel import Kernel
from sitegen.model.site import Exercise, Markdown, Page, Post, Series, Site, SiteConfig, Term, WorklogEntry
from sitegen.read.addresses import address_clashes, first_of_each_slug
from sitegen.read.config import MISNAMED, missing_config, parse_config, zone_of
from sitegen.read.pages import POST_FILE, parse_page, parse_post, parse_term
from sitegen.read.root import SITE_FILE
from sitegen.read.severity import worklog_never_fails
from sitegen.read.stray_files import is_stray, where_to_move
from sitegen.read.term_names import term_clashes
from sitegen.read.texts import read_text

T = TypeVar("T")

ROOMS = ("content", "kernels", "series")
SUFFIXES = (".bib", ".cu", ".cuh", ".h", ".hpp", ".md", ".py", ".yaml", ".yml")
"""Endings of the texts that pages show, keys hash or diagnostics quote.  Other modules read images and records."""
_ROOM = re.compile(
    r"content/(pages|terms|worklog)/[^/]+\.md|(series)/[^/]+\.yaml|(kernels)/[^/]+/kernel\.yaml|content/(exercises)/[^/]+/index\.md"
)
_KERNEL_FOLDER = re.compile(r"kernels/[^/]+/")


def load_site(root: Path) -> tuple[Site, tuple[Diagnostic, ...]]:
    """Return the site in a folder and all mistakes in it, in reading order.

    A file with mistakes is in the site as far as it could be read, so that references to it do not fail too.
    """
    files: dict[str, str] = {}
    diagnostics: list[Diagnostic] = []
    for path in text_files(root):
        text, mistakes = read_text(root, path)
        diagnostics += mistakes
        if text is not None:
            files[path] = text
    site, more = parse_site(files)
    return site, in_reading_order(worklog_never_fails((*diagnostics, *more)))


def text_files(root: Path) -> Iterator[str]:
    """Yield the paths of all texts from the root, sorted, with forward slashes."""
    for room in ROOMS:
        yield from filter(is_text, inside.files_below(root, room))


def is_text(path: str) -> bool:
    """Tell whether a file in one of the ROOMS is a text of the site."""
    is_named = path.endswith(SUFFIXES) or (path.endswith(".ipynb") and POST_FILE.fullmatch(path) is not None)
    return is_named and "/." not in (whole := f"/{path}") and "/__pycache__/" not in whole


def parse_site(files: Mapping[str, str]) -> tuple[Site, tuple[Diagnostic, ...]]:
    """Return the site whose texts these are, by path from its root, and its mistakes."""
    diagnostics: list[Diagnostic] = []
    zone = zone_of(_value_of(diagnostics, _config(files)))
    parts = {name: _value_of(diagnostics, parse_part(name, files, zone)) for name in parts_of(files)}
    site, more = assemble(parts, files)
    return site, in_reading_order(worklog_never_fails((*diagnostics, *more)))


@dataclass(frozen=True, slots=True)
class Worklog:
    """All days of the worklog, from one file or several."""

    entries: tuple[WorklogEntry, ...]
    intro: Markdown | None


SitePart = SiteConfig | Post | Page | Term | Exercise | Series | Kernel | Worklog | Bibliography
"""The content of one file, or of several that belong together."""
WORKLOG = "content/worklog/"


def parts_of(files: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Map the name of each part of a site to the files that it is read from.

    A part is named by its file, the worklog by its folder.
    """
    rooms = {path: _kind_of_file(path) for path in files}
    kernels = tuple(path for path in rooms if path.startswith("kernels/"))
    files_of_part = {SITE_FILE: tuple(path for path in rooms if path in (SITE_FILE, MISNAMED))}
    days = tuple(path for path, room in rooms.items() if room == "worklog")
    files_of_part |= {WORKLOG: days} if days else {}
    for path, room in rooms.items():
        if room in ("posts", "pages", "terms", "exercises", "series", "bibliography"):
            files_of_part[path] = (path,)
        elif room == "kernels":
            files_of_part[path] = kernels
    return files_of_part


def parse_part(name: str, files: Mapping[str, str], zone: dt.tzinfo) -> tuple[SitePart, tuple[Diagnostic, ...]]:
    """Return the part of a name and its mistakes; `files` has at least the files that `parts_of` gives it."""
    if name == SITE_FILE:
        return _config(files)
    if name == WORKLOG:
        from sitegen.read.worklog import parse_worklog

        entries, intro, warnings = parse_worklog(
            {p: text for p, text in files.items() if _kind_of_file(p) == "worklog"}
        )
        return Worklog(entries, intro), worklog_never_fails(warnings)
    text = files[name]
    match _kind_of_file(name):
        case "posts":
            return parse_post(text, name, zone)
        case "pages":
            return parse_page(text, name)
        case "terms":
            return parse_term(text, name)
        case "exercises":
            from sitegen.read.exercises import parse_exercise

            return parse_exercise(text, name)
        case "series":
            from sitegen.read.series import parse_series

            return parse_series(text, name)
        case "bibliography":
            from sitegen.read.bibliography import parse_bibliography

            return parse_bibliography(text, name)
        case _:
            from sitegen.read.kernel import parse_kernel

            return parse_kernel(text, name, files)


def assemble(parts: Mapping[str, SitePart], files: Mapping[str, str]) -> tuple[Site, tuple[Diagnostic, ...]]:
    """Return the site made of all parts, in the order of their files, and the mistakes between parts."""
    config, worklog = parts[SITE_FILE], parts.get(WORKLOG)
    assert isinstance(config, SiteConfig)
    kinds = _by_kind(parts.values())
    posts, diagnostics = first_of_each_slug(_parts_of_type(Post, kinds))
    site = Site(
        config=config,
        posts=posts,
        pages=_parts_of_type(Page, kinds),
        series=_parts_of_type(Series, kinds),
        worklog=worklog.entries if isinstance(worklog, Worklog) else (),
        worklog_intro=worklog.intro if isinstance(worklog, Worklog) else None,
        kernels=_parts_of_type(Kernel, kinds),
        terms=_parts_of_type(Term, kinds),
        bibliographies={one.path: one for one in _parts_of_type(Bibliography, kinds)},
        exercises=_parts_of_type(Exercise, kinds),
        files=files,
    )
    return site, worklog_never_fails((*diagnostics, *address_clashes(site), *term_clashes(site), *_unread_files(files)))


def _by_kind(parts: Iterable[SitePart]) -> dict[type, list[Any]]:
    parts_of_kind: dict[type, list[Any]] = {}
    for part in parts:
        parts_of_kind.setdefault(type(part), []).append(part)
    return parts_of_kind


def _parts_of_type(kind: type[T], parts: Mapping[type, list[Any]]) -> tuple[T, ...]:
    return tuple(parts.get(kind, ()))


def _kind_of_file(path: str) -> str:
    """Return `posts`, `pages`, `terms`, `worklog`, `series`, `kernels`, `exercises` or `bibliography`; empty for other
    files.
    """
    if path.endswith(".bib"):
        return "bibliography" if path.startswith("content/") else ""
    if path.startswith("content/posts/"):
        return "posts" if POST_FILE.fullmatch(path) else ""
    if match := _ROOM.fullmatch(path):
        return match[match.lastindex or 0]
    return ""


def _unread_files(files: Mapping[str, str]) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each file that looks like a part of the site and is not read."""
    for path in files:
        if path.endswith(".yml") and path.replace(".yml", ".yaml") != SITE_FILE:
            yield Diagnostic("SG016", "this file is not read", Span(path), "name it .yaml", Severity.WARNING)
        if is_stray(path, files):
            message, hint = "no page is made of this file", where_to_move(path, files)
            yield Diagnostic("SG016", message, Span(path), hint, Severity.WARNING)
    yield from _kernels_without_yaml(files)


def _kernels_without_yaml(files: Mapping[str, str]) -> Iterator[Diagnostic]:
    folders: dict[str, list[str]] = {}
    for path in files:
        if (match := _KERNEL_FOLDER.match(path)) and not path.endswith("__init__.py"):
            folders.setdefault(match[0], []).append(path.removeprefix(match[0]))
    for folder, names in folders.items():
        if not {"kernel.yaml", "kernel.yml"}.intersection(names):
            odd = next((name for name in names if did_you_mean(name, ["kernel.yaml"])), names[0])
            message, near = f"no {folder}kernel.yaml: this folder is not read", did_you_mean(odd, ["kernel.yaml"])
            yield Diagnostic("SG016", message, Span(folder + odd), near, Severity.WARNING)


def _config(files: Mapping[str, str]) -> tuple[SiteConfig, tuple[Diagnostic, ...]]:
    text = files.get(SITE_FILE)
    return missing_config(files) if text is None else parse_config(text)


def _value_of(diagnostics: list[Diagnostic], result: tuple[T, tuple[Diagnostic, ...]]) -> T:
    """Return the value of a result of `parse_…`, and append its diagnostics."""
    diagnostics += result[1]
    return result[0]
