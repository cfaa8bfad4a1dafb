"""A linked site → the warnings that `sitegen check` and an editor give, and a build does not.

They are about figures that are typed, figures of another GPU than their sentence names, links to old addresses, and the
worklog.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Mapping
from typing import Generic, TypeVar

from sitegen.diagnostics import Diagnostic
from sitegen.linking.moved_links import moved_links
from sitegen.model.document import Document
from sitegen.model.site import Site
from sitegen.pipeline.link_site import LinkedSite
from sitegen.pipeline.named_gpus import named_gpu_warnings, sentences_of
from sitegen.pipeline.typed_figures import typed_figure_warnings, typed_in_file
from sitegen.read.load import WORKLOG
from sitegen.read.worklog_habits import worklog_habits

T = TypeVar("T")


class KeptByPath(Generic[T]):
    """A function of the path and the text of a file; it keeps the last result of each path while the text is the same.

    Reading all texts of a site takes too long for an editor, which asks after each pause.
    """

    def __init__(self, function: Callable[[str, str], T]) -> None:
        self._function = function
        self._kept: dict[str, tuple[str, T]] = {}

    def __call__(self, path: str, text: str) -> T:
        if path not in self._kept or self._kept[path][0] != text:
            self._kept[path] = text, self._function(path, text)
        return self._kept[path][1]


class CheckWarnings:
    """The warnings of a site that is edited; what was read in a text is kept for the next call."""

    def __init__(self) -> None:
        self._typed_in = KeptByPath(typed_in_file)
        self._sentences = KeptByPath(sentences_of)

    def of(self, linked: LinkedSite) -> Iterator[Diagnostic]:
        """Yield the warnings of the site as it is now."""
        sources, texts, site = linked.sources, linked.texts, linked.texts.linked.site
        yield from typed_figure_warnings(
            sources.linked, texts.sources, sources.kernels_of, sources.recorded, self._typed_in
        )
        yield from named_gpu_warnings(site, texts.documents, texts.sources, sources.recorded, self._sentences)
        yield from habits(site, texts.documents, texts.as_of)


def habits(site: Site, documents: Mapping[str, Document], as_of: dt.date) -> Iterator[Diagnostic]:
    """Yield the warnings about the worklog, and about links to old addresses."""
    worklog = {path: text for path, text in site.files.items() if path.startswith(WORKLOG)}
    yield from worklog_habits(site.worklog, worklog, as_of)
    yield from moved_links(site, documents)
