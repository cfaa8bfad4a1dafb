"""State the origin of figures in the one line under every table and chart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from sitegen.model.record import Record, Run
from sitegen.model.urls import ceilings_url, kernel_url, relative
from sitegen.render.inputs.rows import Group, Row, run_of
from sitegen.render.inputs.sources import Sources
from sitegen.render.shared import numbers
from sitegen.results.run_gpus import made_on


@dataclass(frozen=True, slots=True)
class Provenance:
    """The GPU, driver, CUDA, torch, Triton, power cap, clock and date of a run; the commit links to the record."""

    gpu: str
    ceilings: str
    """The link to the GPU's ceilings; empty when none were measured."""
    facts: tuple[str, ...]
    commit: str
    href: str


def provenance(run: Run, href: str = "", ceilings: str = "", sm_clock_mhz: float | None = None) -> Provenance:
    """Return the provenance of a run.  `sm_clock_mhz` is the measured clock of the SMs; without it the highest possible
    clock is stated.
    """
    machine = run.environment
    most = numbers.clock(machine.sm_clock_max_mhz)
    clock = f"up to {most}"
    if sm_clock_mhz:  # cycles over time can come out a little above the highest clock that the driver states
        within = sm_clock_mhz <= machine.sm_clock_max_mhz
        clock = f"{sm_clock_mhz / 1000:.2f} of {most}" if within else numbers.clock(sm_clock_mhz)
    facts = (
        f"driver {machine.driver}",
        f"CUDA {machine.cuda}",
        f"torch {machine.torch}",
        f"Triton {machine.triton}",
        f"power cap {numbers.watts(machine.power_limit_w)}",
        f"ECC {'on' if machine.ecc else 'off'}",
        f"SM clock {clock}",
        *([f"GPU {machine.gpu_hash}"] if machine.gpu_hash else []),
        run.date,
    )
    return Provenance(machine.gpu, ceilings, facts, run.commit, href)


def provenances(sources: Sources, record: Record, shown: Sequence[Group], here: str) -> tuple[Provenance, ...]:
    """Return the provenance of every run and GPU that made a figure of these groups, newest first."""
    made = [row.evaluation for group in shown for row in group.rows if row.evaluation and row.performance]
    runs = {(run.id, run.environment.gpu_hash): run for one in made if (run := run_of(record, one))}
    href, lines = record_href(record, here), []
    for _, run in sorted(runs.items(), reverse=True):
        clocks = [c for e in made if made_on(e, run) and e.performance and (c := e.performance.sm_clock_mhz)]
        clock = median(clocks) if clocks else None
        lines.append(provenance(run, href, ceilings_href(sources, record.gpu, here), clock))
    return tuple(lines)


def counted_elsewhere(rows: Iterable[Row]) -> str:
    """Return a sentence with the runs of the counters, where these are not the runs of the times; else empty."""
    counted = [row.counters for row in rows if row.counters]
    runs = sorted({one.run for one in counted if one.run})
    if not runs:
        return ""
    whose = "The DRAM’s bytes" if all(one.run for one in counted) else "Some of the DRAM’s bytes"
    return f"{whose} were counted in another run than the times: {', '.join(runs)}."


def record_href(record: Record, here: str) -> str:
    """Return the link to the facts of a record."""
    return relative(f"{kernel_url(record.kernel)}#record-{record.gpu}", here)


def ceilings_href(sources: Sources, gpu: str, here: str) -> str:
    """Return the link to the ceilings of a GPU; empty when none were measured."""
    return relative(ceilings_url(gpu), here) if sources.ceilings_run(gpu) else ""
