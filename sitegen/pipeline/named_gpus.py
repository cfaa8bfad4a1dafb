"""Warn of sentences that name one GPU of the records, beside a figure that was measured on another.

The author of a figure that names its GPU itself chose it, and may compare it with another one in words: `less than
{value}`sum/best time on nvidia-h200``.  Such a figure gives a warning only when its sentence says `On an H100,` at its
beginning, or `on an H100` behind the figure, and does not compare; a claim, when its sentence begins so.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sitegen.diagnostics import Diagnostic, Severity, Span
from sitegen.model.document import ClaimSlot, Document, ValueSlot
from sitegen.model.gpu import is_yours
from sitegen.model.linked import document_key, texts
from sitegen.model.site import Site
from sitegen.model.value import ALL
from sitegen.render.measurements.gpus import gpu_name, short_name
from sitegen.results.quantities import Measured, quantity_of

_HIDDEN = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)|(?<=\])\([^)\s]*\)|<!--.*?-->", re.DOTALL)
"""Code, the texts of roles, addresses and comments, whose words are no words of the sentence."""
_END = re.compile(
    r"(?<=[.!?])(?:[\"”’')*_]|\[[^\]\n]*\])*\s+(?=[\"“‘'(*_\[]*[A-Z0-9가-힣`{])"
    r"|\n[ \t>]*\n|\n(?=[ \t>]*(?:[-*+:#|]|\d+\.|`{3}))|\|"
)
"""The space between two sentences, blocks, items of a list or cells of a table."""
_COMPARES = re.compile(
    r"\b(?:than|as|not|no|instead|like|unlike|against|but|while|where(?:as)?|there|from|would|if)\b|expect|predict",
    re.I,
)
"""Words of a sentence that compares GPUs, or computes the figure of one from that of another."""


@dataclass(frozen=True, slots=True)
class _Names:
    """The short names of the GPUs that have records (`H200`) by id, and their pattern."""

    by_id: Mapping[str, str]
    pattern: re.Pattern[str]
    place: re.Pattern[str]
    """The pattern of `on an H200`."""

    def in_words(self, words: str) -> set[str]:
        return set(self.pattern.findall(words))

    def of(self, gpus: Iterable[str]) -> set[str]:
        return {self.by_id[gpu] for gpu in gpus if gpu in self.by_id}


@dataclass(frozen=True, slots=True)
class Sentence:
    """The words of a sentence, without its code and the texts of its roles, on both sides of a figure."""

    before: str
    after: str

    @property
    def words(self) -> str:
        return self.before + self.after

    def says_where(self, names: _Names) -> bool:
        """Tell whether the sentence says at its beginning or behind the figure on which GPU it is, and does not
        compare.
        """
        begins = names.place.match(self.before.lstrip(' \n\t>*_-"“('))
        behind = names.place.match(self.after.lstrip("` \n"))
        return bool(begins or behind) and not _COMPARES.search(self.before)


class Sentences:
    """The sentences of a Markdown text, found by places in it."""

    def __init__(self, text: str) -> None:
        self._text = _HIDDEN.sub(lambda match: "`" * len(match[0]), text)
        self._lines = [0, *(match.end() for match in re.finditer("\n", text))]
        self._begins = [0, *(match.end() for match in _END.finditer(self._text))]

    def around(self, span: Span) -> Sentence:
        """Return the sentence at a place."""
        at = self._lines[span.line - 1] + span.col - 1 if span.line <= len(self._lines) else 0
        number = bisect_right(self._begins, at)
        end = self._begins[number] if number < len(self._begins) else None
        return Sentence(self._text[self._begins[number - 1] : at], self._text[at:end])


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

    `files` are the texts of the site by path.  A site whose records are of one GPU has no such sentence.
    """
    names = _names(measured)
    if len(set(names.by_id.values())) < 2:
        return
    for text in texts(site):
        document = documents.get(document_key(text))
        slots = _figures_of(document) if document else []
        found = [(slot, _sentence_of(slot, sentences(text.path, files.get(text.path, "")))) for slot in slots]
        yield from _warnings([(slot, words, _gpus_of(slot, measured)) for slot, words in found], names)


def _warnings(
    found: Sequence[tuple[ValueSlot | ClaimSlot, Sentence, tuple[str, ...]]], names: _Names
) -> Iterator[Diagnostic]:
    """Yield the warnings for the figures of one text, each with its sentence and its GPUs."""
    beside: dict[str, set[str]] = {}
    for _, sentence, gpus in found:
        beside.setdefault(sentence.words, set()).update(names.of(gpus))
    for slot, sentence, gpus in found:
        named, shown = names.in_words(sentence.words), names.of(gpus)
        if shown and _is_chosen(slot):
            shown = beside[sentence.words] if sentence.says_where(names) else set()
        if len(named) == 1 and shown and not named & shown:
            yield _warning(slot, next(iter(named)), gpus[0], names)


def _figures_of(document: Document) -> list[ValueSlot | ClaimSlot]:
    return [slot for slot in document.slots if isinstance(slot, ValueSlot | ClaimSlot)]


def _sentence_of(slot: ValueSlot | ClaimSlot, sentences: Sentences) -> Sentence:
    """Return the sentence of a figure or a claim."""
    return Sentence("", slot.sentence) if isinstance(slot, ClaimSlot) else sentences.around(slot.span)


def _names(measured: Measured) -> _Names:
    """Return the names of the GPUs, without those of readers."""
    records = {gpu: record for (_, gpu), record in measured.records.kernels.items() if not is_yours(gpu)}
    by_id = {gpu: short_name(gpu_name(record)) for gpu, record in records.items()}
    longest_first = sorted(by_id.values(), key=len, reverse=True)
    name = rf"(?<![\w-])({'|'.join(map(re.escape, longest_first))})s?(?![A-Za-z0-9_])"
    return _Names(by_id, re.compile(name), re.compile(rf"[Oo]n\s+(?:an?\s+|the\s+)?{name}"))


def _gpus_of(slot: ValueSlot | ClaimSlot, measured: Measured) -> tuple[str, ...]:
    """Return the GPUs on which a figure was measured; nothing where it is predicted, or a claim is for all GPUs."""
    if isinstance(slot, ClaimSlot):
        value, gpus = slot.claim.value, slot.claim.gpus
        if ALL in gpus:
            return ()
        if gpus or value is None:
            return measured.gpu_ids(gpus, slot.claim.kernel)[: len(gpus) or 1]
    else:
        value = slot.value
        if value.is_predicted:
            return ()
    return tuple(dict.fromkeys(origin.gpu for origin in quantity_of(value, measured).origins))


def _is_chosen(slot: ValueSlot | ClaimSlot) -> bool:
    """Tell whether the author names the GPU of a figure or a claim."""
    value = slot.claim.value if isinstance(slot, ClaimSlot) else slot.value
    is_claim_of_gpus = isinstance(slot, ClaimSlot) and bool(slot.claim.gpus)
    return is_claim_of_gpus or (value is not None and any(reference.gpu for reference in value.references))


def _warning(slot: ValueSlot | ClaimSlot, named: str, gpu: str, names: _Names) -> Diagnostic:
    wanted = next(one for one, name in names.by_id.items() if name == named)
    what = "claim" if isinstance(slot, ClaimSlot) else "figure"
    message = f"the sentence names the {named}, and this {what} is about the {names.by_id[gpu]}"
    do = f"write `on {wanted}` in" if _is_chosen(slot) else f"add `on {wanted}` to"
    hint = f"{do} the {what}, or name the {names.by_id[gpu]} in the sentence"
    return Diagnostic("SG310", message, slot.span, hint, Severity.WARNING)
