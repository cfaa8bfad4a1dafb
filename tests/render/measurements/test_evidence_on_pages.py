"""The words of pages about measurements: fresh, stale, failed, missing."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from selectolax.lexbor import LexborHTMLParser, LexborNode

from sitegen.model.kernel import Status
from sitegen.model.record import CellRecord, Evaluation, Output, Record
from sitegen.render.inputs.evidence import Evidence
from sitegen.render.measurements.cells import image_url
from sitegen.results.freshness import Freshness, FreshnessState

Pages = dict[str, str | bytes]
POST, KERNEL = "posts/softmax/index.html", "kernels/softmax/index.html"
STALE = Freshness(FreshnessState.STALE, ("fused.py changed",))


def page(pages: Pages, path: str) -> LexborHTMLParser:
    return LexborHTMLParser(str(pages[path]))


def words(node: LexborNode | None) -> str:
    assert node is not None
    return " ".join(node.text(separator=" ").replace("\u00a0", " ").split())


def row(parsed: LexborHTMLParser, name: str, body: int = 0) -> LexborNode:
    rows = parsed.css("table.data")[0].css("tbody")[body].css("tr")
    return next(r for r in rows if words(r.css_first("th")).startswith(name))


def with_evaluation(record: Record, changed: Evaluation) -> Record:
    """Return the record with one evaluation replaced: the one of the same name, workload and dtype."""
    kept = [
        e
        for e in record.evaluations
        if (e.name, e.workload, e.dtype) != (changed.name, changed.workload, changed.dtype)
    ]
    return replace(record, evaluations=(*kept, changed))


def test_a_table_shows_the_probe_first_then_baselines_then_ours(pages: Pages) -> None:
    rows = page(pages, POST).css("table.data")[0].css("tbody")[0].css("tr[id] th")
    assert [words(r) for r in rows] == ["copy of the same bytes", "torch", "torch.compile", "naive", "online", "fused"]


def test_a_table_shows_only_the_rows_that_the_author_names(make: SimpleNamespace) -> None:
    def shown(names: str) -> LexborNode:
        site = make.site()
        text = f"```{{benchmark}} softmax\n:workloads: 8192x8192\n:implementations: {names}\n```\n"
        posts = tuple(replace(p, body=replace(p.body, text=text)) if p.slug == "softmax" else p for p in site.posts)
        found = page(make.rendered(replace(site, posts=posts), Evidence(make.records(make.record()))), POST)
        return found.css_first("article")

    names = [words(cell) for cell in shown("[fused, torch]").css("table.data")[0].css("tr[id] th")]
    assert names == ["torch", "fused"] * 2
    names = [words(cell) for cell in shown("[naive, copy]").css("table.data")[0].css("tr[id] th")]
    assert names == ["copy of the same bytes", "naive"] * 2
    assert words(shown("[read]").css_first("p.absent")) == "Table 1. Not measured yet: softmax read."


def test_decimals_are_equal_down_a_column_and_only_the_best_of_ours_is_bold(pages: Pages) -> None:
    body = page(pages, POST).css("table.data")[0].css("tbody")[0]
    times = [words(r.css("td")[4]) for r in body.css("tr[id]")]
    assert times == ["126.0", "280.0", "150.0", "330.0", "210.0", "132.0"]
    assert [words(r.css_first("th")) for r in body.css("tr.own")] == ["fused"]


def test_a_share_of_the_ceiling_is_computed_from_the_formulas_and_the_run(pages: Pages) -> None:
    cells = [words(cell) for cell in row(page(pages, POST), "fused").css("td")]
    bytes_moved, ceiling = 2 * 8192 * 8192 * 4, 4.3e12
    assert cells[6] == f"{bytes_moved / 132e-6 / 1e12:.2f}"
    assert cells[0] == f"{bytes_moved / ceiling / 132e-6 * 100:.1f}"


def test_a_stale_evaluation_is_marked_in_table_chart_and_head_and_says_why(make: SimpleNamespace) -> None:
    stale = {(make.gpu, "softmax/fused@8192x8192:float32"): STALE}
    pages = make.rendered(evidence=Evidence(make.records(make.record()), stale))
    parsed = page(pages, POST)
    marked = row(parsed, "fused")
    assert "stale: fused.py changed" in words(marked)
    assert marked.css_first("svg.bar line.old") is not None
    assert parsed.css_first("svg.chart circle.stalept") is not None
    assert "1 of 12 results stale" in words(parsed.css_first("header.titles"))
    assert "fused: measured 2026-11-21, fused.py changed" in words(page(pages, KERNEL).css_first(".legend"))
    assert words(page(pages, "index.html").css_first("#board-c ~ tbody tr td:last-child")) == "stale"


def test_fresh_results_have_no_mark(pages: Pages) -> None:
    assert page(pages, POST).css_first("main .stale, main .old, main .stalept") is None


def test_an_outdated_result_names_the_newer_version_and_stays_solid(make: SimpleNamespace) -> None:
    reason = "triton 3.6.0, the newest record has 3.7.0"
    outdated = {(make.gpu, "softmax/fused@8192x8192:float32"): Freshness(FreshnessState.OUTDATED, (reason,))}
    marked = row(page(make.rendered(evidence=Evidence(make.records(make.record()), outdated)), POST), "fused")
    assert f"outdated: {reason}" in words(marked)
    assert marked.css_first("svg.bar rect.own") is not None


def test_when_all_of_a_group_is_stale_for_one_reason_its_head_says_so_once(make: SimpleNamespace) -> None:
    titles = [f"softmax/{name}@8192x8192:float32" for name in ("naive", "online", "fused")]
    evidence = Evidence(make.records(make.record()), {(make.gpu, title): STALE for title in titles})
    body = page(make.rendered(evidence=evidence), POST).css("table.data")[0].css("tbody")[0]
    assert words(body.css_first("th.grp .stale")) == "stale: fused.py changed"


def test_a_failed_one_shows_its_reason_and_no_time(pages: Pages) -> None:
    failed = row(page(pages, POST), "online", body=3)
    assert failed.css_first(".failed") is not None
    assert [words(cell) for cell in failed.css("td")] == ["incorrect: relative error 3e-1 exceeds 8e-3. Not timed."]


def test_a_long_compiler_message_is_cut(make: SimpleNamespace) -> None:
    broken = replace(
        make.evaluation("fused"), status=Status.COMPILE_ERROR, performance=None, message="error: no\n" * 900
    )
    pages = make.rendered(evidence=Evidence(make.records(with_evaluation(make.record(), broken))))
    assert len(words(row(page(pages, POST), "fused"))) < 320


def test_what_is_not_measured_yet_is_a_row_that_says_so(make: SimpleNamespace) -> None:
    record = make.record()
    kept = tuple(e for e in record.evaluations if e.name != "fused")
    pages = make.rendered(evidence=Evidence(make.records(replace(record, evaluations=kept))))
    assert words(row(page(pages, POST), "fused").css_first("td")) == "not measured yet"
    assert "not measured yet" in words(page(pages, KERNEL).css_first("li#fused"))


def test_a_site_without_any_record_says_not_measured_yet_and_breaks_nowhere(make: SimpleNamespace) -> None:
    pages = make.rendered(evidence=Evidence())
    post = page(pages, POST)
    assert [words(node) for node in post.css(".absent")] == [
        "Table 1. softmax has not been measured yet: no record is stored for it.",
        "Figure 1. No roofline yet: softmax has no measured ceiling or time at this workload.",
    ]
    assert "not measured yet" in words(page(pages, KERNEL).css_first("main"))
    assert words(page(pages, "index.html").css_first("#board-c ~ tbody tr td")) == "not measured yet"
    assert post.css_first("#record") is None


def test_a_record_without_ceilings_has_times_but_no_shares(make: SimpleNamespace) -> None:
    record = make.record()
    bare = replace(record, runs=tuple(replace(run, ceilings=()) for run in record.runs))
    pages = make.rendered(evidence=Evidence(make.records(bare)))
    cells = [words(cell) for cell in row(page(pages, POST), "fused").css("td")]
    assert (cells[:2], cells[4:]) == (["", ""], ["132.0", "±0.2", "4.07"])
    assert "No roofline yet" in words(page(pages, POST).css_first(".absent"))


def test_an_evaluation_of_an_implementation_that_is_gone_is_not_shown(make: SimpleNamespace) -> None:
    record = make.record()
    gone = replace(make.evaluation("fused"), name="deleted")
    pages = make.rendered(evidence=Evidence(make.records(replace(record, evaluations=(*record.evaluations, gone)))))
    assert "deleted" not in str(pages[POST]) + str(pages[KERNEL])


def test_the_provenance_names_what_made_the_numbers(pages: Pages) -> None:
    assert words(page(pages, POST).css_first(".tbl .prov")) == (
        "NVIDIA H200 driver 580.159 CUDA 13.0 torch 2.11.0 Triton 3.6.0 power cap 700 W ECC on "
        "SM clock 1.98 of 1.98 GHz 2026-11-21 1a2b3c4"
    )
    plate = words(page(pages, KERNEL).css("dl.plate")[-1])
    for fact in ("GPU NVIDIA H200", "SM clock, median 1.98 GHz", "rounds × samples 11 × 24", "commit 1a2b3c4"):
        assert fact in plate


def test_rows_of_two_runs_have_two_lines_of_provenance(make: SimpleNamespace) -> None:
    record = make.record()
    newer = replace(record.runs[0], id="2026-11-22T00:00:00Z", date="2026-11-22", commit="9f9f9f9")
    again = replace(make.evaluation("fused"), run=newer.id)
    two = replace(with_evaluation(record, again), runs=(record.runs[0], newer))
    lines = page(make.rendered(evidence=Evidence(make.records(two))), POST).css_first(".tbl")
    assert lines is not None
    assert [words(line)[-7:] for line in lines.css(".prov")] == ["9f9f9f9", "1a2b3c4"]


def test_the_site_s_own_gpu_comes_first_and_every_gpu_has_its_table(make: SimpleNamespace) -> None:
    records = make.records(make.record(gpu="amd-first-by-name"), make.record())
    pages = make.rendered(evidence=Evidence(records))
    headings = [node.attributes["id"] for node in page(pages, KERNEL).css("h2[id^=record-]")]
    assert headings == ["record-nvidia-h200", "record-amd-first-by-name"]
    assert len(page(pages, POST).css(".tbl.wide")) == 2
    ids = [node.attributes["id"] for node in page(pages, KERNEL).css("[id]")]
    assert len(ids) == len(set(ids))


def test_the_ladder_says_what_each_step_bought_and_what_was_predicted(pages: Pages) -> None:
    steps = page(pages, KERNEL).css("ol.ladder")[0].css("li")
    assert [words(step.css_first(".gain b")) for step in steps] == ["1.00 ×", "1.57 ×", "1.59 ×"]
    assert "predicted 66.7 %" in words(steps[1])
    assert [step.attributes.get("class") for step in steps] == [None, None, "best"]


def test_goals_met_and_missed_both_stay(pages: Pages) -> None:
    goals = [words(goal) for goal in page(pages, KERNEL).css("ul.goals > li")]
    assert goals[0].startswith("met: 0.955 by fused")
    assert goals[1].startswith("missed: 2.12 × by fused")


def test_a_goal_missed_by_less_than_a_hundredth_shows_the_digits_that_say_so(make: SimpleNamespace) -> None:
    goals = make.kernel().goals
    close = (replace(goals[0], at_least=0.9546), replace(goals[1], at_least=1.137, unit="x torch.compile"))
    site = make.site()
    kernels = tuple(replace(kernel, goals=close) if kernel.name == "softmax" else kernel for kernel in site.kernels)
    shown = [words(goal) for goal in page(make.rendered(replace(site, kernels=kernels)), KERNEL).css("ul.goals > li")]
    assert shown[0].startswith("missed: 0.9545 by fused")  # 126 / 132
    assert shown[1].startswith("missed: 1.136 × by fused")  # 150 / 132


def test_the_wrong_variants_that_were_caught_are_listed(pages: Pages) -> None:
    table = page(pages, KERNEL).css("table.data")[-1]
    assert words(table.css_first("tbody tr")) == "no_max incorrect incorrect NaN where the reference is 1.0"
    assert "1 of 1" in words(page(pages, KERNEL).css_first("dl.plate"))


def test_a_kernel_without_operations_gets_a_bandwidth_panel_and_no_roofline(pages: Pages) -> None:
    copy, softmax = page(pages, "kernels/copy/index.html"), page(pages, KERNEL)
    assert (len(copy.css("#roofline svg.chart")), len(softmax.css("#roofline svg.chart"))) == (1, 2)
    assert "FLOP per byte" not in words(copy.css_first("figure svg.chart"))


def test_each_chart_has_its_numbers_in_a_table(pages: Pages) -> None:
    numbers = words(page(pages, POST).css_first(".measured"))
    assert "fused 0.625 2.54 TFLOP/s 4.07 TB/s 94.6 %" in numbers
    assert "memory, copy (1:1) 4.30 TB/s 4.8 TB/s" in numbers
    assert "fp32 50.0 TFLOP/s 67 TFLOP/s 11.6" in numbers


def test_the_record_is_published_as_json_and_the_source_as_text(pages: Pages, make: SimpleNamespace) -> None:
    data = json.loads(str(pages["kernels/softmax/nvidia-h200.json"]))
    assert data["runs"][0]["commit"] == "1a2b3c4"
    assert len(data["evaluations"]) == len(make.record().evaluations)
    assert str(pages["kernels/softmax/fused.py.txt"]).startswith('"""Row-wise softmax')


def test_a_listing_shows_its_region_and_leads_to_the_kernel(pages: Pages) -> None:
    figure = page(pages, POST).css_first("figure.code")
    assert figure is not None
    assert words(figure.css_first(".ln")) == "@triton.jit"
    assert figure.css_first("a[href='../../kernels/softmax/#fused']") is not None


def test_a_cell_shows_what_it_put_out_and_one_that_never_ran_says_so(pages: Pages) -> None:
    parsed = page(pages, POST)
    assert words(parsed.css_first("#first-look samp")) == "1 < 2"
    assert words(parsed.css_first("#never-run .planned")) == "not run yet"


def test_a_stale_cell_keeps_its_output_with_a_mark(make: SimpleNamespace) -> None:
    cells = {("softmax", "first-look", make.gpu): Freshness(FreshnessState.STALE, ("first-look changed",))}
    cell = page(make.rendered(evidence=Evidence(make.records(make.record()), {}, cells)), POST).css_first(".cell.old")
    assert words(cell.css_first("samp") if cell else None) == "1 < 2"
    assert words(cell.css_first(".stale") if cell else None) == "stale: first-look changed"


def test_an_image_of_a_cell_is_a_file_beside_its_post(make: SimpleNamespace) -> None:
    records = make.records(make.record())
    drawn: CellRecord = replace(make.cell, outputs=(Output("text", "x"), Output("image", "iVBORw0=")))
    records = replace(records, cells={("softmax", "first-look", make.gpu): drawn})
    pages = make.rendered(evidence=Evidence(records))
    assert pages["posts/softmax/first-look-1.png"] == b"\x89PNG\r"
    image = page(pages, POST).css_first("#first-look img")
    assert image is not None
    assert image.attributes["src"] == "../../posts/softmax/first-look-1.png"
    assert image.attributes["alt"] == "Output of the cell first-look"


def test_image_of_a_cell_goes_into_a_folder_named_like_the_file_of_its_page() -> None:
    sources: Any = SimpleNamespace(post_url=lambda post: "2024/sum.html")
    post: Any = None
    assert image_url(sources, post, "first-look", 1) == "2024/sum/first-look-1.png"
