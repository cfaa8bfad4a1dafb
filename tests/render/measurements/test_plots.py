"""Plots of the evaluations of a kernel, of a sweep in cells and panels, and of what two GPUs measured."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest
from selectolax.lexbor import LexborHTMLParser

from sitegen.model.record import Output, Record
from sitegen.render.inputs.evidence import Evidence
from sitegen.render.outputs.page_figures import figures_of_page
from sitegen.results.quantities import FRESH, Measured

POST = "posts/softmax/index.html"
OTHER = "nvidia-h100-80gb-hbm3"
LATENCIES = """{"columns": ["step", "bytes", "way", "latency", "low", "high"], "units": ["", "B", "", "ns", "ns", "ns"],
"rows": [["a", 1024, "near", 18.0, 17.0, 20.0], ["b", 4096, "near", 30.0, 28.0, 31.0], ["c", 1024, "far", 90.0, 80, 99],
["d", 4096, "far", 120.0, 119.0, 121.0]]}"""


def shown(make: SimpleNamespace, plot: str, *gpus: str) -> LexborHTMLParser:
    """Return the page of a post with one plot, of a site whose GPUs have records."""
    site = make.site()
    cell = "".join(f"```{{code-cell}} python\n#| label: {name}\n1\n```\n\n" for name in ("first-look", "never-run"))
    text = f"{cell}\n```{{plot}} {plot}\n```\n"
    posts = tuple(
        replace(one, body=replace(one.body, text=text)) if one.slug == "softmax" else one for one in site.posts
    )
    found = [named(make.record("softmax", gpu), gpu) for gpu in (make.gpu, *gpus)]
    records = replace(
        make.records(*found),
        cells={("softmax", "first-look", make.gpu): replace(make.cell, outputs=(Output("data", LATENCIES),))},
    )
    return LexborHTMLParser(str(make.rendered(replace(site, posts=posts), Evidence(records))[POST]))


def named(record: Record, gpu: str) -> Record:
    name = "NVIDIA H100 80GB HBM3" if gpu == OTHER else "NVIDIA H200"
    runs = tuple(replace(run, environment=replace(run.environment, gpu=name)) for run in record.runs)
    return replace(record, runs=runs)


def words(text: str) -> str:
    return " ".join(text.replace("\u00a0", " ").split())


def said(page: LexborHTMLParser) -> list[str]:
    return [words(node.text()) for node in page.css(".measured svg text")]


def test_without_a_record_the_page_says_what_is_missing(make: SimpleNamespace) -> None:
    page = shown(make, "copy\n:label: fig-copy")
    assert words(page.css_first("p.absent#fig-copy").text()).startswith("Figure 1. Not measured yet: copy.")


def test_bars_and_rows_have_the_order_in_which_the_author_names_them(make: SimpleNamespace) -> None:
    names = ["fused", "torch", "naive"]
    page = shown(make, f"softmax\n:x: implementation\n:workloads: 8192x8192\n:implementations: [{', '.join(names)}]")
    assert [word for word in said(page) if word in names] == names
    rows = [words(row.text()).partition(",")[0] for row in page.css(".measured table tbody th[scope=row]")]
    assert rows == names


def test_the_order_holds_where_the_first_workload_lacks_an_implementation(make: SimpleNamespace) -> None:
    site = make.site()
    text = "```{plot} softmax\n:x: implementation\n:curves: workload\n:implementations: [naive, fused]\n```\n"
    posts = tuple(
        replace(one, body=replace(one.body, text=text)) if one.slug == "softmax" else one for one in site.posts
    )
    record = make.record()
    kept = [one for one in record.evaluations if (one.name, one.workload) != ("naive", "8192x8192")]
    records = make.records(replace(record, evaluations=tuple(kept)))
    page = LexborHTMLParser(str(make.rendered(replace(site, posts=posts), Evidence(records))[POST]))
    assert [word for word in said(page) if word in ("naive", "fused")] == ["naive", "fused"]


def test_without_options_each_implementation_has_its_share_of_the_ceiling(make: SimpleNamespace) -> None:
    page = shown(make, "softmax\n:x: implementation\n:workloads: 8192x8192")
    assert {"torch", "naive", "fused", "ceiling", "share of the ceiling, %"} <= set(said(page))
    links = page.css(".measured svg a")
    assert {link.css_first("rect").attributes["class"] for link in links} == {"own", "base"}, "baselines are grey"
    for link in links:
        row = page.css_first(link.attributes["href"])
        assert words(link.css_first("title").text()).startswith(words(row.css_first("th").text()))


def test_a_figure_over_a_size_has_a_curve_of_each_implementation(make: SimpleNamespace) -> None:
    page = shown(make, "softmax\n:y: time\n:implementations: [torch, fused]\n:notes: {8192: the square one}")
    assert {"torch", "fused", "time, µs", "M", "the square one"} <= set(said(page))
    assert "naive" not in said(page)


def test_a_figure_with_a_name_and_a_formula_are_columns(make: SimpleNamespace) -> None:
    page = shown(make, "softmax\n:x: M * N\n:y: x torch\n:kind: scatter\n:dtypes: float32")
    assert {"M * N", "time of torch ÷ time, ×"} <= set(said(page))


def test_a_line_has_the_unit_of_the_axis_or_a_sentence_says_why_it_is_missing(make: SimpleNamespace) -> None:
    lines = ":lines: {the copy: ceiling copy, three: 3, a time: softmax/fused time}"
    page = shown(make, f"softmax\n:x: implementation\n:workloads: 8192x8192\n:y: bandwidth\n{lines}")
    assert {"the copy", "three"} <= set(said(page)) and "a time" not in said(page)
    assert "The line a time is not drawn: it was not measured in TB/s." in words(page.body.text())


def test_a_heat_map_has_its_values_in_cells_and_darker_cells_for_larger_ones(make: SimpleNamespace) -> None:
    page = shown(make, "softmax\n:kind: heat\n:x: workload\n:y: implementation\n:value: of-ceiling")
    cells = {
        words(one.css_first("title").text()): one.css_first("rect").attributes for one in page.css(".measured svg a")
    }
    shades = {
        float(name.rpartition(": ")[2].removesuffix(" %")): float(one["fill-opacity"]) for name, one in cells.items()
    }
    assert len(shades) > 2 and [shade for _, shade in sorted(shades.items())] == sorted(shades.values())
    assert {"naive", "fused"} <= set(said(page))


def test_panels_have_the_same_axes(make: SimpleNamespace) -> None:
    page = shown(make, "softmax\n:panels: dtype\n:x: N\n:y: time\n:dtypes: [float32, bfloat16]")
    charts = page.css(".panels svg")
    grids = [chart.css_first("path.grid").attributes["d"] for chart in charts]
    assert len(charts) >= 1 and len(set(grids)) == 1
    assert len({one.attributes["id"] for one in page.css("[id]")}) == len(page.css("[id]"))


def test_each_gpu_has_a_tab_or_all_have_one_chart(make: SimpleNamespace) -> None:
    plot = "softmax\n:x: implementation\n:workloads: 8192x8192"
    apart = shown(make, plot, OTHER)
    assert [words(label.text()) for label in apart.css(".gpus label")] == ["NVIDIA H200", "NVIDIA H100 80GB HBM3"]
    together = shown(make, f"{plot}\n:gpus: together", OTHER)
    assert together.css(".gpus") == [] and len(together.css(".measured svg")) == 1
    assert {"H200", "H100", "ceiling"} <= set(said(together)), "100 % of the ceiling is the same on both"
    heads = [words(head.text()) for head in together.css(".measured .grp")]
    assert heads == ["NVIDIA H200", "NVIDIA H100 80GB HBM3"]


def test_a_table_of_a_cell_has_curves_by_a_column_and_whiskers_from_two(make: SimpleNamespace) -> None:
    page = shown(make, "#first-look\n:x: bytes\n:y: latency\n:curves: way\n:ends: [low, high]")
    assert {"near", "far", "latency, ns", "bytes, B"} <= set(said(page))
    assert len(page.css(".measured svg g path.ownline")) + len(page.css(".measured svg g path.level")) == 4
    assert page.css_first(".measured details.numbers table") is not None


@pytest.mark.parametrize("plot", ["#never-run\n:x: a\n:y: b", "#first-look\n:x: bytes\n:y: nothing"])
def test_a_cell_without_that_table_is_not_measured_yet(make: SimpleNamespace, plot: str) -> None:
    assert "Not measured yet: the cell" in words(shown(make, plot).body.text())


def test_every_number_of_a_plot_has_its_record(make: SimpleNamespace) -> None:
    page = shown(make, "softmax\n:x: implementation\n:workloads: 8192x8192\n:gpus: together", OTHER)
    figures = figures_of_page(page.html or "")
    assert {one.record for one in figures if "TB/s" in one.words or "ceiling" in one.words} <= {
        "softmax",
        f"softmax {make.gpu}",
    }


def test_the_gpu_of_a_reader_has_a_tab_of_its_own_and_no_figure_within_sentences(make: SimpleNamespace) -> None:
    plot = "softmax\n:x: implementation\n:workloads: 8192x8192"
    page = shown(make, plot, f"{make.gpu}-yours")
    assert [words(label.text()) for label in page.css(".gpus label")] == ["NVIDIA H200", "NVIDIA H200 (yours)"]
    together = shown(make, f"{plot}\n:gpus: together", f"{make.gpu}-yours")
    assert {"H200", "yours"} <= set(said(together))
    records = make.records(make.record("softmax", make.gpu), make.record("softmax", f"{make.gpu}-yours"))
    measured = Measured({}, records, lambda *_: FRESH)
    assert measured.gpu_ids((), "softmax") == (make.gpu,), "a claim about all GPUs is about the published ones"
