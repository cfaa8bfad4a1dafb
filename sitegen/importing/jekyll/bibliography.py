"""Turn the BibTeX of jekyll-scholar and of distill posts into `content/references.bib` and files beside a post."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

from sitegen.importing.jekyll.site import FRONT_MATTER, JekyllSite

BIBLIOGRAPHY = "content/references.bib"
_ENTRY = re.compile(r"^[ \t]*+@(?!comment|string|preamble)\w+\s*\{\s*([^,\s}]+)", re.MULTILINE | re.IGNORECASE)
_FOLDERS = ("_bibliography", "assets/bibliography")


def site_bibliography(site: JekyllSite) -> str:
    """Return the BibTeX that jekyll-scholar cites from, without front matter; empty where there is none."""
    wanted = site.config.bibliography
    texts = [
        without_front_matter(site, path) for path in sorted(site.files) if path == wanted or fnmatchcase(path, wanted)
    ]
    return "\n".join(texts)


def post_bibliography(site: JekyllSite, name: str) -> str:
    """Return the path of the file that a distill post names as `bibliography:`; empty when it is the site's."""
    path = next((f"{folder}/{name}" for folder in _FOLDERS if f"{folder}/{name}" in site.files), "")
    return "" if path == site.config.bibliography else path


def without_front_matter(site: JekyllSite, path: str) -> str:
    """Return the text of a file below its front matter."""
    text = site.read(path)
    matter = FRONT_MATTER.match(text)
    return text[matter.end() :].lstrip("\n") if matter else text


def entry_keys(text: str) -> frozenset[str]:
    """Return the keys of the works in a BibTeX text."""
    return frozenset(_ENTRY.findall(text))
