"""Find links of a site's own templates that lead to no file of the output.

In: the site's own templates, and the content of all printed files.  Out: a warning for each link `{{ frame.home }}path`
that stands on a printed page while no file has that path.  A link that no page shows, such as one behind a condition,
may be right.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from sitegen.diagnostics import Diagnostic, Severity, Span, did_you_mean
from sitegen.pipeline.site_templates import TEMPLATES
from sitegen.render.shared.theme import Theme

_LINK = re.compile(r"(?:href|src)=[\"']\{\{-?\s*frame\.home\s*-?\}\}(?P<path>[^\"'{}#?]+)(?=[\"'#?])")
_INDEX = "index.html"


def dead_links(theme: Theme, files: Mapping[str, str | bytes]) -> Iterator[Diagnostic]:
    """Yield a warning for each dead link of the site's own templates; `files` are the printed ones by path."""
    for name in sorted(theme.own & theme.templates.keys()):
        for number, line in enumerate(theme.templates[name].splitlines(), 1):
            for link in _LINK.finditer(line):
                path = link["path"]
                if not _leads_to_a_file(path, files) and _is_shown(path, files.values()):
                    span = Span(f"{TEMPLATES}/{name}", number, link.start("path") + 1, len(path))
                    near = did_you_mean(path, {one.removesuffix(_INDEX) for one in files})
                    hint = near or "write the page, or link to another one"
                    yield Diagnostic("SG509", f"`{path}` leads to no page or file", span, hint, Severity.WARNING)


def _leads_to_a_file(path: str, files: Mapping[str, object]) -> bool:
    return any(one in files for one in (path, path.rstrip("/") + "/" + _INDEX))


def _is_shown(path: str, contents: Iterable[str | bytes]) -> bool:
    """Tell whether a page has a link to a path from the home page."""
    link = re.compile(rf"(?:href|src)=[\"'](?:\./|(?:\.\./)+|/(?:[^\"'#?]*/)?)?{re.escape(path)}[\"'#?]")
    return any(link.search(content) for content in contents if isinstance(content, str))
