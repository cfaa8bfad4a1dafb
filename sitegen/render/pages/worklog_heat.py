"""Draw the heat maps of a worklog: the words, the tasks done and the kernels run of each day."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass

from markupsafe import Markup

from sitegen.model.site import TaskState
from sitegen.render.figures.inline_charts import first_monday, heat, level, level_of_count
from sitegen.render.inputs.sources import Sources


@dataclass(frozen=True, slots=True)
class HeatMap:
    title: str
    """What a square counts: `Tasks done`."""
    squares: Markup


def word_squares(sources: Sources) -> Markup:
    """Return the squares of the words of the last half year alone."""
    return heat(_levels_of_words(sources), sources.as_of)


def heat_maps(
    sources: Sources, first: dt.date, last: dt.date, weeks: int = 26, period: str = ""
) -> tuple[HeatMap, ...]:
    """Return a map of the words, one of the tasks and one of the kernels of the weeks from `first` to `last`.

    They have the same days, so that they can be compared.  A map without a square is left out.
    """
    found = (
        ("Words", "Days written", _levels_of_words(sources)),
        ("Tasks done", "Days with tasks done", _levels_of_tasks(sources)),
        ("Kernels run", "Days with kernels run", _levels_of_kernels(sources)),
    )
    today, since = sources.as_of, first_monday(first, last, weeks)
    return tuple(
        HeatMap(title, heat(levels, last, weeks, first=first, today=today, what=what, period=period))
        for title, what, levels in found
        if any(since <= day <= last and amount for day, amount in levels.items())
    )


def _levels_of_words(sources: Sources) -> Mapping[dt.date, int]:
    return {day: level(words) for day, words in sources.words_by_day.items()}


def _levels_of_tasks(sources: Sources) -> Mapping[dt.date, int]:
    done = {entry.date: sum(task.state is TaskState.DONE for task in entry.tasks) for entry in sources.site.worklog}
    return {day: level_of_count(number) for day, number in done.items() if number}


def _levels_of_kernels(sources: Sources) -> Mapping[dt.date, int]:
    """Return the level of each day (UTC) with a run, by the number of kernels that were run."""
    if not sources.site.kernels:  # the page of a site without kernels depends on no record
        return {}
    kernels: dict[dt.date, set[str]] = {}
    for (kernel, _), runs in sources.evidence.records.histories.items():
        for run in runs:
            kernels.setdefault(dt.date.fromisoformat(run.date), set()).add(kernel)
    return {day: level_of_count(len(of_day)) for day, of_day in kernels.items()}
