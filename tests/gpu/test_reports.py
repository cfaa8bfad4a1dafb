"""The reports of the scripts of this folder on made-up results."""

from __future__ import annotations

import random
from dataclasses import replace

import against_ncu
import formula_error
import interval_coverage
import pytest
import rejected
import short_calls
import start_costs
import where_time_goes
from faults import Fault, Row, others_finished, rows_of
from machine import stored_records, table, the_site

from sitegen.model.job import JobResult, SanitizerResult
from sitegen.model.kernel import Implementation, Kernel, Language, Status, Tensor, Workload, Wrong
from sitegen.model.record import Counters, Environment, Evaluation, Performance, Record, Rejection, Role, Run
from sitegen.results.stages import seconds_by_stage

ENVIRONMENT = Environment(
    "NVIDIA H200", "sm_90", 132, 60 << 20, 140 << 30, "580", "13.0", "2.11", "3.6", "3.12", 1980.0, 700.0, True
)
RUN = Run("2026-01-01T00:00:00Z", "2026-01-01", "", ENVIRONMENT)
RIGHT = {"copy bytes": 1.001}
N = 1 << 28


def kernel_of(name: str, reads: str, writes: str, flops: str, dims: dict[str, int]) -> Kernel:
    return Kernel(
        *(name, "", tuple(dims), (Tensor("x", ("N",)),), (Tensor("y", ("N",)),), ("float32",), flops, reads, writes),
        tolerance={"float32": 1e-6},
        checks=(),
        workloads=(Workload("large", dims),),
        baselines=(),
        implementations=(),
    )


COPY = kernel_of("copy", "N * itemsize", "N * itemsize", "0", {"N": N})
PRODUCT = kernel_of("matmul", "2 * N * N * itemsize", "N * N * itemsize", "2 * N * N * N", {"N": 8192})


def performance(us: float, cycles: float | None = None) -> Performance:
    return Performance(us, us, us, us, us, us, 240, (us,) * 12, cycles=cycles)


def counted(moved: float, us: float, cycles: float = 0.0, tensor: float | None = None, **changes) -> Counters:
    return replace(Counters(moved / 2, moved / 2, us, cycles, tensor, calibration=RIGHT), **changes)


def record_of(kernel: Kernel, timed: Performance | None, counters: Counters | None) -> Record:
    e = Evaluation(
        *(Role.IMPLEMENTATION, "best", "large", "float32", RUN.id),
        Status.PASSED if timed else Status.TIMEOUT,
        performance=timed,
        counters=counters,
    )
    return Record(1, kernel.name, "nvidia-h200", (RUN,), (e,))


# --- against_ncu ------------------------------------------------------------------------------------------------------


def test_a_copy_whose_time_is_four_percent_off_fails_and_names_the_line():
    moved = 8.0 * N
    found = list(against_ncu.lines(COPY, record_of(COPY, performance(520.0), counted(moved, 500.0))))
    assert [(line.what, line.held) for line in found] == [("µs", False), ("bytes", True)]
    assert found[0].cells()[-1] == "<-- NOT MET"


def test_a_matrix_product_is_held_against_cycles_and_operations():
    flops = 2.0 * 8192**3
    counters = counted(5e8, 1500.0, cycles=2.4e6, tensor=flops * 1.03)
    found = list(against_ncu.lines(PRODUCT, record_of(PRODUCT, performance(1500.0, cycles=2.38e6), counters)))
    assert [(line.what, line.held) for line in found] == [("SM cycles", True), ("tensor FLOP", False)]


def test_what_was_not_timed_or_not_counted_meets_no_line():
    for record in (record_of(COPY, None, counted(8.0 * N, 500.0)), record_of(COPY, performance(500.0), None)):
        assert not all(line.held for line in against_ncu.lines(COPY, record))
    assert list(against_ncu.invalid(record_of(COPY, performance(500.0), None))) == ["copy/best@large: not counted"]


def test_counters_that_count_a_known_copy_wrongly_are_told():
    wrong = counted(8.0 * N, 500.0, calibration={"copy bytes": 0.9})
    assert "0.9" in next(against_ncu.invalid(record_of(COPY, performance(500.0), wrong)))


# --- formula_error ----------------------------------------------------------------------------------------------------


def test_a_doubled_formula_is_reported_with_what_is_moved_and_an_honest_one_is_not():
    record = record_of(COPY, performance(500.0), counted(8.0 * N, 500.0))
    (line,) = formula_error.lines(COPY, record, RUN)
    assert line.held and line.factor == 2
    assert "`best`, who moves the fewest bytes, moves" in line.planted[0]


def test_a_formula_that_was_wrong_before_anything_was_planted_fails():
    wrong = replace(COPY, reads="2 * N * itemsize")
    (line,) = formula_error.lines(wrong, record_of(COPY, performance(500.0), counted(8.0 * N, 500.0)), RUN)
    assert not line.held


def test_a_matrix_product_that_reads_its_operands_five_times_hides_four_times_its_formula_but_not_eight_times():
    least = 3 * 8192 * 8192 * 4.0
    record = record_of(PRODUCT, performance(1500.0), counted(least * 4.0, 1500.0))
    (line,) = formula_error.lines(PRODUCT, record, RUN)
    assert line.held and line.factor == 8


def test_counters_that_are_not_valid_judge_nothing():
    wrong = counted(8.0 * N, 500.0, calibration={})
    assert list(formula_error.lines(COPY, record_of(COPY, performance(500.0), wrong), RUN)) == []


def test_a_kernel_without_counters_at_a_large_workload_is_named(capsys):
    assert formula_error.report([COPY], [record_of(COPY, performance(500.0), None)]) == 1
    assert "no counters at a large workload: copy on " in capsys.readouterr().out


def test_the_records_here_judge_a_formula_of_every_counted_kernel_and_find_all_of_them_right(capsys):
    formula_error.main([])
    told = capsys.readouterr().out
    counted = {record.kernel for record in stored_records(the_site()) if any(e.counters for e in record.evaluations)}
    unjudged = told.rpartition("no counters at a large workload: ")[2]
    assert counted and all(f"\n{kernel}@" in told or f"{kernel} on " in unjudged for kernel in counted)
    assert sum(f"\n{kernel}@" in told for kernel in counted) > len(counted) / 2
    assert "WRONG" not in told


# --- rejected ---------------------------------------------------------------------------------------------------------


def run_of(status: Status, *tools: Status) -> rejected.Judged:
    rejection = Rejection("no_barrier", Status.RACE, status, "")
    results = [JobResult(1, "matmul/wrong", "reject", ENVIRONMENT, rejections=(rejection,))]
    for found in tools:
        sanitized = SanitizerResult("no_barrier", {"racecheck": "Potential WAR hazard"}, found, wrong=True)
        results.append(JobResult(1, "matmul/tools", "inspect", ENVIRONMENT, sanitized=(sanitized,)))
    return rejected.Judged(tuple(results), 1.0)


VARIANT = Implementation("no_barrier", "kernels/matmul/wrong/no_barrier.cu", Language.CUDA)
RACING = replace(PRODUCT, wrong=(Wrong(VARIANT, Status.RACE),))


@pytest.mark.parametrize(
    ("runs", "right"),
    [
        ([run_of(Status.RACE)] * 3, True),
        ([run_of(Status.RACE), run_of(Status.PASSED, Status.RACE), run_of(Status.RACE)], True),
        ([run_of(Status.RACE), run_of(Status.INCORRECT), run_of(Status.RACE)], False),
        ([run_of(Status.RACE), run_of(Status.PASSED, Status.PASSED), run_of(Status.RACE)], False),
        ([run_of(Status.RACE)] * 2, False),
    ],
    ids=["always", "once by a tool", "once another status", "once not found", "two runs of three"],
)
def test_a_variant_must_get_its_status_in_three_runs_of_three(runs, right):
    (row,) = rejected.rows(RACING, runs)
    assert (row[-1] == "") is right


# --- where_time_goes --------------------------------------------------------------------------------------------------


def job(name: str, kind: str = "kernel", **seconds: float) -> JobResult:
    return JobResult(1, name, kind, ENVIRONMENT, seconds=seconds)


def test_ninety_one_seconds_of_rounds_are_too_many():
    jobs = [job("ceilings", "ceilings", total=10.0), job("softmax@a:b", total=120.0, time=91.0, check=20.0)]
    text, good = where_time_goes.report(jobs, "softmax")
    assert not good
    assert next(line for line in text.splitlines() if line.startswith("rounds")).endswith("NOT MET")


def test_the_ceilings_are_paid_by_the_kernel_and_other_kernels_are_not():
    jobs = [
        job("ceilings", "ceilings", total=10.0),
        job("softmax@a:b", total=20.0, time=5.0),
        job("sum@a:b", total=900.0),
    ]
    mine = where_time_goes.of_kernel(jobs, "softmax")
    assert where_time_goes.total(mine) == 30.0
    assert seconds_by_stage(mine) == {"rest": 25.0, "time": 5.0}
    assert where_time_goes.report(jobs, "softmax")[1]
    assert not where_time_goes.report(jobs, "copy")[1]


# --- faults -----------------------------------------------------------------------------------------------------------

ABORT = Fault("abort", "", Language.TRITON, Status.RUNTIME_ERROR, "SIGABRT")


def result_of(*without: str, message: str = "the process killed by SIGABRT") -> JobResult:
    names = [name for name in ("healthy", "torch", "copy", "read") if name not in without]
    timed = [Evaluation(Role.PROBE, n, "4", "float32", "", Status.PASSED, performance=performance(9.0)) for n in names]
    failed = Evaluation(Role.IMPLEMENTATION, "abort", "4", "float32", "", Status.RUNTIME_ERROR, message=message)
    return JobResult(1, "add@4:float32", "kernel", ENVIRONMENT, evaluations=(failed, *timed))


def test_a_fault_that_takes_another_one_along_is_not_contained():
    assert others_finished(result_of(), (ABORT,))
    assert not others_finished(result_of("torch"), (ABORT,))
    (row,) = rows_of((ABORT,), result_of("torch"), 1.0, 0)
    assert not row.held


def test_a_fault_needs_its_message_and_leaves_no_process():
    assert [row.held for row in rows_of((ABORT,), result_of(), 1.0, 0)] == [True]
    assert [row.held for row in rows_of((ABORT,), result_of(message="it ended"), 1.0, 0)] == [False]
    assert [row.held for row in rows_of((ABORT,), result_of(), 1.0, 2)] == [False]


def test_a_sick_gpu_fails_every_row():
    assert not Row("abort", "runtime_error", "runtime_error", 1.0, True, False, 0).held


# --- interval_coverage ------------------------------------------------------------------------------------------------


def generations(rng: random.Random, level: float, between: float, within: float) -> interval_coverage.Generations:
    def one_round() -> tuple[float, ...]:
        shifted = level * rng.gauss(1, between)
        return tuple(shifted * rng.gauss(1, within) for _ in range(20))

    return tuple(tuple(one_round() for _ in range(50)) for _ in range(2))


def test_noise_between_rounds_is_told_from_noise_within_them():
    rng = random.Random(1)
    quiet = interval_coverage.noise_in(generations(rng, 100.0, 0.0, 0.01), rng)
    moving = interval_coverage.noise_in(generations(rng, 100.0, 0.01, 0.01), rng)
    assert quiet.between < 0.002
    assert moving.between == pytest.approx(0.01, rel=0.25)


def test_another_speed_in_the_second_process_is_not_noise_between_rounds():
    rng = random.Random(1)
    first, second = (generations(rng, level, 0.001, 0.001)[0] for level in (100.0, 103.0))
    assert interval_coverage.noise_in((first, second), rng).between < 0.002


def test_rounds_that_move_together_do_so_in_the_simulation():
    rng = random.Random(1)
    baseline = generations(rng, 200.0, 0.02, 0.001)
    half = tuple(tuple(tuple(us / 2 for us in samples) for samples in rounds) for rounds in baseline)
    pair = interval_coverage.pair_in(baseline, half, rng)
    assert pair.together > 0.99
    drawn = interval_coverage.race(pair, rng)
    ratios = [b[0] / s[0] for b, s in zip(drawn[0][0], drawn[1][0], strict=True)]
    assert max(ratios) / min(ratios) < 1.02


# --- table ------------------------------------------------------------------------------------------------------------


def test_numbers_stand_to_the_right_and_words_to_the_left():
    assert table(("name", "s"), [("a", 10.0), ("bcd", 2.5)]) == "name      s\na     10.00\nbcd    2.50"


def test_only_what_a_line_says_decides_where_compiled_modules_go(monkeypatch, tmp_path):
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(start_costs, "IMPORTS", ("here",))
    (tmp_path / "here.py").write_text("")
    (seconds,) = start_costs.seconds(start_costs.environment(PYTHONPYCACHEPREFIX=str(tmp_path / "kept")))
    assert seconds > 0
    assert [file.name.partition(".")[0] for file in (tmp_path / "kept").rglob("*here*.pyc")] == ["here"]


@pytest.mark.parametrize(
    ("found", "status"),
    [
        ([], 1),
        ([short_calls.Call("sum", 50.0, 51.4, "")], 0),
        ([short_calls.Call("sum", 50.0, 48.4, ""), short_calls.Call("copy", 50.0, 50.0, "")], 1),
        ([short_calls.Call("sum", 50.0, 51.6, "float32, ncu’s times differ by up to 3 % (sum)")], 0),
    ],
    ids=["none", "near", "apart", "marked"],
)
def test_a_short_call_is_near_to_ncu_or_its_table_says_how_far_it_is(found, status, capsys):
    assert short_calls.report(found) == status
    assert f"{len(found)} short calls" in capsys.readouterr().out


def test_no_call_of_the_records_is_apart_from_ncu_without_a_mark(capsys):
    assert short_calls.main([]) == 0
