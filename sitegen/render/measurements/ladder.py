"""Turn the implementations of a kernel into the steps of a ladder: the prediction, the result, and the gain over the
step before.
"""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from sitegen.model.kernel import UNTRIED, Implementation, Kernel, Language
from sitegen.model.record import Role
from sitegen.model.urls import kernel_url, relative
from sitegen.render.figures.inline_charts import Mark, bar
from sitegen.render.inputs.implementations import file_name, source_of
from sitegen.render.inputs.rows import Group, Row
from sitegen.render.inputs.sources import Sources
from sitegen.render.measurements import tables
from sitegen.render.shared import numbers
from sitegen.render.shared.frame import Link

LANGUAGES = {Language.TRITON: "Triton", Language.CUDA: "CUDA", Language.CUDA_HOST: "CUDA, host code"}


@dataclass(frozen=True, slots=True)
class LadderStep:
    """One implementation on the ladder."""

    id: str
    name: str
    language: str
    predicts: str
    bar: Markup
    """The bar of its share of the ceiling; empty without a time."""
    meter: str
    """The result in words: `95.1 % of copy, 4.07 TB/s; predicted 95 %`."""
    gain: str
    against: str
    state: str
    reason: str
    best: bool
    source: Link | None


def ladder(sources: Sources, kernel: Kernel, group: Group | None, here: str, prefix: str) -> tuple[LadderStep, ...]:
    """Return the steps in the order of kernel.yaml.  Each gain is over the last step before that has a time."""
    steps: list[LadderStep] = []
    before: Row | None = None
    for implementation in kernel.implementations:
        row = next((r for r in group.rows if r.ours and r.name == implementation.name), None) if group else None
        steps.append(_step(sources, kernel, implementation, row, here, group=group, before=before, prefix=prefix))
        before = row if row and row.performance else before
    return tuple(steps)


def _step(
    sources: Sources,
    kernel: Kernel,
    implementation: Implementation,
    row: Row | None,
    here: str,
    *,
    group: Group | None = None,
    before: Row | None = None,
    prefix: str = "",
) -> LadderStep:
    timed = row is not None and row.performance is not None
    gain, against = _gain(row, before)
    href = relative(source_url(kernel, implementation), here)
    source = Link(file_name(implementation), href) if source_of(sources.site, implementation) else None
    return LadderStep(
        id=f"{prefix}{implementation.name}",
        name=implementation.name,
        language=LANGUAGES[implementation.language],
        predicts=numbers.join_units(implementation.predicts),
        bar=bar(row.share("of-ceiling"), Mark.STALE if row.stale else Mark.OURS, row.predicted)
        if row and timed
        else Markup(),
        meter=_meter(group, row) if group and row and timed else "",
        gain=gain,
        against=against,
        state=_row_state(row),
        reason="" if timed else tables.why_no_time(row) if row else "not offered in this dtype",
        best=row.best if row else False,
        source=source,
    )


def _row_state(row: Row | None) -> str:
    if row is None or row.evaluation is None or row.evaluation.status in UNTRIED:
        return "planned"
    return "failed" if row.failed else "stale" if row.stale else ""


def _meter(group: Group, row: Row) -> str:
    rate = numbers.bandwidth(row.bytes_per_s) if group.bound_by_memory else numbers.operations(row.flops_per_s)
    ceiling = row.share("of-ceiling")
    facts = [f"{numbers.percent(ceiling)} of ceiling"] if ceiling is not None else []
    if (share := row.share(f"of-{group.yardstick}")) is not None:
        facts.append(f"{numbers.percent(share)} of {group.yardstick}")
    predicted = f"; predicted {numbers.prediction(row.predicted)}" if row.predicted is not None else ""
    return ", ".join([*facts, rate]) + predicted


def _gain(row: Row | None, before: Row | None) -> tuple[str, str]:
    if row is None or row.performance is None:
        return "", ""
    if before is None or before.performance is None:
        return numbers.ratio(1.0), "the start"
    return numbers.ratio(before.performance.median_us / row.performance.median_us), f"over {before.name}"


def unmeasured(sources: Sources, kernel: Kernel, implementation: Implementation, here: str) -> LadderStep:
    """Return the step of an implementation of a kernel that has no record."""
    return _step(sources, kernel, implementation, Row(Role.IMPLEMENTATION, implementation.name), here)


def source_url(kernel: Kernel, implementation: Implementation) -> str:
    """Return the URL of the source as text, which a browser shows instead of saving it."""
    return f"{kernel_url(kernel.name)}{file_name(implementation)}.txt"
