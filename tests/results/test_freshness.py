"""The reasons why a record does not belong to today's code, in words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sitegen.diagnostics import Span
from sitegen.model.document import Cell
from sitegen.model.kernel import Status
from sitegen.model.record import CellRecord, Record
from sitegen.results.accept import RunHeader, merge_record, new_run
from sitegen.results.freshness import FreshnessState, cell_freshness, kernel_freshness, newest_versions
from sitegen.results.keys import cell_keys
from sitegen.results.records import Records

FUSED = "softmax/fused@1000x1000:float32"


@pytest.fixture
def record(made) -> Record:
    return merge_record(made.kernel, None, "nvidia-h200", made.run, [made.result, made.rejected], {})


def newest(record: Record, **changes):
    other = replace(record.runs[0], environment=replace(record.runs[0].environment, **changes))
    return newest_versions(Records({("softmax", "g"): record, ("sum", "g"): replace(record, runs=(other,))}), "g")


def test_what_today_s_code_made_is_fresh(made, record):
    states = kernel_freshness(made.kernel, made.files, record, {}, {})
    assert states[FUSED].state is FreshnessState.FRESH and states[FUSED].sentence == "fresh"
    assert states["softmax/torch@1000x1000:float32"].state is FreshnessState.FRESH
    assert states["softmax/wrong/no_max"].state is FreshnessState.FRESH


def test_everything_that_the_site_asks_for_and_nobody_measured_is_missing(made):
    states = kernel_freshness(made.kernel, made.files, None, {}, {})
    # (naive in one dtype, fused and torch in two) x two workloads, and one wrong variant
    assert len(states) == (1 + 2 + 2) * 2 + 1
    assert {state.state for state in states.values()} == {FreshnessState.MISSING}


def test_a_changed_file_is_named(made, record):
    files = {**made.files, "kernels/softmax/fused.py": "# another\n" + made.files["kernels/softmax/fused.py"]}
    states = kernel_freshness(made.kernel, files, record, {}, {})
    assert states[FUSED].sentence == "stale: fused.py changed"
    assert states["softmax/naive@1000x1000:float32"].state is FreshnessState.FRESH


def test_a_file_that_the_code_now_reaches_is_named_as_new(made, record):
    fused = made.files["kernels/softmax/fused.py"] + "import kernels.softmax.unrelated\n"
    states = kernel_freshness(made.kernel, {**made.files, "kernels/softmax/fused.py": fused}, record, {}, {})
    assert states[FUSED].sentence == "stale: fused.py changed, unrelated.py is new"


def test_a_change_of_what_is_asked_says_so_in_words(made, record):
    kernel = replace(made.kernel, extra_inputs=("exact",), tolerance={"float32": 1.0, "bfloat16": 1.0})
    assert (
        kernel_freshness(kernel, made.files, record, {}, {})[FUSED].sentence
        == "stale: extra inputs changed, tolerance changed"
    )


def test_a_wrong_variant_goes_stale_like_any_other_code(made, record):
    files = {**made.files, "kernels/softmax/wrong/no_max.py": "pass\n"}
    assert (
        kernel_freshness(made.kernel, files, record, {}, {})["softmax/wrong/no_max"].sentence
        == "stale: no_max.py changed"
    )


def test_a_failed_evaluation_of_today_s_code_is_fresh(made, record):
    failed = replace(made.evaluations[1], status=Status.INCORRECT, performance=None)
    states = kernel_freshness(made.kernel, made.files, replace(record, evaluations=(failed,)), {}, {})
    assert states[FUSED].state is FreshnessState.FRESH


def test_an_attempt_that_was_lost_is_missing_and_says_why(made, record):
    lost = replace(made.evaluations[1], status=Status.NOT_RUN, performance=None, message="the host was lost\nmore")
    states = kernel_freshness(made.kernel, made.files, replace(record, evaluations=(lost,)), {}, {})
    assert states[FUSED].sentence == "missing: the host was lost"


def test_a_newer_triton_in_another_record_of_the_gpu_makes_this_one_outdated(made, record):
    states = kernel_freshness(made.kernel, made.files, record, newest(record, triton="3.7.0"), {})
    assert states[FUSED].sentence == "outdated: triton 3.6.0, the newest record has 3.7.0"


def test_versions_are_compared_as_numbers(made, record):
    states = kernel_freshness(made.kernel, made.files, record, newest(record, triton="3.10.0", torch="2.9.9"), {})
    assert states[FUSED].reasons == ("triton 3.6.0, the newest record has 3.10.0",)


def test_stale_is_said_rather_than_outdated(made, record):
    files = {**made.files, "kernels/softmax/fused.py": "pass\n"}
    states = kernel_freshness(made.kernel, files, record, newest(record, triton="3.7.0"), {})
    assert states[FUSED].state is FreshnessState.STALE


def test_a_cell_is_stale_when_a_cell_before_it_changed(made):
    before = [Cell("one", "python", "a = 1", Span("p")), Cell("two", "python", "a", Span("p", 2))]
    after = [replace(before[0], source="a = 2"), before[1]]
    records = {
        cell.label: CellRecord(1, cell.label, "g", key.digest, made.run, Status.PASSED, (), key.parts)
        for cell, key in zip(before, cell_keys("post.md", before, {}), strict=True)
    }
    assert {s.state for s in cell_freshness("post.md", before, {}, records, {}).values()} == {FreshnessState.FRESH}
    states = cell_freshness("post.md", after, {}, records, {})
    assert states["two"].sentence == "stale: one changed"
    assert cell_freshness("post.md", after, {}, {}, {})["one"].state is FreshnessState.MISSING


def test_a_run_is_what_the_gpu_machine_and_the_author_s_machine_know_of_it(made):
    run = new_run(RunHeader("2026-11-21T06:00:00Z", "abc1234"), [made.result, made.measured_ceilings])
    assert run == made.run
