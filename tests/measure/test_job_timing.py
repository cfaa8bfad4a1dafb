"""A whole job with fake children that only note their requests: the order of requests, and each fault's result."""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from sitegen.measure.jobs import run_kernel_job
from sitegen.measure.protocol import EvaluationEnded
from sitegen.measure.requests import Request, message_of
from sitegen.measure.rounds import GENERATION_ROUNDS, GENERATIONS, LEAST_ROUNDS
from sitegen.measure.workspace import Workspace
from sitegen.model.job import ROUNDS_FILE, PreviousRatios
from sitegen.model.kernel import Status
from sitegen.model.plain import from_plain
from sitegen.model.record import Role
from sitegen.model.variables import DRIVER_LOCK

GB = 1 << 30
ENVIRONMENT = {
    "gpu": "a GPU",
    "arch": "sm_90",
    "sm_count": 132,
    "l2_bytes": 60 << 20,
    "memory_bytes": 140 * GB,
    "driver": "1",
    "cuda": "13.0",
    "torch": "2",
    "triton": "3",
    "python": "3",
    "sm_clock_max_mhz": 1980.0,
    "power_limit_w": 700.0,
    "ecc": True,
}
CORRECTNESS = {
    "relative_error": 0.0,
    "row_error": 0.0,
    "max_abs_error": 0.0,
    "baseline_max_abs_error": 0.0,
    "tolerance": 1e-6,
    "shapes": 1,
    "seeds": 3,
}
TIMES_SETS = ("plan", "resume", "turn")


@dataclass
class World:
    """The requests to every child, in order, and the faults: (name, generation, request) → the exception it raises."""

    faults: dict[tuple[str, int, str], EvaluationEnded] = field(default_factory=dict)
    estimate_us: float = 1300.0
    environment: dict[str, Any] = field(default_factory=lambda: ENVIRONMENT)
    luck: dict[tuple[str, int], float] = field(default_factory=dict)
    """The factor by which a process is slower than the others of its name, by (name, generation)."""
    asked: list[tuple[str, str, int]] = field(default_factory=list)
    """The requests as (request, name, generation); `ended` notes the end of a child."""
    details: list[dict[str, Any]] = field(default_factory=list)
    lock: Any = field(default_factory=threading.Lock)

    def note(self, do: str, child: FakeChild, **details: Any) -> None:
        with self.lock:
            self.asked.append((do, child.name, child.generation))
            self.details.append(details)

    def when(self, *requests: str, generation: int | None = None) -> list[int]:
        return [at for at, (do, _, g) in enumerate(self.asked) if do in requests and generation in (None, g)]

    def who(self, request: str, generation: int | None = None) -> list[str]:
        return [self.asked[at][1] for at in self.when(request, generation=generation)]


class FakeChild:
    def __init__(self, world: World, role: str, name: str, generation: int) -> None:
        self.world, self.role, self.name, self.generation, self.alive = world, role, name, generation, True

    def ask(self, request: Request[Any], seconds: float) -> Any:
        assert self.alive
        do, arguments = (message := message_of(request)).pop("do"), message
        self.world.note(do, self, **arguments)
        if why := self.world.faults.get((self.name, self.generation, do)):
            self.end()
            raise why
        return from_plain(request.reply, getattr(self, f"_{do}", lambda **_: None)(**arguments))

    def ask_within_budget(self, request: Request[Any], budget_s: float) -> Any:
        return self.ask(request, budget_s)

    def end(self) -> None:
        if self.alive:
            self.alive = False
            self.world.note("ended", self)

    def _environment(self) -> Any:
        return self.world.environment

    def _healthy(self) -> bool:
        return True

    def _prepare(self) -> Any:
        return {"allocates": False}

    def _check(self, shapes: Any) -> Any:
        return {**CORRECTNESS, "shapes": len(shapes)}

    def _plan(self, **_: Any) -> Any:
        return {"estimate_us": self.world.estimate_us, "chosen": ""}

    def _empty_kernel(self) -> Any:
        return {"times": {"graph_us": 1.2, "events_us": 4.9}}

    def _use_graph(self) -> Any:
        return {"graph": True, "graph_calls": 200, "launch_bound": False, "estimate_us": self.world.estimate_us}

    def _turn(self, kind: str, samples: int, keep: bool) -> Any:
        size = {"torch": 100.0, "ours": 50.0, "other": 48.0}.get(self.name, 40.0) * self.world.luck.get(
            (self.name, self.generation), 1
        )
        return {"us": [size] * samples, "busy_s": 0.01, "clock_mhz": 1500.0, "power_w": 500.0, "throttle": []}

    def _artefacts(self, dims: Any) -> Any:
        return {"missing": ""}


class FakeWorkspace(Workspace):
    world: World

    def start(self, role: str, name: str, generation: int = 1) -> Any:
        child = FakeChild(self.world, role, name, generation)
        self.world.note("started", child)
        return child


@pytest.fixture
def run(add_kernel, tmp_path):
    """Return the results by name of a job with `ours`, `other`, torch and (for a memory kernel) both probes."""

    def done(world: World, **changes: Any) -> dict[str, Any]:
        job = add_kernel.kernel_job({"ours": "…", "other": "…"}, n=1 << 22)
        job = replace(job, previous=changes.pop("previous", {}))
        workspace = FakeWorkspace(tmp_path, tmp_path / "job.json", True, world.environment["memory_bytes"])
        workspace.world = world
        done.result = run_kernel_job(replace(job, kernel=replace(job.kernel, **changes)), workspace)
        return {evaluation.name: evaluation for evaluation in done.result.evaluations}

    return done


MATRIX = {"flops": "1000 * N * itemsize"}
EVERYBODY = ["copy", "other", "ours", "read", "torch"]


def test_everybody_is_timed_by_three_processes_as_many_rounds_each(run):
    world = World()
    found = run(world)
    assert {name: e.status for name, e in found.items()} == dict.fromkeys(EVERYBODY, Status.PASSED)
    for generation in range(1, GENERATIONS + 1):
        assert sorted(world.who("turn", generation)) == sorted(EVERYBODY * GENERATION_ROUNDS)
    assert found["ours"].performance.by_process_us == (50.0,) * GENERATIONS
    assert len(found["ours"].performance.rounds_us) == LEAST_ROUNDS


def test_the_worker_can_read_how_many_rounds_a_job_has_begun(run, tmp_path):
    found = run(World())
    assert (tmp_path / ROUNDS_FILE).read_text() == str(len(found["ours"].performance.rounds_us))


def before(ratio: float, gpu: str = "a-gpu") -> dict[str, PreviousRatios]:
    """Return the record of `ours`, which was twice as fast as torch."""
    return {"ours": PreviousRatios(gpu, {"copy": 0.5, "torch": ratio}, 0.01)}


@pytest.mark.parametrize("ratio", [2.0 * 1.008, 2.0 / 1.012])
def test_a_change_near_the_threshold_is_timed_by_five_processes_of_everybody(run, ratio):
    world = World()
    found = run(world, previous=before(ratio))
    for generation in range(1, 6):
        assert sorted(world.who("turn", generation)) == sorted(EVERYBODY * GENERATION_ROUNDS)
        assert sorted(world.who("recheck", generation)) == EVERYBODY
    assert {len(found[name].performance.by_process_us) for name in EVERYBODY} == {5}
    ratios = {ratio.baseline: ratio for ratio in found["ours"].performance.ratios}
    assert ratios["torch"].by_process == (2.0,) * 5
    assert "more generations" in run.result.seconds


@pytest.mark.parametrize("previous", [before(2.0), before(2.004), before(1.9), before(2.02, gpu="another")])
def test_no_change_a_large_one_and_one_against_another_gpu_are_settled_by_three(run, previous):
    world, quiet = World(), World()
    run(world, previous=previous)
    run(quiet)
    assert world.who("turn", GENERATIONS + 1) == []
    assert sorted(world.asked) == sorted(quiet.asked)


def test_processes_that_disagree_are_joined_by_two_more(run):
    world = World(luck={("ours", 1): 1.02})
    found = run(world, reads="N * itemsize")
    assert len(found["ours"].performance.by_process_us) == 5
    assert len(run(World(luck={("copy", 1): 1.02}))["ours"].performance.by_process_us) == GENERATIONS


def test_further_processes_are_made_two_at_a_time_while_nothing_is_timed_and_no_other_has_sets(run):
    world = World()
    run(world, previous=before(2.02))
    started = {generation: world.when("started", generation=generation) for generation in range(2, 6)}
    assert max(world.when("turn", generation=3)) < min(started[4])
    assert max(started[5]) < min(world.when("turn", generation=4))
    for generation in range(1, 5):
        ended = [at for at in world.when("ended", generation=generation) if world.asked[at][1] in EVERYBODY]
        assert max(ended) < min(world.when("resume", generation=generation + 1))
    assert max(world.when("prepare", "first", generation=5)) < min(world.when("resume", generation=4))
    assert len(world.when("started")) == len(world.when("ended"))


def test_a_gpu_too_small_for_so_many_contexts_has_two_generations_at_a_time(run):
    world = World(environment={**ENVIRONMENT, "memory_bytes": 28 * GB})
    found = run(world)
    assert len(found["ours"].performance.by_process_us) == GENERATIONS
    assert max(world.when("started", generation=2)) < min(world.when("turn", generation=1))
    assert max(world.when("turn", generation=2)) < min(world.when("started", generation=3))
    assert world.when("started", generation=4) == []


def test_a_gpu_smaller_still_has_one_generation_at_a_time(run):
    world = World(environment={**ENVIRONMENT, "memory_bytes": 16 * GB})
    found = run(world, previous=before(2.02))
    assert len(found["ours"].performance.by_process_us) == 5
    for generation in range(1, 5):
        ended = [at for at in world.when("ended", generation=generation) if world.asked[at][1] in EVERYBODY]
        assert max(ended) < min(world.when("started", generation=generation + 1))


def test_a_workload_that_does_not_fit_is_told_so_before_anything_is_started(run):
    world = World(environment={**ENVIRONMENT, "memory_bytes": 16 * GB})
    found = run(world, reads="N * itemsize * 256")
    assert {e.status for e in found.values()} == {Status.DOES_NOT_FIT}
    assert re.fullmatch(r"needs \d+ GiB, the GPU has 16", found["ours"].message)
    assert world.who("started") == ["environment"]
    assert run.result.environment.gpu == "a GPU" and not run.result.error


def test_a_process_of_the_job_reads_the_facts_of_the_gpu_before_it_knows_any_code_of_the_site(run):
    world = World()
    run(world)
    (read,) = world.when("environment")
    _, name, generation = world.asked[read]
    of_this = [do for do, *who in world.asked if who == [name, generation]]
    assert of_this[:4] == ["started", "start", "environment", "prepare"]
    assert len(world.who("started")) == len(EVERYBODY) * GENERATIONS


def test_another_process_reads_the_facts_where_that_one_failed(run):
    world = World({("ours", 1, "environment"): EvaluationEnded(Status.TIMEOUT, "reading took more than 120 s")})
    found = run(world)
    assert found["ours"].status is Status.TIMEOUT
    assert found["other"].status is Status.PASSED
    assert run.result.environment.gpu == "a GPU" and not run.result.error


@pytest.mark.parametrize(("generation", "request_"), [(4, "first"), (5, "prepare"), (4, "resume"), (5, "turn")])
def test_a_fault_in_a_further_process_ends_it_too_and_no_child_is_left(run, generation, request_):
    world = World({("ours", generation, request_): EvaluationEnded(Status.RUNTIME_ERROR, "an illegal access")})
    found = run(world, previous=before(2.02))
    assert (found["ours"].status, found["ours"].performance) == (Status.RUNTIME_ERROR, None)
    assert len(found["other"].performance.by_process_us) == 5
    assert len(world.when("started")) == len(world.when("ended"))


def test_the_next_generations_are_ready_before_anything_is_timed(run):
    world = World()
    run(world)
    for generation in range(2, GENERATIONS + 1):
        assert sorted(world.who("prepare", generation)) == EVERYBODY
        assert sorted(world.who("first", generation)) == ["other", "ours", "torch"]
    assert max(world.when("prepare", "first", "check")) < min(world.when("plan"))


def test_the_next_processes_compile_after_the_first_of_the_same_code(run):
    world = World()
    run(world)
    for name in ("other", "ours", "torch"):
        first, later = ([at for at in world.when("first", generation=g) if world.asked[at][1] == name] for g in (1, 2))
        assert max(first) < min(later)


@pytest.fixture
def other_workers(tmp_path, monkeypatch):
    """Make the job one of several on this host."""
    monkeypatch.setenv(DRIVER_LOCK, str(tmp_path / "driver"))


def test_beside_other_gpus_the_next_contexts_are_created_before_anything_is_prepared_in_them(run, other_workers):
    world = World()
    found = run(world)
    assert {e.status for e in found.values()} == {Status.PASSED}
    created, prepared = ([at for g in (2, 3) for at in world.when(do, generation=g)] for do in ("start", "prepare"))
    assert len(created) == len(prepared) == 2 * len(EVERYBODY)
    assert max(created) < min(prepared)


def test_a_context_that_cannot_be_created_ends_its_evaluation_with_its_own_reason(run, other_workers):
    world = World({("ours", 2, "start"): EvaluationEnded(Status.RUNTIME_ERROR, "no context")})
    found = run(world)
    assert (found["ours"].status, found["ours"].message) == (Status.RUNTIME_ERROR, "no context")
    assert found["other"].status is Status.PASSED
    assert "ours" not in world.who("prepare", 2)
    assert len(world.when("started")) == len(world.when("ended"))


def test_only_one_generation_has_sets_at_a_time(run):
    world = World()
    run(world)
    ended = [at for at in world.when("ended", generation=1) if world.asked[at][1] in EVERYBODY]
    assert len(ended) == len(EVERYBODY)
    assert max(world.when(*TIMES_SETS, generation=1)) < min(ended)
    assert max(ended) < min(world.when(*TIMES_SETS, generation=2))


def test_the_second_generation_takes_over_what_the_first_found_out(run):
    world = World(estimate_us=5.0)
    found = run(world)
    (resumed, *_) = [world.details[at] for at in world.when("resume")]
    assert (resumed["estimate_us"], resumed["graph_calls"], resumed["resident"]) == (5.0, 200, True)
    assert world.who("plan", 2) == world.who("use_graph", 2) == []
    assert found["ours"].performance.graph


def test_no_child_is_left_whatever_happened(run):
    faults = {
        ("ours", 1, "check"): EvaluationEnded(Status.TIMEOUT, "…"),
        ("other", 2, "turn"): EvaluationEnded(Status.RUNTIME_ERROR, "…"),
    }
    for world in (World(), World(faults)):
        run(world)
        assert len(world.when("started")) == len(world.when("ended"))


def test_baselines_are_checked_only_where_they_are_timed(run):
    world = World()
    found = run(world)
    shapes = {(world.asked[at][1], len(world.details[at]["shapes"])) for at in world.when("check")}
    assert shapes == {("ours", 3), ("ours", 1), ("other", 3), ("other", 1), ("torch", 1)}
    assert (found["ours"].correctness.shapes, found["torch"].correctness.shapes) == (4, 1)


def test_a_kernel_without_small_shapes_is_checked_at_its_workload(run):
    world = World()
    found = run(world, checks=())
    assert [world.details[at]["shapes"] for at in world.when("check")] == [[{"N": 1 << 22}]] * 3
    assert (found["ours"].status, found["ours"].correctness.shapes) == (Status.PASSED, 1)


def test_outputs_are_checked_again_at_the_end_of_each_generation(run):
    world = World()
    run(world)
    for generation in range(1, GENERATIONS + 1):
        assert sorted(world.who("recheck", generation)) == EVERYBODY
        assert max(world.when("turn", generation=generation)) < min(world.when("recheck", generation=generation))


def test_outputs_that_do_not_stay_in_memory_are_checked_right_after_the_turn(run):
    world = World()
    run(world, reads="N * itemsize * 768")
    kept = [at for at in world.when("turn") if world.details[at]["keep"]]
    assert sorted(world.who("recheck", 1)) == sorted(world.who("recheck", 2)) == EVERYBODY
    assert all(world.asked[at + 1] == ("recheck", *world.asked[at][1:]) for at in kept)


@pytest.mark.parametrize("generation", [1, 2])
@pytest.mark.parametrize("request_", ["first", "turn", "recheck"])
def test_a_fault_in_either_generation_ends_it_with_its_status_and_the_others_go_on(run, generation, request_):
    world = World({("ours", generation, request_): EvaluationEnded(Status.INCORRECT, "planted")})
    found = run(world)
    assert (found["ours"].status, found["ours"].message) == (Status.INCORRECT, "planted")
    assert found["ours"].performance is None
    assert len(found["other"].performance.rounds_us) == LEAST_ROUNDS


def test_one_that_cannot_take_over_is_out(run):
    found = run(World({("ours", 2, "resume"): EvaluationEnded(Status.RUNTIME_ERROR, "no graph")}))
    assert (found["ours"].status, found["ours"].performance) == (Status.RUNTIME_ERROR, None)
    assert found["other"].performance is not None


def test_what_the_checks_say_comes_before_a_fault_of_the_second_process(run):
    late = EvaluationEnded(Status.RUNTIME_ERROR, "an illegal access")
    found = run(
        World({("ours", 2, "first"): late, ("ours", 1, "check"): EvaluationEnded(Status.OUT_OF_BOUNDS, "by one")})
    )
    assert found["ours"].status is Status.OUT_OF_BOUNDS
    assert run(World({("ours", 2, "prepare"): late}))["ours"].status is Status.RUNTIME_ERROR


def test_after_a_fault_of_the_second_generation_a_fresh_process_looks_at_the_gpu(run):
    world = World({("ours", 2, "turn"): EvaluationEnded(Status.RUNTIME_ERROR, "an illegal access")})
    run(world)
    assert world.who("healthy") == ["after-ours"]


def test_when_the_baseline_fails_at_last_ours_is_timed_without_it(run):
    found = run(World({("torch", 2, "turn"): EvaluationEnded(Status.INCORRECT, "…")}))
    assert {ratio.baseline for ratio in found["ours"].performance.ratios} == {"copy", "read"}


def test_a_matrix_kernel_has_bursts_and_sustained_turns_and_no_probes(run):
    world = World()
    found = run(world, **MATRIX)
    assert set(found) == {"ours", "other", "torch"}
    assert {world.details[at]["kind"] for at in world.when("turn")} == {"burst", "sustained"}
    assert world.who("warm") == []
    assert found["ours"].performance.sustained.ratios[0].value == found["ours"].performance.cycle_ratios[0].value == 2.0


def test_a_matrix_kernel_too_short_for_a_burst_is_timed_in_a_graph_as_others_are(run):
    world = World(estimate_us=5.0)
    found = run(world, **MATRIX)
    assert {world.details[at]["kind"] for at in world.when("turn")} == {"plain"}
    assert (found["ours"].performance.graph, found["ours"].performance.sustained) == (True, None)


@pytest.mark.parametrize(
    ("estimate_us", "changes", "graph"), [(130.0, {}, True), (1300.0, {}, False), (130.0, MATRIX, False)]
)
def test_calls_to_which_events_would_add_more_than_a_graph_does_are_timed_in_graphs(run, estimate_us, changes, graph):
    """A matrix kernel of 130 µs has bursts, which are timed by events."""
    found = run(World(estimate_us=estimate_us), **changes)["ours"].performance
    assert (found.graph, found.empty_kernel_us) == ((True, 1.2) if graph else (False, 4.9))


def test_an_empty_kernel_is_timed_once_and_while_nothing_else_runs(run):
    world = World()
    run(world)
    (at,) = world.when("empty_kernel")
    assert max(world.when("plan")) < at < min(world.when("turn"))


def test_where_the_time_went_is_told_by_stage(run):
    run(World())
    stages = ["start", "check", "next generations", "plan", "time"]
    assert set(run.result.seconds) == {*stages, "recheck", "take over", "artefacts", "end"}


def test_only_who_passes_everything_brings_artefacts(run):
    world = World({("ours", 2, "recheck"): EvaluationEnded(Status.INCORRECT, "…")})
    run(world)
    assert sorted(world.who("artefacts")) == ["other", "torch"]


def test_no_implementation_no_rounds(run):
    wrong = EvaluationEnded(Status.INCORRECT, "…")
    world = World({(name, 1, "check"): wrong for name in ("ours", "other")})
    found = run(world)
    assert world.who("turn") == []
    assert (found["torch"].role, found["torch"].status, found["torch"].performance) == (
        Role.BASELINE,
        Status.PASSED,
        None,
    )
