"""Keep a site in memory whose open texts are those of an editor, and find its mistakes, what fits at a place, and where
names are defined.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from sitegen.diagnostics import Diagnostic, Span
from sitegen.editor.definitions import definition
from sitegen.editor.markdown_names import offers_in_markdown
from sitegen.editor.mirror import Mirror
from sitegen.editor.yaml_keys import Offer, form_of, offers_in_yaml
from sitegen.pipeline.check_warnings import CheckWarnings
from sitegen.pipeline.preview import PreviewSite
from sitegen.read.root import SITE_FILE

_FENCE = "---"


class EditedSite:
    """The site at `root`, edited by one editor.  The first call of `follow` reads it."""

    def __init__(self, root: Path) -> None:
        self.mirror = Mirror(root)
        self._preview = PreviewSite(self.mirror.folder)
        self._warnings = CheckWarnings()

    def close(self) -> None:
        self.mirror.close()

    def follow(self, paths: Collection[str] | None = None) -> None:
        """Take in the files that changed; None means any."""
        self._preview.follow(paths)

    def mistakes(self) -> Mapping[str, tuple[Diagnostic, ...]]:
        """Return the mistakes that `sitegen check` reports of each file, by its path."""
        warnings = () if self._preview.failed else self._warnings.of(self._preview.linked)
        found: dict[str, list[Diagnostic]] = {}
        for one in dict.fromkeys((*self._preview.mistakes, *warnings)):
            found.setdefault(one.span.path or SITE_FILE, []).append(one)
        return {path: tuple(ones) for path, ones in found.items()}

    def offers(self, path: str, line: int, column: int) -> tuple[Offer, ...]:
        """Return the words that fit at a place; line and column count from 0."""
        lines = self.mirror.text(path).split("\n")[: line + 1]
        if not lines or line >= len(lines):
            return ()
        lines[-1] = lines[-1][:column]
        site, form = self._preview.linked.sources.site, form_of(path)
        if form and not form.is_front_matter:
            return tuple(offers_in_yaml(form, lines, site))
        if form and lines[0].strip() == _FENCE and not any(one.strip() == _FENCE for one in lines[1:]):
            return tuple(offers_in_yaml(form, lines[1:] or [""], site))
        documents, added = self._preview.linked.texts.documents, self._preview.linked.parsed.parser.added
        return tuple(offers_in_markdown(lines, path, site, documents.get(path), added))

    def definition(self, path: str, line: int, column: int) -> Span | None:
        """Return the place where the name at a place is defined."""
        lines = self.mirror.text(path).split("\n")
        if line >= len(lines):
            return None
        return definition(lines[line], column, path, self._preview.linked.sources.site, self.mirror.text)
