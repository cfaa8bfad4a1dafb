"""Jobs as plain JSON → results as plain JSON, run by Dask on other machines, in the order in which they finish.

Each GPU has one Nanny worker, and as many jobs are in flight as there are workers.  Jobs of this machine need no Dask
(local.py).

Dask executes what it receives, so it never listens here without asking for a certificate.  With `hosts` the scheduler
listens by TLS, with the certificates of Dask's own configuration (`distributed.comm.tls`).  With `scheduler` nothing
listens here, and the certificates are those that the scheduler asks for.

A job whose worker is lost runs again on another worker, twice at most.  The other jobs go on.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any

import dask
from distributed import Client, Scheduler, Security, SpecCluster, as_completed

from sitegen.execute.local import LOST, RETRIES, JobReply, Spec
from sitegen.execute.measure_process import failure
from sitegen.execute.progress import Progress, Report
from sitegen.execute.targets import NoTarget, Target
from sitegen.execute.work import run_job

SETTINGS = {
    "distributed.scheduler.allowed-failures": RETRIES,
    # otherwise an idle worker could take a job that is already in flight on another
    "distributed.scheduler.work-stealing": False,
    # a resource that no worker has becomes an error instead of an endless wait
    "distributed.scheduler.no-workers-timeout": "120s",
    "distributed.scheduler.worker-ttl": "60s",
}
STARTUP_S = 60
NO_CERTIFICATES = (
    "Dask would listen on {bind} without asking for a certificate, and anybody who reaches it could run code as you: "
    "name certificates in Dask's configuration (`distributed.comm.tls`, in ~/.config/dask/distributed.yaml)"
)


def execute(
    specs: Sequence[Spec], target: Target, report: Report, work: Callable[[Spec], JobReply] = run_job
) -> Iterator[JobReply]:
    """Yield the result of every job, in the order in which they finish.  The workers import `work` by its name.

    Raises NoTarget when a certificate is missing.
    """
    if not specs:
        return
    with ExitStack() as stack:
        stack.enter_context(dask.config.set(SETTINGS))
        client = _connect(target, stack)
        yield from _through_window(client, specs, target, report, work)


def _connect(target: Target, stack: ExitStack) -> Client:
    if target.scheduler:
        return stack.enter_context(Client(target.scheduler, timeout=STARTUP_S))
    security = security_for(target)
    stack.enter_context(dask.config.set({"distributed.comm.require-encryption": True}))  # the workers inherit this
    cluster = stack.enter_context(
        SpecCluster(
            workers=_workers(target),
            scheduler=_scheduler(target, security),
            security=security,
            silence_logs=logging.CRITICAL,
            name="sitegen",
        )
    )
    client = stack.enter_context(Client(cluster, security=security))
    client.wait_for_workers(len(target.devices), timeout=STARTUP_S)
    return client


def security_for(target: Target) -> Security:
    """Return the certificates of Dask's configuration.  Raises NoTarget when one of them is missing."""
    security = Security(require_encryption=True)
    roles = ("scheduler", "worker", "client")
    needed = ["tls_ca_file", *(f"tls_{role}_{part}" for role in roles for part in ("cert", "key"))]
    if not all(getattr(security, name) for name in needed):
        raise NoTarget(NO_CERTIFICATES.format(bind=target.bind))
    return security


def _scheduler(target: Target, security: Security) -> dict[str, Any]:
    # without the dashboard it still serves HTTP, and would want port 8787: two runs on one host must not meet there
    web = {"dashboard": False, "dashboard_address": f"{target.bind}:0"}
    return {"cls": Scheduler, "options": {"host": target.bind, "port": 0, "security": security, **web}}


def _workers(target: Target) -> dict[str, Any]:
    return {f"gpu-{number}": _worker(target, number) for number in range(len(target.devices))}


def _worker(target: Target, number: int) -> dict[str, Any]:
    device = target.devices[number]
    options = {
        "name": f"gpu-{number}",
        "nthreads": 1,
        "resources": {"GPU": 1, f"gpu:{device.gpu or 'none'}": 1},
        "env": device.environment,
        # the figures of a job come from child processes; the worker itself holds a few MB of JSON
        "memory_limit": 0,
        "silence_logs": logging.CRITICAL,
    }
    from distributed.deploy.ssh import Worker

    ssh = {"address": device.host, "connect_options": {}, "remote_python": target.python, "kwargs": options}
    return {"cls": Worker, "options": {**ssh, "worker_class": "distributed.Nanny"}}


def _through_window(
    client: Client, specs: Sequence[Spec], target: Target, report: Report, work: Callable[[Spec], JobReply]
) -> Iterator[JobReply]:
    """Yield results, with at most as many jobs in flight as there are workers.

    A job that waits on a worker would count as lost when that worker dies.
    """
    waiting, by_key, began = list(specs), {spec["id"]: spec for spec in specs}, dict[str, float]()
    done = 0

    def submit() -> Any:
        spec = waiting.pop(0)
        began[spec["id"]] = time.monotonic()
        report(Progress(spec["id"], "started", done, len(specs)))
        return client.submit(work, dict(spec), key=spec["id"], resources={"GPU": 1}, retries=RETRIES, pure=False)

    size = len(target.devices) or max(1, len(client.scheduler_info()["workers"]))
    window = as_completed([submit() for _ in range(min(size, len(specs)))], with_results=True, raise_errors=False)
    for future, value in window:
        result = _result(by_key[future.key], future.status, value)
        done += 1
        seconds, error = time.monotonic() - began[future.key], result.get("error", "")
        report(Progress(future.key, "failed" if error else "finished", done, len(specs), seconds, error))
        if waiting:
            window.add(submit())
        yield result


def _result(spec: Spec, status: str, value: Any) -> JobReply:
    if status == "finished":
        result: JobReply = value
        return result
    error = value[1] if isinstance(value, tuple) else value
    return failure(spec, _reason(error, status))


def _reason(error: object, status: str) -> str:
    name = type(error).__name__
    if name == "KilledWorker":
        return LOST
    if name == "NoValidWorkerError":
        return "no worker with such a GPU connected"
    return f"{name}: {error}" if isinstance(error, BaseException) else f"the job was {status}"
