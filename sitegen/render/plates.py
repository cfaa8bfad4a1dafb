"""The nameplate of a record: what made its numbers."""

from __future__ import annotations

import statistics

from sitegen.model.record import Record
from sitegen.render import numbers
from sitegen.render.frame import Fact
from sitegen.render.measured import run_of


def record_plate(record: Record, data: str) -> tuple[Fact, ...]:
    """The fields of the newest run; `data` is the href of the record as JSON."""
    run = run_of(record, None)
    if run is None:
        return ()
    machine = run.environment
    made = [e for e in record.evaluations if e.run == run.id and e.performance]
    facts = [
        Fact("GPU", machine.gpu),
        Fact("driver", machine.driver),
        Fact("CUDA", machine.cuda),
        Fact("torch", machine.torch),
        Fact("Triton", machine.triton),
        Fact("Python", machine.python),
    ]
    clocks = [e.performance.sm_clock_mhz for e in made if e.performance and e.performance.sm_clock_mhz]
    if clocks:
        facts.append(Fact("SM clock, median", numbers.clock(statistics.median(clocks))))
    if rounds := _range([len(e.performance.rounds_us) for e in made if e.performance]):
        per_round = [e.performance.samples // max(len(e.performance.rounds_us), 1) for e in made if e.performance]
        facts.append(Fact("rounds × samples", f"{rounds} × {_range(per_round)}"))
    facts.append(Fact("L2", numbers.size(machine.l2_bytes)))
    facts += [Fact("date", run.date), Fact("commit", run.commit)]
    if keys := sorted({e.key for e in record.evaluations if e.run == run.id and e.key}):
        facts.append(Fact("key", short(keys[0]) if len(keys) == 1 else f"{short(keys[0])} and {len(keys) - 1} more"))
    return (*facts, Fact("data", f"{record.gpu}.json", data))


def short(digest: str) -> str:
    """`c1d4…88e0`."""
    return f"{digest[:4]}…{digest[-4:]}" if len(digest) > 9 else digest


def _range(values: list[int]) -> str:
    """`11`, or `11 to 15`."""
    if not values:
        return ""
    low, high = min(values), max(values)
    return str(low) if low == high else f"{low} to {high}"
