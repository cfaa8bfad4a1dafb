"""Find links of a site's own templates that lead to no file of the output, and own templates that nothing uses.

In: the site's own templates, and the content of all printed files.  Out: a warning for each link `{{ frame.home }}path`
that stands on a printed page while no file has that path.  A link that no page shows, such as one behind a condition,
may be right.  A template that nothing uses gets a warning if it nearly has the name of one of the theme.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping

from sitegen.diagnostics import Diagnostic, Severity, Span, did_you_mean
from sitegen.markup.collected import slug
from sitegen.pipeline.site_templates import TEMPLATES
from sitegen.render.shared.default_theme import default_folder
from sitegen.render.shared.theme import Theme

_LINK = re.compile(r"(?:href|src)=[\"']\{\{-?\s*frame\.home\s*-?\}\}(?P<path>[^\"'{}#?]+)(?=[\"'#?])")
_INDEX = "index.html"
_WORDS = re.compile(r"[^<>{}]*>([^<>{}]+)</a>")
"""The words of a link, from the end of its path on."""
_NAME = re.compile(r"[a-z0-9-]+/?")
_MOST_PAGES = 6
"""The number of addresses that a hint names at most."""


def dead_links(theme: Theme, files: Mapping[str, str | bytes]) -> Iterator[Diagnostic]:
    """Yield a warning for each dead link of the site's own templates; `files` are the printed ones by path."""
    for name in sorted(theme.own & theme.templates.keys()):
        for number, line in enumerate(theme.templates[name].splitlines(), 1):
            for link in _LINK.finditer(line):
                path = link["path"]
                if not _leads_to_a_file(path, files) and _is_shown(path, files.values()):
                    span = Span(f"{TEMPLATES}/{name}", number, link.start("path") + 1, len(path))
                    words = _WORDS.match(line, link.end()) if link[0].startswith("href") else None
                    hint = _hint(path, words[1] if words else "", files)
                    yield Diagnostic("SG509", f"`{path}` leads to no page or file", span, hint, Severity.WARNING)


def unused_templates(theme: Theme) -> Iterator[Diagnostic]:
    """Yield a warning for each of the site's own templates that no other names, and that looks like one of the theme's.

    A template that replaces one of the theme's is used by its name.
    """
    default = default_folder()
    known = [name for name in theme.templates if (default / name).is_file()]
    text = "\n".join(theme.templates.values())
    pages = {name for name in theme.templates if not name.startswith("languages/")}
    for name in sorted(theme.own.intersection(pages).difference(known)):
        elsewhere = [one for one in known if posixpath.basename(one) == posixpath.basename(name)]
        hint = (
            f"the theme reads `{TEMPLATES}/{elsewhere[0]}`: move it there" if elsewhere else did_you_mean(name, known)
        )
        if hint and f'"{name}"' not in text and f"'{name}'" not in text:
            yield Diagnostic("SG016", "nothing uses this template", Span(f"{TEMPLATES}/{name}"), hint, Severity.WARNING)


def _hint(path: str, words: str, files: Iterable[str]) -> str:
    """Return which page the link may mean, by its path or by its words; else what addresses the pages have."""
    places = {one.removesuffix(_INDEX) for one in files}
    if near := did_you_mean(path, places):
        return near
    named = f"{slug(words)}/"
    if words and named in places:
        return f'did you mean `{named}`, as the link says "{words.strip()}"?'
    pages = sorted(one for one in places if one.endswith("/") and _NAME.fullmatch(one))
    if not _NAME.fullmatch(path) or not pages:
        return "write the page, or link to another one"
    listed = f"{', '.join(f'`{one}`' for one in pages[:_MOST_PAGES])}{', …' if len(pages) > _MOST_PAGES else ''}"
    write = "write the page (`content/pages/NAME.md` has the address `NAME/`)"
    return f"{write}, or link to one that the site has: {listed}"


def _leads_to_a_file(path: str, files: Mapping[str, object]) -> bool:
    return any(one in files for one in (path, path.rstrip("/") + "/" + _INDEX))


def _is_shown(path: str, contents: Iterable[str | bytes]) -> bool:
    """Tell whether a page has a link to a path from the home page."""
    link = re.compile(rf"(?:href|src)=[\"'](?:\./|(?:\.\./)+|/(?:[^\"'#?]*/)?)?{re.escape(path)}[\"'#?]")
    return any(link.search(content) for content in contents if isinstance(content, str))
