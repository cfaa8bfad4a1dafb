"""The facts on a kernel's page beside the times: code, bytes, clocks, checks, findings, noise."""

from __future__ import annotations

import gzip
from dataclasses import replace
from types import SimpleNamespace

import pytest
from selectolax.lexbor import LexborHTMLParser as Html
from selectolax.lexbor import LexborNode as Node

from sitegen.model.kernel import Kernel, Status
from sitegen.model.record import CycleRate, Evaluation, Record, Role
from sitegen.render.inputs.evidence import Evidence
from sitegen.render.inputs.rows import groups
from sitegen.render.measurements import tables
from sitegen.render.measurements.kernel_charts import used_arithmetic

PAGE = "kernels/softmax/index.html"
DIGEST = "ab" * 32
"""The hash of a log."""


def words(node: Node | None) -> str:
    assert node is not None
    return " ".join(node.text(separator=" ").replace("\u00a0", " ").split())


def changed(record: Record, name: str, change) -> Record:
    """Return the record after `change` of every evaluation of that name."""
    return replace(record, evaluations=tuple(change(e) if e.name == name else e for e in record.evaluations))


def page(make: SimpleNamespace, record: Record) -> Html:
    return Html(str(make.rendered(evidence=Evidence(make.records(record)))[PAGE]))


def band(parsed: Html, title: str) -> Node | None:
    return next((band for band in parsed.css("section.band") if words(band.css_first("h2")) == title), None)


def rows(table: Node | None) -> dict[str, list[str]]:
    assert table is not None
    lines = [row for row in table.css("tbody tr") if row.css_first("th[scope=row]")]
    return {words(row.css_first("th")): [words(cell) for cell in row.css("td")] for row in lines}


def heads(table: Node | None) -> list[str]:
    assert table is not None
    return [words(head) for head in table.css("thead th")]


def test_a_failure_links_to_all_that_the_compiler_printed_and_says_it_in_one_sentence(make: SimpleNamespace) -> None:
    def fail(one: Evaluation) -> Evaluation:
        sentence = "fused.cu(4): error: no"
        bare = replace(one, performance=None, correctness=None, compilation=None, counters=None, message=sentence)
        return replace(bare, status=Status.COMPILE_ERROR, log=DIGEST)

    record, log = changed(make.full_record(), "fused", fail), "fused.cu(4): error: no\n\nall of it <b>\n"
    evidence = Evidence(replace(make.records(record), logs={("softmax", DIGEST): log}))
    made = make.rendered(evidence=evidence)
    checks = band(Html(str(made[PAGE])), "Checks")
    link = checks.css_first("tbody a")
    assert (words(link), heads(checks)[-1]) == ("compile error", "log")
    assert made[link.attributes["href"].removeprefix("../../")] == log
    assert "all of it" not in str(made[PAGE])


def test_a_record_without_logs_has_no_column_for_them(make: SimpleNamespace) -> None:
    assert heads(band(page(make, make.full_record()), "Checks"))[-1] == "synccheck"


def test_a_wrong_variant_links_to_its_log(make: SimpleNamespace) -> None:
    full = make.full_record()
    rejections = tuple(replace(one, log=DIGEST) for one in full.rejections)
    evidence = Evidence(replace(make.records(replace(full, rejections=rejections)), logs={("softmax", DIGEST): "all"}))
    caught = band(Html(str(make.rendered(evidence=evidence)[PAGE])), "Wrong on purpose")
    assert {a.attributes["href"] for a in caught.css("td a")} == {f"../../kernels/softmax/{DIGEST[:16]}.log.txt"}


def test_a_record_that_knows_only_times_has_no_empty_columns_and_no_empty_bands(make: SimpleNamespace) -> None:
    bare = replace(make.record(), evaluations=tuple(replace(e, correctness=None) for e in make.record().evaluations))
    parsed = page(make, bare)
    assert band(parsed, "Checks") is None
    assert heads(band(parsed, "Code, bytes, clocks").css_first(".tbl")) == ["implementation", "SM clock"]


def test_counters_that_missed_what_is_known_are_left_out_and_the_page_says_so(make: SimpleNamespace) -> None:
    def spoil(one: Evaluation) -> Evaluation:
        return replace(one, counters=replace(one.counters, calibration={"copy bytes": 1.07})) if one.counters else one

    parsed = page(make, changed(make.full_record(), "fused", spoil))
    figure = band(parsed, "Roofline")
    assert rows(figure.css_first(".tbl"))["fused"][1:4] == ["", "", ""]
    assert "missed what is known by more than 2 % are left out (copy bytes × 1.07)" in words(figure)


def test_the_figure_has_its_bytes_counted_and_the_re_read_factor_as_numbers(make: SimpleNamespace) -> None:
    figure = band(page(make, make.full_record()), "Roofline")
    assert heads(figure.css_first(".tbl"))[1:5] == ["FLOP/byte", "at the DRAM", "DRAM bytes", "re-read"]
    assert rows(figure.css_first(".tbl"))["fused"][:4] == ["0.625", "0.579", "580 MB", "1.08 ×"]
    assert "The least that must move is 537 MB." in words(figure)


def test_every_point_of_the_figure_leads_to_its_row(make: SimpleNamespace) -> None:
    parsed = page(make, make.full_record())
    links = [link.attributes["href"] for link in parsed.css("#roofline svg a")]
    assert len(links) == 10  # five programs in two pictures
    assert all(parsed.css_first(str(href)) is not None for href in links)


def test_a_small_workload_says_that_the_l2_hides_a_part_of_its_bytes(make: SimpleNamespace) -> None:
    large = replace(make.full_record().runs[0].environment, l2_bytes=600_000_000)
    record = make.full_record()
    small = replace(record, runs=(replace(record.runs[0], environment=large),))
    assert "the bytes counted judge nothing here" in words(band(page(make, small), "Roofline"))
    assert "judge nothing" not in words(band(page(make, record), "Roofline"))


def test_code_bytes_and_clocks_stand_open_at_the_headline_and_folded_elsewhere(make: SimpleNamespace) -> None:
    code = band(page(make, make.full_record()), "Code, bytes, clocks")
    assert rows(code.css_first(".tbl"))["naive"] == [
        "40",
        "48 B",
        "65 KiB",
        "75 %",
        "580 MB",
        "1.08 ×",
        "1.98 GHz",
        "460 W",
    ]
    assert [words(head) for head in code.css_first(".tbl").css("th.grp b")] == ["8192 × 8192"]
    assert len(code.css("details th.grp")) == 3


def test_a_matrix_kernel_has_burst_and_sustained_times_and_is_compared_in_cycles(make: SimpleNamespace) -> None:
    record = make.full_record()
    matrix = replace(record, evaluations=tuple(make.in_bursts(e) for e in record.evaluations))
    parsed = page(make, matrix)
    main = band(parsed, "Workloads")
    assert heads(main)[-4:-1] == ["burst, µs", "p20–\u2060p80", "sustained, µs"]
    assert rows(main)["fused"][-4:-1] == ["137.3", "±0.2", "164.7"]
    clocks = band(parsed, "Code, bytes, clocks").css(".tbl")[1]
    assert heads(clocks)[2:] == [
        "SM cycles",
        "× torch in cycles",
        "sustained clock",
        "power",
        "× torch sustained",
        "held down by",
    ]
    assert rows(clocks)["fused"] == ["1.60 GHz", "211.2 k", "2.12", "1.41 GHz", "698 W", "2.12", "power cap"]
    assert parsed.css_first(".measured svg path.held") is not None


def matrix_in_cycles(record: Record) -> Record:
    """A run whose bf16 ceiling is known in SM cycles, ± 0.2 %: 20 million operations in bursts, 19 under load."""
    burst, held = (CycleRate("wgmma", r, r * 0.998, r * 1.002, (r,) * 5, 1600.0) for r in (20e6, 19e6))
    run = record.runs[0]
    ceilings = tuple(replace(c, burst=burst, sustained=held) if c.name == "bf16" else c for c in run.ceilings)
    return replace(record, runs=(replace(run, ceilings=ceilings),))


def sustained_cycles(one: Evaluation) -> Evaluation:
    timed = one.performance
    if timed is None or timed.sustained is None:
        return one
    held = replace(timed.sustained, cycles=timed.sustained.median_us * 1410)
    return replace(one, performance=replace(timed, sustained=held))


def test_the_share_of_a_matrix_kernel_is_in_cycles_and_says_how_well_its_ceiling_is_known(
    make: SimpleNamespace,
) -> None:
    record = make.full_record()
    bursts = tuple(sustained_cycles(make.in_bursts(e)) for e in record.evaluations)
    record = matrix_in_cycles(replace(record, evaluations=bursts))
    site = make.site()
    heavy = tuple(replace(k, flops="30000 * M * N") if k.name == "softmax" else k for k in site.kernels)
    parsed = Html(str(make.rendered(replace(site, kernels=heavy), evidence=Evidence(make.records(record)))[PAGE]))
    main = band(parsed, "Workloads")
    assert "share of the ceiling in SM cycles, ceiling ±0.20 %" in words(main)
    flops, us = 30000 * 2048 * 65536, 132.0 * 1.04
    share, sustained = flops / (us * 1600) / 20e6, flops / (1.2 * us * 1410) / 19e6
    assert f"{share * 100:.1f}" in rows(main)["fused"]
    clocks = band(parsed, "Code, bytes, clocks").css(".tbl")[-1]
    assert rows(clocks)["fused"][heads(clocks)[1:].index("of sustained ceiling")] == f"{sustained:.1%}".replace(
        "%", " %"
    )


@pytest.mark.parametrize("matrix", [False, True])
def test_the_main_table_has_no_more_columns_than_stand_beside_each_other(make: SimpleNamespace, matrix: bool) -> None:
    record = make.full_record()
    if matrix:
        record = replace(record, evaluations=tuple(make.in_bursts(e) for e in record.evaluations))
    many = tuple(f"library_{n}" for n in range(6))
    shown = groups(make.kernel(), record, Evidence())
    columns = tables.columns_for(shown, many)
    assert len(columns) == 7
    assert columns[0] == "of-ceiling"
    assert [one for one in columns if one.startswith("vs:")][-1] == ("vs: library_1" if matrix else "vs: library_2")


def test_a_finding_of_a_tool_is_named_with_its_words_and_a_tool_that_was_not_run_is_no_clean_one(
    make: SimpleNamespace,
) -> None:
    def found(one: Evaluation) -> Evaluation:
        said = {**one.sanitizer, "racecheck": "Race reported at fused+0x4a0\n  between two threads"}
        return replace(one, status=Status.RACE, performance=None, sanitizer=said)

    def unrun(one: Evaluation) -> Evaluation:
        return replace(one, sanitizer={"memcheck": ""})

    record = changed(changed(make.full_record(), "fused", found), "naive", unrun)
    checks = band(page(make, record), "Checks")
    said = rows(checks)
    assert said["fused"][5:] == ["clean", "finding", "clean", "clean"]
    assert said["naive"][5:] == ["clean", "not run", "not run", "not run"]
    assert words(checks.css_first(".prov")) == "fused, racecheck: Race reported at fused+0x4a0 between two threads"
    assert len(checks.css(".prov")) == 1


def test_the_checks_of_a_dtype_are_the_worst_of_its_workloads_beside_the_baseline_s_own(make: SimpleNamespace) -> None:
    def worse(one: Evaluation) -> Evaluation:
        if one.workload != "2048x65536" or one.correctness is None:
            return one
        return replace(one, correctness=replace(one.correctness, max_abs_error=3e-6, deterministic=False))

    checks = band(page(make, changed(make.full_record(), "fused", worse)), "Checks")
    assert [words(head) for head in checks.css("th.grp b")] == ["float32", "bfloat16"]
    assert rows(checks)["fused"][:5] == ["1.2e-7", "2e-7", "3e-6", "1e-6", "no"]
    assert rows(checks)["naive"][2:5] == ["1e-6", "1e-6", "yes"]


def test_a_row_that_is_marked_although_its_checks_are_clean_says_what_failed(make: SimpleNamespace) -> None:
    def slow(one: Evaluation) -> Evaluation:
        late = one.workload == "2048x65536" and one.dtype == "float32"
        return replace(one, status=Status.TIMEOUT, performance=None) if late else one

    checks = band(page(make, changed(make.full_record(), "fused", slow)), "Checks")
    assert "timeout at 2048 × 65536" in [words(note) for note in checks.css("th small")]


def test_a_folded_table_has_the_numbers_of_the_bars_but_neither_bars_nor_addresses() -> None:
    open_table = tables.Table(
        *("o", "Times", ""),
        (tables.Heading("% of ceiling"), tables.Heading("", bar=True), tables.Heading("µs")),
        (tables.Body("64Mi", "", lines=(tables.Line("o-tile", "tile", "ours", "", ("95.1", "<svg/>", "12.0")),)),),
        (),
    )
    table = tables.folded(open_table)
    assert [heading.text for heading in table.headings] == ["% of ceiling", "µs"] and table.width == 3
    assert [(line.id, line.cells) for line in table.bodies[0].lines] == [("", ("95.1", "12.0"))]


def test_the_noise_of_a_workload_stands_in_its_head(make: SimpleNamespace) -> None:
    head = band(page(make, make.full_record()), "Workloads").css_first("th.grp")
    assert words(head).startswith("8192 × 8192 float32, 537 MB, noise ")
    assert "noise" not in words(band(page(make, make.record()), "Workloads").css_first("th.grp"))


def test_what_is_true_of_every_time_of_a_workload_is_said_once_in_its_head(make: SimpleNamespace) -> None:
    def bound(one: Evaluation) -> Evaluation:
        timed = one.performance
        return (
            replace(one, performance=replace(timed, launch_bound=True, converged=one.name != "naive")) if timed else one
        )

    record = make.record()
    table = band(page(make, replace(record, evaluations=tuple(bound(e) for e in record.evaluations))), "Workloads")
    assert words(table.css_first("th.grp")).endswith(", launch-bound")
    assert [words(note) for note in table.css("tbody small")] == ["not converged"] * 4


def changed_times(record: Record, **changes: object) -> Record:
    """The record with the same fields of every time changed."""
    timed = (
        replace(one, performance=one.performance and replace(one.performance, **changes)) for one in record.evaluations
    )
    return replace(record, evaluations=tuple(timed))


@pytest.mark.parametrize(("us", "told"), [(4.86, True), (0.001, False)])
def test_the_time_of_an_empty_kernel_stands_in_the_head_of_short_calls(
    make: SimpleNamespace, us: float, told: bool
) -> None:
    record = changed_times(make.record(), empty_kernel_us=us)
    head = words(band(page(make, record), "Workloads").css_first("th.grp"))
    assert head.endswith(", an empty kernel takes 4.9 µs here") is told
    assert ("empty kernel" in head) is told


def counted_at(record: Record, factors: dict[str, float]) -> Record:
    """Return the record with ncu's time of each row that many times that of the row."""

    def counted(one: Evaluation) -> Evaluation:
        if one.performance is None or one.counters is None:
            return one
        us = one.performance.median_us * factors.get(one.name, 1.0)
        return replace(one, counters=replace(one.counters, duration_us=us))

    return replace(record, evaluations=tuple(counted(one) for one in record.evaluations))


@pytest.mark.parametrize(
    ("factors", "told"),
    [
        ({"fused": 1.031, "torch": 0.93}, "7 % (torch)"),
        ({"fused": 1.031}, "3 % (fused)"),
        ({"fused": 1.029, "torch": 0.971}, ""),
    ],
)
def test_the_head_names_the_row_whose_time_is_furthest_from_that_of_ncu(
    make: SimpleNamespace, factors: dict[str, float], told: str
) -> None:
    record = counted_at(make.full_record(), factors)
    head = words(band(page(make, record), "Workloads").css_first("th.grp"))
    assert head.endswith(f", ncu’s times differ by up to {told}" if told else "MB, noise 0.00 %")


def test_the_times_of_products_are_not_compared_with_those_of_ncu(make: SimpleNamespace) -> None:
    record = counted_at(make.full_record(), {"fused": 2.0})
    product = replace(make.site().kernels[0], flops="1000 * M * N")
    (group, *_) = groups(product, record, Evidence(make.records(record)))
    assert group.cost.is_matrix and "ncu" not in tables.head_of_times(group).facts


def test_rounds_with_host_time_are_told(make: SimpleNamespace) -> None:
    table = band(page(make, changed_times(make.record(), late_rounds=2)), "Workloads")
    assert "host time in 2 of 11 rounds" in words(table.css_first("th.grp"))
    assert "host time" not in words(band(page(make, make.record()), "Workloads"))


def test_a_prediction_of_the_ceiling_stands_elsewhere_in_a_column_of_the_copy(make: SimpleNamespace) -> None:
    group = groups(make.kernel(), make.record(), Evidence())[0]
    row = next(row for row in group.rows if row.name == "naive")
    assert row.predicted_share("of-ceiling") == 0.5
    time_predicted = row.performance.median_us * row.share("of-ceiling") / 0.5
    copy = next(row for row in group.rows if row.role is Role.PROBE)
    assert row.predicted_share("of-copy") == pytest.approx(copy.performance.median_us / time_predicted)


def test_the_plate_of_a_record_has_what_holds_the_clock(make: SimpleNamespace) -> None:
    plate = words(band(page(make, make.full_record()), "Record"))
    for fact in ("power cap 700 W", "ECC on", "highest SM clock 1.98 GHz", "power, median 460 W", "SMs 132, sm_90"):
        assert fact in plate


def test_roofs_are_those_of_the_arithmetic_that_was_counted(make: SimpleNamespace) -> None:
    kernel: Kernel = make.kernel()
    counted = groups(kernel, make.full_record(), Evidence())
    guessed = groups(kernel, make.record(), Evidence())
    assert [used_arithmetic(group) for group in (counted[1], guessed[1])] == [{"fp32"}, {"fp32", "bf16"}]


def test_a_kernel_whose_dtypes_are_bound_by_different_ceilings_names_each(make: SimpleNamespace) -> None:
    site = make.site()
    matrix = tuple(replace(k, flops="96 * M * N") if k.name == "softmax" else k for k in site.kernels)
    one, two = (
        words(Html(str(pages[PAGE])).css_first(".plate"))
        for pages in (make.rendered(), make.rendered(replace(site, kernels=matrix)))
    )
    assert "binding ceiling copy, 4.30 TB/s tolerance" in one
    assert "binding ceiling fp32, 50.0 TFLOP/s; copy, 4.30 TB/s tolerance" in two


def test_a_page_with_everything_stays_small(make: SimpleNamespace) -> None:
    pages = make.rendered(evidence=Evidence(make.records(make.full_record())))
    assert len(gzip.compress(str(pages[PAGE]).encode())) <= 14_000
