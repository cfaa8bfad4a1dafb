"""Keep the HTML of the texts of a site, by the key of the document: in files of the cache, or in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Protocol

from sitegen.pipeline.parsed_part import ParsedPart
from sitegen.write.fragments import FragmentReference, LostFragmentError


class FragmentStore(Protocol):
    """A store of HTML, such as `write.fragments.FragmentFiles`."""

    def put(self, name: str, html: str) -> FragmentReference:
        """Keep HTML, in the file of that name if the store has files."""

    def get(self, reference: FragmentReference) -> str:
        """Return the HTML. Raises LostFragmentError."""

    def clear(self) -> None:
        """Remove all HTML."""

    def close(self) -> None:
        """Close open files before a fork."""


class FragmentsInMemory:
    """A `FragmentStore` for one process, which writes no file."""

    def __init__(self) -> None:
        self._html: list[str] = []

    def put(self, name: str, html: str) -> FragmentReference:
        self._html.append(html)
        return name, len(self._html) - 1, 0, 0

    def get(self, reference: FragmentReference) -> str:
        return self._html[reference[1]]

    def clear(self) -> None:
        self._html.clear()

    def close(self) -> None:
        """Do nothing, because no file is open."""


class Fragments(Mapping[str, str]):
    """The HTML of each document, read from its store at each access; lost HTML is parsed again."""

    def __init__(
        self, store: FragmentStore, parts: Mapping[str, ParsedPart], parse_again: Callable[[str], Mapping[str, str]]
    ) -> None:
        self._store, self._parse_again = store, parse_again
        self._places = {key: (name, at) for name, part in parts.items() for key, at in part.fragments.items()}

    def __getitem__(self, key: str) -> str:
        name, reference = self._places[key]
        try:
            return self._store.get(reference)
        except LostFragmentError:
            return self._parse_again(name)[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)
