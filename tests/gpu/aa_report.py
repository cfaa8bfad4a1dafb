"""Turn the raw data of `aa.py` into its report: noise, and verdicts on the same code and on planted slow-downs.

Pure on records; opens the JSON files of the GPUs and needs none.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from pathlib import Path
from statistics import fmean, median, stdev
from typing import Any

from machine import records_of, table

from sitegen.measure.rounds import by_generation
from sitegen.model.job import JobResult
from sitegen.model.kernel import Kernel
from sitegen.model.plain import from_plain
from sitegen.model.record import Evaluation, Performance, Record, Role
from sitegen.model.site import Site
from sitegen.results.compare import compare_records
from sitegen.results.noise import noise_of as noise_in
from sitegen.results.verdicts import Verdict

SLOWER, SLIGHTLY = "slower_15", "slower_05"
SIZES = {SLOWER: 0.015, SLIGHTLY: 0.005}
"""The wanted cost of each planted slow-down, as a share of the time."""
EXACT = {SLOWER: 0.001, SLIGHTLY: 0.002}
"""Largest difference between the measured and the wanted cost."""
NOISE = 0.002
PAIRS = 20
"""Fewest comparisons that show enough."""
NOISE_HEAD = ("noise of", "runs", "µs", "of-ceiling %", "ratio %", "told %", "last round %", "line", "")
"""Columns of the noise table.

`told` is the noise that a record states, from its generations of processes, as the mean of the runs.  `last round` is
the share by which the rounds whose outputs are checked again are slower than the others.  It has no limit, and it
should be zero.
"""
COUNTED = (Verdict.SAME, Verdict.SLOWER, Verdict.FASTER, Verdict.AMBIGUOUS)
VERDICT_HEAD = ("verdicts on", "of", "cost %", "pairs", *COUNTED, "line", "")


@dataclass(frozen=True)
class Session:
    """The runs of one GPU."""

    kernels: tuple[Kernel, ...]
    """The kernels as they were run, with the planted implementations."""
    originals: Mapping[str, str]
    """The implementation that was slowed down, by kernel."""
    ceilings: Mapping[str, float]
    runs: tuple[Mapping[str, Record], ...]
    """The records of each run, by kernel."""


@dataclass(frozen=True)
class Line:
    """One claim about one implementation, and the result."""

    cells: tuple[object, ...]
    held: bool

    @property
    def marked(self) -> tuple[object, ...]:
        return (*self.cells, "" if self.held else "<-- NOT MET")


def sessions_in(folders: Iterable[Path], site: Site) -> Iterator[Session]:
    """Return the sessions that have runs, each from a folder of its own."""
    for file in sorted(file for folder in folders for file in folder.rglob("ceilings.json")):
        ceilings = from_plain(JobResult, json.loads(file.read_text()))
        kernels, originals, runs = dict[str, Kernel](), dict[str, str](), dict[str, dict[str, Record]]()
        for one, told in stored_runs(file.parent):
            kernel, number = from_plain(Kernel, told["kernel"]), one.stem.split("-")[1]
            kernels[kernel.name] = kernel
            originals |= {kernel.name: told["original"]} if told["original"] else {}
            results = [ceilings, from_plain(JobResult, told["result"])]
            runs.setdefault(number, {}).update(records_of(site, [kernel], results, told["run"]))
        if runs:
            rates = {c.name: c.rate for c in ceilings.ceilings}
            yield Session(tuple(kernels.values()), originals, rates, tuple(run for _, run in sorted(runs.items())))


def stored_runs(folder: Path, kernel: str = "*") -> list[tuple[Path, dict[str, Any]]]:
    """Return the stored jobs below a folder, in the order of their files."""
    return [(file, json.loads(file.read_text())) for file in sorted(folder.rglob(f"run-??-{kernel}.json"))]


def report(site: Site, sessions: Sequence[Session], least: int = PAIRS) -> tuple[str, bool]:
    """Return the tables, and whether every line is met and there are at least so many pairs."""
    noise, verdict = list(noise_lines(sessions)), list(verdict_lines(site, sessions, least))
    tables = [
        table(h, [line.marked for line in several]) for h, several in ((NOISE_HEAD, noise), (VERDICT_HEAD, verdict))
    ]
    return "\n\n".join([*tables, *_ceilings(sessions)]), bool(verdict) and all(line.held for line in noise + verdict)


def noise_lines(sessions: Sequence[Session]) -> Iterator[Line]:
    for kernel, name in implementations(sessions):
        timed = [[p for run in s.runs if (p := performance(run, kernel, name))] for s in sessions]
        ratios = [[p.ratios[0].value for p in several if p.ratios] for several in timed]
        us, runs = [p.median_us for p in chain(*timed)], sum(kernel in run for s in sessions for run in s.runs)
        noise = noise_of([[p.median_us for p in several] for several in timed])
        told = [noise_in(run[kernel], e) for s in sessions for run in s.runs if (e := evaluation(run, kernel, name))]
        last = last_rounds(chain(*timed))
        shares = [f"{share * 100:.3f}" for share in (noise, noise_of(ratios), fmean(told) if told else math.nan, last)]
        cells = (f"{kernel}/{name}", len(us), fmean(us) if us else math.nan, *shares)
        yield Line((*cells, f"<= {NOISE:.1%}"), noise <= NOISE and len(us) == runs)


def verdict_lines(site: Site, sessions: Sequence[Session], least: int) -> Iterator[Line]:
    for kernel, name in implementations(sessions):
        yield judged("the same", f"{kernel}/{name}", 0.0, verdicts(site, sessions, kernel, name, name), least)
    for kernel, original in sorted({one for session in sessions for one in session.originals.items()}):
        for planted in SIZES:
            found = verdicts(site, sessions, kernel, original, planted)
            yield judged(planted, f"{kernel}/{original}", cost(sessions, kernel, planted, original), found, least)


def judged(what: str, of: str, size: float, found: Counter[Verdict], least: int) -> Line:
    """Return the line of a claim.

    `what` is the name of a planted slow-down, or any other text for the same code.
    """
    pairs = found.total()
    if what == SLOWER:
        held, line = found[Verdict.SLOWER] == pairs, "always slower"
    elif what == SLIGHTLY:
        held, line = not found[Verdict.SLOWER], "never slower"
    else:
        held, line = found[Verdict.SAME] + found[Verdict.AMBIGUOUS] == pairs, "neither slower nor faster"
    as_planned = what not in SIZES or abs(size - SIZES[what]) <= EXACT[what]
    line += "" if as_planned else f", but it does not cost {SIZES[what]:.1%}"
    line += "" if pairs >= least else f", but these are not {least} pairs"
    cells = (what, of, size * 100, pairs, *(found[v] for v in COUNTED), line)
    return Line(cells, held and as_planned and pairs >= least)


def verdicts(site: Site, sessions: Sequence[Session], kernel: str, before: str, after: str) -> Counter[Verdict]:
    """Count the verdicts over each run and the next one of its session: implementation `before` against `after`."""
    found: Counter[Verdict] = Counter()
    for session in sessions:
        one = replace(site, kernels=session.kernels)
        for old, new in pairwise(run[kernel] for run in session.runs if kernel in run):
            rows = compare_records(one, old, instead_of(before, after, new))
            found.update(row.verdict for row in rows if row.title.startswith(f"{kernel}/{before}@"))
    return found


def instead_of(name: str, other: str, record: Record) -> Record:
    """Return the record in which the implementation `other` has that name."""
    if name == other:
        return record
    kept = [e for e in record.evaluations if (e.role, e.name) != (Role.IMPLEMENTATION, name)]
    return replace(record, evaluations=tuple(replace(e, name=name) if e.name == other else e for e in kept))


def cost(sessions: Sequence[Session], kernel: str, planted: str, original: str) -> float:
    """Return the cost of a planted slow-down over all runs, as a share of the time."""
    runs = [run for session in sessions for run in session.runs]
    pairs = [(performance(run, kernel, planted), performance(run, kernel, original)) for run in runs]
    return size_in([(slow, fast) for slow, fast in pairs if slow and fast])


def size_in(pairs: Iterable[tuple[Performance, Performance]]) -> float:
    """Return by what share of the time the first of each pair is slower: the median over all common rounds."""
    ratios = [s / f for slow, fast in pairs for s, f in zip(slow.rounds_us, fast.rounds_us, strict=True)]
    return median(ratios) - 1 if ratios else math.nan


def noise_of(values_by_session: Iterable[Sequence[float]]) -> float:
    """Return the standard deviation within GPUs, over all GPUs, as a share of each GPU's mean."""
    squares, freedom = 0.0, 0
    for values in values_by_session:
        if len(values) > 1:
            squares += (len(values) - 1) * (stdev(values) / fmean(values)) ** 2
            freedom += len(values) - 1
    return math.sqrt(squares / freedom) if freedom else math.nan


def last_rounds(several: Iterable[Performance]) -> float:
    """Return by what share the last rounds of the generations are slower than their other rounds: the median."""
    generations = chain.from_iterable(by_generation(one.rounds_us, len(one.by_process_us)) for one in several)
    parts = [part for part in generations if len(part) > 1]
    return median(part[-1] / median(part[:-1]) for part in parts) - 1 if parts else math.nan


def implementations(sessions: Sequence[Session]) -> list[tuple[str, str]]:
    """Return (kernel, name) of every implementation that was not planted."""
    every = [(k.name, one.name) for s in sessions for k in s.kernels for one in k.implementations]
    return [one for one in dict.fromkeys(every) if one[1] not in SIZES]


def evaluation(run: Mapping[str, Record], kernel: str, name: str) -> Evaluation | None:
    """Return the evaluation of an implementation."""
    several = run[kernel].evaluations if kernel in run else ()
    return next((e for e in several if (e.role, e.name) == (Role.IMPLEMENTATION, name)), None)


def performance(run: Mapping[str, Record], kernel: str, name: str) -> Performance | None:
    found = evaluation(run, kernel, name)
    return found.performance if found else None


def _ceilings(sessions: Sequence[Session]) -> Iterator[str]:
    """Yield the line that compares the ceilings of the GPUs."""
    if len(sessions) > 1:
        rates = {name: [s.ceilings[name] for s in sessions if name in s.ceilings] for name in sessions[0].ceilings}
        apart = (f"{name} {max(several) / min(several) - 1:.2%}" for name, several in rates.items())
        yield f"ceilings, highest over lowest: {', '.join(apart)}"
