"""A loaded site → what it holds: texts, words, figures, claims, kernels and evaluations, for `status --contents`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from sitegen.model.document import (
    BenchmarkSlot,
    ClaimSlot,
    Document,
    ListingSlot,
    OutputSlot,
    PlotSlot,
    RooflineSlot,
    ValueSlot,
)
from sitegen.model.record import Record
from sitegen.model.site import Site

if TYPE_CHECKING:
    from sitegen.pipeline.in_memory import LoadedSite


def contents_of(loaded: LoadedSite) -> Mapping[str, int]:
    """Return the number of each kind of thing, by its name in words.  Drafts and later days are not counted."""
    return {
        **_texts(loaded.site),
        **_in_texts(loaded.documents.values()),
        **_measured(loaded.site, loaded.records.kernels.values()),
    }


def content_lines(contents: Mapping[str, int]) -> Iterator[str]:
    """Yield a line for each kind, the numbers below each other."""
    width = max(len(f"{count:,}") for count in contents.values())
    yield from (f"{count:>{width},}  {name}" for name, count in contents.items())


def _texts(site: Site) -> dict[str, int]:
    return {
        "posts, with translations": len(site.posts),
        "series": len(site.series),
        "exercises": len(site.exercises),
        "terms": len(site.terms),
        "days of the worklog": len(site.worklog),
    }


def _in_texts(documents: Iterable[Document]) -> dict[str, int]:
    """Return what stands in the texts, each counted where an author wrote it."""
    found = list(documents)

    def slots(*kinds: type) -> int:
        return sum(isinstance(slot, kinds) for document in found for slot in document.slots)

    return {
        "words of all texts": sum(document.words for document in found),
        "measured numbers in sentences": slots(ValueSlot, OutputSlot),
        "claims": slots(ClaimSlot),
        "measured tables and charts": slots(BenchmarkSlot, PlotSlot, RooflineSlot),
        "listings of kernels": slots(ListingSlot),
        "cells": sum(len(document.cells) for document in found),
    }


def _measured(site: Site, records: Iterable[Record]) -> dict[str, int]:
    return {
        "kernels": len(site.kernels),
        "implementations": sum(len(kernel.implementations) for kernel in site.kernels),
        "evaluations in records": sum(len(record.evaluations) for record in records),
    }
