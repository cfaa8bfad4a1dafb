"""The BibTeX files of jekyll-scholar and of distill posts → `content/references.bib`, and files beside a post."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

from sitegen.importing.jekyll.site import FRONT_MATTER, JekyllSite

OF_THE_SITE = "content/references.bib"
_ENTRY = re.compile(r"^\s*@(?!comment|string|preamble)\w+\s*\{\s*([^,\s}]+)", re.MULTILINE | re.IGNORECASE)
_FOLDERS = ("_bibliography", "assets/bibliography")


def of_the_site(site: JekyllSite) -> str:
    """What jekyll-scholar cites from, without the front matter that such files have; empty where there is none."""
    wanted = site.config.bibliography
    texts = [plain(site, path) for path in sorted(site.files) if path == wanted or fnmatchcase(path, wanted)]
    return "\n".join(texts)


def own_file(site: JekyllSite, name: str) -> str:
    """The file that `bibliography:` of a distill post names, unless it is that of the site; from the Jekyll folder."""
    found = next((f"{folder}/{name}" for folder in _FOLDERS if f"{folder}/{name}" in site.files), "")
    return "" if found == site.config.bibliography else found


def plain(site: JekyllSite, path: str) -> str:
    text = site.read(path)
    matter = FRONT_MATTER.match(text)
    return text[matter.end() :].lstrip("\n") if matter else text


def keys(text: str) -> frozenset[str]:
    return frozenset(_ENTRY.findall(text))
