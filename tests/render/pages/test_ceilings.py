"""The page of a GPU's ceilings: each ceiling beside the datasheet's value, every probe, every source."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest
from selectolax.lexbor import LexborHTMLParser as Html
from selectolax.lexbor import LexborNode as Node

from sitegen.model.record import Ceiling, CycleRate, MeasuredGpu, Record
from sitegen.pipeline.probe_sources import load_probe_sources
from sitegen.render.figures.read_bandwidth import Stairs, render_staircase
from sitegen.render.inputs.evidence import Evidence
from sitegen.render.pages.ceilings import opening_comment

PAGE = "ceilings/nvidia-h200/index.html"
SETS = {4: 9.1e12, 16: 9.8e12, 32: 7.2e12, 64: 5.6e12, 256: 4.5e12}


def words(node: Node | None) -> str:
    assert node is not None
    return " ".join(node.text(separator=" ").replace("\u00a0", " ").split())


def rows(table: Node | None) -> list[list[str]]:
    assert table is not None
    return [[words(cell) for cell in row.css("th, td")] for row in table.css("tbody tr[id]")]


def with_l2(record: Record, rates: dict[int, float]) -> Record:
    ways = {"16-byte x4": 9.7e12, "bulk": 8.9e12}
    l2 = Ceiling("L2", 9.8e12, {**ways, **{f"{mb} MB": rate for mb, rate in rates.items()}}, 2.2)
    return replace(record, runs=tuple(replace(run, ceilings=(*run.ceilings, l2)) for run in record.runs))


def page(make: SimpleNamespace, *records: Record, probes: dict[str, str] | None = None) -> Html:
    made = make.rendered(evidence=Evidence(make.records(*records)), **({"probes": probes} if probes else {}))
    return Html(str(made[PAGE]))


def test_a_gpu_whose_ceilings_were_never_measured_has_no_page_and_nothing_leads_there(make: SimpleNamespace) -> None:
    record = make.record()
    bare = replace(record, runs=tuple(replace(run, ceilings=()) for run in record.runs))
    made = make.rendered(evidence=Evidence(make.records(bare)))
    assert PAGE not in made
    assert not any("ceilings/" in str(text) for text in made.values())


def test_the_newest_run_that_measured_ceilings_is_shown_whichever_kernel_it_was_of(make: SimpleNamespace) -> None:
    newer = make.record("copy")
    newer = replace(newer, runs=(replace(newer.runs[0], id="2026-11-22T00:00:00Z", date="2026-11-22"),))
    later_without = make.record("softmax")
    bare = replace(later_without.runs[0], id="2026-11-23T00:00:00Z", ceilings=())
    parsed = page(make, newer, replace(later_without, runs=(*later_without.runs, bare)))
    assert words(parsed.css_first(".eyebrow time")) == "2026-11-22"


def test_each_ceiling_stands_beside_the_datasheet_with_the_probe_that_reached_it(make: SimpleNamespace) -> None:
    lines = rows(page(make, with_l2(make.record(), SETS)).css_first("#ceilings"))
    assert lines[1] == ["memory, copy (1:1)", "4.30 TB/s", "4.8 TB/s", "89.6", "", "torch"]
    assert lines[3] == ["bf16 tensor", "700 TFLOP/s", "989.5 TFLOP/s", "70.7", "", "cublas"]
    assert lines[4] == ["L2, read", "9.80 TB/s", "", "", "", "16-byte x4"]  # nobody prints one


def test_every_probe_has_its_own_rate_the_fastest_first_and_working_sets_are_no_probes(make: SimpleNamespace) -> None:
    lines = rows(page(make, with_l2(make.record(), SETS)).css_first("#probes"))
    assert [line[:3] for line in lines[-2:]] == [["16-byte x4", "9.70 TB/s", "99.0"], ["bulk", "8.90 TB/s", "90.8"]]
    assert len(lines) == 6


def test_the_l2_is_a_staircase_with_its_numbers_beside_it(make: SimpleNamespace) -> None:
    parsed = page(make, with_l2(make.record(), SETS))
    assert len(parsed.css("svg.chart circle.base")) == 5
    assert [line[0] for line in rows(parsed.css_first("#sets"))] == ["4 MiB", "16 MiB", "32 MiB", "64 MiB", "256 MiB"]


@pytest.mark.parametrize("rates", [{}, {16: 9.8e12}])
def test_less_than_two_working_sets_are_no_staircase(make: SimpleNamespace, rates: dict[int, float]) -> None:
    parsed = page(make, with_l2(make.record(), rates))
    assert not any(words(head) == "From the L2 to the DRAM" for head in parsed.css("h2"))


def test_a_staircase_without_a_dram_ceiling_and_with_equal_steps_is_drawn() -> None:
    svg = render_staircase(Stairs("GPU", {4: 1e12, 8: 1e12}, 60 << 20), id="s")
    assert "nan" not in svg and "level" not in svg


def test_every_probe_of_the_program_is_shown_whole_with_what_it_says_of_itself(make: SimpleNamespace) -> None:
    probes = load_probe_sources()
    assert len(probes) > 4
    parsed = page(make, make.record(), probes=probes)
    shown = {words(figure.css_first("figcaption code")): figure for figure in parsed.css("figure.code")}
    assert list(shown) == [f"probes/{name}" for name in probes]
    for name, text in probes.items():
        about, code = opening_comment(text)
        assert about, f"{name} does not say what it does"
        listed = [line.text().rstrip("\n") for line in shown[f"probes/{name}"].css(".ln")]
        assert listed == code.splitlines(), name
        assert shown[f"probes/{name}"].css_first(".kt, .k") is not None, name


def test_a_comment_is_told_as_a_sentence_and_its_words_as_code() -> None:
    text = "// Reads `n` bytes\n// again.\n#define A 1\n// not this\n"
    assert opening_comment(text) == ("Reads `n` bytes again.", "#define A 1\n// not this")
    assert opening_comment("int a;\n") == ("", "int a;")
    assert opening_comment("// only this") == ("only this", "")


def test_kernels_their_figures_and_their_index_lead_to_the_ceilings(make: SimpleNamespace) -> None:
    made = make.rendered(evidence=Evidence(make.records(make.record())))
    kernel, index = Html(made["kernels/softmax/index.html"]), Html(made["kernels/index.html"])
    assert kernel.css_first(".measured details a[href='../../ceilings/nvidia-h200/']") is not None
    assert len(kernel.css(".prov a[href='../../ceilings/nvidia-h200/']")) >= 2
    assert kernel.css_first("dl.plate a[href='../../ceilings/nvidia-h200/']") is not None
    assert index.css_first("a[href='../ceilings/nvidia-h200/']") is not None


def with_cycles(record: Record, half: float = 0.002) -> Record:
    """The record with the rate of bf16 in SM cycles, ± that share: 4,000 operations of an SM in a burst."""
    rates = (132 * 4000.0, 132 * 4040.0)
    burst, held = (
        CycleRate(f"wgmma {kind}", rate, rate * (1 - half), rate * (1 + half), (rate,) * 5, mhz)
        for kind, rate, mhz in zip(("burst", "sustained"), rates, (1700.0, 1400.0), strict=True)
    )
    run = record.runs[0]
    ceilings = tuple(replace(c, burst=burst, sustained=held) if c.name == "bf16" else c for c in run.ceilings)
    return replace(record, runs=(replace(run, ceilings=ceilings),))


def test_arithmetic_has_its_rate_in_cycles_with_interval_and_clock(make: SimpleNamespace) -> None:
    assert page(make, make.record()).css_first("#in-cycles") is None
    lines = rows(page(make, with_cycles(make.record())).css_first("#in-cycles"))
    assert lines == [
        ["bf16 tensor, burst", "4000", "±0.20 %", "1.70 GHz", "wgmma"],
        ["bf16 tensor, sustained", "4040", "±0.20 %", "1.40 GHz", "wgmma"],
    ]


def test_the_ceilings_of_each_gpu_of_a_run_stand_side_by_side(make: SimpleNamespace) -> None:
    record = make.record()
    run = record.runs[0]
    first, second = (replace(run.environment, gpu_hash=letter * 16) for letter in "ab")
    slower = tuple(replace(c, rate=c.rate / 2) for c in run.ceilings)
    both = replace(run, environment=first, other_gpus=(MeasuredGpu(second, slower),))
    assert page(make, record).css_first("#gpus") is None
    parsed = page(make, replace(record, runs=(both,)))
    assert rows(parsed.css_first("#gpus"))[1] == ["memory, copy (1:1)", "4.30 TB/s", "2.15 TB/s"]
    assert [words(head) for head in parsed.css("#gpus thead th")][1:] == ["a" * 16, "b" * 16]
