"""A cluster of Dask whose workers may be lost → the same cluster, in which lost workers start again."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from threading import Event, Thread
from typing import Protocol

from distributed import SpecCluster

from sitegen.execute.slurm import living_jobs
from sitegen.execute.targets import answers

AGAIN_S = 30.0
"""Seconds between two looks at the workers."""


class Missing(Protocol):
    """The rule by which workers that are missing are started again."""

    may_come: bool
    """Whether a first worker may still come, however long that takes."""

    def startable(self, missing: set[str], known: set[str]) -> set[str]:
        """Return those of the missing workers that can be started now; `known` are the workers that are connected."""


class MissingHosts:
    """Workers over SSH: one can be started again when its host answers."""

    may_come = False

    def __init__(self, hosts: Mapping[str, str]) -> None:
        """Take the host of each worker."""
        self._hosts = hosts

    def startable(self, missing: set[str], known: set[str]) -> set[str]:
        return {name for name in missing if answers(self._hosts[name])}


class MissingJobs:
    """Workers in Slurm: one can be started again when its job ended after it was connected."""

    def __init__(self, cluster: SpecCluster) -> None:
        self._cluster, self._connected = cluster, set[str]()
        self.may_come = True
        """Whether Slurm has a job of this run, which may wait."""

    def startable(self, missing: set[str], known: set[str]) -> set[str]:
        self._connected |= known
        workers = {name: self._cluster.workers.get(name) for name in list(self._cluster.worker_spec)}
        numbers = {name: getattr(worker, "job_id", None) for name, worker in workers.items()}
        living = living_jobs(numbers.values())
        if living is None:
            return set()
        found = {name for name in missing & self._connected if numbers.get(name) not in living}
        self.may_come = bool(living or found)
        return found


@contextlib.contextmanager
def bringing_back(cluster: SpecCluster, missing: Missing) -> Iterator[None]:
    """During the block, start workers again that are missing and can be started."""
    over = Event()
    thread = Thread(target=_bring_back, args=(cluster, missing, over), daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _bring_back(cluster: SpecCluster, missing: Missing, over: Event) -> None:
    """Look at the workers until the run is over.

    A worker that is missing at one look may be starting again under its Nanny, so it must be missing at two looks.
    """
    names = set(cluster.worker_spec)
    before: set[str] = set()
    while not over.wait(AGAIN_S):
        known = {worker["name"] for worker in cluster.scheduler_info["workers"].values()}
        gone = names - known
        for name in missing.startable(gone & before, known):
            with contextlib.suppress(Exception):  # of the connection that broke
                cluster.sync(cluster.workers.pop(name).close)
            cluster.scale(len(names))
            gone.discard(name)
        before = gone
