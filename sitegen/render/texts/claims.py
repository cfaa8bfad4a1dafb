"""Say what the records say about a claim: the mark with its evidence on a page, and the sentence of a diagnostic."""

from __future__ import annotations

from collections.abc import Iterator

from markupsafe import Markup

from sitegen.model.document import ClaimSlot
from sitegen.model.figure_table import Unit
from sitegen.model.value import Claim, Relation
from sitegen.render.shared import numbers
from sitegen.render.shared.figure_text import figure_text
from sitegen.render.shared.frame import Printer
from sitegen.render.shared.language import PageLanguage
from sitegen.render.texts.values import href_of, machine_and_day
from sitegen.results.claims import Check, ClaimState, Verdict, decide
from sitegen.results.quantities import Measured, Quantity

_DIGITS = 4
"""The digits of a figure and of its interval: with fewer, a figure can look as if it were outside."""
_CLASSES = {
    ClaimState.HOLDS: "fresh",
    ClaimState.BROKEN: "failed",
    ClaimState.STALE: "stale",
    ClaimState.MISSING: "planned",
}
"""The class of the state grammar for each state."""
WORDS = {
    ClaimState.HOLDS: "the record supports this sentence",
    ClaimState.BROKEN: "the record does not support this sentence",
    ClaimState.STALE: "the record of this sentence is stale",
    ClaimState.MISSING: "this sentence is not measured yet",
}


def render_claim(printer: Printer, slot: ClaimSlot, here: str, lang: str) -> Markup:
    """Return the mark behind a sentence, which opens the evidence."""
    measured, spoken = printer.sources.recorded, printer.language(lang)
    verdict = decide(slot.claim, measured)
    lines = Markup("").join(_line(check, verdict.claim, measured, here, spoken) for check in verdict.checks)
    record = " ".join(dict.fromkeys(name or "ceilings" for name in slot.claim.kernels))
    return Markup(
        '<details><summary><span class="state {}"><span class="vh said">{}</span></span></summary>\n'
        '<div class="evidence" data-record="{}"><p><code>{}</code></p>\n<ul>{}</ul></div></details>\n'
    ).format(_CLASSES[verdict.state], spoken.say(WORDS[verdict.state]), record, slot.claim.text, lines)


def _line(check: Check, claim: Claim, measured: Measured, here: str, spoken: PageLanguage) -> Markup:
    origins = check.quantity.origins
    words = finding(check, claim, spoken)
    if not origins:
        return Markup("<li>{}</li>").format(f"{_machine(check, claim, measured)}: {words}" if check.gpu else words)
    link = Markup('<a href="{}">{}</a>').format(
        href_of(origins[0], measured, here), machine_and_day(origins[0], spoken)
    )
    stale = spoken.say("stale: {why}", why=check.quantity.stale) if check.quantity.stale else ""
    return Markup("<li>{}. {}{}</li>").format(words, link, f"; {stale}" if stale else "")


def _machine(check: Check, claim: Claim, measured: Measured) -> str:
    """Return the name of the GPU of a check; its id where no record has its name."""
    found = (measured.records.kernels.get((kernel, check.gpu)) for kernel in claim.kernels)
    return next((record.runs[-1].environment.gpu for record in found if record and record.runs), check.gpu)


def finding(check: Check, claim: Claim, spoken: PageLanguage) -> str:
    """Return what the record says: `8192x8192:float32: 1.421 ×, 95 % interval 1.402 × to 1.440 ×, margin -5.3 %`."""
    cell, said = str(check.cell), _said(check, claim, spoken)
    return f"{cell}: {said}" if cell else said


def _said(check: Check, claim: Claim, spoken: PageLanguage) -> str:
    one = check.quantity
    if one.missing is not None:
        return spoken.say(one.missing)
    if claim.relation in (Relation.MEMORY_BOUND, Relation.COMPUTE_BOUND):
        longer = 1 + (check.margin or 0.0)
        by_memory = (claim.relation is Relation.MEMORY_BOUND) == (longer >= 1)
        times = numbers.significant(longer if longer >= 1 else 1 / longer if longer else 0.0, 3)
        if by_memory:
            return spoken.say("at the ceilings the bytes take {n} × as long as the operations", n=times)
        return spoken.say("at the ceilings the operations take {n} × as long as the bytes", n=times)
    return ", ".join(_parts(check, claim, spoken))


def _parts(check: Check, claim: Claim, spoken: PageLanguage) -> Iterator[str]:
    one = check.quantity
    figure, low, high = _figure_and_interval(one)
    if check.beside:
        yield spoken.say("{name} takes {figure} its time", name=check.beside, figure=figure)
    elif claim.figure == "x":
        yield f"{figure} {claim.argument}"
    elif claim.value is None and one.unit in (Unit.COUNT, Unit.BYTES):
        yield f"{figure} {claim.argument or claim.figure}"
    else:
        yield figure
    if low:
        yield spoken.say("95 % interval {low} to {high}", low=low, high=high)
    if check.margin is not None:
        yield spoken.say("margin {share}", share=numbers.percent(check.margin))


def _figure_and_interval(one: Quantity) -> tuple[str, str, str]:
    """Return a figure and the ends of its interval with the same digits; of a figure without an interval, two empty
    ends.
    """
    if one.value is None or not one.low < one.high:
        return figure_text(one), "", ""
    figure, low, high = (numbers.figure(value, one.unit, _DIGITS) for value in (one.value, one.low, one.high))
    return figure, low, high


def straddles(check: Check, claim: Claim) -> bool:
    """Tell whether the bound lies within the interval of the figure, so that more measuring could decide."""
    one = check.quantity
    bounds = (1.0,) if check.beside else claim.bounds
    return one.is_known and any(one.low < bound < one.high for bound in bounds)


def objection(verdict: Verdict, spoken: PageLanguage) -> str:
    """Return the sentence for a claim that the records do not support: what they say on each GPU where it breaks, and
    what the claim asks for.
    """
    broken = [check for check in verdict.checks if check.state is ClaimState.BROKEN]
    said = "; ".join(_said_at(check, verdict.claim, spoken) for check in broken)
    asked = f"; the claim asks for {words}" if (words := _asked(verdict.claim)) else ""
    if all(straddles(check, verdict.claim) for check in broken):
        return f"the record cannot decide this claim, its interval crosses the bound: {said}{asked}"
    return f"the record does not support this claim: {said}{asked}"


def advice(slot: ClaimSlot) -> str:
    """Return what to do about a claim that the records do not support."""
    change = _CHANGES.get(slot.claim.relation)
    if change is None:
        return f"rewrite the sentence or its claim: \u201c{slot.sentence}\u201d"
    return f"{change}, and see that its sentence still holds: \u201c{slot.sentence}\u201d"


_CHANGES = {
    Relation.AT_LEAST: "lower the claim",
    Relation.ABOVE: "lower the claim",
    Relation.AT_MOST: "raise the bound of the claim",
    Relation.BELOW: "raise the bound of the claim",
    Relation.BETWEEN: "move the bounds of the claim",
}


def _said_at(check: Check, claim: Claim, spoken: PageLanguage) -> str:
    """Return what the record says: `on nvidia-h200 at 256Mi:float32 it says 1.237 × scalar (95 %: 1.236 × to …)`."""
    at = f" at {check.cell}" if str(check.cell) else ""
    one = check.quantity
    if one.missing is not None or one.value is None or claim.relation not in _CHANGES:
        return f"{check.gpu}{at}: {_said(check, claim, spoken)}"
    figure, low, high = (numbers.figure(value, one.unit, _DIGITS) for value in (one.value, one.low, one.high))
    name = f" {claim.argument or claim.figure}" if claim.value is None and one.unit in _NAMED else ""
    interval = f" (95 %: {low} to {high})" if one.low < one.high else ""
    return f"on {check.gpu}{at} it says {figure}{name}{interval}"


_NAMED = (Unit.RATIO, Unit.COUNT, Unit.BYTES)
"""The units of figures that are understood only with the name behind them."""


def _asked(claim: Claim) -> str:
    words = {
        Relation.AT_LEAST: "at least {}",
        Relation.ABOVE: "more than {}",
        Relation.AT_MOST: "at most {}",
        Relation.BELOW: "less than {}",
        Relation.BETWEEN: "between {} and {}",
    }
    if claim.unit is None or claim.relation not in words:
        return ""
    return words[claim.relation].format(*(_bound(bound, claim.unit) for bound in claim.bounds))


def _bound(bound: float, unit: Unit) -> str:
    """Return a bound with its unit, ratios and shares with the digits that the author wrote."""
    if unit is Unit.RATIO:
        return numbers.with_unit(f"{bound:.6g}", "×")
    return numbers.with_unit(f"{bound * 100:.6g}", "%") if unit is Unit.SHARE else numbers.figure(bound, unit)
