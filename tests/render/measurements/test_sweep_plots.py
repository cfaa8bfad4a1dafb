"""The chart and the table of a sweep in a post and on the page of its kernel."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest
from selectolax.lexbor import LexborHTMLParser

from sitegen.model.kernel import Kernel, Launch, Status, Sweep
from sitegen.model.record import Correctness, MeasuredSweep, Performance, Ratio, SweepPoint
from sitegen.render.inputs.evidence import Evidence
from sitegen.results.freshness import Freshness, FreshnessState

POST, KERNEL = "posts/softmax/index.html", "kernels/softmax/index.html"
THREADS = Sweep(
    *("threads", "Bandwidth over threads", "naive", "8192x8192", "float32"),
    constants={"UNROLL": (1, 4), "THREADS": (128, 256, 1024)},
)
SIZES = Sweep("sizes", "Time over the size", "fused", "8192x8192", "float32", dims={"M=N": (1024, 8192, 16384)})
CHECKED = Correctness(1e-8, 1e-8, 1e-8, 1e-8, 1e-6, 3, 3, ("normal",), True)


def timed(us: float) -> Performance:
    ratios = tuple(Ratio(name, t / us, t / us * 0.99, t / us * 1.01) for name, t in (("torch", 280.0), ("copy", 126.0)))
    return Performance(us, us * 0.95, us * 1.05, us * 0.9, us, us, 240, (us,) * 12, ratios, sm_clock_mhz=1900.0)


def point(us: float, **values: int) -> SweepPoint:
    return SweepPoint(values, Status.PASSED, "", CHECKED, timed(us))


def swept(sweep: Sweep, run: str, *points: SweepPoint) -> MeasuredSweep:
    return MeasuredSweep(sweep.name, sweep.implementation, sweep.workload, sweep.dtype, run, points)


def shown(make: SimpleNamespace, text: str, *sweeps: MeasuredSweep, stale: Freshness | None = None) -> dict[str, str]:
    """Return the pages of the site with two sweeps, of which the record has some, and a post with this text."""
    site, record = make.site(), make.record()
    naive, *others = site.kernels[0].implementations
    launch = Launch("softmax_naive", ("M",), ("THREADS",), constants={"THREADS": "256", "UNROLL": "1"})
    kernel: Kernel = replace(
        site.kernels[0], implementations=(replace(naive, launch=launch), *others), sweeps=(THREADS, SIZES)
    )
    first, *rest = site.posts
    site = replace(
        site,
        kernels=(kernel, *site.kernels[1:]),
        posts=(replace(first, body=replace(first.body, text=text)), *rest),
    )
    run = record.runs[0].id
    record = replace(record, sweeps=tuple(replace(one, run=run) for one in sweeps))
    states = {(make.gpu, "softmax/sweep/threads"): stale} if stale else {}
    pages = make.rendered(site, Evidence(make.records(record, make.record("copy")), states))
    return {path: str(page) for path, page in pages.items()}


def threads(*changed: SweepPoint) -> MeasuredSweep:
    """Return the sweep as it is stored, with sorted names, and some points changed."""
    times = {(1, 128): 400.0, (1, 256): 330.0, (1, 1024): 300.0, (4, 128): 200.0, (4, 256): 160.0, (4, 1024): 150.0}
    points = {key: point(us, THREADS=key[1], UNROLL=key[0]) for key, us in times.items()}
    points |= {(one.values["UNROLL"], one.values["THREADS"]): one for one in changed}
    return swept(THREADS, "", *points.values())


def figure(page: str, label: str = "") -> LexborHTMLParser:
    found = LexborHTMLParser(page).css("main .measured") if label == "" else LexborHTMLParser(page).css(f"#{label}")
    return LexborHTMLParser(found[0].html or "")


def words(text: str) -> str:
    return " ".join(text.replace("\u00a0", " ").split())


TEXT = "See @fig-threads.\n\n```{plot} softmax/threads\n:label: fig-threads\n```\n"


def test_a_sweep_that_no_gpu_has_measured_says_so(make: SimpleNamespace) -> None:
    pages = shown(make, TEXT)
    assert "Not measured yet: the sweep threads of softmax." in words(LexborHTMLParser(pages[POST]).body.text())
    assert LexborHTMLParser(pages[POST]).css_first("p.absent#fig-threads") is not None
    of_kernel = words(LexborHTMLParser(pages[KERNEL]).body.text())
    assert "Not measured yet: Bandwidth over threads" in of_kernel


def test_the_first_swept_name_of_kernel_yaml_is_the_axis_and_the_others_are_curves(make: SimpleNamespace) -> None:
    found = figure(shown(make, TEXT, threads())[POST], "fig-threads")
    said = [words(node.text()) for node in found.css("svg text")]
    assert {"UNROLL", "THREADS 128", "THREADS 256", "THREADS 1024", "ceiling", "copy", "torch"} <= set(said)
    assert said[0] == "TB/s: bytes that must move ÷ time"
    assert len(found.css("svg a")) == 6


def test_a_point_is_a_link_to_its_row_and_says_its_value(make: SimpleNamespace) -> None:
    found = figure(shown(make, TEXT, threads())[POST], "fig-threads")
    fast = next(link for link in found.css("svg a") if "UNROLL 4, THREADS 1024" in link.text())
    rate = 2 * 8192 * 8192 * 4 / 150.0 / 1e6
    assert words(fast.css_first("title").text()) == f"UNROLL 4, THREADS 1024: {rate:.2f} TB/s"
    row = found.css_first(fast.attributes["href"] or "")
    cells = [words(cell.text()) for cell in row.css("th, td")]
    assert cells[:3] == ["UNROLL 4, THREADS 1024", "150.0 µs", "142.5 to 157.5 µs"]
    assert cells[4:7] == [f"{rate:.2f} TB/s", "84.0 %", "1.87 ×"]
    assert found.css_first("details.numbers table") is not None, "the table is folded"


def test_a_formula_is_an_axis(make: SimpleNamespace) -> None:
    options = ":x: THREADS * UNROLL * 16\n:x-title: bytes a block loads at once\n:kind: scatter\n"
    text = f"```{{plot}} softmax/threads\n{options}```\n"
    found = figure(shown(make, text, threads())[POST])
    said = [words(node.text()) for node in found.css("svg text")]
    assert {"bytes a block loads at once", "2048", "64Ki"} <= set(said)
    assert not any("THREADS" in one for one in said), "every name is in the axis, so there is one curve"


@pytest.mark.parametrize("x", ["THREADS // (UNROLL - 8)", "THREADS - 128"])
def test_a_formula_without_a_value_at_a_point_breaks_no_page(make: SimpleNamespace, x: str) -> None:
    measured = threads(point(100.0, UNROLL=8, THREADS=128))  # of an older kernel.yaml, which swept 8 too
    found = figure(shown(make, f"```{{plot}} softmax/threads\n:x: {x}\n:log: x\n```\n", measured)[POST])
    assert found.css_first("svg") is not None


def test_a_failed_point_is_in_the_table_with_its_reason_and_not_in_the_chart(make: SimpleNamespace) -> None:
    failed = SweepPoint({"THREADS": 1024, "UNROLL": 4}, Status.RUNTIME_ERROR, "too many registers")
    found = figure(shown(make, TEXT, threads(failed))[POST], "fig-threads")
    assert len(found.css("svg a")) == 5
    assert "1 of 6 points without a time" in words(found.body.text())
    assert "runtime error: too many registers" in words(found.css("tbody tr")[-1].text())


def test_a_sweep_of_which_every_point_failed_has_its_table(make: SimpleNamespace) -> None:
    failed = [replace(one, status=Status.INCORRECT, performance=None) for one in threads().points]
    found = figure(shown(make, TEXT, swept(THREADS, "", *failed))[POST], "fig-threads")
    assert found.css_first("svg") is None and len(found.css("tbody tr")) == 6


def test_a_stale_sweep_is_marked_in_chart_and_table_and_says_why(make: SimpleNamespace) -> None:
    stale = Freshness(FreshnessState.STALE, ("naive.cu changed",))
    found = figure(shown(make, TEXT, threads(), stale=stale)[POST], "fig-threads")
    assert "stale: naive.cu changed" in words(found.css_first(".legend").text())
    assert len(found.css("svg .stalept")) == 6 and found.css("svg .own") == []
    assert len(found.css("tbody .state.stale")) == 6


def test_a_fresh_sweep_has_no_mark(make: SimpleNamespace) -> None:
    assert figure(shown(make, TEXT, threads())[POST], "fig-threads").css(".stale, .stalept") == []


def test_time_over_tied_dims_follows_its_own_ceiling(make: SimpleNamespace) -> None:
    points = [point(us, **{"M=N": n}) for n, us in ((1024, 4.0), (8192, 132.0), (16384, 510.0))]
    found = figure(shown(make, "```{plot} softmax/sizes\n```\n", swept(SIZES, "", *points))[POST])
    said = [words(node.text()) for node in found.css("svg text")]
    assert said[0] == "µs a call" and {"M = N", "1024", "8192", "16Ki", "10", "100"} <= set(said)
    assert found.css_first("svg path.roof").attributes["d"].count("L") == 2, "the ceiling has a time at each size"


def test_the_quantity_and_the_axes_are_the_author_s(make: SimpleNamespace) -> None:
    text = "```{plot} softmax/threads\n:y: of-copy\n:x: THREADS\n:log: none\n:kind: bar\n:caption: Mine.\n```\n"
    found = figure(shown(make, text, threads())[POST])
    said = [words(node.text()) for node in found.css("svg text")]
    assert said[0] == "%: time of the copy ÷ time" and {"THREADS", "UNROLL 1", "UNROLL 4"} <= set(said)
    assert words(found.css_first("figcaption").text()) == "Figure 1. Mine."


def test_the_caption_names_the_lines_and_the_run_is_named_below(make: SimpleNamespace) -> None:
    found = figure(shown(make, TEXT, threads())[POST], "fig-threads")
    caption = words(found.css_first("figcaption").text())
    assert caption.startswith("Figure 1. Bandwidth over threads: softmax/naive at 8192 × 8192 in float32.")
    assert "bold, the ceiling (copy); thin, a copy of the same bytes; dashed, torch." in caption
    assert "NVIDIA H200" in words(found.css_first(".prov").text())


def test_the_page_of_the_kernel_has_its_sweeps(make: SimpleNamespace) -> None:
    page = LexborHTMLParser(shown(make, "Nothing.", threads())[KERNEL])
    assert page.css_first("#sweep-threads svg") is not None
    assert "Not measured yet: Time over the size" in words(page.body.text())


def test_a_kernel_without_sweeps_has_no_section_for_them(pages: dict[str, str]) -> None:
    assert "Sweeps" not in LexborHTMLParser(str(pages[KERNEL])).body.text()


def test_a_record_of_another_sweep_of_that_name_breaks_no_page(make: SimpleNamespace) -> None:
    text = "```{plot} softmax/threads\n:x: UNROLL\n```\n"
    other = swept(THREADS, "", point(300.0, WARPS=4), point(200.0, WARPS=8))
    assert "Not measured yet" in words(LexborHTMLParser(shown(make, text, other)[POST]).body.text())
