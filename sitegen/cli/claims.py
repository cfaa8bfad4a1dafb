"""Print the claims of a site: what the records say about each, and the sentences that new records make false."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sitegen.diagnostics import Span
from sitegen.model.document import ClaimSlot
from sitegen.model.record import Record
from sitegen.pipeline.broken_claims import claims_in
from sitegen.render.shared.language import PageLanguage
from sitegen.render.texts.claims import finding
from sitegen.results.claims import Check, ClaimState, Verdict, decide
from sitegen.results.quantities import FRESH, Measured

if TYPE_CHECKING:
    from sitegen.pipeline.in_memory import LoadedSite

ENGLISH = PageLanguage()
Replaced = Iterable[tuple[Record, Record]]
"""Records before and after, of one kernel and GPU each."""


def verdicts_of(loaded: LoadedSite) -> tuple[tuple[ClaimSlot, Verdict], ...]:
    """Return each claim of the site with what the records say about it, in reading order."""
    return tuple((slot, decide(slot.claim, loaded.measured)) for slot in _slots(loaded))


def claim_lines(verdicts: Iterable[tuple[ClaimSlot, Verdict]]) -> Iterator[str]:
    """Yield the lines of `status --claims`: each claim with its place and state, and a line for each check."""
    for slot, verdict in verdicts:
        yield f"{_place(slot.span)}: {verdict.state}: {slot.claim.text}"
        yield from (f"  {_checked(check, verdict)}" for check in verdict.checks)


def claim_rows(verdicts: Iterable[tuple[ClaimSlot, Verdict]]) -> list[dict[str, Any]]:
    """Return the same as values for JSON; margins and figures are numbers in the units of the figures."""
    return [
        {
            "place": _place(slot.span),
            "claim": slot.claim.text,
            "sentence": slot.sentence,
            "state": verdict.state,
            "checks": [_row(check) for check in verdict.checks],
        }
        for slot, verdict in verdicts
    ]


def newly_false(loaded: LoadedSite, replaced: Replaced) -> Iterator[str]:
    """Yield a line for each sentence that the older records support and the newer ones do not."""
    pairs = tuple(replaced)
    before = _with_records(loaded.measured, {(old.kernel, old.gpu): old for old, _ in pairs})
    after = _with_records(loaded.measured, {(new.kernel, new.gpu): new for _, new in pairs})
    for slot in _slots(loaded):
        now = decide(slot.claim, after)
        if now.state is ClaimState.BROKEN and decide(slot.claim, before).state is not ClaimState.BROKEN:
            broken = [check for check in now.checks if check.state is ClaimState.BROKEN]
            yield f"{_place(slot.span)}: “{slot.sentence}” is false now"
            yield from (f"  {_checked(check, now)}" for check in broken)


def _slots(loaded: LoadedSite) -> list[ClaimSlot]:
    return sorted((slot for _, slot in claims_in(loaded.linked, loaded.documents)), key=lambda slot: slot.span)


def _with_records(measured: Measured, kernels: Mapping[tuple[str, str], Record]) -> Measured:
    """Return the records with others in their place, all of them taken as fresh: the question is what they say."""
    records = replace(measured.records, kernels={**measured.records.kernels, **kernels})
    return replace(measured, records=records, freshness_of=lambda *_: FRESH)


def _checked(check: Check, verdict: Verdict) -> str:
    stale = f" (stale: {check.quantity.stale})" if check.quantity.stale else ""
    return f"{check.gpu or 'no GPU'}: {finding(check, verdict.claim, ENGLISH)}{stale}".replace("\u00a0", " ")


def _row(check: Check) -> dict[str, Any]:
    one = check.quantity
    return {
        "gpu": check.gpu,
        "workload": check.cell.workload,
        "dtype": check.cell.dtype,
        "state": check.state,
        "supported": check.supported,
        "value": one.value,
        "interval": [one.low, one.high] if one.value is not None else None,
        "margin": check.margin,
        "stale": one.stale,
    }


def _place(span: Span) -> str:
    return f"{span.path}:{span.line}"
