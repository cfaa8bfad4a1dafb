"""A kernel under the tools → its `JobResult`: findings of compute-sanitizer, then counters of ncu.

One after the other, since a counter sees all that the GPU does.  What a tool cannot do, or is not here to do, is a
warning: no evaluation fails for it.
"""

from __future__ import annotations

from sitegen.measure.counters import count
from sitegen.measure.sanitizer import sanitize
from sitegen.measure.stage import Stage, expect_healthy, read_environment
from sitegen.model.job import JOB_SCHEMA, InspectJob, JobResult


def run_inspect_job(job: InspectJob, stage: Stage) -> JobResult:
    """Nothing without a GPU."""
    if not stage.gpu:
        return JobResult(JOB_SCHEMA, job.id, job.kind)
    with stage.timed("start"):
        read_environment(stage)
    if stage.unhealthy:
        return JobResult(JOB_SCHEMA, job.id, job.kind, seconds=stage.seconds, error=stage.unhealthy)
    with stage.timed("sanitize"):
        sanitized, unseen = sanitize(job, stage)
    if unseen:
        expect_healthy(stage, "compute-sanitizer")
    with stage.timed("count"):
        counted, uncounted = ((), ()) if stage.unhealthy else count(job, stage)
    return JobResult(
        JOB_SCHEMA,
        job.id,
        job.kind,
        stage.environment,
        counted=counted,
        sanitized=sanitized,
        seconds=stage.seconds,
        warnings=(*unseen, *uncounted),
        error=stage.unhealthy,
    )
