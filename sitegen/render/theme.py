"""Templates and assets of a site: the default theme, and over it, file by file, the site's own `templates/`.

`load_theme` opens files; everything after it is values.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

import jinja2
import jinja2.bccache

from sitegen.markup.directives import styles
from sitegen.render.default_theme import default_folder
from sitegen.render.language import Language, language, translated

ASSETS = "assets/"
SHEET = "site.css"
TEXT = (".html", ".json", ".svg", ".txt", ".xml")


@dataclass(frozen=True, slots=True)
class Theme:
    templates: Mapping[str, str]
    """Text by path below `templates/`: `post.html`, `partials/table.html`."""
    assets: Mapping[str, bytes] = field(default_factory=dict)
    """Content by path below `templates/assets/`."""


def load_theme(root: Path | None = None) -> Theme:
    """The default theme with what `root/templates` has in its place."""
    folders = [default_folder(), *([root / "templates"] if root else [])]
    files = {name: path for folder in folders for name, path in _files(folder).items()}
    templates = {name: path.read_text(encoding="utf-8") for name, path in files.items() if name.endswith(TEXT)}
    assets = {n.removeprefix(ASSETS): path.read_bytes() for n, path in files.items() if n.startswith(ASSETS)}
    return Theme(templates, with_styles(assets, styles()))


def with_styles(assets: Mapping[str, bytes], sheet: bytes) -> Mapping[str, bytes]:
    """The assets, the style sheet of the site with those of the directives at its end."""
    return {**assets, SHEET: assets.get(SHEET, b"") + sheet} if sheet else assets


def _files(folder: Path) -> dict[str, Path]:
    return {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}


class Templates(jinja2.Environment):
    """Puts the words of its language into a template before that is compiled."""

    words: Mapping[str, str] = MappingProxyType({})

    def preprocess(self, source: str, name: str | None = None, filename: str | None = None) -> str:
        return translated(source, self.words)


def environment(theme: Theme, compiled: Path | None = None) -> Templates:
    """Strict and escaping: a name that a context lacks is an error, and only `Markup` enters as HTML.

    Its pages are English; `in_language` gives those of another language.  `compiled` is a folder that keeps what Jinja
    makes of the templates.
    """
    return Templates(
        loader=jinja2.DictLoader(theme.templates),
        undefined=jinja2.StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        bytecode_cache=_Compiled(str(compiled)) if compiled else None,
    )


@lru_cache(maxsize=32)
def in_language(templates: Templates, tag: str) -> tuple[Language, Templates]:
    """A language and the templates in it.  Raises TemplateSyntaxError of a catalogue that cannot be read."""
    loader, compiled = templates.loader, templates.bytecode_cache
    spoken = language(tag, loader.mapping if isinstance(loader, jinja2.DictLoader) else {})
    if not spoken.words:
        return spoken, templates
    if isinstance(compiled, _Compiled):
        compiled = _Compiled(compiled.directory, f"__jinja2_%s.{spoken.tag}-{spoken.digest}.cache")
    other = templates.overlay(bytecode_cache=compiled)
    other.words = spoken.words
    return spoken, other


class _Compiled(jinja2.FileSystemBytecodeCache):
    """A folder that goes while it is used only means that the next build compiles again."""

    def dump_bytecode(self, bucket: jinja2.bccache.Bucket) -> None:
        with contextlib.suppress(OSError):
            super().dump_bytecode(bucket)
