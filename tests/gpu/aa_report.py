"""The raw data of `aa.py` → what its claims came to: noise, verdicts on the same code, verdicts on planted slow-downs.

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
"""What the planted slow-downs shall cost, as a share of the time."""
EXACT = {SLOWER: 0.001, SLIGHTLY: 0.002}
"""How far from it they may be."""
NOISE = 0.002
PAIRS = 20
"""Fewer comparisons show too little."""
NOISE_HEAD = ("noise of", "runs", "µs", "of-ceiling %", "ratio %", "told %", "last round %", "line", "")
"""`told`: what a record says of itself, by its generations of processes; the mean of the runs.  `last round`: by
how much the rounds whose outputs are checked again are slower than the others; no line, but it should be nothing.
"""
COUNTED = (Verdict.SAME, Verdict.SLOWER, Verdict.FASTER, Verdict.AMBIGUOUS)
VERDICT_HEAD = ("verdicts on", "of", "cost %", "pairs", *COUNTED, "line", "")


@dataclass(frozen=True)
class Session:
    """The runs of one GPU."""

    kernels: tuple[Kernel, ...]
    """As they were run, with the planted implementations."""
    originals: Mapping[str, str]
    """By kernel, the implementation that was slowed down."""
    ceilings: Mapping[str, float]
    runs: tuple[Mapping[str, Record], ...]
    """By kernel."""


@dataclass(frozen=True)
class Line:
    """One claim about one implementation, and what was seen."""

    cells: tuple[object, ...]
    held: bool

    @property
    def marked(self) -> tuple[object, ...]:
        return (*self.cells, "" if self.held else "<-- NOT MET")


def sessions_in(folders: Iterable[Path], site: Site) -> Iterator[Session]:
    """Those with runs, each from a folder of its own."""
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
    """The jobs that are kept below a folder, by run."""
    return [(file, json.loads(file.read_text())) for file in sorted(folder.rglob(f"run-??-{kernel}.json"))]


def report(site: Site, sessions: Sequence[Session], least: int = PAIRS) -> tuple[str, bool]:
    """The tables, and whether every line is met, with so many pairs at least."""
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
    """`what`: the name of a planted slow-down, or anything else for the same code."""
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
    """Of each run and the next of its session: the implementation `before` of the one against `after` of the other."""
    found: Counter[Verdict] = Counter()
    for session in sessions:
        one = replace(site, kernels=session.kernels)
        for old, new in pairwise(run[kernel] for run in session.runs if kernel in run):
            rows = compare_records(one, old, instead_of(before, after, new))
            found.update(row.verdict for row in rows if row.title.startswith(f"{kernel}/{before}@"))
    return found


def instead_of(name: str, other: str, record: Record) -> Record:
    """The record in which the implementation `other` bears that name."""
    if name == other:
        return record
    kept = [e for e in record.evaluations if (e.role, e.name) != (Role.IMPLEMENTATION, name)]
    return replace(record, evaluations=tuple(replace(e, name=name) if e.name == other else e for e in kept))


def cost(sessions: Sequence[Session], kernel: str, planted: str, original: str) -> float:
    """Of a planted slow-down, over all runs."""
    runs = [run for session in sessions for run in session.runs]
    pairs = [(performance(run, kernel, planted), performance(run, kernel, original)) for run in runs]
    return size_in([(slow, fast) for slow, fast in pairs if slow and fast])


def size_in(pairs: Iterable[tuple[Performance, Performance]]) -> float:
    """(slower, faster), of common rounds → by what share of the time: the median over all rounds."""
    ratios = [s / f for slow, fast in pairs for s, f in zip(slow.rounds_us, fast.rounds_us, strict=True)]
    return median(ratios) - 1 if ratios else math.nan


def noise_of(values_by_session: Iterable[Sequence[float]]) -> float:
    """The standard deviation within GPUs, all GPUs together, as a share of each one's mean."""
    squares, freedom = 0.0, 0
    for values in values_by_session:
        if len(values) > 1:
            squares += (len(values) - 1) * (stdev(values) / fmean(values)) ** 2
            freedom += len(values) - 1
    return math.sqrt(squares / freedom) if freedom else math.nan


def last_rounds(several: Iterable[Performance]) -> float:
    """By what share the last rounds of the generations are slower than the others of theirs: the median of all."""
    generations = chain.from_iterable(by_generation(one.rounds_us, len(one.by_process_us)) for one in several)
    parts = [part for part in generations if len(part) > 1]
    return median(part[-1] / median(part[:-1]) for part in parts) - 1 if parts else math.nan


def implementations(sessions: Sequence[Session]) -> list[tuple[str, str]]:
    """(kernel, name) of all but the planted ones."""
    every = [(k.name, one.name) for s in sessions for k in s.kernels for one in k.implementations]
    return [one for one in dict.fromkeys(every) if one[1] not in SIZES]


def evaluation(run: Mapping[str, Record], kernel: str, name: str) -> Evaluation | None:
    """Of an implementation."""
    several = run[kernel].evaluations if kernel in run else ()
    return next((e for e in several if (e.role, e.name) == (Role.IMPLEMENTATION, name)), None)


def performance(run: Mapping[str, Record], kernel: str, name: str) -> Performance | None:
    found = evaluation(run, kernel, name)
    return found.performance if found else None


def _ceilings(sessions: Sequence[Session]) -> Iterator[str]:
    """How far apart the GPUs' ceilings are."""
    if len(sessions) > 1:
        rates = {name: [s.ceilings[name] for s in sessions if name in s.ceilings] for name in sessions[0].ceilings}
        apart = (f"{name} {max(several) / min(several) - 1:.2%}" for name, several in rates.items())
        yield f"ceilings, highest over lowest: {', '.join(apart)}"
