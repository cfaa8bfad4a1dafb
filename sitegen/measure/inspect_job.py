"""An `InspectJob` → its `JobResult`: findings of compute-sanitizer, then counters of ncu.

The two run one after the other, because a counter counts all work of the GPU.  A tool that is missing or cannot judge a
call is a warning: no evaluation fails because of it.
"""

from __future__ import annotations

from sitegen.measure.counters import count
from sitegen.measure.sanitizer import sanitize
from sitegen.measure.workspace import Workspace, check_health, read_environment
from sitegen.model.job import JOB_SCHEMA, InspectJob, JobResult


def run_inspect_job(job: InspectJob, workspace: Workspace) -> JobResult:
    """Run both tools; do nothing without a GPU."""
    if not workspace.gpu:
        return JobResult(JOB_SCHEMA, job.id, job.kind)
    with workspace.timed("start"):
        read_environment(workspace)
    if workspace.unhealthy:
        return JobResult(JOB_SCHEMA, job.id, job.kind, seconds=workspace.seconds, error=workspace.unhealthy)
    with workspace.timed("sanitize"):
        sanitized, unseen = sanitize(job, workspace)
    if unseen:
        check_health(workspace, "compute-sanitizer")
    with workspace.timed("count"):
        counted, uncounted = ((), ()) if workspace.unhealthy else count(job, workspace)
    return JobResult(
        JOB_SCHEMA,
        job.id,
        job.kind,
        workspace.environment,
        counted=counted,
        sanitized=sanitized,
        seconds=workspace.seconds,
        warnings=(*unseen, *uncounted),
        error=workspace.unhealthy,
    )
