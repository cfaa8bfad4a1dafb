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
from typing import Any, TypeVar

import jinja2
import jinja2.bccache

from sitegen.render.default_theme import default_folder
from sitegen.render.language import Language, language, translated

ASSETS = "assets/"
TEXT = (".html", ".json", ".svg", ".txt", ".xml")
_PLAIN, _SANDBOXED = "__jinja2_%s.cache", "__jinja2_%s.sandboxed.cache"
"""Names of compiled templates: the code for the sandbox differs, and the two must not be mixed up."""


@dataclass(frozen=True, slots=True)
class Theme:
    templates: Mapping[str, str]
    """Text by path below `templates/`: `post.html`, `partials/table.html`."""
    assets: Mapping[str, bytes] = field(default_factory=dict)
    """Content by path below `templates/assets/`."""
    own: frozenset[str] = frozenset()
    """The templates and catalogues that the site brings along; none of them is our code."""


def load_theme(root: Path | None = None) -> Theme:
    """The default theme with what `root/templates` has in its place."""
    folders = [default_folder(), *([root / "templates"] if root else [])]
    files = {name: path for folder in folders for name, path in _files(folder).items()}
    templates = {name: path.read_text(encoding="utf-8") for name, path in files.items() if name.endswith(TEXT)}
    assets = {n.removeprefix(ASSETS): path.read_bytes() for n, path in files.items() if n.startswith(ASSETS)}
    is_own = root is not None and (root / "templates").resolve() != default_folder().resolve()
    own = {name for name in templates if is_own and not files[name].is_relative_to(default_folder())}
    return Theme(templates, assets, frozenset(own))


def _files(folder: Path) -> dict[str, Path]:
    return {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}


class TemplateFailure(jinja2.TemplateRuntimeError):
    """Why a template of a site cannot be rendered, and where; `name` and `lineno` are empty where that is unknown."""

    def __init__(self, message: str, name: str = "", lineno: int = 0) -> None:
        super().__init__(message)
        self.name, self.lineno = name, lineno

    def __reduce__(self) -> tuple[Any, ...]:
        return TemplateFailure, (self.message, self.name, self.lineno)


class Templates(jinja2.Environment):
    """Puts the words of its language into a template before that is compiled."""

    words: Mapping[str, str] = MappingProxyType({})

    def preprocess(self, source: str, name: str | None = None, filename: str | None = None) -> str:
        return translated(source, self.words)


T = TypeVar("T", bound=Templates)


def environment(theme: Theme, compiled: Path | None = None) -> Templates:
    """Strict and escaping: a name that a context lacks is an error, and only `Markup` enters as HTML.

    Its pages are English; `in_language` gives those of another language.  `compiled` is a folder that keeps what Jinja
    makes of the templates.  As soon as one of them is the site's own, all run in the sandbox: a template of the theme
    calls the macros of another, and they pass values to each other.
    """
    if not theme.own:
        return _made(Templates, theme, compiled, _PLAIN)
    from sitegen.render.sandbox import OwnTemplates

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
