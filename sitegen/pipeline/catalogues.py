"""Read the vocabulary of a language from the catalogues of a site and of the theme."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import cache
from pathlib import Path

from sitegen import inside
from sitegen.model.vocabulary import Vocabulary, catalogue_files, parse_catalogue
from sitegen.render.shared.default_theme import default_folder


def vocabularies(root: Path, language: str) -> Callable[[str], Vocabulary]:
    """Return a function from a language tag to its vocabulary; an empty tag stands for `language`, the site's."""
    return cache(lambda tag: vocabulary(tag or language, root))


def vocabulary(tag: str, root: Path) -> Vocabulary:
    """Return the vocabulary of a language tag.  A broken catalogue, which printing reports, has no words."""
    for name in catalogue_files(tag):
        if text := _text(name, root):
            with contextlib.suppress(ValueError):
                return Vocabulary(tag, parse_catalogue(text))
            break
    return Vocabulary(tag)


def _text(name: str, root: Path) -> str:
    with contextlib.suppress(OSError, UnicodeDecodeError):
        return inside.read_bytes(root, f"templates/{name}").decode()
    with contextlib.suppress(OSError, UnicodeDecodeError):
        return (default_folder() / name).read_text(encoding="utf-8")
    return ""
