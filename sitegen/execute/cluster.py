"""Jobs as plain JSON → results as plain JSON, run by Dask on other machines, in the order in which they finish.

Each GPU has one Nanny worker.  Jobs of this machine need no Dask (local.py).

Dask executes what it receives, so it never listens here without asking for a certificate.  With `hosts` and with
`slurm` the scheduler listens by TLS, with the certificates of Dask's own configuration (`distributed.comm.tls`).  With
`scheduler` nothing listens here, and the certificates are those that the scheduler asks for.

A job whose worker is lost runs again on another worker, twice at most.  The other jobs go on.  A worker that comes
later gets jobs.  When the scheduler is lost, each job without a result becomes a failure with its name, and the results
before it stay.  The same happens when there is no worker for PATIENCE_S, and Slurm has no job that may bring one.
"""

from __future__ import annotations

import contextlib
import logging
import secrets
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cache
from queue import Empty, SimpleQueue
from typing import Any

import dask
from distributed import Client, Future, Scheduler, Security, SpecCluster, get_worker

from sitegen.execute import slurm
from sitegen.execute.local import LOST, RETRIES, JobReply, Spec
from sitegen.execute.measure_process import failure
from sitegen.execute.missing_workers import Missing, MissingHosts, MissingJobs, bringing_back
from sitegen.execute.progress import Progress, Report, end_of_job
from sitegen.execute.targets import NoTarget, Target, local_target
from sitegen.execute.told_rounds import told_to
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
PATIENCE_S = 120.0
"""Seconds that jobs wait for a scheduler that is gone, or for a first worker."""
LOOK_S = 1.0
"""Seconds between two looks at the workers while no job ends."""
SCHEDULER_LOST = "the scheduler was lost before the job ended"
NO_WORKERS = f"no worker with the resource GPU was there for {PATIENCE_S:.0f} s"
SSH = {"connect_timeout": 20, "keepalive_interval": 15, "keepalive_count_max": 4}
"""Options of the connections over SSH, by which a host that falls silent is noticed."""
NO_CERTIFICATES = (
    "Dask would listen on {bind} without asking for a certificate, and anybody who reaches it could run code as you: "
    "name certificates in Dask's configuration (`distributed.comm.tls`, in ~/.config/dask/distributed.yaml)"
)


def execute(
    specs: Sequence[Spec], target: Target, report: Report, work: Callable[[Spec], JobReply] = run_job
) -> Iterator[JobReply]:
    """Yield the result of every job, in the order in which they finish.  The workers import `work` by its name.

    Raises NoTarget when a certificate is missing, and when no worker can be started.
    """
    if not specs:
        return
    with ExitStack() as stack:
        stack.enter_context(dask.config.set(SETTINGS))
        client, missing = _connect(target, stack)
        yield from _Jobs(client, deque(specs), report, work, len(specs), missing).results()


def _connect(target: Target, stack: ExitStack) -> tuple[Client, Missing | None]:
    """Return a client of a scheduler with workers, and who brings missing workers back."""
    if target.scheduler:
        with _starting(f"the scheduler {target.scheduler} does not answer"):
            return stack.enter_context(Client(target.scheduler, timeout=STARTUP_S)), None
    security = security_for(target)
    stack.enter_context(dask.config.set({"distributed.comm.require-encryption": True}))  # the workers inherit this
    with _starting("the workers of the target cannot be started"):
        cluster = stack.enter_context(
            SpecCluster(
                workers=slurm.worker_specs(target, security) if target.slurm else _workers(target),
                scheduler=_scheduler(target, security),
                security=security,
                silence_logs=logging.CRITICAL,
                name="sitegen",
            )
        )
        client = stack.enter_context(Client(cluster, security=security))
        if not target.slurm:  # a job of Slurm may wait for hours
            client.wait_for_workers(1, timeout=STARTUP_S)
    hosts = {_name(target, number): device.host for number, device in enumerate(target.devices)}
    missing: Missing = MissingJobs(cluster) if target.slurm else MissingHosts(hosts)
    stack.enter_context(bringing_back(cluster, missing))
    return client, missing


@contextlib.contextmanager
def _starting(what: str) -> Iterator[None]:
    """Raise NoTarget when the block fails to reach or to start something."""
    try:
        yield
    except Exception as error:  # Dask raises OSError, RuntimeError and the bare Exception
        raise NoTarget(f"{what}: {error}") from error


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
    return {_name(target, number): _worker(target, number) for number in range(len(target.devices))}


def _name(target: Target, number: int) -> str:
    """Return the name of a worker: its host, and which of the host's GPUs it has when the host has several."""
    host = target.devices[number].host
    numbers = [n for n, device in enumerate(target.devices) if device.host == host]
    return f"{host} GPU {numbers.index(number)}" if len(numbers) > 1 else host


def _worker(target: Target, number: int) -> dict[str, Any]:
    device = target.devices[number]
    options = {
        "name": _name(target, number),
        "nthreads": 1,
        "resources": {"GPU": 1, f"gpu:{device.gpu or 'none'}": 1},
        "env": device.environment,
        # the figures of a job come from child processes; the worker itself holds a few MB of JSON
        "memory_limit": 0,
    }
    from distributed.deploy.ssh import Worker

    # logs stay on: dask looks for a line of the log to see that the worker has started
    ssh = {"address": device.host, "connect_options": SSH, "remote_python": target.python, "kwargs": options}
    return {"cls": Worker, "options": {**ssh, "worker_class": "distributed.Nanny"}}


def _reason(error: object, status: str) -> str:
    name = type(error).__name__
    if name == "KilledWorker":
        return LOST
    if name == "NoValidWorkerError":
        return "no worker with such a GPU connected"
    return f"{name}: {error}" if isinstance(error, BaseException) else f"the job was {status}"


def _run_announced(work: Callable[[Spec], JobReply], spec: Spec, topic: str) -> JobReply:
    """Run a job in a worker, after a message that says where; another message follows with each new round."""
    worker = get_worker()
    began = {"job": spec["id"], "place": str(worker.name), "gpu": _gpu_here(), "rounds": 0}
    worker.log_event(topic, began)
    with told_to(lambda rounds: worker.log_event(topic, {**began, "rounds": rounds})):
        return work(spec)


@cache
def _gpu_here() -> str:
    """Return the id of the GPU of this worker; empty without one."""
    return local_target().gpu


@dataclass(slots=True)
class _Jobs:
    """Jobs that wait, are in flight and are done.

    As many are in flight as there are workers: a job that waits on a worker would count as lost when that worker dies.
    """

    client: Client
    waiting: deque[Spec]
    report: Report
    work: Callable[[Spec], JobReply]
    total: int
    missing: Missing | None = None
    topic: str = field(default_factory=lambda: f"sitegen-{secrets.token_hex(8)}")
    """A name that no other run has: runs may share a scheduler."""
    flying: dict[str, tuple[Spec, float]] = field(default_factory=dict)
    """The jobs in flight and when they were sent, by the key of Dask."""
    ended: SimpleQueue[Future] = field(default_factory=SimpleQueue)
    lost: Counter[str] = field(default_factory=Counter)
    """How often the connection was lost while a job was in flight, by the id of the job."""
    done: int = 0
    served: float = field(default_factory=time.monotonic)
    """When a scheduler with a worker was seen last."""

    def results(self) -> Iterator[JobReply]:
        """Yield a result for every job, also for those that no worker can run any more."""
        self.client.subscribe_topic(self.topic, self._announce)
        while self.waiting or self.flying:
            free = self._workers() - len(self.flying)
            if self.client.status in ("closing", "closed") or time.monotonic() - self.served > PATIENCE_S:
                yield from self._given_up()
                return
            for _ in range(min(free, len(self.waiting))):
                self._submit(self.waiting.popleft())
            with contextlib.suppress(Empty):
                if (result := self._result(self.ended.get(timeout=LOOK_S))) is not None:
                    yield result

    def _workers(self) -> int:
        """Return how many workers can take a job now; 0 while the scheduler does not answer."""
        if self.client.status != "running":
            return 0
        try:
            workers = self.client.scheduler_info(n_workers=-1)["workers"].values()
        except OSError:  # the connection has just been lost
            return 0
        count = sum("GPU" in worker["resources"] for worker in workers)
        if count or (self.missing and self.missing.may_come):
            self.served = time.monotonic()
        return count

    def _submit(self, spec: Spec) -> None:
        key = f"{spec['id']}-{self.topic}-{self.lost[spec['id']]}"
        self.flying[key] = spec, time.monotonic()
        options = {"key": key, "resources": {"GPU": 1}, "retries": RETRIES, "pure": False}
        future = self.client.submit(_run_announced, self.work, dict(spec), self.topic, **options)
        future.add_done_callback(self.ended.put)

    def _announce(self, event: tuple[float, dict[str, Any]]) -> None:
        """Report where a job begins, also when it begins again, and its rounds."""
        told = event[1]
        if any(spec["id"] == told["job"] for spec, _ in list(self.flying.values())):
            state = "measuring" if told["rounds"] else "started"
            where = {"place": told["place"], "gpu": told["gpu"]}
            self.report(Progress(told["job"], state, self.done, self.total, **where, rounds=told["rounds"]))

    def _result(self, future: Future) -> JobReply | None:
        """Return the result of a job that ended; None when the connection was lost and the job waits again."""
        spec, began = self.flying.pop(future.key)
        if future.status == "finished":
            result: JobReply = future.result()
        elif future.status == "error":
            result = failure(spec, _reason(future.exception(), future.status))
        else:
            self.lost[spec["id"]] += 1
            if self.lost[spec["id"]] <= RETRIES:
                self.waiting.appendleft(spec)
                return None
            result = failure(spec, SCHEDULER_LOST)
        return self._reported(spec, result, time.monotonic() - began)

    def _given_up(self) -> Iterator[JobReply]:
        """Yield a failure for every job that has no result."""
        connected = self.client.status == "running"
        nobody = slurm.NO_WORKERS.format(folder=slurm.logs()) if isinstance(self.missing, MissingJobs) else NO_WORKERS
        why = nobody if connected else SCHEDULER_LOST
        for spec in [*(spec for spec, _ in self.flying.values()), *self.waiting]:
            yield self._reported(spec, failure(spec, why), 0.0)

    def _reported(self, spec: Spec, result: JobReply, seconds: float) -> JobReply:
        self.done += 1
        self.report(end_of_job(spec["id"], result, self.done, self.total, seconds))
        return result
