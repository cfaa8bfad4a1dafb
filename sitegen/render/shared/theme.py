"""Templates and assets of a site: the default theme, and over it, file by file, the site's own `templates/`.

`load_theme` opens files; everything after it is values.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

import jinja2
import jinja2.bccache

from sitegen import inside
from sitegen.diagnostics import Diagnostic
from sitegen.markup.directives import styles
from sitegen.read.source import decode
from sitegen.read.texts import unreadable
from sitegen.render.shared.default_theme import default_folder
from sitegen.render.shared.language import Language, language
from sitegen.render.shared.templates import Templates

ASSETS = "assets/"
SHEET = "site.css"
TEXT = (".html", ".json", ".svg", ".txt", ".xml")
_PLAIN, _SANDBOXED = "__jinja2_%s.cache", "__jinja2_%s.sandboxed.cache"
"""Names of compiled templates: the code for the sandbox differs, and the two must not be mixed up."""


@dataclass(frozen=True, slots=True)
class Theme:
    templates: Mapping[str, str]
    """Text by path below `templates/`: `post.html`, `partials/table.html`."""
    assets: Mapping[str, bytes] = field(default_factory=dict)
    """Content by path below `templates/assets/`."""
    mistakes: tuple[Diagnostic, ...] = ()
    """The site's own files that cannot be read: those of the default theme stand in their places."""
    own: frozenset[str] = frozenset()
    """The templates and catalogues that the site brings along; none of them is our code."""


def load_theme(root: Path | None = None) -> Theme:
    """The default theme with what `root/templates` has in its place."""
    default = default_folder()
    paths = sorted(path for path in default.rglob("*") if path.is_file())
    files = {path.relative_to(default).as_posix(): path.read_bytes() for path in paths}
    mistakes: list[Diagnostic] = []
    own: set[str] = set()
    if root and (root / "templates").resolve() != default.resolve():
        for path in inside.files_below(root, "templates"):
            name = path.removeprefix("templates/")
            try:
                files[name] = inside.read_bytes(root, path)
                own.add(name)
            except OSError as error:
                if not inside.is_hidden(path):  # an editor's lock is a link to nowhere
                    mistakes.append(unreadable(path, error))
    templates: dict[str, str] = {}
    for name in sorted(name for name in files if name.endswith(TEXT)):
        templates[name], wrong = decode(files[name], f"templates/{name}")
        mistakes += wrong
    assets = {name.removeprefix(ASSETS): data for name, data in sorted(files.items()) if name.startswith(ASSETS)}
    return Theme(templates, with_styles(assets, styles()), tuple(mistakes), frozenset(own.intersection(templates)))


def with_styles(assets: Mapping[str, bytes], sheet: bytes) -> Mapping[str, bytes]:
    """The assets, the style sheet of the site with those of the directives at its end."""
    return {**assets, SHEET: assets.get(SHEET, b"") + sheet} if sheet else assets


T = TypeVar("T", bound=Templates)


def environment(theme: Theme, compiled: Path | None = None) -> Templates:
    """Strict and escaping: a name that a context lacks is an error, and only `Markup` enters as HTML.

    Its pages are English; `in_language` gives those of another language.  `compiled` is a folder that keeps what Jinja
    makes of the templates.  As soon as one of them is the site's own, all run in the sandbox: a template of the theme
    calls the macros of another, and they pass values to each other.
    """
    if not theme.own:
        return _made(Templates, theme, compiled, _PLAIN)
    from sitegen.render.shared.sandbox import OwnTemplates

    templates = _made(OwnTemplates, theme, compiled, _SANDBOXED)
    templates.own = theme.own
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
def in_language(templates: Templates, tag: str) -> tuple[Language, Templates]:
    """A language and the templates in it.  Raises TemplateSyntaxError of a catalogue that cannot be read."""
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
    """A folder that goes while it is used only means that the next build compiles again."""

    def dump_bytecode(self, bucket: jinja2.bccache.Bucket) -> None:
        with contextlib.suppress(OSError):
            super().dump_bytecode(bucket)
