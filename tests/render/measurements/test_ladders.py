"""The ladders of a kernel's page: one for each dtype, with sources, differences and effects."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from markupsafe import Markup
from selectolax.lexbor import LexborHTMLParser as Html

from sitegen.render.inputs.evidence import Evidence
from sitegen.render.measurements import source_code
from sitegen.render.measurements.class_table import _cells
from sitegen.render.measurements.instruction_classes import ClassRow, changed_classes, kind_of
from sitegen.render.measurements.record_csv import record_csv
from sitegen.render.measurements.source_code import _difference, _sass_difference

Pages = dict[str, str | bytes]
PAGE = "kernels/softmax/index.html"


def test_each_dtype_has_its_ladder_and_each_source_stands_once_on_the_page(pages: Pages) -> None:
    ladders = Html(str(pages[PAGE])).css("ol.ladder")
    assert len(ladders) == 2
    labels = [pre.attributes["aria-label"] for pre in Html(str(pages[PAGE])).css(".ladder pre")]
    assert "Source of fused" in labels
    assert len(labels) == len(set(labels))
    assert not ladders[1].css("pre")


def test_a_folded_source_can_be_downloaded_under_its_own_name(pages: Pages) -> None:
    link = Html(str(pages[PAGE])).css_first("#fused details a[download]")
    assert link is not None
    assert (link.attributes["download"], link.attributes["href"]) == ("fused.py", "../../kernels/softmax/fused.py.txt")
    assert "kernels/softmax/fused.py.txt" in pages


def test_workloads_but_the_headline_are_folded_and_have_the_same_columns(pages: Pages) -> None:
    parsed = Html(str(pages[PAGE]))
    first, others = parsed.css_first("#workloads"), parsed.css_first("details.tall")
    assert first is not None and others is not None
    assert len(first.css("tbody")) == 1
    heads = [[th.text() for th in part.css("thead th")] for part in (first, others)]
    assert heads[0] == heads[1]


def test_a_class_that_one_program_lacks_counts_as_none_and_equal_counts_are_left_out() -> None:
    kinds = changed_classes({"LDG.32": 10, "BAR": 1}, {"LDG.128": 2, "BAR": 1})
    assert [(kind.name, [(row.name, row.counts) for row in kind.rows]) for kind in kinds] == [
        ("global memory", [("LDG.128", (0, 2)), ("LDG.32", (10, 0))])
    ]
    assert (kind_of("LDGSTS.128"), kind_of("LDS.32"), kind_of("FFMA")) == (
        "global memory",
        "shared memory",
        "arithmetic",
    )


def test_a_difference_shows_changed_lines_with_two_around_them_and_a_gap_between() -> None:
    old = "\n".join(f"line{n}" for n in range(20))
    html = _difference(old, old.replace("line3\n", "new3\n").replace("line15\n", "new15\n"), "text")
    assert html.count("<ins") == html.count("<del") == 2
    assert html.count("⋯") == 2  # before the first difference and between the two
    assert "line8" not in html and "line5" in html


@pytest.mark.parametrize(("lines", "shown"), [(151, False), (150, True)])
def test_a_long_difference_is_left_out_where_the_sources_stand_elsewhere(
    lines: int, shown: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = source_code.SourceListing("", "", "cuda", numbered=False, lines=Markup("x\n" * lines))
    monkeypatch.setattr(source_code, "difference_listing", lambda *_: whole)
    one: Any = None
    assert source_code.short_difference(one, one, one) == (whole if shown else None)


def test_a_program_that_is_new_in_most_lines_has_no_difference() -> None:
    assert _difference("a\nb\nc\nd\ne\nf\n", "a\n1\n2\n3\n4\n5\n", "text") == ""


def test_a_record_is_published_as_csv_with_the_command_that_measures_it_again(make: SimpleNamespace) -> None:
    record = make.full_record()
    pages = make.rendered(evidence=Evidence(make.records(record)))
    parsed = Html(str(pages[PAGE]))
    lines = list(csv.DictReader(io.StringIO(str(pages["kernels/softmax/nvidia-h200.csv"]))))
    assert len(lines) == len(record.evaluations)
    assert {line["status"] for line in lines if line["median_us"]} == {"passed"}
    link = parsed.css_first("a[href='nvidia-h200.csv']")
    assert link is not None
    assert "sitegen run softmax --all" in parsed.text()


def test_the_csv_names_the_longest_kernel_of_a_call(make: SimpleNamespace) -> None:
    one = next(e for e in make.full_record().evaluations if e.launch)
    bare, named = (
        replace(one, launch=launch) for launch in (None, replace(one.launch, kernel="rows", kernel_share=0.9))
    )
    record = replace(make.full_record(), evaluations=(bare, named))
    lines = list(csv.DictReader(io.StringIO(record_csv(record))))
    assert [(line["kernel"], line["kernel_share"]) for line in lines] == [("", ""), ("rows", "0.9")]


def test_cells_of_a_class_table_that_differ_from_the_column_before_are_bold() -> None:
    cells = [str(cell) for cell in _cells(ClassRow("LDG.32", (63, 10, 10, 0)))]
    assert cells == ["63", "<b>10</b>", "10", "<b>0</b>"]


def test_another_number_of_a_register_is_no_difference_of_two_programs() -> None:
    old = "  LDG.E R4, [R2.64] ;\n  FADD R0, R0, R4 ;\n  EXIT ;\n"
    new = "  LDG.E R9, [R6.64] ;\n  FADD.FTZ R1, R1, R9 ;\n  EXIT ;\n"
    html = _sass_difference(old, new)
    assert html.count("<ins") == html.count("<del") == 1
    assert "FADD.FTZ" in html.partition("<ins")[2]


def test_the_page_of_a_kernel_has_its_errors_over_its_speed(pages: Pages) -> None:
    chart = Html(str(pages[PAGE])).css_first("#error svg")
    assert {"naive", "fused", "relative error"} <= {text.text() for text in chart.css("text")}
