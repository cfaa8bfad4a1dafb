"""Pages of a site whose kernels two GPUs measured."""

from __future__ import annotations

import re
from dataclasses import replace
from types import SimpleNamespace

import pytest
from selectolax.lexbor import LexborHTMLParser as Html

from sitegen.model.record import Record
from sitegen.model.site import Ref
from sitegen.render.inputs.evidence import Evidence
from sitegen.render.measurements.gpus import short_name
from sitegen.render.measurements.provenance import provenance

OTHER, NAMES, SHORT = "nvidia-h100", ["NVIDIA H200", "NVIDIA H100"], ["H200", "H100"]


def on_other(record: Record, workloads: tuple[str, ...] = ()) -> Record:
    """Return the record as if an H100 had made it, with the evaluations of the named workloads; without names, all."""
    run = record.runs[0]
    run = replace(run, environment=replace(run.environment, gpu=NAMES[1]))
    kept = tuple(one for one in record.evaluations if not workloads or one.workload in workloads)
    return replace(record, gpu=OTHER, runs=(run,), evaluations=kept)


@pytest.fixture(scope="module")
def two(make: SimpleNamespace) -> dict[str, Html]:
    record = make.record()
    pages = make.rendered(
        evidence=Evidence(make.records(record, on_other(record, ("2048x65536",)), make.record("copy")))
    )
    return {path: Html(str(text)) for path, text in pages.items() if path.endswith(".html")}


@pytest.mark.parametrize(
    ("gpu", "name"),
    [
        ("NVIDIA GeForce RTX 4090", "GeForce RTX 4090"),
        ("NVIDIA GeForce RTX 3090", "GeForce RTX 3090"),
        ("NVIDIA RTX A6000", "RTX A6000"),
        ("Tesla V100-SXM2-16GB", "Tesla V100-SXM2-16GB"),
        ("NVIDIA H100 80GB HBM3", "H100"),
        ("NVIDIA H200 (yours)", "yours"),
        ("Simulator", "Simulator"),
    ],
)
def test_a_short_name_tells_one_model_from_another(gpu: str, name: str) -> None:
    assert short_name(gpu) == name


def test_a_post_shows_what_one_gpu_measured_and_the_other_behind_a_tab(two: dict[str, Html]) -> None:
    sets = two["posts/softmax/index.html"].css(".tabs.gpus")
    assert [[tab.text() for tab in one.css("label")] for one in sets] == [NAMES, NAMES]
    for one in sets:
        assert [tab.attributes["value"] for tab in one.css("input")] == ["nvidia-h200", OTHER]
        assert ["checked" in tab.attributes for tab in one.css("input")] == [True, False]


def test_numbers_of_tables_and_figures_are_told_apart_by_their_gpu(two: dict[str, Html]) -> None:
    page = two["posts/softmax/index.html"]
    labels = [b.text() for b in page.css(".gpus caption b, .gpus figcaption b") if b.text() != ""]
    assert labels == [f"{what} 1, {gpu}." for what in ("Table", "Figure") for gpu in NAMES]
    ids = [node.attributes["id"] for node in page.css("[id]")]
    assert len(ids) == len(set(ids))


def test_a_workload_that_a_gpu_has_not_measured_is_told_instead_of_a_gap(make: SimpleNamespace) -> None:
    record, text = make.record(), make.site()
    wanted = "```{benchmark} softmax\n:workloads: 8192x8192\n:label: results\n```"
    posts = tuple(
        replace(
            p, body=replace(p.body, text=p.body.text.replace("```{benchmark} softmax\n:label: results\n```", wanted))
        )
        for p in text.posts
    )
    evidence = Evidence(make.records(record, on_other(record, ("2048x65536",)), make.record("copy")))
    page = Html(str(make.rendered(replace(text, posts=posts), evidence)["posts/softmax/index.html"]))
    panel = page.css_first(".tabs.gpus").css(".panel")[1]
    assert panel.text().strip() == "Not measured on NVIDIA H100."


def test_goals_and_ceilings_of_a_kernel_name_their_gpu(two: dict[str, Html]) -> None:
    page = two["kernels/softmax/index.html"]
    outcomes = [state.text() for state in page.css(".goals .state")]
    assert outcomes[0].startswith("met on H200: ")
    assert outcomes[1] == "not measured on H100"
    names = [name.text() for name in page.css_first(".plate").css("dt")]
    assert [f"binding ceiling, {gpu}" for gpu in SHORT] == [name for name in names if name.startswith("binding")]


def test_wrong_variants_count_as_caught_where_only_the_second_gpu_ran_them(make: SimpleNamespace) -> None:
    record = make.record()
    assert any(one.status == one.expected for one in record.rejections)
    records = make.records(replace(record, rejections=()), on_other(record), make.record("copy"))
    page = Html(str(make.rendered(evidence=Evidence(records))["kernels/softmax/index.html"]))
    facts = {fact.css_first("dt").text(): fact.css_first("dd").text() for fact in page.css(".plate > div")}
    assert int(facts["wrong/ caught"].split()[0]) == sum(one.status == one.expected for one in record.rejections)


def test_a_series_names_the_gpu_of_the_best_of_each_kernel(make: SimpleNamespace) -> None:
    site, record, copy = make.site(), make.record(), make.record("copy")
    (softmax,) = (post for post in site.posts if post.slug == "softmax")
    span = site.series[0].span
    both = replace(softmax, kernels=(Ref("softmax", span), Ref("copy", span)))
    site = replace(site, posts=tuple(both if post is softmax else post for post in site.posts))

    def best(*records: Record) -> list[str]:
        series = make.rendered(site, Evidence(make.records(*records)))["series/gpu-systems/index.html"]
        return [" ".join(one.text().split()) for one in Html(str(series)).css("#post-softmax .of span")]

    assert [re.sub(r"[\d.]+.%", "%", line) for line in best(record, on_other(record), copy)] == [
        "best of ceiling, H200: softmax %, copy %"
    ]
    assert [re.sub(r"[\d.]+.%", "%", line) for line in best(on_other(record), copy)] == [
        "best of ceiling, H100: softmax %",
        "best of ceiling, H200: copy %",
    ]


def test_a_kernel_that_one_gpu_measured_names_it_in_no_caption(two: dict[str, Html]) -> None:
    page = two["kernels/copy/index.html"]
    assert not page.css(".gpus")
    assert not [b for b in page.css("caption b, figcaption b") if "NVIDIA" in b.text()]


def test_a_kernel_s_page_compares_implementations_over_gpus_before_anything_else(two: dict[str, Html]) -> None:
    page = two["kernels/softmax/index.html"]
    first = page.css_first("section.band")
    assert first.css_first("h2").text() == "GPU by GPU"
    assert all(page.css_first(str(link.attributes["href"])) is not None for link in first.css("header a"))
    assert [f"{gpu}, % of ceiling" for gpu in SHORT] == [h.text() for h in first.css("thead th") if "%" in h.text()]
    fused = [cell.text() for cell in first.css_first("#gpus-0-fused").css("td")]
    assert fused[3:] == ["not measured", "", ""]
    assert float(fused[0]) > 90
    assert two["kernels/copy/index.html"].css_first("#gpus") is None


def test_charts_of_two_gpus_have_the_same_axes(make: SimpleNamespace) -> None:
    record = make.record()
    slower = on_other(record)
    halved = tuple(replace(c, rate=c.rate / 8) for c in slower.runs[0].ceilings)
    slower = replace(slower, runs=(replace(slower.runs[0], ceilings=halved),))
    pages = make.rendered(evidence=Evidence(make.records(record, slower, make.record("copy"))))
    for path in ("posts/softmax/index.html", "index.html", "kernels/softmax/index.html"):
        charts = Html(str(pages[path])).css("svg.chart[aria-labelledby]")
        drawn = [chart for chart in charts if "Roofline" in chart.text()]
        assert len(drawn) >= 2
        axes = {tuple(t.text() for t in one.css("text.e, text.mid") if t.text()[:1].isdigit()) for one in drawn}
        assert len(axes) == 1


def test_home_and_the_index_show_each_gpu(two: dict[str, Html]) -> None:
    for path in ("index.html", "kernels/index.html"):
        page = two[path]
        boards = page.css(".tabs.gpus:has(.board)")
        assert [[label.text() for label in one.css("label")] for one in boards] == [NAMES]
        assert "not measured on NVIDIA H100" in page.css(".board")[1].text()
    shares = [cell.text() for cell in two["kernels/index.html"].css_first("#best-copy").css("td")]
    assert float(shares[0]) > 0
    assert shares[3:] == ["not measured", "", ""]


def test_headings_of_two_gpus_differ(two: dict[str, Html]) -> None:
    headings = [h.text() for h in two["kernels/softmax/index.html"].css("h2")]
    assert len(headings) == len(set(headings))
    assert {"Workloads on NVIDIA H200", "Workloads on NVIDIA H100"} <= set(headings)


def test_predictions_on_two_gpus_have_a_heading_each(make: SimpleNamespace) -> None:
    record = make.record()
    record = replace(
        record,
        evaluations=tuple(replace(one, predicts="95 %", predicted_of_ceiling=0.95) for one in record.evaluations),
    )
    page = Html(str(make.rendered(evidence=Evidence(make.records(record, on_other(record))))["predictions/index.html"]))
    assert [h.text() for h in page.css("h2")] == [f"softmax on {gpu}" for gpu in NAMES]


def test_a_clock_above_the_highest_that_the_driver_states_is_not_said_to_be_a_part_of_it(make: SimpleNamespace) -> None:
    run = make.record().runs[0]
    assert "SM clock 1.90 of 1.98\u00a0GHz" in provenance(run, sm_clock_mhz=1900.0).facts
    assert "SM clock 1.99\u00a0GHz" in provenance(run, sm_clock_mhz=1989.0).facts
