"""A folder → its text files → `Site`.  Every file is read once; which file is what, its path says."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from sitegen.diagnostics import Diagnostic, Severity, Span, did_you_mean, in_reading_order
from sitegen.model.site import Site, SiteConfig
from sitegen.read.addresses import address_clashes, first_of_each_slug
from sitegen.read.config import SITE_FILE, no_config, parse_config, zone_of
from sitegen.read.kernel import parse_kernel
from sitegen.read.pages import POST_FILE, parse_page, parse_post, parse_term
from sitegen.read.series import parse_series
from sitegen.read.source import decode
from sitegen.read.worklog import parse_worklog

T = TypeVar("T")

ROOMS = ("content", "kernels", "series")
SUFFIXES = (".bib", ".cu", ".cuh", ".h", ".hpp", ".md", ".py", ".yaml", ".yml")
"""Text that a page shows, a key hashes or a diagnostic frames.  Images and records are others' to read."""
_KERNEL_FILE = re.compile(r"kernels/([^/]+)/kernel\.yaml")
_KERNEL_FOLDER = re.compile(r"kernels/[^/]+/")
_SERIES_FILE = re.compile(r"series/[^/]+\.yaml")
_MARKDOWN_OF_THE_SITE = re.compile(rf"{POST_FILE.pattern}$|content/(pages|terms|worklog)/[^/]+$|content/exercises/")
_EXERCISE_FILE = re.compile(r"content/exercises/([^/]+)/.+")


def find_root(start: Path) -> Path | None:
    """The nearest folder, from `start` upwards, that holds content/site.yaml."""
    here = start.resolve()
    return next((folder for folder in (here, *here.parents) if (folder / SITE_FILE).is_file()), None)


def load_site(root: Path) -> tuple[Site, tuple[Diagnostic, ...]]:
    """The site in a folder and all mistakes in it, in reading order.

    A file with mistakes is in the site as far as it could be read, so that what names it does not fail too.
    """
    files: dict[str, str] = {}
    found: list[Diagnostic] = []
    for path in text_files(root):
        try:
            data = (root / path).read_bytes()
        except OSError as error:
            found.append(Diagnostic("SG022", f"the file cannot be read: {error.strerror}", Span(path)))
            continue
        files[path] = _keep(found, decode(data, path))
    site, more = parse_site(files)
    return site, in_reading_order(worklog_never_fails((*found, *more)))


def text_files(root: Path) -> Iterator[str]:
    """Paths from the root, sorted, with forward slashes."""
    for room in ROOMS:
        for folder, subfolders, names in os.walk(root / room):
            subfolders[:] = sorted(name for name in subfolders if not _ignored(name))
            relative = Path(folder).relative_to(root).as_posix()
            yield from (
                f"{relative}/{name}" for name in sorted(names) if name.endswith(SUFFIXES) and not _ignored(name)
            )


def parse_site(files: Mapping[str, str]) -> tuple[Site, tuple[Diagnostic, ...]]:
    """The site that these texts are, by path from its root."""
    found: list[Diagnostic] = []
    config = _config(files, found)
    zone = zone_of(config)
    posts = [_keep(found, parse_post(files[p], p, zone)) for p in files if POST_FILE.fullmatch(p)]
    worklog, intro, warnings = parse_worklog({p: files[p] for p in _markdown_in(files, "content/worklog")})
    site = Site(
        config=config,
        posts=_keep(found, first_of_each_slug(posts)),
        pages=tuple(_keep(found, parse_page(files[p], p)) for p in _markdown_in(files, "content/pages")),
        series=tuple(_keep(found, parse_series(files[p], p)) for p in files if _SERIES_FILE.fullmatch(p)),
        worklog=worklog,
        worklog_intro=intro,
        kernels=tuple(_keep(found, parse_kernel(files[p], p, files)) for p in files if _KERNEL_FILE.fullmatch(p)),
        terms=tuple(_keep(found, parse_term(files[p], p)) for p in _markdown_in(files, "content/terms")),
        exercises=tuple(dict.fromkeys(m[1] for p in files if (m := _EXERCISE_FILE.fullmatch(p)))),
        files=files,
    )
    found += (*address_clashes(site), *_unread(files), *warnings)
    return site, in_reading_order(worklog_never_fails(found))


def worklog_never_fails(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Whatever stands in a worklog is a warning, whichever stage found it."""
    return tuple(
        replace(d, severity=Severity.WARNING) if d.span.path.startswith("content/worklog/") else d for d in diagnostics
    )


def _unread(files: Mapping[str, str]) -> Iterator[Diagnostic]:
    """Files that look as if they were meant for the site and that no reader takes."""
    for path in files:
        if path.endswith(".yml") and path.replace(".yml", ".yaml") != SITE_FILE:
            yield Diagnostic("SG016", "this file is not read", Span(path), "name it .yaml", Severity.WARNING)
        stray = path.endswith(".md") and path.startswith("content/") and not _MARKDOWN_OF_THE_SITE.match(path)
        if stray and f"{path.rpartition('/')[0]}/index.md" not in files:
            hint = "a post is content/posts/<slug>.md or content/posts/<slug>/index.md; the other folders are flat"
            yield Diagnostic("SG016", "no page is made of this file", Span(path), hint, Severity.WARNING)
    yield from _kernels_without_yaml(files)


def _kernels_without_yaml(files: Mapping[str, str]) -> Iterator[Diagnostic]:
    folders: dict[str, list[str]] = {}
    for path in files:
        if (found := _KERNEL_FOLDER.match(path)) and not path.endswith("__init__.py"):
            folders.setdefault(found[0], []).append(path.removeprefix(found[0]))
    for folder, names in folders.items():
        if not {"kernel.yaml", "kernel.yml"}.intersection(names):
            odd = next((name for name in names if did_you_mean(name, ["kernel.yaml"])), names[0])
            message, near = f"no {folder}kernel.yaml: this folder is not read", did_you_mean(odd, ["kernel.yaml"])
            yield Diagnostic("SG016", message, Span(folder + odd), near, Severity.WARNING)


def _config(files: Mapping[str, str], found: list[Diagnostic]) -> SiteConfig:
    text = files.get(SITE_FILE)
    return _keep(found, no_config(files) if text is None else parse_config(text))


def _keep(found: list[Diagnostic], result: tuple[T, tuple[Diagnostic, ...]]) -> T:
    """The value of a `parse_*`, its diagnostics put to the others."""
    found += result[1]
    return result[0]


def _markdown_in(files: Mapping[str, str], folder: str) -> tuple[str, ...]:
    return tuple(path for path in files if path.endswith(".md") and path.rpartition("/")[0] == folder)


def _ignored(name: str) -> bool:
    return name.startswith(".") or name == "__pycache__"
