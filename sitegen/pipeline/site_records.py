"""Read the records of a site when the first page or check needs them, because that takes longer than printing most
pages.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from sitegen.diagnostics import Diagnostic
from sitegen.model.document import Document
from sitegen.model.site import Site

if TYPE_CHECKING:
    from sitegen.render.inputs.evidence import Evidence
    from sitegen.results.records import Records


class SiteRecords:
    """The records of the kernels and posts of a site."""

    def __init__(self, root: Path, site: Site, documents: Mapping[str, Document], files: Mapping[str, object]) -> None:
        self._root, self._site, self._documents = root, site, documents
        self._is_empty = not any("/results/" in path for path in files)

    @property
    def records(self) -> Records:
        """All records that can be read."""
        return self._loaded[0]

    def mistakes(self) -> tuple[Diagnostic, ...]:
        """Return the mistakes in the records."""
        if self._is_empty:
            return ()
        from sitegen.results.verify import verify_records

        records, mistakes = self._loaded
        return (*mistakes, *verify_records(self._root, self._site, records))

    def evidence(self) -> Evidence:
        """Return the records with the freshness of each."""
        from sitegen.render.inputs.evidence import gather

        return gather(self._site, self._documents, self.records)

    def artefact(self, kernel: str, name: str) -> str:
        """Return the text of an artefact with PTX or SASS; empty when it cannot be read."""
        from sitegen.results.store import artefact_text

        return artefact_text(self._root, kernel, name)

    @cached_property
    def _loaded(self) -> tuple[Records, tuple[Diagnostic, ...]]:
        if self._is_empty:
            from sitegen.results.records import Records

            return Records(), ()
        from sitegen.results.store import load_records

        return load_records(self._root, self._site)
