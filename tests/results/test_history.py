"""The history of a kernel: a line per run, the message for a wrong line, and each run beside the one before."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from sitegen.model.record import Ratio, Record, Role, Run
from sitegen.results.figures import figures
from sitegen.results.history import history_line, history_points, parse_history, past_record
from sitegen.results.noise import AA_NOISE, noise_of
from sitegen.results.record_differences import newer_versions
from sitegen.results.store import load_records, save_record
from sitegen.results.verdicts import Verdict

PATH = "kernels/softmax/results/nvidia-h200.history.jsonl"


@pytest.fixture
def record(made) -> Record:
    return Record(1, "softmax", "nvidia-h200", (made.run,), made.evaluations)


def line_of(made, record, day: str, fused_us: float = 2.1, **environment) -> str:
    """Return the history line of a run on that day of November in which `fused` took that long."""
    run = Run(
        f"2026-11-{day}T06:00:00Z",
        f"2026-11-{day}",
        "abc1234",
        replace(made.environment, **environment),
        made.ceilings,
    )
    times = (made.evaluations[0], made.timed("fused", fused_us), *made.evaluations[2:])
    whole = replace(record, runs=(run,), evaluations=tuple(replace(e, run=run.id) for e in times))
    return history_line(whole, run)


def without_what_was_added_later(line: str) -> str:
    """Return a line as it was written before intervals and ceilings were stored."""
    data = json.loads(line)
    times = {name: {k: t[k] for k in ("median_us", "ratios")} for name, t in data["evaluations"].items()}
    kept = ("run", "commit", "driver", "cuda", "torch", "triton")
    return json.dumps({**{name: data[name] for name in kept}, "evaluations": times}) + "\n"


def test_every_wrong_line_is_named_and_the_right_ones_are_kept(made, record):
    good = line_of(made, record, "21")
    unknown = json.dumps({**json.loads(good), "colour": "red"})
    runs, mistakes = parse_history(f"{good}not json\n\n{unknown}\n[]\n{good}", PATH)
    assert len(runs) == 2
    assert [(d.code, d.span.path, d.span.line) for d in mistakes][:2] == [("SG301", PATH, 2), ("SG302", PATH, 4)]
    assert {d.span.line for d in mistakes} == {2, 4, 5}


def test_a_ratio_that_is_no_number_is_marked_at_its_line_and_column(made, record):
    text = line_of(made, record, "20") + line_of(made, record, "21").replace('"commit":"abc1234"', '"commit":7')
    _, (mistake,) = parse_history(text, PATH)
    assert (mistake.span.line, mistake.span.col) == (2, text.splitlines()[1].index('"commit"') + 1)


def test_a_wrong_line_of_a_file_fails_the_load_with_its_text(made, record, tmp_path):
    save_record(tmp_path, record, made.run)
    file = tmp_path / PATH
    file.write_text(file.read_text() + "{\n")
    records, (mistake,) = load_records(tmp_path, made.site)
    assert (mistake.code, mistake.span.path, mistake.span.line) == ("SG301", PATH, 2)
    assert records.files[PATH].endswith("{\n")


def test_a_history_that_is_no_utf8_is_a_diagnostic(made, record, tmp_path):
    save_record(tmp_path, record, made.run)
    (tmp_path / PATH).write_bytes(b"\xff\n")
    records, mistakes = load_records(tmp_path, made.site)
    assert [(d.code, d.span.path) for d in mistakes] == [("SG301", PATH)]
    assert records.histories == {("softmax", "nvidia-h200"): ()}


def test_a_stored_run_gives_its_figures_again(made, record, tmp_path):
    save_record(tmp_path, record, made.run)
    records, mistakes = load_records(tmp_path, made.site)
    assert not mistakes
    (past,) = records.histories["softmax", "nvidia-h200"]
    (moment,) = history_points(made.kernel, replace(record, runs=()), [past], made.evaluations[1])
    expected = figures(made.kernel, record, made.evaluations[1])
    assert moment.row is None
    assert moment.of_ceiling == pytest.approx(expected.of_ceiling, rel=1e-5)
    assert moment.ratio("torch").value == pytest.approx(expected.ratios["torch"], rel=1e-5)
    assert {e.name: e.role for e in past_record(made.kernel, record, past).evaluations} == {
        "naive": Role.IMPLEMENTATION,
        "fused": Role.IMPLEMENTATION,
        "torch": Role.BASELINE,
        "copy": Role.PROBE,
    }


def test_runs_come_in_the_order_of_time_each_against_the_one_before(made, record):
    runs, _ = parse_history(
        line_of(made, record, "21", 2.1) + line_of(made, record, "19", 2.4) + line_of(made, record, "20", 2.401), PATH
    )
    found = history_points(made.kernel, record, runs, made.evaluations[1])
    assert [m.past.date[-2:] for m in found] == ["19", "20", "21"]
    assert [m.row.verdict if m.row else None for m in found] == [None, Verdict.SAME, Verdict.FASTER]
    assert not any("noise" in m.row.reason for m in found if m.row)


def test_a_line_without_ceilings_takes_those_of_the_record_and_else_has_no_share(made, record):
    old, new = (without_what_was_added_later(line_of(made, record, day)) for day in ("20", "21"))
    runs, mistakes = parse_history(old + new, PATH)
    assert not mistakes
    first, second = history_points(made.kernel, record, runs, made.evaluations[1])  # the record's run is of the 21st
    assert first.of_ceiling is None and second.of_ceiling is not None
    assert "±0.26% of noise stands for it" in second.row.reason
    assert second.row.verdict is Verdict.SAME and [m.name for m in second.row.measures] == ["torch / t"]


def test_a_run_that_did_not_time_it_is_left_out(made, record):
    data = json.loads(line_of(made, record, "20"))
    del data["evaluations"]["fused@1000x1000:float32"]
    runs, _ = parse_history(json.dumps(data) + "\n" + line_of(made, record, "21"), PATH)
    assert len(history_points(made.kernel, record, runs, made.evaluations[1])) == 1


def test_a_run_of_one_process_is_ambiguous_when_it_moved_and_the_one_after_may_confirm(made, record):
    old = [without_what_was_added_later(line_of(made, record, day, us)) for day, us in (("18", 2.1), ("19", 2.4))]
    runs, mistakes = parse_history("".join([*old, line_of(made, record, "20", 2.1)]), PATH)
    assert not mistakes
    _, once, twice = history_points(made.kernel, record, runs, made.evaluations[1])
    assert once.row.verdict is Verdict.AMBIGUOUS and "only one process saw it" in once.row.reason
    assert twice.row.verdict is Verdict.FASTER


def test_a_line_keeps_what_its_noise_is_computed_from(made, record):
    def loud(n, e):
        seen = [
            r if r.baseline != "torch" else replace(r, by_process=(r.value, r.value * (1 + n / 50)))
            for r in e.performance.ratios
        ]
        return replace(e, performance=replace(e.performance, ratios=tuple(seen)))

    whole = replace(record, evaluations=tuple(loud(n, e) for n, e in enumerate(record.evaluations)))
    runs, _ = parse_history(history_line(whole, made.run), PATH)
    (moment,) = history_points(made.kernel, record, runs, made.evaluations[1])
    assert moment.noise == pytest.approx(noise_of(whole, whole.evaluations[1]), rel=1e-4)
    assert moment.noise > 2 * AA_NOISE
    runs, _ = parse_history(without_what_was_added_later(history_line(whole, made.run)), PATH)
    assert [m.noise for m in history_points(made.kernel, record, runs, made.evaluations[1])] == [AA_NOISE]


def test_a_line_keeps_what_each_process_saw_of_baselines_and_not_of_probes(made, record):
    line = json.loads(line_of(made, record, "21"))["evaluations"]["fused@1000x1000:float32"]
    assert line["by_process_us"] == [2.1, 2.1]
    assert list(line["by_process"]) == ["torch"] and list(line["ratios"]) == ["copy", "torch"]
    assert "cycle_ratios" not in line


def test_a_matrix_kernel_is_compared_in_cycles_in_its_history_too(made, record):
    def counted(value):
        cycles = (Ratio("torch", value, value * 0.999, value * 1.001, (value, value)),)
        return tuple(replace(e, performance=replace(e.performance, cycle_ratios=cycles)) for e in record.evaluations)

    days = (replace(made.run, id=f"2026-11-{day}T06:00:00Z") for day in (20, 21))
    lines = [
        history_line(replace(record, evaluations=tuple(replace(e, run=run.id) for e in counted(value))), run)
        for run, value in zip(days, (2.0, 1.8), strict=True)
    ]
    runs, mistakes = parse_history("".join(lines), PATH)
    assert not mistakes
    _, later = history_points(made.kernel, record, runs, made.evaluations[1])
    assert [m.name for m in later.row.measures] == ["torch / t", "torch / t in cycles", "of-ceiling"]
    assert later.row.verdict is Verdict.AMBIGUOUS  # the time did not move


def test_versions_that_moved_are_named(made, record):
    text = line_of(made, record, "20", triton="3.5.1") + line_of(made, record, "21")
    runs, _ = parse_history(text, PATH)
    assert newer_versions(*runs) == ("Triton 3.5.1 → 3.6.0",)
