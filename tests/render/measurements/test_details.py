"""The table of the compiled code says which kernel its figures belong to where a call launches several."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

from selectolax.lexbor import LexborHTMLParser as Html

from sitegen.model.record import Evaluation
from sitegen.render.inputs.evidence import Evidence

SEVERAL, NAMED = "several kernels", "those of the longest kernel"
OLDER = "An older record does not say"


def table(
    make: SimpleNamespace, launches: int, kernel: str = "", share: float | None = None
) -> tuple[str, dict[str, tuple[str, str]]]:
    """Return the caption, and the launches and the longest kernel of each row by its name, where a call of `fused` has
    several."""

    def changed(one: Evaluation) -> Evaluation:
        assert one.launch is not None
        changed = {"launches": launches, "kernel": kernel, "kernel_share": share} if one.name == "fused" else {}
        return replace(one, launch=replace(one.launch, **changed))

    record = make.full_record()
    record = replace(record, evaluations=tuple(changed(one) if one.launch else one for one in record.evaluations))
    page = Html(str(make.rendered(evidence=Evidence(make.records(record)))["kernels/softmax/index.html"]))
    found = page.css_first("#code")
    heads = [head.text() for head in found.css("thead th")]
    lines = [row for row in found.css("tbody tr") if row.css_first("th[scope=row]")]
    rows = {row.css_first("th").text(): [cell.text() for cell in row.css("td")] for row in lines}
    wanted = [heads.index(title) - 1 if title in heads else None for title in ("launches", "longest kernel")]
    cells = {name: tuple(row[at] if at is not None else "" for at in wanted) for name, row in rows.items()}
    return found.css_first("caption").text(), cells


def test_an_older_record_does_not_say_which_of_several_kernels_it_describes(make: SimpleNamespace) -> None:
    caption, cells = table(make, launches=5)
    assert SEVERAL in caption and NAMED not in caption and OLDER in caption
    assert (cells["fused"], cells["naive"]) == (("5", ""), ("", ""))


def test_a_call_of_several_kernels_names_the_one_that_its_figures_belong_to(make: SimpleNamespace) -> None:
    caption, cells = table(make, launches=5, kernel="gradients", share=0.968)
    assert SEVERAL in caption and NAMED in caption and OLDER not in caption
    assert (cells["fused"], cells["naive"]) == (("5", "gradients, 97\xa0%"), ("", ""))
    assert table(make, launches=2, kernel="gradients")[1]["fused"] == ("2", "gradients"), "a kernel and a memset"
    assert table(make, launches=2, kernel="k" * 41)[1]["fused"] == ("2", "k" * 39 + "…")


def test_a_call_of_one_kernel_needs_no_such_words(make: SimpleNamespace) -> None:
    caption, cells = table(make, launches=1, kernel="gradients")
    assert not any(words in caption for words in (SEVERAL, NAMED, OLDER))
    assert set(cells.values()) == {("", "")}


def test_bytes_that_another_run_counted_name_it(make: SimpleNamespace) -> None:
    def caption(*names: str) -> str:
        full = make.full_record()
        later = replace(full.runs[0], id="2026-11-30T06:00:00Z", date="2026-11-30")
        ones = (
            replace(one, counters=replace(one.counters, run=later.id)) if one.counters and one.name in names else one
            for one in full.evaluations
        )
        record = replace(full, runs=(*full.runs, later), evaluations=tuple(ones))
        page = Html(str(make.rendered(evidence=Evidence(make.records(record)))["kernels/softmax/index.html"]))
        assert "2026-11-30" not in page.css_first("#code").css_first("thead").text()
        return str(page.css_first("#code").css_first("caption").text())

    assert "another run" not in caption()
    said = "counted in another run than the times: 2026-11-30T06:00:00Z."
    assert f"Some of the DRAM’s bytes were {said}" in caption("fused")
    everyone = {one.name for one in make.full_record().evaluations}
    assert f"The DRAM’s bytes were {said}" in caption(*everyone)
