"""Changes beside the time are the same at each repetition, so they are reported with every verdict."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sitegen.model.kernel import Status
from sitegen.model.record import Compilation, LaunchRecord, Record
from sitegen.results.compare import compare_records
from sitegen.results.record_differences import deterministic_changes, same_code
from sitegen.results.verdicts import Verdict

INSTRUCTIONS = {"LDG.128": 8, "STG.128": 8, "FADD": 142}
COMPILED = Compilation("sm_90a", 80, 0, 264, "hash", INSTRUCTIONS)
LAUNCH = LaunchRecord((1000, 1, 1), (128, 1, 1), (8, 1, 1), 0, occupancy=0.5)


@pytest.fixture
def fused(made):
    return replace(
        made.evaluations[1], compilation=COMPILED, launch=LAUNCH, sanitizer={"memcheck": "", "racecheck": ""}
    )


def test_what_did_not_change_is_not_told(fused):
    assert deterministic_changes(fused, fused) == ()


@pytest.mark.parametrize(
    ("part", "change", "told"),
    [
        ("compilation", {"spill_bytes": 48}, "spills 0 → 48 bytes"),
        ("compilation", {"registers": 96}, "registers 80 → 96"),
        ("compilation", {"shared_bytes": 520}, "shared memory 264 → 520 bytes"),
        (
            "compilation",
            {"instructions": {"LDG.32": 32, "STG.128": 8, "FADD": 143}},
            "instructions: LDG.32 0 → 32, LDG.128 8 → 0, FADD 142 → 143",
        ),
        ("launch", {"shared_bytes": 4096}, "dynamic shared memory 0 → 4096 bytes"),
        ("launch", {"block": (256, 1, 1)}, "block 128×1×1 → 256×1×1"),
        ("launch", {"launches": 2}, "launches 1 → 2"),
        ("correctness", {"relative_error": 3e-8}, "relative error 1e-08 → 3e-08"),
        ("correctness", {"deterministic": False}, "no longer deterministic"),
    ],
)
def test_each_change_is_told_with_its_numbers(fused, part, change, told):
    changed = replace(fused, **{part: replace(getattr(fused, part), **change)})
    assert deterministic_changes(fused, changed) == (told,)
    assert len(deterministic_changes(changed, fused)) == 1


def test_resources_of_two_kernels_of_a_call_are_not_compared(fused):
    def described(kernel, registers, grid):
        launch = replace(LAUNCH, grid=(grid, 1, 1), launches=2, kernel=kernel)
        return replace(fused, compilation=replace(COMPILED, registers=registers), launch=launch)

    helper, main, older = described("merge", 28, 8), described("gradients", 168, 132), described("", 28, 8)
    assert deterministic_changes(helper, main) == ("longest kernel merge → gradients",)
    assert deterministic_changes(older, main) == ()
    assert deterministic_changes(described("gradients", 160, 132), main) == ("registers 160 → 168",)
    assert deterministic_changes(older, replace(main, launch=replace(main.launch, launches=3))) == ("launches 2 → 3",)


def test_an_older_record_of_one_launch_describes_the_kernel_that_a_newer_one_names(fused):
    newer = replace(fused, launch=replace(LAUNCH, kernel="add"), compilation=replace(COMPILED, registers=96))
    assert deterministic_changes(fused, newer) == ("registers 80 → 96",)


def test_equal_code_is_equal_whichever_of_its_kernels_a_record_describes(fused):
    several = replace(LAUNCH, launches=2)
    older = replace(fused, launch=several)
    newer = replace(fused, launch=replace(several, grid=(132, 1, 1), kernel="gradients"))
    assert same_code(older, newer)
    assert not same_code(older, replace(newer, launch=replace(newer.launch, launches=3)))
    assert not same_code(newer, replace(newer, launch=replace(newer.launch, grid=(66, 1, 1))))


def test_an_error_that_moved_by_its_rounding_is_the_same(fused):
    close = replace(fused, correctness=replace(fused.correctness, relative_error=1.05e-8))
    assert deterministic_changes(fused, close) == ()


def test_of_many_instructions_the_four_that_changed_most_are_named(fused):
    other = {name: count + n for n, (name, count) in enumerate([*INSTRUCTIONS.items(), *((c, 0) for c in "ABCD")], 1)}
    changed = replace(fused, compilation=replace(COMPILED, instructions=other))
    (told,) = deterministic_changes(fused, changed)
    assert told == "instructions: D 0 → 7, C 0 → 6, B 0 → 5, A 0 → 4, 3 more"


def test_what_one_record_does_not_know_did_not_change(made, fused):
    bare = replace(made.evaluations[1], correctness=None)
    assert deterministic_changes(bare, fused) == deterministic_changes(fused, bare) == ()


def test_a_new_finding_of_the_sanitizer_is_told_also_by_a_tool_that_was_not_run_before(fused):
    found = replace(fused, sanitizer={"memcheck": "", "racecheck": "hazard at 0x10\nby thread 3", "initcheck": "unset"})
    assert deterministic_changes(fused, found) == ("racecheck found: hazard at 0x10", "initcheck found: unset")
    assert deterministic_changes(found, fused) == ("racecheck finds nothing any more",)


def test_the_occupancy_follows_from_the_rest_and_was_not_always_recorded(fused):
    assert same_code(fused, replace(fused, launch=replace(LAUNCH, occupancy=None)))
    assert not same_code(fused, replace(fused, launch=replace(LAUNCH, cluster=(1, 1, 1))))


def test_changes_are_told_beside_every_verdict(made, fused):
    spilled = replace(fused, compilation=replace(COMPILED, spill_bytes=48, sass_hash="other"))
    slow = replace(made.timed("fused", 2.4), compilation=spilled.compilation, launch=LAUNCH)
    failed = replace(spilled, status=Status.RACE, performance=None, message="two runs differ")

    def row(after):
        records = [Record(1, "softmax", "nvidia-h200", (made.run,), (one,)) for one in (fused, after)]
        (found,) = compare_records(made.site, *records)
        return found

    for after, verdict in ((spilled, Verdict.SAME), (slow, Verdict.SLOWER), (failed, Verdict.FAILED)):
        assert row(after).verdict is verdict
        assert row(after).changes[0] == "spills 0 → 48 bytes" and "; spills 0 → 48 bytes" in row(after).reason
        assert row(after).notable
    assert not row(fused).notable
