"""Turn a record into the facts about its numbers: GPU, software, clocks, samples."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from sitegen.model.record import Record, Run
from sitegen.render.inputs.rows import run_of
from sitegen.render.shared import numbers
from sitegen.render.shared.frame import Fact


def record_plate(record: Record, data: str, ceilings: str = "") -> tuple[Fact, ...]:
    """Return the facts of the newest run; `data` is the link to the record as JSON, `ceilings` the link to the GPU's
    ceilings.
    """
    run = run_of(record, None)
    if run is None:
        return ()
    facts = [*machine_facts(run, ceilings), *_timing_facts(record, run)]
    if keys := sorted({e.key for e in record.evaluations if e.run == run.id and e.key}):
        facts.append(Fact("key", short(keys[0]) if len(keys) == 1 else f"{short(keys[0])} and {len(keys) - 1} more"))
    return (*facts, Fact("data", f"{record.gpu}.json", data))


def machine_facts(run: Run, ceilings: str = "") -> tuple[Fact, ...]:
    """Return the facts about the machine of a run: hardware, limits of power and clock, software, date, commit."""
    machine = run.environment
    return (
        Fact("GPU", machine.gpu, ceilings),
        *(Fact("hash of the GPU", one.environment.gpu_hash) for one in run.gpus if one.environment.gpu_hash),
        Fact("SMs", f"{machine.sm_count}, {machine.arch}"),
        Fact("memory", f"{numbers.size(machine.memory_bytes)}, ECC {'on' if machine.ecc else 'off'}"),
        Fact("L2", numbers.size(machine.l2_bytes)),
        Fact("power cap", numbers.watts(machine.power_limit_w)),
        Fact("highest SM clock", numbers.clock(machine.sm_clock_max_mhz)),
        Fact("driver", machine.driver),
        Fact("CUDA", machine.cuda),
        Fact("torch", machine.torch),
        Fact("Triton", machine.triton),
        Fact("Python", machine.python),
        Fact("date", run.date),
        Fact("commit", run.commit),
        measured_by(run),
    )


def measured_by(run: Run) -> Fact:
    """Return who measured: a run of a workflow on GitHub that signed the results, or somebody by hand."""
    repository, _, number = run.measured_by.partition("/actions/runs/")
    if not number:
        return Fact("measured by", "hand, not signed")
    return Fact("measured by", f"{repository}, run {number}, signed", f"https://github.com/{run.measured_by}")


def _timing_facts(record: Record, run: Run) -> Iterator[Fact]:
    """Yield the facts about the timing of a run: clocks, power, rounds and samples."""
    made = [e.performance for e in record.evaluations if e.run == run.id and e.performance]
    if clocks := [p.sm_clock_mhz for p in made if p.sm_clock_mhz]:
        yield Fact("SM clock, median", numbers.clock(statistics.median(clocks)))
    # the power of matrix products is that of the sustained runs, because a burst has none
    if powers := [watts for p in made if (watts := (p.sustained or p).power_w)]:
        yield Fact("power, median", numbers.watts(statistics.median(powers)))
    if rounds := _range([len(p.rounds_us) for p in made]):
        samples = _range([p.samples // max(len(p.rounds_us), 1) for p in made])
        yield Fact("rounds × samples", f"{rounds} × {samples}")
    if processes := _range([len(p.by_process_us) for p in made if p.by_process_us]):
        yield Fact("processes, one after another", processes)


def short(digest: str) -> str:
    """Return the ends of a digest: `c1d4…88e0`."""
    return f"{digest[:4]}…{digest[-4:]}" if len(digest) > 9 else digest


def _range(values: list[int]) -> str:
    """Return the range of integers: `11`, or `11 to 15`."""
    if not values:
        return ""
    low, high = min(values), max(values)
    return str(low) if low == high else f"{low} to {high}"
