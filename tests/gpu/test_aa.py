"""The report of `aa.py` on runs with made-up times."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from functools import partial
from pathlib import Path

import aa
import against_ncu
import pytest
from aa_report import (
    SLIGHTLY,
    SLOWER,
    Session,
    instead_of,
    last_rounds,
    noise_of,
    report,
    sessions_in,
    size_in,
    verdicts,
)
from machine import OutOfTime, kernel_of, narrowed, the_site
from planted import Slowed, amount_for, repeated_blocks, with_slowed

from sitegen.execute.targets import Device
from sitegen.model.job import CeilingsJob, JobResult, PreviousRatios
from sitegen.model.kernel import Status
from sitegen.model.record import Ceiling, Environment, Evaluation, Performance, Ratio, Record, Role, Run
from sitegen.results.verdicts import Verdict

ENVIRONMENT = Environment(
    "NVIDIA H200", "sm_90", 132, 60 << 20, 140 << 30, "580", "13.0", "2.11", "3.6", "3.12", 1980.0, 700.0, True
)
BASELINE_US = 200.0


@pytest.fixture(scope="module")
def site():
    return the_site()


@pytest.fixture(scope="module")
def softmax(site):
    kernel = narrowed(kernel_of(site, "softmax"), ["8192x8192"], "float32", ["registers"])
    slowed = Slowed("registers", repeated_blocks, (), searches=1)
    return with_slowed(kernel, slowed, {SLOWER: 120, SLIGHTLY: 40}, site.files)[0]


def timed(role: Role, name: str, us: float, by_process: tuple[float, float] | None = None) -> Evaluation:
    """Return an evaluation whose rounds are all alike; `by_process` gives the two generations where they differ."""
    generations = by_process or (us, us)
    ratios = () if name == "torch" else (ratio(us, generations),)
    performance = Performance(
        *(us, us, us, us, us * 0.9995, us * 1.0005, 240, (us,) * 12),
        ratios=ratios,
        by_process_us=generations,
    )
    return Evaluation(
        role, name, "8192x8192", "float32", "2026-01-01T00:00:00Z", Status.PASSED, performance=performance
    )


def ratio(us: float, by_process: tuple[float, float]) -> Ratio:
    value = BASELINE_US / us
    return Ratio("torch", value, value * 0.9995, value * 1.0005, tuple(BASELINE_US / one for one in by_process))


def run_of(us: float, slower: float = 1.015, slightly: float = 1.005) -> dict[str, Record]:
    run = Run("2026-01-01T00:00:00Z", "2026-01-01", "", ENVIRONMENT, (Ceiling("memory 1:1", 4.5e12, {}),))
    evaluations = (
        timed(Role.IMPLEMENTATION, "registers", us),
        timed(Role.IMPLEMENTATION, SLOWER, us * slower),
        timed(Role.IMPLEMENTATION, SLIGHTLY, us * slightly),
        timed(Role.BASELINE, "torch", BASELINE_US),
    )
    return {"softmax": Record(1, "softmax", "nvidia-h200", (run,), evaluations)}


def session_of(softmax, times, **sizes: float) -> Session:
    return Session(
        (softmax,), {"softmax": "registers"}, {"memory 1:1": 4.5e12}, tuple(run_of(t, **sizes) for t in times)
    )


few = partial(report, least=2)


def test_a_slow_down_that_is_not_always_seen_fails_the_few(site, softmax):
    session = session_of(softmax, [131.0] * 3)
    hidden = {"softmax": instead_of("registers", "", run_of(131.0)["softmax"])}
    hidden["softmax"] = replace(
        hidden["softmax"],
        evaluations=tuple(
            timed(Role.IMPLEMENTATION, e.name, 131.5) if e.name == SLOWER else e
            for e in run_of(131.0)["softmax"].evaluations
        ),
    )
    text, held = few(site, [replace(session, runs=(*session.runs, hidden))])
    assert not held
    assert "NOT MET" in next(line for line in text.splitlines() if line.startswith(SLOWER))


def test_the_same_code_that_is_called_slower_once_fails_the_few(site, softmax):
    text, held = few(site, [session_of(softmax, [131.0, 131.0, 134.0, 134.0])])
    assert not held
    assert "NOT MET" in next(line for line in text.splitlines() if line.startswith("the same"))


def test_a_planted_slow_down_of_another_size_says_so(site, softmax):
    text, held = few(site, [session_of(softmax, [131.0] * 4, slower=1.03)])
    assert not held
    assert "does not cost 1.5%" in text


def test_a_small_slow_down_that_is_called_slower_fails_the_few(site, softmax):
    assert not few(site, [session_of(softmax, [131.0] * 4, slightly=1.02)])[1]


def test_noise_over_the_line_fails_the_few(site, softmax):
    rng = random.Random(0)
    assert not few(site, [session_of(softmax, [131.0 * rng.gauss(1, 0.004) for _ in range(11)])])[1]


def test_an_implementation_that_was_not_timed_once_fails_the_few(site, softmax):
    session = session_of(softmax, [131.0] * 3)
    last = session.runs[-1]["softmax"]
    lost = tuple(
        replace(e, status=Status.TIMEOUT, performance=None) if e.name == "registers" else e for e in last.evaluations
    )
    runs = (*session.runs[:-1], {"softmax": replace(last, evaluations=lost)})
    assert not few(site, [replace(session, runs=runs)])[1]


def test_no_runs_prove_nothing(site, softmax):
    assert not few(site, [session_of(softmax, [131.0])])[1]


def test_nineteen_pairs_are_too_few(site, softmax):
    text, held = report(site, [session_of(softmax, [131.0] * 11), session_of(softmax, [131.0] * 10)])
    assert not held
    assert "not 20 pairs" in text


def test_quiet_runs_in_which_slow_downs_are_seen_as_they_are_meet_every_line(site, softmax):
    rng = random.Random(0)
    sessions = [session_of(softmax, [us * rng.gauss(1, 0.0008) for _ in range(11)]) for us in (131.0, 132.5)]
    text, held = report(site, sessions)
    assert held, text
    assert "ceilings, highest over lowest: memory 1:1 0.00%" in text


def test_runs_of_two_sessions_are_not_compared(site, softmax):
    sessions = [session_of(softmax, [us] * 3) for us in (131.0, 140.0)]
    assert verdicts(site, sessions, "softmax", "registers", "registers") == {Verdict.SAME: 4}
    assert noise_of([[131.0] * 3, [140.0] * 3]) == 0.0


TWO_GPUS = (Device("nvidia-h200", "GPU-a"), Device("nvidia-h200", "GPU-b"))


class Machine:
    """A fake of `measured` that notes its calls and returns results in which each planted block costs 0.01 %."""

    def __init__(self, jobs: int = 1000):
        self.asked, self.jobs, self.previous = list[tuple[str, str]](), jobs, list[dict[str, PreviousRatios]]()

    def __call__(self, job, limit, device):
        self.asked.append((device.uuid, job.id))
        if len(self.asked) > self.jobs:
            raise OutOfTime
        if isinstance(job, CeilingsJob):
            return JobResult(1, job.id, job.kind, ENVIRONMENT, ceilings=(Ceiling("memory 1:1", 4.5e12, {}),))
        ours = [
            replace(timed(Role.IMPLEMENTATION, one.name, us_of(one)), key=key.digest, key_parts=key.parts)
            for one in job.kernel.implementations
            if (key := job.keys[one.name])
        ]
        self.previous.append(dict(job.previous))
        evaluations = (*ours, timed(Role.BASELINE, "torch", BASELINE_US))
        return JobResult(1, job.id, job.kind, ENVIRONMENT, evaluations)


def us_of(one) -> float:
    """Return the time in µs for the number of additional blocks in the formula of the grid."""
    extra = one.launch.grid[0].rpartition(" + ")[2] if " + " in one.launch.grid[0] else "0"
    return 131.0 * (1 + 0.0001 * int(extra))


@pytest.fixture
def session(monkeypatch, tmp_path):
    """Write runs of softmax on two GPUs into the folder."""

    def go(machine: Machine, runs: int = 11) -> Path:
        monkeypatch.setattr(aa, "measured", machine)
        softmax = [one for one in aa.SUBJECTS if one.kernel == "softmax"]
        aa.take(tmp_path, softmax, TWO_GPUS, runs, 1000.0)
        return tmp_path

    return go


def test_two_gpus_make_twenty_pairs_with_the_amounts_that_both_looked_for(session, site):
    machine = Machine()
    folder = session(machine)
    by_gpu = [[job for gpu, job in machine.asked if gpu == device.uuid] for device in TWO_GPUS]
    assert [len(jobs) for jobs in by_gpu] == [20, 20]  # eight searches, the ceilings, eleven runs
    assert json.loads((folder / "planted-softmax.json").read_text()) == {SLOWER: 150, SLIGHTLY: 50}
    text, held = report(site, list(sessions_in([folder], site)))
    assert held, text


def test_each_run_knows_the_one_before_it_and_of_what_is_planted_the_original(session):
    machine = Machine()
    session(machine, runs=2)
    *searches_and_first_runs, third, fourth = sorted(machine.previous, key=len)
    assert not any(searches_and_first_runs)
    known = PreviousRatios("nvidia-h200", {"torch": BASELINE_US / 131.0}, 0.01)
    assert third == fourth == dict.fromkeys([SLOWER, SLIGHTLY], known)


def test_a_folder_that_comes_back_is_gone_on_with(session, site):
    session(Machine(jobs=25))
    first = Machine()
    session(first)
    assert len(first.asked) == 40 - 25
    again = Machine()
    assert report(site, list(sessions_in([session(again)], site)))[1]
    assert again.asked == []


def test_when_the_time_is_over_before_the_amounts_are_known_nobody_waits(session):
    folder = session(Machine(jobs=1))
    assert not list(folder.rglob("run-*"))


def test_a_job_that_would_not_be_done_in_time_is_not_begun(session):
    folder = session(Machine(), runs=1)
    for file in folder.rglob("run-*.json"):
        file.write_text(json.dumps({**json.loads(file.read_text()), "seconds": 2000.0}))
    again = Machine()
    session(again, runs=2)
    assert again.asked == []


def test_runs_of_other_code_are_not_mixed(session):
    folder = session(Machine(), runs=1)
    (folder / "planted-softmax.json").write_text(json.dumps({SLOWER: 151, SLIGHTLY: 50}))
    with pytest.raises(SystemExit, match="begin a new folder"):
        session(Machine(), runs=2)


def test_what_a_slow_down_costs_is_the_median_over_rounds_not_the_ratio_of_medians():
    slow, fast = (timed(Role.IMPLEMENTATION, "x", us).performance for us in (102.0, 100.0))
    assert slow and fast
    wild = replace(slow, rounds_us=(900.0, *slow.rounds_us[1:]))
    assert size_in([(wild, fast)]) == pytest.approx(0.02)


def test_rounds_that_are_slow_because_outputs_are_checked_are_seen():
    alike = timed(Role.IMPLEMENTATION, "x", 100.0).performance
    assert alike
    disturbed = replace(alike, rounds_us=(*[100.0] * 5, 111.0, *[101.0] * 5, 112.11))
    assert last_rounds([alike]) == 0.0
    assert last_rounds([disturbed]) == pytest.approx(0.11)


def test_an_amount_is_found_on_the_line_through_those_that_were_tried():
    assert amount_for(0.015, {20: 0.003, 60: 0.007, 100: 0.011}) == 140


@pytest.mark.parametrize("subject", aa.SUBJECTS, ids=lambda subject: subject.kernel)
def test_every_subject_still_has_its_names_and_every_planted_edit_fits_its_source(site, subject):
    narrow = narrowed(kernel_of(site, subject.kernel), [subject.workload], subject.dtype, subject.names)
    assert subject.dtype in kernel_of(site, subject.kernel).dtypes
    if subject.slowed:
        made, files = with_slowed(narrow, subject.slowed, {SLOWER: 4}, site.files)
        original, planted = made.implementations
        assert files[planted.file] != site.files[original.file]
        assert planted.name == SLOWER


@pytest.mark.parametrize("kernel", against_ncu.SUBJECTS)
def test_whatever_is_held_against_counters_is_still_there(site, kernel):
    workloads, dtype, names = against_ncu.SUBJECTS[kernel]
    assert narrowed(kernel_of(site, kernel), workloads, dtype, names).implementations
