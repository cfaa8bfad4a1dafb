"""The History band of a kernel's page, and the page of all runs.

The band shows the course of each workload and what changed.  With few runs it says what is missing.
"""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from selectolax.lexbor import LexborHTMLParser as Html

from sitegen.markup.parse import parse_document
from sitegen.model.site import Markdown
from sitegen.render.inputs.evidence import Evidence
from sitegen.render.inputs.rows import groups
from sitegen.render.measurements.history import history, sparkline
from sitegen.results.history import history_line, parse_history
from sitegen.results.noise import AA_NOISE

PAGE = "kernels/softmax/index.html"
CHANGES = "kernels/softmax/nvidia-h200-changes/index.html"
MARKDOWN = "kernels/softmax/nvidia-h200.changes.md.txt"


def past_runs(make, *days: tuple[str, float], **environment):
    """Return a run on each day of November, in which all of our times were multiplied by that factor."""
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


def pages(make, runs) -> dict[str, str]:
    """Return the pages of a site with that history."""
    records = replace(make.records(make.record()), histories={("softmax", make.gpu): runs})
    return make.rendered(evidence=Evidence(records))


def band(make, runs) -> Html:
    """Return the section of the kernel's page."""
    sections = Html(str(pages(make, runs)[PAGE])).css("section.band")
    return next((section for section in sections if section.css_first("h2").text() == "History"), None)


def cells(table) -> list[list[str]]:
    return [[" ".join(cell.text().split()) for cell in row.css("th, td")] for row in table.css("tbody tr")]


def courses(section) -> list[list[str]]:
    return cells(section.css("table")[0])


def changed(section) -> list[list[str]]:
    return cells(section.css("table")[1])


def test_a_kernel_without_history_has_no_band(make):
    assert band(make, ()) is None


def test_a_workload_that_no_kept_run_timed_has_no_band(make):
    (past,) = past_runs(make, ("21", 1.0))
    assert band(make, (replace(past, evaluations={}),)) is None


def test_one_run_is_the_first_and_its_course_is_a_point_in_its_band(make):
    section = band(make, past_runs(make, ("21", 1.0)))
    (row,) = changed(section)
    assert row[:3] == ["2026-11-21", "1a2b3c4", "2.12"] and row[4:] == ["first", "", ""]
    assert float(row[3]) > 90
    svg = section.css_first("svg.spark")
    assert len(svg.css("circle")) == len(svg.css("rect")) == 1
    assert section.css_first("a[href$='changes/']") is None


def test_every_workload_has_its_course_with_its_own_noise_the_headline_first(make):
    rows = courses(band(make, past_runs(make, ("19", 1.0), ("21", 1.0))))
    assert [row[0] for row in rows] == [
        f"{shape} {dtype}" for shape in ("8192 × 8192", "2048 × 65536") for dtype in ("float32", "bfloat16")
    ]
    assert {row[1] for row in rows} == {"fused"}
    assert {row[6] for row in rows} == {"same"}


def test_the_noise_beside_a_course_is_that_of_its_own_workload(make):
    (past,) = past_runs(make, ("21", 1.0))
    drift = {
        title: replace(time, by_process_us=(time.median_us, time.median_us * (1 + n / 100)))
        for n, (title, time) in enumerate(past.evaluations.items())
        if "8192x8192:float32" in title
    }
    noise = [row[5] for row in courses(band(make, (replace(past, evaluations={**past.evaluations, **drift}),)))]
    assert float(noise[0].split()[0]) > float(noise[1].split()[0])


def test_runs_stand_newest_first_each_with_its_verdict_and_why(make):
    rows = changed(band(make, past_runs(make, ("12", 1.1), ("19", 1.0), ("21", 1.001), triton="3.6.1")))
    assert [(row[0], row[4], row[5]) for row in rows[:2]] == [
        ("2026-11-21", "same", "3 same"),
        ("2026-11-19", "faster", "3 faster"),
    ]
    assert rows[0][6].startswith("Triton 3.6.0 → 3.6.1; torch / t -0.1%")
    assert "+10.0%" in rows[1][6]


def test_quiet_runs_are_left_to_the_page_of_all_runs(make):
    days = [(f"{day:02}", 1.0) for day in range(1, 22)]
    made = pages(make, past_runs(make, *days))
    assert len(changed(next(s for s in Html(made[PAGE]).css("section.band") if s.css("svg.spark")))) == 1
    assert len(cells(Html(made[CHANGES]).css("table")[1])) == 21


def test_a_line_of_21_runs_has_a_point_for_each_and_a_dot_for_the_newest(make):
    days = ((f"{day:02}", 1.0 + day % 3 * 0.01) for day in range(1, 22))
    svg = band(make, past_runs(make, *days)).css_first("svg.spark")
    assert len(re.findall("[ML]", svg.css_first("path").attributes["d"])) == 21
    assert len(svg.css("circle")) == 1


def test_the_sparkline_says_what_it_shows_and_has_no_style(make):
    svg = band(make, past_runs(make, ("12", 1.1), ("21", 1.0))).css_first("svg.spark")
    assert svg.attributes["role"] == "img" and svg.css_first("title").text().startswith("fused at 8192")
    assert "2\u00a0runs from 2026-11-12 to 2026-11-21: 1.928, 2.121" in svg.css_first("desc").text()
    assert "style" not in svg.html


@pytest.mark.parametrize("values", [(2.0,), (2.0, 2.0), (1e-3, 1e3), (1.0, 1.0001, 0.9999), (5.0,) * 21])
def test_every_point_and_the_band_stay_inside_of_the_sparkline_and_the_band_is_seen(values):
    svg = str(sparkline("t", [(f"2026-11-{n:02}", value) for n, value in enumerate(values, 1)], AA_NOISE))
    heights = [float(y) for y in re.findall(r'\b(?:y|cy)="([^"]+)"', svg)]
    heights += [float(y) for y in re.findall(r"[ML][\d.]+ ([\d.]+)", svg)]
    assert all(0 <= y <= 40 for y in heights)
    assert "nan" not in svg and "inf" not in svg
    assert float(re.search(r'class="nil"[^>]*height="([\d.]+)"', svg)[1]) >= 4


def test_the_band_is_the_noise_around_the_newest():
    """Equal runs lie in the middle of the band, which takes a third of the field, so that outliers are visible."""
    svg = str(sparkline("t", [("2026-11-01", 2.0), ("2026-11-02", 2.0)], 0.01))
    top, height = (float(v) for v in re.search(r'class="nil"[^>]* y="([\d.]+)"[^>]*height="([\d.]+)"', svg).groups())
    assert float(re.search(r'cy="([\d.]+)"', svg)[1]) == pytest.approx(top + height / 2, abs=0.1)
    assert height == pytest.approx(28 / 3, abs=0.5)
    assert "±2.00%" in svg


def test_a_workload_with_more_noise_has_a_wider_band():
    ratios = [("2026-11-01", 2.0), ("2026-11-02", 3.0)]
    quiet, loud = (str(sparkline("t", ratios, noise)) for noise in (0.005, 0.02))
    heights = [float(re.search(r'class="nil"[^>]*height="([\d.]+)"', svg)[1]) for svg in (quiet, loud)]
    assert heights[0] < heights[1]


def test_nothing_of_ours_is_no_history(make):
    record = make.record()
    bare = replace(record, evaluations=tuple(e for e in record.evaluations if e.role != "implementation"))
    shown = groups(make.kernel(), bare, Evidence())
    assert history(make.kernel(), bare, past_runs(make, ("21", 1.0)), shown, shown[0]) is None


def test_the_newest_run_against_the_one_before_is_a_page_what_moved_first(make):
    runs = past_runs(make, ("19", 1.0), ("21", 1.0))
    slower = {
        title: replace(time, ratios={"torch": time.ratios["torch"] * 0.9}, intervals={}) if "naive" in title else time
        for title, time in runs[1].evaluations.items()
    }
    rows = cells(Html(pages(make, (runs[0], replace(runs[1], evaluations=slower)))[CHANGES]).css("table")[0])
    assert [row[1] for row in rows] == ["ambiguous"] * 4 + ["same"] * 7
    assert all(row[0].startswith("softmax/naive@") for row in rows[:4])
    assert "→" in rows[0][2] and "-10.0%" in rows[0][3]


def test_the_comparison_as_markdown_makes_a_table_wherever_it_is_pasted(make):
    markdown = pages(make, past_runs(make, ("19", 1.0), ("21", 1.0)))[MARKDOWN]
    document, mistakes = parse_document(Markdown(markdown, "content/pages/report.md", 1), numbered=False)
    assert not mistakes
    table = Html(document.html).css_first("table")
    assert [cell.text() for cell in table.css("thead th")] == ["evaluation", "verdict", "before → after", "why"]
    assert len(table.css("tbody tr")) == sum(line.startswith("| `") for line in markdown.splitlines()) == 11
    assert table.css_first("tbody code").text() == "softmax/fused@2048x65536:bfloat16"
