"""Find the claims of texts that the records do not support."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from sitegen.diagnostics import Diagnostic, Severity
from sitegen.model.document import ClaimSlot, Document
from sitegen.model.linked import Linked, document_key, texts
from sitegen.read.severity import worklog_never_fails
from sitegen.render.inputs.sources import Sources

BROKEN_CLAIM = "SG309"


def claims_in(linked: Linked, documents: Mapping[str, Document]) -> tuple[tuple[str, ClaimSlot], ...]:
    """Return the claims of all published texts, each with the `document_key` of its text."""
    rich = frozenset(linked.rich)
    keys = [key for text in texts(linked.site) if (key := document_key(text)) in rich] if rich else []
    return tuple((key, slot) for key in keys for slot in documents[key].slots if type(slot) is ClaimSlot)


def broken_claims(sources: Sources, claims: Collection[tuple[str, ClaimSlot]]) -> tuple[Diagnostic, ...]:
    """Return a mistake for each claim that a fresh record does not support."""
    if not claims:
        return ()
    return worklog_never_fails(_mistakes(sources, claims))


def _mistakes(sources: Sources, claims: Iterable[tuple[str, ClaimSlot]]) -> Iterator[Diagnostic]:
    from sitegen.render.shared.language import PageLanguage
    from sitegen.render.texts.claims import advice, objection
    from sitegen.results.claims import ClaimState, decide

    for _, slot in claims:
        verdict = decide(slot.claim, sources.recorded)
        if verdict.state is ClaimState.BROKEN:
            yield Diagnostic(BROKEN_CLAIM, objection(verdict, PageLanguage()), slot.span, advice(slot))


def is_fatal(diagnostic: Diagnostic) -> bool:
    """Tell whether it is an error other than a broken claim.

    A command that measures must run although a claim is broken, and a preview shows the claim as broken.
    """
    return diagnostic.severity is Severity.ERROR and diagnostic.code != BROKEN_CLAIM
