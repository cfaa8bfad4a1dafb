"""Name the theme's assets after the hash of their content, so that a browser may keep them for ever.

`site.css` becomes `assets/site.1f0c9a3b.css`, and a `url(…)` in a style sheet is rewritten to the new name of its
target.  This module opens no files.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass

from sitegen.diagnostics import Diagnostic, Span, did_you_mean

FOLDER = "assets"
_URL = re.compile(r"""url\(\s*(["']?)([^"')]+)\1\s*\)""")


@dataclass(frozen=True, slots=True)
class Assets:
    """Assets under their new names."""

    files: Mapping[str, bytes]
    """Content by output path: `assets/site.1f0c9a3b.css`."""
    urls: Mapping[str, str]
    """Output path by the name in the theme's folder, `site.css`; templates use it."""


def fingerprint(assets: Mapping[str, bytes], source: str = "templates/assets") -> tuple[Assets, tuple[Diagnostic, ...]]:
    """Return the assets under new names, and a diagnostic for each unknown target in a style sheet.

    `source` is the folder that the diagnostics name.
    """
    plain = {name: data for name, data in assets.items() if not name.endswith(".css")}
    urls = {name: _hashed_name(name, data) for name, data in sorted(plain.items())}
    files = {urls[name]: data for name, data in plain.items()}
    diagnostics: list[Diagnostic] = []
    for name in sorted(assets.keys() - plain.keys()):
        sheet = _rewritten_sheet(assets[name].decode(), name, urls, source, diagnostics).encode()
        urls[name] = _hashed_name(name, sheet)
        files[urls[name]] = sheet
    return Assets(dict(sorted(files.items())), dict(sorted(urls.items()))), tuple(diagnostics)


def _hashed_name(name: str, data: bytes) -> str:
    stem, suffix = posixpath.splitext(name)
    return f"{FOLDER}/{stem}.{hashlib.sha256(data).hexdigest()[:8]}{suffix}"


def _rewritten_sheet(css: str, name: str, urls: Mapping[str, str], source: str, diagnostics: list[Diagnostic]) -> str:
    """Return the style sheet with each relative `url(…)` changed to the new name of the asset."""
    here = posixpath.dirname(name)

    def replaced(match: re.Match[str]) -> str:
        target = match[2]
        if target.startswith(("data:", "#", "/")) or "://" in target:
            return match[0]
        path = re.split(r"[?#]", target, maxsplit=1)[0]
        asset = posixpath.normpath(posixpath.join(here, path))
        if asset not in urls:
            diagnostics.append(_unknown_asset(css, match, asset, f"{source}/{name}", urls))
            return match[0]
        moved = posixpath.relpath(urls[asset], posixpath.join(FOLDER, here))
        return f"url({match[1]}{moved}{target[len(path) :]}{match[1]})"

    return _URL.sub(replaced, css)


def _unknown_asset(css: str, match: re.Match[str], asset: str, path: str, urls: Mapping[str, str]) -> Diagnostic:
    start = match.start(2)
    line_start = css.rfind("\n", 0, start) + 1
    span = Span(path, css.count("\n", 0, start) + 1, start - line_start + 1, len(match[2]))
    return Diagnostic(
        "SG501", f"the style sheet refers to `{asset}`, which is no asset", span, did_you_mean(asset, urls)
    )
