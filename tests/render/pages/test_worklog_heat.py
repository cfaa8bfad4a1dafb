"""The heat maps of a worklog count words, tasks and kernels over the same days, which begin with the first entry."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from types import SimpleNamespace

from selectolax.lexbor import LexborHTMLParser

from sitegen.model.site import TaskState
from sitegen.render.pages.worklog_heat import heat_maps

FIRST, LAST = dt.date(2026, 11, 2), dt.date(2026, 11, 24)


def sources(*, done: int, kernels: tuple[str, ...]) -> SimpleNamespace:
    """A worklog of two days with that many tasks done on the last, and runs of kernels on that day and before all."""
    tasks = tuple(SimpleNamespace(state=TaskState.DONE) for _ in range(done))
    entries = (
        SimpleNamespace(date=LAST, tasks=(*tasks, SimpleNamespace(state=TaskState.OPEN))),
        SimpleNamespace(date=FIRST, tasks=()),
    )
    runs = (SimpleNamespace(date="2026-10-01"), SimpleNamespace(date="2026-11-24"))
    records = SimpleNamespace(histories={(kernel, gpu): runs for kernel in kernels for gpu in ("h100", "h200")})
    return SimpleNamespace(
        site=SimpleNamespace(worklog=entries, kernels=kernels),
        words_by_day={LAST: 400, FIRST: 10},
        as_of=LAST,
        evidence=SimpleNamespace(records=records),
    )


def shown(given: SimpleNamespace) -> dict[str, tuple[str, int, str]]:
    """Return of each map its words for a screen reader, its number of squares, and the size of the last."""
    found: dict[str, tuple[str, int, str]] = {}
    for one in heat_maps(given, FIRST, LAST):  # type: ignore[arg-type]
        svg = LexborHTMLParser(str(one.squares)).css_first("svg")
        squares = svg.css("rect") if svg else []
        label = svg.attributes["aria-label"] if svg else ""
        found[one.title] = (str(label).split(".")[0], len(squares), str(squares[-1].attributes["width"]))
    return found


def test_words_tasks_and_kernels_have_a_map_each_of_the_same_days() -> None:
    assert shown(sources(done=2, kernels=("softmax", "sum", "scan", "copy"))) == {
        "Words": ("Days written in the last 4\u00a0weeks: 2 of 23", 23, "12"),
        "Tasks done": ("Days with tasks done in the last 4\u00a0weeks: 1 of 23", 23, "6.5"),
        "Kernels run": ("Days with kernels run in the last 4\u00a0weeks: 1 of 23", 23, "9"),
    }


def test_a_map_without_a_square_is_left_out() -> None:
    assert list(shown(sources(done=0, kernels=()))) == ["Words"]


def test_a_map_whose_squares_are_older_than_its_weeks_is_left_out() -> None:
    given = sources(done=0, kernels=("sum",))
    given.evidence.records.histories = {("sum", "h200"): (SimpleNamespace(date="2025-01-07"),)}
    assert [one.title for one in heat_maps(given, dt.date(2025, 1, 6), LAST)] == ["Words"]


def test_the_list_and_the_year_have_the_maps_and_a_month_has_none(make: SimpleNamespace) -> None:
    pages: Mapping[str, str | bytes] = make.rendered()
    maps = {
        path: [one.text(strip=True) for one in LexborHTMLParser(str(pages[f"worklog/{path}"])).css(".maps p")]
        for path in ("index.html", "2026/index.html", "2026-11/index.html")
    }
    assert maps == {
        "index.html": ["Words", "Tasks done"],
        "2026/index.html": ["Words", "Tasks done"],
        "2026-11/index.html": [],
    }
