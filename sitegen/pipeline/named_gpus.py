"""Warn of sentences that name one GPU of the records, beside a figure that was measured on another.

A figure or a claim that names its GPU itself gives no warning: the author chose it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from sitegen.diagnostics import Diagnostic, Severity, Span
from sitegen.model.document import ClaimSlot, Document, ValueSlot
from sitegen.model.gpu import is_yours
from sitegen.model.linked import document_key, texts
from sitegen.model.site import Site
from sitegen.render.measurements.gpus import gpu_name, short_name
from sitegen.results.quantities import Measured, quantity_of

_HIDDEN = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)|(?<=\])\([^)\s]*\)|<!--.*?-->", re.DOTALL)
"""Code, the texts of roles, addresses and comments, whose words are no words of the sentence."""
_END = re.compile(
    r"(?<=[.!?])(?:[\"”’')*_]|\[[^\]\n]*\])*\s+(?=[\"“‘'(*_\[]*[A-Z0-9가-힣`{])"
    r"|\n[ \t>]*\n|\n(?=[ \t>]*(?:[-*+:#|]|\d+\.|`{3}))|\|"
)
"""The space between two sentences, blocks, items of a list or cells of a table."""


@dataclass(frozen=True, slots=True)
class _Names:
    """The short names of the GPUs that have records (`H200`) by id, and their pattern."""

    by_id: Mapping[str, str]
    pattern: re.Pattern[str]

    def in_words(self, words: str) -> set[str]:
        return set(self.pattern.findall(words))


class Sentences:
    """The sentences of a Markdown text, found by places in it."""

    def __init__(self, text: str) -> None:
        self._text = _HIDDEN.sub(lambda match: "`" * len(match[0]), text)
        self._lines = [0, *(match.end() for match in re.finditer("\n", text))]
        self._begins = [0, *(match.end() for match in _END.finditer(self._text))]

    def around(self, span: Span) -> str:
        """Return the sentence at a place, without its code and the texts of its roles."""
        at = self._lines[span.line - 1] + span.col - 1 if span.line <= len(self._lines) else 0
        number = bisect_right(self._begins, at)
        return self._text[self._begins[number - 1] : self._begins[number] if number < len(self._begins) else None]


def sentences_of(path: str, text: str) -> Sentences:
    """Return the sentences of a file."""
    return Sentences(text)


def named_gpu_warnings(
    site: Site,
    documents: Mapping[str, Document],
    files: Mapping[str, str],
    measured: Measured,
    sentences: Callable[[str, str], Sentences],
) -> Iterator[Diagnostic]:
    """Yield a warning for each figure and claim of a text in whose sentence another GPU is named, and no second one.

    `files` are the texts of the site by path; `sentences` is `sentences_of`, which keeps its results, because it is
    called for each figure.  A site whose records are of one GPU has no such sentence.
    """
    names = _names(measured)
    if len(set(names.by_id.values())) < 2:
        return
    for text in texts(site):
        document = documents.get(document_key(text))
        for slot in _figures_of(document) if document else ():
            named = names.in_words(_words_beside(slot, sentences(text.path, files.get(text.path, ""))))
            shown = _gpus_of(slot, measured) if len(named) == 1 else ()
            if shown and not named & {names.by_id[gpu] for gpu in shown}:
                yield _warning(slot, next(iter(named)), shown[0], names)


def _figures_of(document: Document) -> Iterator[ValueSlot | ClaimSlot]:
    return (slot for slot in document.slots if isinstance(slot, ValueSlot | ClaimSlot))


def _words_beside(slot: ValueSlot | ClaimSlot, sentences: Sentences) -> str:
    """Return the words of the sentence of a figure or a claim."""
    return slot.sentence if isinstance(slot, ClaimSlot) else sentences.around(slot.span)


def _names(measured: Measured) -> _Names:
    """Return the names of the GPUs, without those of readers."""
    records = {gpu: record for (_, gpu), record in measured.records.kernels.items() if not is_yours(gpu)}
    by_id = {gpu: short_name(gpu_name(record)) for gpu, record in records.items()}
    longest_first = sorted(by_id.values(), key=len, reverse=True)
    return _Names(by_id, re.compile(rf"(?<![\w-])({'|'.join(map(re.escape, longest_first))})s?(?![A-Za-z0-9_])"))


def _gpus_of(slot: ValueSlot | ClaimSlot, measured: Measured) -> tuple[str, ...]:
    """Return the GPUs on which a figure was measured; nothing where its author names one, or where it is predicted."""
    if isinstance(slot, ClaimSlot):
        value, is_chosen = slot.claim.value, bool(slot.claim.gpus)
        if value is None:
            return () if is_chosen else measured.gpu_ids((), slot.claim.kernel)[:1]
    else:
        value, is_chosen = slot.value, slot.value.is_predicted
    if is_chosen or any(reference.gpu for reference in value.references):
        return ()
    return tuple(dict.fromkeys(origin.gpu for origin in quantity_of(value, measured).origins))


def _warning(slot: ValueSlot | ClaimSlot, named: str, gpu: str, names: _Names) -> Diagnostic:
    wanted = next(one for one, name in names.by_id.items() if name == named)
    what = "claim" if isinstance(slot, ClaimSlot) else "figure"
    message = f"the sentence names the {named}, and this {what} is about the {names.by_id[gpu]}"
    hint = f"add `on {wanted}` to the {what}, or name the {names.by_id[gpu]} in the sentence"
    return Diagnostic("SG310", message, slot.span, hint, Severity.WARNING)
