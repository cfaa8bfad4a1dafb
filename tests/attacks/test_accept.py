"""Results that claim what no check and no measurement gave: `accept` refuses each of them and stores nothing."""

from __future__ import annotations

import datetime as dt
import json
import runpy
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

machine = SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("gpu_machine.py"))))
RECORD = "kernels/double/results/nvidia-h200.json"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    made: Path = machine.make_site(tmp_path / "site")
    monkeypatch.chdir(made)
    return made


def refused(site: Path, change: Any = lambda head, entries: None, **given: Any) -> str:
    """Return the output of `accept`, after a check that nothing in the site changed."""
    result = machine.answer(machine.bundled(site.parent), site.parent / "result.zip", change, **given)
    before = machine.files_below(site)
    done = machine.sitegen("accept", str(result))
    assert machine.files_below(site) == before, "something was stored"
    assert done.exit_code == 1 and "Traceback" not in done.stderr
    said: str = done.stderr
    return said


def of_right(entries: dict[str, Any], **values: Any) -> None:
    """Return a change of the implementation's evaluation."""
    entries["kernel"]["evaluations"][0].update(values)


def checked(entries: dict[str, Any], **values: Any) -> None:
    entries["kernel"]["evaluations"][0]["correctness"].update(values)


def test_an_honest_answer_is_stored(site: Path) -> None:
    """Not an attack: `accept` stores what an honest machine sends, and then nothing is due."""
    result = machine.answer(machine.bundled(site.parent), site.parent / "result.zip")
    done = machine.sitegen("accept", str(result))
    assert done.exit_code == 0, done.stderr
    assert "1 records and 1 cells" in done.stderr and (site / RECORD).exists()
    assert machine.sitegen("check").exit_code == 0


def test_a_relative_error_of_ninety_percent(site: Path) -> None:
    """The evaluation is `passed` with a relative error of 0.9."""
    said = refused(site, lambda head, entries: checked(entries, relative_error=0.9))
    assert "above the tolerance" in said


def test_a_row_that_is_wrong(site: Path) -> None:
    """The evaluation is `passed` with one row whose error is a hundred times the tolerance."""
    assert "error of a row" in refused(site, lambda head, entries: checked(entries, row_error=1e-4))


def test_a_tolerance_of_its_own(site: Path) -> None:
    """The result has an error of 0.9 and names its own tolerance of 1e9."""
    said = refused(site, lambda head, entries: checked(entries, relative_error=0.9, tolerance=1e9))
    assert "above the tolerance 1e-06" in said


def test_no_shapes_and_no_seeds(site: Path) -> None:
    """The evaluation is `passed` after a check with no inputs."""
    assert "0 seeds at 0 shapes" in refused(site, lambda head, entries: checked(entries, shapes=0, seeds=0))


def test_one_shape_less_than_kernel_yaml_asks_for(site: Path) -> None:
    """The result leaves out the odd shape that fails."""
    assert "kernel.yaml asks for 3" in refused(site, lambda head, entries: checked(entries, shapes=2))


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", -1.0])
def test_errors_that_are_no_numbers(site: Path, value: object) -> None:
    """NaN is neither above nor below a tolerance, and a negative error is below all."""
    assert refused(site, lambda head, entries: checked(entries, relative_error=value))


def test_no_check_at_all(site: Path) -> None:
    """An evaluation has a time and no correctness."""
    assert refused(site, lambda head, entries: of_right(entries, correctness=None))


def test_times_a_quarter_of_the_truth_without_ceilings(site: Path) -> None:
    """Without ceilings no rule tells that 540 µs cannot be 135 µs."""
    quarter = {**machine.TIMES, "right": 135.0}
    said = refused(site, lambda head, entries: entries["ceilings"].update(ceilings=[]), times=quarter)
    assert "no memory ceiling" in said


def test_a_hundred_times_faster_with_inflated_ceilings(site: Path) -> None:
    """The ceilings come from the same machine as the times, and are inflated with them."""

    def change(head: Any, entries: Any) -> None:
        for one in entries["ceilings"]["ceilings"]:
            one |= {"rate": one["rate"] * 100, "probes": {name: v * 100 for name, v in one["probes"].items()}}

    assert "`memory 1:1`" in refused(site, change, times={**machine.TIMES, "right": 5.4})


def test_a_cache_that_holds_everything(site: Path) -> None:
    """No rate is compared with the memory if the L2 is said to have 1 TB."""

    def change(head: Any, entries: Any) -> None:
        for entry in entries.values():
            entry["environment"] = {**machine.ENVIRONMENT, "l2_bytes": 10**12}

    assert "l2_bytes" in refused(site, change, times={**machine.TIMES, "right": 5.4})


def test_a_gpu_whose_name_is_that_of_another(site: Path) -> None:
    """Half of the results name another GPU, which has higher ceilings."""

    def change(head: Any, entries: Any) -> None:
        entries["ceilings"]["environment"] = {**machine.ENVIRONMENT, "gpu": "NVIDIA B200"}

    assert "several GPUs" in refused(site, change)


def test_a_time_without_samples(site: Path) -> None:
    """Without samples nobody can examine the time; the artefacts of the old record were removed as well."""
    assert "no samples" in refused(site, lambda head, entries: of_right(entries, samples=""))


def test_samples_that_are_named_and_not_sent(site: Path) -> None:
    """The result names the hash of samples that it does not contain."""
    assert "not sent" in refused(site, lambda head, entries: of_right(entries, samples="0" * 64))


def test_a_median_that_the_samples_do_not_give(site: Path) -> None:
    """The samples are honest, and the median beside them is 1 % better."""

    def change(head: Any, entries: Any) -> None:
        entries["kernel"]["evaluations"][0]["performance"]["median_us"] *= 0.99

    assert "median_us" in refused(site, change)


@pytest.mark.parametrize("name", ["p20_us", "p80_us", "min_us"])
def test_whiskers_that_the_samples_do_not_give(site: Path, name: str) -> None:
    """The spread of a chart is edited, and the median is not."""

    def change(head: Any, entries: Any) -> None:
        entries["kernel"]["evaluations"][0]["performance"][name] *= 0.97

    assert name in refused(site, change)


def test_a_ratio_that_the_samples_do_not_give(site: Path) -> None:
    """The time is honest, and the ratio to torch beside it is doubled."""

    def change(head: Any, entries: Any) -> None:
        for one in entries["kernel"]["evaluations"][0]["performance"]["ratios"]:
            one |= {"value": one["value"] * 2, "low": one["low"] * 2, "high": one["high"] * 2}

    assert "the ratio to torch" in refused(site, change)


def test_the_samples_of_another_implementation(site: Path) -> None:
    """The samples exist and are whole, and are those of `copy`."""

    def change(head: Any, entries: Any) -> None:
        right, _, copy = entries["kernel"]["evaluations"]
        right["samples"] = copy["samples"]

    assert "the samples give" in refused(site, change)


def test_code_that_never_ran_becomes_fresh(site: Path) -> None:
    """The result has the key of code that was written after the bundle was sent."""
    sent = machine.bundled(site.parent).rename(site.parent / "sent.zip")
    (site / "kernels/double/right.py").write_text("def double(x, *, out=None): return 2 * x\n")
    _, jobs = machine.specs_of(machine.bundled(site.parent))
    (new,) = (spec["keys"]["right"] for spec in jobs.values() if spec["kind"] == "kernel")

    def change(head: Any, entries: Any) -> None:
        of_right(entries, key=new["digest"], key_parts=new["parts"])

    done = machine.sitegen("accept", str(machine.answer(sent, site.parent / "result.zip", change)))
    assert done.exit_code == 1 and "not that of the code that was sent" in done.stderr
    assert not (site / RECORD).exists()


@pytest.mark.parametrize("run", ["9999-12-31T23:59:59Z", "2026-1-2T3:4:5Z", "0000-01-01T00:00:00Z", "yesterday"])
def test_a_run_of_the_year_9999(site: Path, run: str) -> None:
    """A run in the far future would be newer than all later runs, and a date in another form has no order."""
    assert refused(site, run=run)


def test_a_run_two_days_ahead(site: Path) -> None:
    """A clock may be wrong by hours, not by days."""
    ahead = (dt.datetime.now(dt.UTC) + dt.timedelta(days=2)).strftime("%Y-%m-%dT%H:%M:%SZ")
    assert "in the future" in refused(site, run=ahead)


def test_an_older_run_replaces_a_newer_one(site: Path) -> None:
    """Results of last month, sent again, replace a slower result that was found since."""
    bundle = machine.bundled(site.parent)
    newer = machine.answer(bundle, site.parent / "new.zip")
    assert machine.sitegen("accept", str(newer)).exit_code == 0
    stored = machine.files_below(site)
    faster = {**machine.TIMES, "right": 535.0}
    older = machine.answer(bundle, site.parent / "old.zip", times=faster, run="2025-12-22T06:00:00Z")
    done = machine.sitegen("accept", str(older))
    assert machine.files_below(site) == stored and done.exit_code == 1
    assert "newer" in done.stderr


def test_an_evaluation_that_is_there_twice(site: Path) -> None:
    """The second of two evaluations with one name replaced the first, which the log describes."""

    def change(head: Any, entries: Any) -> None:
        entries["kernel"]["evaluations"].append(dict(entries["kernel"]["evaluations"][0]))

    assert "twice" in refused(site, change)


def test_a_job_that_brings_what_another_job_does(site: Path) -> None:
    """A notebook's result contains ceilings, which would stand beside those of the ceilings' job."""

    def change(head: Any, entries: Any) -> None:
        entries["notebook"]["ceilings"] = entries["ceilings"]["ceilings"]

    assert refused(site, change)


def test_a_rejection_that_expects_something_else(site: Path) -> None:
    """A wrong kernel passes the checker, and the result claims that it had to pass."""

    def change(head: Any, entries: Any) -> None:
        entries["reject"]["rejections"][0].update(expected="passed", status="passed")

    assert "no variant" in refused(site, change)


def test_a_cell_with_a_status_of_its_own(site: Path) -> None:
    """A status that sitegen does not know ended `accept` with a traceback."""
    assert refused(site, lambda head, entries: entries["notebook"]["cells"][0].update(status="splendid"))


def test_the_stored_record_says_nothing_but_what_was_measured(site: Path) -> None:
    """Not an attack: every figure of an honest answer is stored as it was sent."""
    result = machine.answer(machine.bundled(site.parent), site.parent / "result.zip")
    assert machine.sitegen("accept", str(result)).exit_code == 0
    record = json.loads((site / RECORD).read_text(encoding="utf-8"))
    times = {e["name"]: e["performance"]["median_us"] for e in record["evaluations"]}
    assert times == machine.TIMES and [run["id"] for run in record["runs"]] == [machine.RUN]


def test_an_integer_of_five_thousand_digits(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python refuses to read such an integer, with another exception than the one for invalid JSON."""
    digits = sys.get_int_max_str_digits()

    def change(head: Any, entries: Any) -> None:
        entries["kernel"]["environment"] = {**machine.ENVIRONMENT, "sm_count": 10**5000}
        sys.set_int_max_str_digits(0)

    try:
        result = machine.answer(machine.bundled(site.parent), site.parent / "result.zip", change)
    finally:
        sys.set_int_max_str_digits(digits)
    done = machine.sitegen("accept", str(result))
    assert done.exit_code == 1 and "is not JSON" in done.stderr


@pytest.mark.parametrize("value", [10**400, -1, 0, "nan", "inf"])
def test_a_time_that_is_no_time(site: Path, value: object) -> None:
    """Zero divides, an integer of 400 digits is no float, and the text `nan` is read as a number."""

    def change(head: Any, entries: Any) -> None:
        entries["kernel"]["evaluations"][0]["performance"]["median_us"] = value

    assert refused(site, change)


@pytest.mark.parametrize("name", ["memory 0:0", "memory", "memory 1", "memory -1:1", "<b>"])
def test_a_ceiling_of_no_kind(site: Path, name: str) -> None:
    """The share of reads of `memory 0:0` divided by zero."""
    assert refused(site, lambda head, entries: entries["ceilings"]["ceilings"][0].update(name=name))


@pytest.mark.parametrize("gpu", ["", "엔비디아", "G" * 300, "---", "NVIDIA H200\n"])
def test_a_gpu_without_an_id(site: Path, gpu: str) -> None:
    """An empty or non-Latin name was stored as `.json`, and SG304 then blocked the site."""

    def change(head: Any, entries: Any) -> None:
        for entry in entries.values():
            entry["environment"] = {**machine.ENVIRONMENT, "gpu": gpu}

    assert refused(site, change)


def test_counters_that_name_a_run_of_their_own(site: Path) -> None:
    """The run of the counters would be missing in the record, and SG305 would then block the site."""

    def change(head: Any, entries: Any) -> None:
        counted = {"dram_read_bytes": 1.1e9, "dram_written_bytes": 1.1e9, "duration_us": 540.0, "sm_cycles": 9e5}
        counted |= {"calibration": {"copy bytes": 1.0}, "run": "2020-01-01T00:00:00Z"}
        of_right(entries, counters=counted, sanitizer_run="2020-01-01T00:00:00Z")

    result = machine.answer(machine.bundled(site.parent), site.parent / "result.zip", change)
    assert machine.sitegen("accept", str(result)).exit_code == 0
    assert "2020" not in (site / RECORD).read_text(encoding="utf-8")
    assert machine.sitegen("check").exit_code == 0


def test_counters_of_a_run_that_is_no_time(site: Path) -> None:
    """A run in another form has no order, so that no later counters could replace these."""
    assert refused(site, lambda head, entries: of_right(entries, sanitizer_run="zzz"))
