"""Count what was measured on a day, from the histories of records: times, and how they compare with those before."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from sitegen.model.kernel import Kernel
from sitegen.model.site import Site
from sitegen.render.shared.numbers import count

if TYPE_CHECKING:
    from sitegen.model.record import Record
    from sitegen.results.records import PastRun, Records

_SHOWN = ("faster", "slower", "repaired", "failed")
"""The verdicts that a day shows, in this order."""


@dataclass(frozen=True, slots=True)
class DayRun:
    """The runs of a kernel on a GPU on one day (UTC)."""

    kernel: str
    gpu: str
    runs: int
    times: int
    """The evaluations that were timed, over all runs of the day."""
    changes: tuple[tuple[str, int], ...]
    """Pairs (verdict, number of evaluations), each run against the run before it."""

    @property
    def figures(self) -> str:
        """The figures of the runs in words: `120 times in 2 runs, 4 faster, 1 slower`."""
        changes = [f"{number} {word}" for word, number in self.changes]
        return ", ".join([f"{count(self.times, 'time')} in {count(self.runs, 'run')}", *changes])


def runs_of_day(site: Site, records: Records, date: dt.date) -> tuple[DayRun, ...]:
    """Return what was measured on a day, by kernel and GPU."""
    histories = records.histories
    return tuple(
        _day_run(site, kernel, record, histories.get((kernel.name, record.gpu), ()), date.isoformat())
        for kernel in site.kernels
        for record in records.of_kernel(kernel.name).values()
        if any(run.date == date.isoformat() for run in histories.get((kernel.name, record.gpu), ()))
    )


def _day_run(site: Site, kernel: Kernel, record: Record, history: tuple[PastRun, ...], day: str) -> DayRun:
    runs = [run for run in history if run.date == day]
    verdicts = Counter(_verdicts(site, kernel, record, history, day))
    changes = tuple((word, verdicts[word]) for word in _SHOWN if verdicts[word])
    return DayRun(kernel.name, record.gpu, len(runs), sum(len(run.evaluations) for run in runs), changes)


def _verdicts(site: Site, kernel: Kernel, record: Record, history: tuple[PastRun, ...], day: str) -> Iterator[str]:
    from sitegen.results.compare import compare_records
    from sitegen.results.history import past_record

    for before, after in pairwise(history):
        if after.date == day:
            rows = compare_records(site, past_record(kernel, record, before), past_record(kernel, record, after))
            yield from (row.verdict.value for row in rows)
