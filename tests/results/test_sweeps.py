"""A measured sweep is stored with its kernel, goes stale like an evaluation, and is judged point by point."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from sitegen.model.job import JobResult, SweepJob
from sitegen.model.kernel import Implementation, Kernel, Launch, Status, Sweep
from sitegen.model.record import SCHEMA, Correctness, MeasuredSweep, Performance, Ratio, Record, SweepPoint
from sitegen.results.accept import RunHeader, accept_results
from sitegen.results.freshness import FreshnessState, kernel_freshness
from sitegen.results.json_text import dump, to_stored
from sitegen.results.judge import doubts
from sitegen.results.keys import implementation_key, sweep_key
from sitegen.results.records import Records
from sitegen.results.returned_results import reasons_to_refuse
from sitegen.results.samples import LEAST_POINT_ROUNDS, BadSamples
from sitegen.results.shape import parse
from sitegen.results.store import load_records, save_record

FIRST, SECOND = RunHeader("2026-11-21T06:00:00Z", "abc1234"), RunHeader("2026-11-22T06:00:00Z", "def5678")
SWEEP = Sweep("threads", "A title", "naive", "1000x1000", "float32", constants={"THREADS": (128, 256)})
TITLE = "softmax/sweep/threads"


def kernel_with(made, *sweeps: Sweep) -> Kernel:
    naive, *others = made.kernel.implementations
    launch = Launch("naive", ("M",), ("THREADS",), constants={"THREADS": "256", "UNROLL": "2"})
    return replace(made.kernel, implementations=(replace(naive, launch=launch), *others), sweeps=sweeps)


def point(threads: int, median_us: float = 2.2, **changes: object) -> SweepPoint:
    """Return a point that passed, with times that a GPU could give."""
    timed = Performance(
        *(median_us, median_us * 0.99, median_us * 1.01, median_us * 0.98, median_us, median_us),
        samples=240,
        rounds_us=(median_us,) * LEAST_POINT_ROUNDS,
        ratios=(Ratio("torch", 2.0, 1.99, 2.01), Ratio("copy", 0.9, 0.89, 0.91)),
    )
    checked = Correctness(1e-8, 1e-8, 1e-8, 1e-8, 1e-6, 2, 3, ("normal",))
    return replace(SweepPoint({"THREADS": threads}, Status.PASSED, "", checked, timed), **changes)


def measured(made, *points: SweepPoint, kernel: Kernel | None = None) -> MeasuredSweep:
    key = sweep_key(kernel or kernel_with(made, SWEEP), SWEEP, made.files)
    points = points or (point(128), point(256))
    place = (SWEEP.name, SWEEP.implementation, SWEEP.workload, SWEEP.dtype)
    return MeasuredSweep(*place, "", points, key.digest, key.parts)


def result_of(made, *points: SweepPoint) -> JobResult:
    return JobResult(SCHEMA, TITLE, "sweep", made.environment, sweeps=(measured(made, *points),))


def stored(
    made, *results: JobResult, header=FIRST, before: Record | None = None, kernel: Kernel | None = None
) -> Record:
    site = replace(made.site, kernels=(kernel or kernel_with(made, SWEEP),))
    records = Records({("softmax", "nvidia-h200"): before} if before else {})
    new = accept_results(site, records, header, (made.measured_ceilings, *results))
    assert new is not None
    [record] = new.records
    return record


def test_a_sweep_in_kernel_yaml_changes_the_key_of_no_evaluation(made) -> None:
    def keys(kernel: Kernel) -> list[str]:
        every = [(one, workload) for one in kernel.implementations for workload in kernel.workloads]
        return [implementation_key(kernel, one, w, "float32", {}, made.files).digest for one, w in every]

    assert keys(kernel_with(made, SWEEP)) == keys(kernel_with(made))


def test_the_value_that_a_sweep_replaces_is_not_in_its_key_and_the_swept_values_are(made) -> None:
    def parts(sweep: Sweep, **constants: str) -> dict[str, str]:
        naive, *others = kernel_with(made, sweep).implementations
        launch = replace(naive.launch, constants={"THREADS": "256", "UNROLL": "2", **constants})
        kernel = replace(kernel_with(made, sweep), implementations=(replace(naive, launch=launch), *others))
        return dict(sweep_key(kernel, sweep, made.files).parts)

    before = parts(SWEEP)
    assert parts(SWEEP, THREADS="512") == before
    assert [name for name, part in parts(SWEEP, UNROLL="4").items() if part != before[name]] == ["launch"]
    more = replace(SWEEP, constants={"THREADS": (128, 256, 512)})
    assert [name for name, part in parts(more).items() if part != before[name]] == ["sweep"]
    assert parts(replace(SWEEP, title="Another title")) == before


def test_a_tied_dim_is_not_in_the_key_of_its_sweep(made) -> None:
    both = replace(SWEEP, constants={}, dims={"M=N": (8, 16)})
    other = replace(made.kernel.workloads[0], dims={"M": 5, "N": 5})
    kernel = kernel_with(made, both)
    assert sweep_key(kernel, both, made.files) == sweep_key(
        replace(kernel, workloads=(other, *kernel.workloads[1:])), both, made.files
    )


def state(made, record: Record | None, kernel: Kernel | None = None, **files: str):
    return kernel_freshness(kernel or kernel_with(made, SWEEP), {**made.files, **files}, record, {}, {})[TITLE]


def test_a_sweep_is_missing_until_a_point_was_run(made) -> None:
    assert state(made, None).state is FreshnessState.MISSING
    lost = [replace(point(n), status=Status.NOT_RUN, performance=None) for n in (128, 256)]
    assert state(made, stored(made, result_of(made, *lost))).state is FreshnessState.MISSING
    assert state(made, stored(made, result_of(made))).state is FreshnessState.FRESH


def test_a_stale_sweep_says_what_changed(made) -> None:
    record = stored(made, result_of(made))
    changed = made.files["kernels/softmax/naive.cu"] + "// other\n"
    assert state(made, record, **{"kernels/softmax/naive.cu": changed}).sentence == "stale: naive.cu changed"
    more = kernel_with(made, replace(SWEEP, constants={"THREADS": (128, 512)}))
    assert state(made, record, more).sentence == "stale: sweep changed"


def test_a_sweep_is_stored_with_its_run_and_its_gpu(made) -> None:
    gpu = replace(made.environment, gpu_hash="0123456789abcdef")
    ours = replace(result_of(made), environment=gpu)
    ceilings = replace(made.measured_ceilings, environment=gpu)
    new = accept_results(replace(made.site, kernels=(kernel_with(made, SWEEP),)), Records(), FIRST, (ceilings, ours))
    assert new is not None
    [sweep] = new.records[0].sweeps
    assert (sweep.run, sweep.gpu_hash, len(sweep.points)) == (FIRST.id, gpu.gpu_hash, 2)


def test_a_newer_sweep_replaces_the_stored_one_unless_nothing_was_run(made) -> None:
    before = stored(made, result_of(made), made.result)
    lost = [replace(point(n), status=Status.NOT_RUN, performance=None) for n in (128, 256)]
    assert stored(made, result_of(made, *lost), header=SECOND, before=before).sweeps == before.sweeps
    record = stored(made, result_of(made, point(128), point(256, 1.9)), header=SECOND, before=before)
    assert [sweep.run for sweep in record.sweeps] == [SECOND.id]
    assert [run.id for run in record.runs] == [FIRST.id, SECOND.id], "its evaluations are of the first run"


def test_a_run_to_which_only_a_sweep_refers_stays(made) -> None:
    before = stored(made, result_of(made))
    record = stored(made, made.result, header=SECOND, before=before)
    assert [run.id for run in record.runs] == [FIRST.id, SECOND.id]


def test_a_sweep_that_kernel_yaml_no_longer_has_is_dropped(made) -> None:
    before = stored(made, result_of(made), made.result)
    assert stored(made, made.result, header=SECOND, before=before, kernel=kernel_with(made)).sweeps == ()


def test_a_record_with_sweeps_survives_the_disk_byte_for_byte(made, tmp_path) -> None:
    record = stored(made, result_of(made), made.result)
    save_record(tmp_path, record, made.run)
    loaded, mistakes = load_records(tmp_path, replace(made.site, kernels=(kernel_with(made, SWEEP),)))
    assert mistakes == ()
    again = loaded.kernels["softmax", "nvidia-h200"]
    assert type(again.sweeps[0].points[0].performance) is Performance
    assert dump(to_stored(again)) == dump(to_stored(record))


def test_a_run_of_sweeps_alone_has_no_line_in_the_history(made, tmp_path) -> None:
    record = stored(made, made.result)
    save_record(tmp_path, record, made.run)
    record = stored(made, result_of(made), header=SECOND, before=record)
    save_record(tmp_path, record, record.runs[-1])
    history = (tmp_path / "kernels/softmax/results/nvidia-h200.history.jsonl").read_text()
    assert [json.loads(line)["run"] for line in history.splitlines()] == [FIRST.id]


def test_a_record_without_sweeps_is_written_as_before_and_loads(made) -> None:
    record = stored(made, made.result)
    assert "sweeps" not in to_stored(record)
    again, mistakes = parse(Record, dump(to_stored(record)), "kernels/softmax/results/nvidia-h200.json")
    assert mistakes == [] and again is not None and again.sweeps == ()


def edited(made, change: Callable[[dict], None], tmp_path) -> list[tuple[str, str]]:
    """Return codes and messages of a stored record whose sweep was edited by hand."""
    save_record(tmp_path, stored(made, result_of(made)), made.run)
    path = tmp_path / "kernels/softmax/results/nvidia-h200.json"
    data = json.loads(path.read_text())
    change(data["sweeps"][0])
    path.write_text(dump(data))
    _, mistakes = load_records(tmp_path, replace(made.site, kernels=(kernel_with(made, SWEEP),)))
    return [(d.code, d.message) for d in mistakes]


@pytest.mark.parametrize(
    ("change", "code", "said"),
    [
        (lambda sweep: sweep.update(run="2026-11-20T06:00:00Z"), "SG305", "no run `2026-11-20T06:00:00Z`"),
        (lambda sweep: sweep.update(gpu_hash="f" * 16), "SG305", "no GPU"),
        (
            lambda sweep: sweep["points"][1].pop("correctness"),
            "SG306",
            "a point of the sweep threads has a time but no",
        ),
        (lambda sweep: sweep["points"][0]["performance"].update(median_us=0.0), "SG307", "median_us is 0.0"),
        (lambda sweep: sweep["points"][0].update(values={}), "SG307", "values has no values"),
        (lambda sweep: sweep["points"][0].update(values={"THREADS": 0}), "SG307", "values is 0"),
        (lambda sweep: sweep.update(dtype="float17"), "SG307", "dtype is `float17`"),
        (lambda sweep: sweep["points"][0].update(status="incorrect"), "SG302", "performance is recorded only"),
        (lambda sweep: sweep.update(colour="red"), "SG302", "unknown field `colour`"),
    ],
)
def test_a_sweep_that_was_edited_by_hand_is_refused_where_it_is_read(made, change, code, said, tmp_path) -> None:
    found = edited(made, change, tmp_path)
    assert [one for one, _ in found] == [code]
    assert said in found[0][1] or code == "SG302"


def no_samples(_: str):
    raise BadSamples("none")


def doubts_of(made, *points: SweepPoint) -> list[tuple[str, str]]:
    record = stored(made, result_of(made, *points))
    found = doubts(kernel_with(made, SWEEP), record, lambda _: True, no_samples)
    return [(one.code, one.message) for one in found if one.path[0] == "sweeps"]


def test_a_sweep_that_a_gpu_could_give_is_not_doubted(made) -> None:
    assert doubts_of(made) == []


@pytest.mark.parametrize(
    ("changes", "code", "said"),
    [
        ({"relative_error": 1e-5}, "SG308", "at THREADS=128: the relative error 1e-05 is above the tolerance"),
        ({"shapes": 1}, "SG308", "it was checked at 1 shapes, and kernel.yaml asks for 2"),
        ({"seeds": 1}, "SG308", "3 seeds at 1 are the least"),
        ({"tolerance": 1e-3}, "SG308", "kernel.yaml allows 1e-06"),
    ],
)
def test_a_point_that_cannot_have_passed_is_doubted(made, changes, code, said) -> None:
    wrong = replace(point(128), correctness=replace(point(128).correctness, **changes))
    found = doubts_of(made, wrong, point(256))
    assert [one for one, _ in found] == [code] and said in found[0][1]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"median_us": 2.0}, "median_us is 2, and the samples give 2.2"),
        ({"rounds_us": (2.2,) * 3}, "it has 3 rounds; 12 are the least"),
        ({"low_us": 1.0}, "low_us is 1, and no round is so far from the median"),
        ({"min_us": 2.3}, "min_us is 2.3, and a round has a lower median"),
        ({"p20_us": 2.3, "p80_us": 2.25}, "min_us, p20_us and p80_us are not in ascending order"),
    ],
)
def test_a_figure_that_is_not_that_of_the_rounds_is_doubted(made, changes, said) -> None:
    wrong = replace(point(128), performance=replace(point(128).performance, **changes))
    found = doubts_of(made, wrong, point(256))
    assert [code for code, _ in found] == ["SG308"] and said in found[0][1]


def test_a_point_that_is_faster_than_the_memory_is_refused(made) -> None:
    large = replace(SWEEP, constants={}, dims={"M=N": (16384, 32768)})
    kernel = replace(kernel_with(made, large), checks=made.kernel.checks)
    seconds = 2 * 32768**2 * 4 / made.ceilings[1].rate

    def tied(size: int, us: float) -> SweepPoint:
        return replace(point(1, us), values={"M=N": size})

    for factor, codes in ((1.05, []), (0.9, ["SG403"])):
        points = (tied(16384, seconds * 1e6), tied(32768, seconds * 1e6 * factor))
        sweep = replace(measured(made, *points), key=sweep_key(kernel, large, made.files).digest)
        record = stored(made, replace(result_of(made), sweeps=(sweep,)), kernel=kernel)
        found = [one for one in doubts(kernel, record, lambda _: False, no_samples) if one.path[0] == "sweeps"]
        assert [one.code for one in found] == codes
    assert found[0].path == ("sweeps", 0, "points", 1, "performance", "median_us")


def test_times_of_a_sweep_need_a_ceiling_of_their_run(made) -> None:
    record = stored(made, result_of(made))
    without = replace(record, runs=tuple(replace(run, ceilings=()) for run in record.runs))
    messages = [one.message for one in doubts(kernel_with(made, SWEEP), without, lambda _: True, no_samples)]
    assert any("no memory ceiling" in message for message in messages)


def job_of(made) -> SweepJob:
    kernel = kernel_with(made, SWEEP)
    return SweepJob(TITLE, kernel, SWEEP, made.files, sweep_key(kernel, SWEEP, made.files))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda sweep: replace(sweep, points=sweep.points[:1]), "the points of threads are not those"),
        (lambda sweep: replace(sweep, points=sweep.points[::-1]), "the points of threads are not those"),
        (lambda sweep: replace(sweep, key="0" * 64), "the key of threads is not that of the code that was sent"),
        (lambda sweep: replace(sweep, implementation="fused"), "of fused@1000x1000:float32 was not asked for"),
        (lambda sweep: replace(sweep, dtype="bfloat16"), "of naive@1000x1000:bfloat16 was not asked for"),
    ],
)
def test_a_sweep_that_was_not_sent_is_refused(made, change, said) -> None:
    right = result_of(made)
    assert list(reasons_to_refuse([job_of(made)], [right])) == []
    wrong = replace(right, sweeps=(change(right.sweeps[0]),))
    [reason] = reasons_to_refuse([job_of(made)], [wrong])
    assert said in reason


def test_a_job_of_another_kind_brings_no_sweep(made) -> None:
    kernel = replace(made.result, sweeps=result_of(made).sweeps, evaluations=())
    sent = [replace(job_of(made), id=made.result.id, kind="kernel")]
    [reason] = reasons_to_refuse(sent, [kernel])
    assert "brings what only one of the kind sweep does" in reason


def test_an_implementation_without_a_launch_has_a_key_for_its_dims(made) -> None:
    fused: Implementation = made.kernel.implementations[1]
    lengths = Sweep("lengths", "A title", fused.name, "1000x1000", "float32", dims={"N": (8, 16)})
    parts = sweep_key(replace(made.kernel, sweeps=(lengths,)), lengths, made.files).parts
    assert {"kernels/softmax/fused.py", "sweep", "dims", "launch"} <= set(parts)
