"""Load the templates and assets of a site: the default theme, whose files the site's own `templates/` replaces file by
file.

Only `load_theme` reads files; all other functions here take and return values.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import jinja2
import jinja2.bccache

from sitegen import inside
from sitegen.diagnostics import Diagnostic
from sitegen.markup.directives import styles
from sitegen.read.source import decode
from sitegen.read.texts import unreadable
from sitegen.render.shared.default_theme import default_folder
from sitegen.render.shared.language import PageLanguage, language
from sitegen.render.shared.templates import Templates

ASSETS = "assets/"
SHEET = "site.css"
TEXT = (".html", ".json", ".svg", ".txt", ".xml")
_COMMENT_LINE = re.compile(rb"^[ \t]*//.*\n", re.MULTILINE)
_PLAIN, _SANDBOXED = "__jinja2_%s.cache", "__jinja2_%s.weighed.cache"
"""The names of compiled templates.  The code for the sandbox differs, and the two must not be confused."""


@dataclass(frozen=True, slots=True)
class Theme:
    """The templates and assets of a site."""

    templates: Mapping[str, str]
    """The text of each template by path below `templates/`: `post.html`, `partials/table.html`."""
    assets: Mapping[str, bytes] = field(default_factory=dict)
    """The content of each asset by path below `templates/assets/`."""
    mistakes: tuple[Diagnostic, ...] = ()
    """The site's own files that cannot be read.  The files of the default theme stand in their places."""
    own: frozenset[str] = frozenset()
    """The names of the templates and catalogues that the site has of its own, which are foreign code."""
    data: Mapping[str, Any] = field(default_factory=dict)
    """The files of content/data/ by name, which the site's own templates read as `data`."""


def load_theme(root: Path | None = None) -> Theme:
    """Return the default theme, with the files of `root/templates` in place of its own."""
    default = default_folder()
    paths = sorted(path for path in default.rglob("*") if path.is_file())
    files = {path.relative_to(default).as_posix(): _shipped(path) for path in paths}
    mistakes: list[Diagnostic] = []
    own: set[str] = set()
    if root and (root / "templates").resolve() != default.resolve():
        for path in inside.files_below(root, "templates"):
            if path.startswith("templates/directives/"):  # texts show these; no page is printed with them
                continue
            name = path.removeprefix("templates/")
            try:
                files[name] = inside.read_bytes(root, path)
                own.add(name)
            except OSError as error:
                if not inside.is_hidden(path):  # the lock file of an editor is a link without a target
                    mistakes.append(unreadable(path, error))
    templates: dict[str, str] = {}
    for name in sorted(name for name in files if name.endswith(TEXT)):
        templates[name], wrong = decode(files[name], f"templates/{name}")
        mistakes += wrong
    assets = {name.removeprefix(ASSETS): data for name, data in sorted(files.items()) if name.startswith(ASSETS)}
    return Theme(templates, with_styles(assets, styles()), tuple(mistakes), frozenset(own.intersection(templates)))


def _shipped(path: Path) -> bytes:
    """Return the content of a file of the default theme, without the comment lines of a script, which no page needs."""
    content = path.read_bytes()
    return _COMMENT_LINE.sub(b"", content) if path.suffix == ".js" else content


def with_styles(assets: Mapping[str, bytes], sheet: bytes) -> Mapping[str, bytes]:
    """Return the assets, with the styles of the directives at the end of the site's style sheet."""
    return {**assets, SHEET: assets.get(SHEET, b"") + sheet} if sheet else assets


T = TypeVar("T", bound=Templates)


def environment(theme: Theme, compiled: Path | None = None) -> Templates:
    """Return the environment of a theme, which is strict and escapes: a name that a context lacks is an error, and only
    `Markup` enters as HTML.

    Its pages are English; `in_language` gives those of another language.  `compiled` is a folder for compiled
    templates.  If one template is the site's own, all run in the sandbox: a template of the theme calls the macros of
    another, and they pass values to each other.
    """
    if not theme.own:
        return _made(Templates, theme, compiled, _PLAIN)
    from sitegen.render.shared.sandbox import OwnTemplates

    templates = _made(OwnTemplates, theme, compiled, _SANDBOXED)
    templates.own = theme.own
    templates.globals["data"] = theme.data
    return templates


def _made(kind: type[T], theme: Theme, compiled: Path | None, pattern: str) -> T:
    return kind(
        loader=jinja2.DictLoader(theme.templates),
        undefined=jinja2.StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        bytecode_cache=_Compiled(str(compiled), pattern) if compiled else None,
    )


@lru_cache(maxsize=32)
def in_language(templates: Templates, tag: str) -> tuple[PageLanguage, Templates]:
    """Return a language, and the templates in it.  Raises TemplateSyntaxError for a catalogue that cannot be read."""
    loader, compiled = templates.loader, templates.bytecode_cache
    spoken = language(tag, loader.mapping if isinstance(loader, jinja2.DictLoader) else {})
    if not spoken.words:
        return spoken, templates
    if isinstance(compiled, _Compiled):
        pattern = compiled.pattern.replace(".cache", f".{spoken.tag}-{spoken.digest}.cache")
        compiled = _Compiled(compiled.directory, pattern)
    other = templates.overlay(bytecode_cache=compiled)
    other.words = spoken.words
    return spoken, other


class _Compiled(jinja2.FileSystemBytecodeCache):
    """A cache of compiled templates that ignores failed writes: when its folder disappears, only the next build
    compiles again.
    """

    def dump_bytecode(self, bucket: jinja2.bccache.Bucket) -> None:
        with contextlib.suppress(OSError):
            super().dump_bytecode(bucket)
