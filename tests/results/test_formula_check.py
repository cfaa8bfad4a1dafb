"""Formulas that the GPU's counters contradict."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sitegen.model.kernel import Status, Tensor
from sitegen.model.record import Counters, Record, Role
from sitegen.results.formula_check import wrong_formulas

LEAST = 4e6
"""Bytes of 1000 × 1000 elements of float32, each way."""


def counters(read: float = LEAST, written: float = LEAST, calibration=(("copy bytes", 1.001),)) -> Counters:
    return Counters(read, written, 3.0, 5000.0, calibration=dict(calibration))


def sentences(made, found: dict[str, Counters | None], kernel=None, l2_bytes=500_000, **changes) -> list[str]:
    """Return the messages when these implementations counted such bytes, at 8 MB and with an L2 of half a MB."""
    run = replace(made.run, environment=replace(made.environment, l2_bytes=l2_bytes))
    evaluations = tuple(made.timed(name, 3.0, counters=one, **changes) for name, one in found.items())
    record = Record(1, "softmax", "nvidia-h200", (run,), evaluations)
    return list(wrong_formulas(kernel or made.kernel, record, run))


def test_a_formula_that_counts_the_reads_twice_is_found(made):
    twice = replace(made.kernel, reads="2 * M * N * itemsize")
    (sentence,) = sentences(made, {"naive": counters(3 * LEAST), "fused": counters()}, twice)
    assert sentence == (
        "softmax@1000x1000:float32: kernel.yaml says reads + writes = 0.008 + 0.004 = 0.012 GB, but `fused`, "
        "who moves the fewest bytes, moves 0.004 + 0.004 = 0.008 GB (-33.3%)"
    )


def test_a_formula_that_forgets_an_output_is_found(made):
    (sentence,) = sentences(made, {"fused": counters()}, replace(made.kernel, writes="0"), l2_bytes=250_000)
    assert "`fused`" in sentence and "(+100.0%)" in sentence


def test_who_reads_again_does_not_contradict_while_another_does_not(made):
    assert sentences(made, {"naive": counters(3 * LEAST), "fused": counters()}) == []


@pytest.mark.parametrize("unknown", [None, counters(calibration=())])
def test_who_reads_again_does_not_contradict_while_another_is_not_counted(made, unknown):
    assert sentences(made, {"naive": counters(3 * LEAST), "fused": unknown}) == []
    assert len(sentences(made, {"naive": counters(0.5 * LEAST), "fused": unknown})) == 1


@pytest.mark.parametrize(("share", "wrong"), [(0.979, 1), (0.981, 0), (1.0, 0), (1.049, 0), (1.051, 1)])
def test_two_percent_fewer_and_five_percent_more_are_allowed(made, share, wrong):
    assert len(sentences(made, {"fused": counters(LEAST * share, LEAST * share)})) == wrong


def test_matrix_products_may_read_their_operands_again_but_nobody_moves_less_than_the_least(made):
    product = replace(made.kernel, flops="1000 * M * N")
    assert sentences(made, {"fused": counters(3 * LEAST)}, product) == []
    assert len(sentences(made, {"fused": counters(0.5 * LEAST)}, product)) == 1


def test_who_moves_numbers_by_an_index_may_get_whole_sectors_for_a_few_bytes_of_each(made):
    index = Tensor("index", ("M",), "int32")
    gather = replace(made.kernel, flops="0", inputs=(*made.kernel.inputs, index))
    assert sentences(made, {"fused": counters(3 * LEAST)}, gather) == []
    assert len(sentences(made, {"fused": counters(0.5 * LEAST)}, gather)) == 1
    assert len(sentences(made, {"fused": counters(3 * LEAST)}, replace(gather, flops="M * N"))) == 1


def test_a_workload_that_may_stay_in_the_cache_says_nothing(made):
    assert sentences(made, {"fused": counters(0.0)}, l2_bytes=1_000_000) == []
    assert len(sentences(made, {"fused": counters(0.0)}, l2_bytes=950_000)) == 1


@pytest.mark.parametrize("calibration", [(), (("copy bytes", 1.03),), (("copy bytes", 1.0), ("matrix flops", 0.5))])
def test_counters_that_miss_what_is_known_say_nothing(made, calibration):
    assert sentences(made, {"fused": counters(0.0, 0.0, calibration)}) == []


def test_what_failed_or_is_not_ours_or_was_not_counted_says_nothing(made):
    wrong = counters(0.0)
    assert sentences(made, {"fused": wrong}, status=Status.INCORRECT, performance=None) == []
    assert sentences(made, {"fused": wrong}, role=Role.BASELINE) == []
    assert sentences(made, {"fused": wrong}, run="2026-11-20T06:00:00Z") == []
    assert sentences(made, {"fused": None}) == []


def test_each_dtype_is_judged_by_itself(made):
    run = replace(made.run, environment=replace(made.environment, l2_bytes=250_000))
    halves = made.timed(
        "fused", 3.0, dtype="bfloat16", counters=counters()
    )  # as many bytes as float32: twice the least
    record = Record(1, "softmax", "nvidia-h200", (run,), (made.timed("fused", 3.0, counters=counters()), halves))
    (sentence,) = wrong_formulas(made.kernel, record, run)
    assert sentence.startswith("softmax@1000x1000:bfloat16: ")


def test_counters_are_held_against_the_formula_in_the_run_that_counted(made):
    twice = replace(made.kernel, reads="2 * M * N * itemsize")
    later = replace(made.run, id="2026-11-22T06:00:00Z", environment=replace(made.environment, l2_bytes=500_000))
    one = made.timed("fused", 3.0, counters=replace(counters(), run=later.id))
    record = Record(1, "softmax", "nvidia-h200", (made.run, later), (one,))
    assert [len(list(wrong_formulas(twice, record, run))) for run in record.runs] == [0, 1]


def test_who_reads_again_does_not_contradict_while_another_run_counted_fewer_bytes(made):
    later = replace(made.run, id="2026-11-22T06:00:00Z", environment=replace(made.environment, l2_bytes=500_000))
    again = made.timed("naive", 3.0, counters=replace(counters(3 * LEAST), run=later.id))
    record = Record(1, "softmax", "nvidia-h200", (later,), (made.timed("fused", 3.0, counters=counters()), again))
    assert list(wrong_formulas(made.kernel, record, later)) == []
    alone = replace(record, evaluations=(again,))
    assert len(list(wrong_formulas(made.kernel, alone, later))) == 1
