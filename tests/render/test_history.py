"""The History band of a kernel's page: its rows, its sparkline, and what stands there when little is known."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from selectolax.lexbor import LexborHTMLParser as Html

from sitegen.render.evidence import Evidence
from sitegen.render.history import history, sparkline
from sitegen.results.history import history_line, parse_history
from sitegen.results.noise import AA_NOISE

PAGE = "kernels/softmax/index.html"


def past_runs(make, *days: tuple[str, float], **environment):
    """A run on each day of November, in which everything of ours took that many times its usual time."""
    record = make.record()
    lines = []
    for day, factor in days:
        run = replace(record.runs[0], id=f"2026-11-{day}T06:10:05Z", date=f"2026-11-{day}")
        run = replace(run, environment=replace(run.environment, **(environment if day == days[-1][0] else {})))
        slower = [replace(slowed(e, factor) if e.performance else e, run=run.id) for e in record.evaluations]
        lines.append(history_line(replace(record, runs=(run,), evaluations=tuple(slower)), run))
    runs, mistakes = parse_history("".join(lines), "h.jsonl")
    assert not mistakes
    return runs


def slowed(one, factor: float):
    if one.role != "implementation":
        return one
    timed = one.performance
    times = {name: getattr(timed, name) * factor for name in ("median_us", "low_us", "high_us")}
    ratios = [replace(r, value=r.value / factor, low=r.low / factor, high=r.high / factor) for r in timed.ratios]
    ratios = tuple(replace(r, by_process=(r.value, r.value)) for r in ratios)
    return replace(one, performance=replace(timed, **times, ratios=ratios, by_process_us=(times["median_us"],) * 2))


def band(make, runs) -> Html:
    """The section of the page, of a site with that history."""
    records = replace(make.records(make.record()), histories={("softmax", make.gpu): runs})
    page = str(make.rendered(evidence=Evidence(records))[PAGE])
    sections = [s for s in Html(page).css("section.band") if s.css_first("h2").text() == "History"]
    return sections[0] if sections else None


def cells(section) -> list[list[str]]:
    return [[cell.text().strip() for cell in row.css("th, td")] for row in section.css("tbody tr")]


def test_a_kernel_without_history_has_no_band(make):
    assert band(make, ()) is None


def test_a_workload_that_no_kept_run_timed_has_no_band(make):
    (past,) = past_runs(make, ("21", 1.0))
    assert band(make, (replace(past, evaluations={}),)) is None


def test_one_run_is_the_first_and_has_no_sparkline(make):
    section = band(make, past_runs(make, ("21", 1.0)))
    assert section.css_first("svg") is None
    (row,) = cells(section)
    assert row[:3] == ["2026-11-21", "1a2b3c4", "2.12"] and row[4:] == ["first", ""]
    assert float(row[3]) > 90


def test_runs_stand_newest_first_each_with_its_verdict_and_why(make):
    section = band(make, past_runs(make, ("12", 1.1), ("19", 1.0), ("21", 1.001), triton="3.6.1"))
    rows = cells(section)
    assert [(row[0], row[4]) for row in rows] == [
        ("2026-11-21", "same"),
        ("2026-11-19", "faster"),
        ("2026-11-12", "first"),
    ]
    assert rows[0][5].startswith("Triton 3.6.0 → 3.6.1; torch / t -0.1%")
    assert "+10.0%" in rows[1][5]


def test_the_sparkline_says_what_it_shows_and_has_no_style(make):
    svg = band(make, past_runs(make, ("12", 1.1), ("21", 1.0))).css_first("svg")
    assert svg.attributes["role"] == "img" and svg.css_first("title").text().startswith("softmax/fused at 8192")
    assert "2 runs from 2026-11-12 to 2026-11-21: 1.928, 2.121" in svg.css_first("desc").text()
    assert "style" not in svg.html and len(svg.css("circle")) == 2


@pytest.mark.parametrize("values", [(2.0, 2.0), (1e-3, 1e3), (1.0, 1.0001, 0.9999)])
def test_every_point_and_the_band_stay_inside_of_the_sparkline(values):
    svg = str(sparkline("t", [(f"2026-11-{n:02}", value) for n, value in enumerate(values, 1)]))
    heights = [float(y) for y in re.findall(r'\b(?:y|cy)="([^"]+)"', svg)]
    assert all(0 <= y <= 96 for y in heights)
    assert "nan" not in svg and "inf" not in svg


def test_the_band_is_the_noise_around_the_newest():
    """With equal runs the axis is the band: it fills the height of the field and the points stand in its middle."""
    svg = str(sparkline("t", [("2026-11-01", 2.0), ("2026-11-02", 2.0)]))
    top, height = (float(v) for v in re.search(r'class="nil"[^>]* y="([\d.]+)"[^>]*height="([\d.]+)"', svg).groups())
    assert {float(y) for y in re.findall(r'cy="([\d.]+)"', svg)} == {top + height / 2}
    assert f"±{2 * AA_NOISE:.2%}" in svg


def test_nothing_of_ours_is_no_history(make):
    assert history(make.kernel(), make.record(), past_runs(make, ("21", 1.0)), None) is None
