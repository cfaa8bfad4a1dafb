"""A comparison for a terminal, for a pull request and for a program."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from sitegen.model.kernel import Status
from sitegen.model.record import Record
from sitegen.results.compare import compare_records
from sitegen.results.render_comparison import render_json, render_lines, render_markdown, render_text


@pytest.fixture
def record(made) -> Record:
    return Record(1, "softmax", "nvidia-h200", (made.run,), made.evaluations)


def with_fused(made, record, evaluation) -> Record:
    return replace(record, evaluations=(made.evaluations[0], evaluation, *made.evaluations[2:]))


def test_a_report_reads_in_a_terminal_and_in_a_pull_request(made, record):
    rows = compare_records(made.site, record, with_fused(made, record, made.timed("fused", 2.4)))
    assert "slower    softmax/fused@1000x1000:float32" in render_text(rows)
    assert "torch / t: 1.905 [1.903, 1.907] → 1.667 [1.665, 1.668] (-12.5%)" in render_text(rows)
    why = (
        "torch / t -12.5% and of-ceiling -12.5%: "
        "beyond the threshold of 1.0%, 95 % intervals disjoint, each process saw it"
    )
    assert why in render_text(rows) and f" | {why} |" in render_markdown(rows)
    assert "| `softmax/fused@1000x1000:float32` | slower | torch / t: 1.905" in render_markdown(rows)
    assert render_text([]) == "nothing to compare" and render_markdown([]) == "Nothing to compare."


def test_evaluations_of_one_verdict_and_reason_are_told_in_one_line(made, record):
    row = compare_records(made.site, record, record)[0]
    several = [replace(row, title=f"softmax/fused@{n}", reason="the driver moved") for n in range(4)]
    assert render_lines(several[:2]) == [f"{row.verdict:<10}softmax/fused@0, softmax/fused@1: the driver moved"]
    assert render_lines([*several, row]) == [
        f"{row.verdict:<10}softmax/fused@0 and 3 others: the driver moved",
        f"{row.verdict:<10}{row.title}: {row.reason}",
    ]


def test_in_a_pull_request_what_moved_stands_before_the_fold(made, record):
    rows = compare_records(made.site, record, with_fused(made, record, made.timed("fused", 2.4)))
    count, moved, fold, same, end = render_markdown(rows).split("\n\n")
    assert (count, fold, end) == ("1 slower", "<details><summary>1 same</summary>", "</details>")
    assert "| slower |" in moved and "| same |" not in moved and "| same |" in same
    only_same = render_markdown(compare_records(made.site, record, record))
    assert only_same.startswith("Nothing moved.\n\n<details><summary>2 same</summary>")


def test_a_reason_with_a_bar_keeps_its_table_cell(made, record):
    failed = replace(made.timed("fused", 2.1), status=Status.INCORRECT, performance=None, message="max |error| 3")
    rows = compare_records(made.site, record, with_fused(made, record, failed))
    assert r"max \|error\| 3 |" in render_markdown(rows)


def test_a_program_reads_verdicts_reasons_and_intervals(made, record):
    same, slower = json.loads(
        render_json(compare_records(made.site, record, with_fused(made, record, made.timed("fused", 2.4))))
    )
    assert (same["verdict"], slower["verdict"]) == ("same", "slower")
    assert same["reason"] == "torch / t +0.0% and of-ceiling +0.0%: within the threshold of 1.0%"
    assert slower["evaluation"] == "softmax/fused@1000x1000:float32"
    assert slower["measures"][0]["before"]["low"] < slower["measures"][0]["before"]["value"]
    assert slower["measures"][0]["change"] == pytest.approx(-0.125) and slower["measures"][0]["disjoint"]
    assert slower["measures"][0]["after"]["by_process"] == [pytest.approx(4.0 / 2.4)] * 2
    assert (same["confirmed"], slower["confirmed"]) == (None, True)
    assert slower["processes"] == {"before": 2, "after": 2} and slower["changes"] == []
    assert slower["threshold"] == 0.01 and 0 < slower["noise"] < 0.0025
    assert json.loads(render_json([])) == []
