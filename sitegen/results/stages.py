"""Results of jobs → the seconds that each stage took, which `sitegen run` prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sitegen.model.job import JobResult

TOTAL, ROUNDS, REST = "total", "time", "rest"
"""Names in `JobResult.seconds`: of the whole job and of the rounds; the name of what no stage accounts for."""
WORDS: Mapping[str, str] = {
    "start": "starting processes",
    "prepare": "compiling",
    "first calls": "first calls",
    "check": "compiling, first calls and checks",
    "check workload": "checks at the workload",
    "next generations": "waiting until the next processes are ready",
    "more generations": "starting further processes",
    "plan": "making buffers and graphs, and first estimates",
    ROUNDS: "timed rounds",
    "recheck": "checking the last outputs",
    "take over": "ending the processes of a generation",
    "artefacts": "reading compiled code",
    "end": "ending the last processes",
    "health": "testing the GPU after a fault",
    "ceilings": "ceilings",
    REST: "everything else",
}
"""Stages in words; a stage without an entry is shown under its name."""


def seconds_by_stage(results: Sequence[JobResult]) -> dict[str, float]:
    """Return the seconds of each stage over all jobs, the longest first, under the stages' names."""
    found: dict[str, float] = {}
    for result in results:
        stages = {stage: seconds for stage, seconds in result.seconds.items() if stage != TOTAL}
        rest = max(0.0, result.seconds.get(TOTAL, 0.0) - sum(stages.values()))
        for stage, seconds in (*stages.items(), (REST, rest)):
            found[stage] = found.get(stage, 0.0) + seconds
    return dict(sorted(found.items(), key=lambda one: -one[1]))


def stage_rows(results: Sequence[JobResult]) -> list[tuple[str, str, str]]:
    """Return a row for each stage that took a tenth of a second: its words, seconds and share; none without times."""
    stages = seconds_by_stage(results)
    total = sum(stages.values())
    rows = [(WORDS.get(stage, stage), f"{s:.1f} s", f"{s / total:.0%}") for stage, s in stages.items() if s >= 0.1]
    return [*rows, ("all jobs together", f"{total:.1f} s", "")] if rows else []
