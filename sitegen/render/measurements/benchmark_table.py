"""Print `{benchmark}`: the table of a kernel's evaluations, for each GPU that has a record."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

from markupsafe import Markup

from sitegen.model.document import BenchmarkSlot
from sitegen.model.kernel import Kernel
from sitegen.model.record import Record, Role
from sitegen.render.inputs.rows import Group, select_groups
from sitegen.render.inputs.sources import Sources
from sitegen.render.measurements import tables
from sitegen.render.measurements.gpus import label_of, side_by_side
from sitegen.render.measurements.provenance import provenances
from sitegen.render.shared.frame import Printer
from sitegen.render.shared.placeholder import absent

CAPTION = (
    "Time is the median of round medians, cold cache; ± is half of p20 to p80. "
    "The ring on a bar is what was predicted, its end mark the ceiling. "
    "A ratio is the baseline’s time over this one’s."
)
NOISE = " Noise is the standard deviation of a ratio between two runs of the same code."
BURSTS = " A burst is a few calls after idleness; sustained is after 300 ms of itself, where the power cap may hold it."


def render_slot(printer: Printer, slot: BenchmarkSlot, here: str, prefix: str) -> Markup:
    """Return the tables, or the statement that nothing was measured yet."""
    kernel = printer.sources.kernel(slot.kernel)
    records = printer.sources.records(slot.kernel)
    if kernel is None or not records:
        text = f"{slot.kernel} has not been measured yet: no record is stored for it."
        return absent(printer, text, slot.number, slot.label)
    parts: list[tuple[Record, Markup]] = []
    for record in records:
        shown = select_groups(printer.sources.groups(record), slot.workloads, slot.dtypes, slot.implementations)
        if not shown or (len(records) > 1 and not any(row.performance for group in shown for row in group.rows)):
            continue
        name = f"{prefix}-{record.gpu}" if len(records) > 1 else prefix
        table = benchmark_table(
            printer.sources,
            kernel,
            record,
            shown,
            here,
            id=slot.label if slot.label and not parts else name,
            prefix=name,
            columns=slot.columns,
            caption=Markup(slot.caption) or f"{kernel.summary} {explain_columns(shown)}",
            label=label_of(printer.sources, record, slot.number),
        )
        parts.append((record, printer.fragment("partials/table.html", table)))
    if not parts:
        wanted = " ".join((slot.kernel, ", ".join(slot.implementations))).strip()
        return absent(printer, f"Not measured yet: {wanted}.", slot.number, slot.label)
    return side_by_side(printer, parts, records, prefix, wide=True)


def benchmark_table(
    sources: Sources,
    kernel: Kernel,
    record: Record,
    shown: tuple[Group, ...],
    here: str,
    *,
    id: str,
    prefix: str,
    columns: Collection[str] = (),
    caption: str = "",
    label: str = "",
    wide: bool = True,
) -> tables.Table:
    used = tables.columns_for(shown, _baselines(kernel, shown), tuple(columns))
    return tables.Table(
        id=id,
        caption=caption or explain_columns(shown),
        label=label,
        headings=tables.headings(used),
        bodies=tuple(tables.body(group, used, f"{prefix}-{n}") for n, group in enumerate(shown)),
        provenance=provenances(sources, record, shown, here),
        wide=wide,
        record=f"{record.kernel} {record.gpu}",
    )


def split_benchmark(
    sources: Sources,
    kernel: Kernel,
    record: Record,
    shown: tuple[Group, ...],
    first: Group | None,
    here: str,
    *,
    end: str,
    label: str,
) -> tuple[tables.Table, ...]:
    """Return the table of one group, and a table of all others if there are any; both have the same columns.

    `end` makes the ids unique on a page with several GPUs; `label` names the GPU there.
    """
    columns = tables.columns_for(shown, _baselines(kernel, shown))
    others = tuple(group for group in shown if group is not first)
    parts = ((f"workloads{end}", f"w{end}", shown if first is None else (first,)), (f"others{end}", f"o{end}", others))
    made = partial(benchmark_table, sources, kernel, record, label=label, columns=columns, wide=False)
    return tuple(made(part, here, id=id, prefix=prefix) for id, prefix, part in parts if part)


def explain_columns(shown: tuple[Group, ...]) -> str:
    """Return the caption that explains the columns and heads that this table has."""
    noise = NOISE if any(group.noise is not None for group in shown) else ""
    held = any(row.performance and row.performance.sustained for group in shown for row in group.rows)
    return f"{CAPTION}{BURSTS if held else ''}{noise}"


def _baselines(kernel: Kernel, shown: tuple[Group, ...]) -> tuple[str, ...]:
    """Return the baselines that have a time in any of the groups."""
    timed = {row.name for group in shown for row in group.rows if row.role is Role.BASELINE and row.performance}
    return tuple(name for name in kernel.baselines if name in timed)
