"""Runs on hosts over SSH and on a scheduler, of which something is killed, falls silent or comes back.

Each host is an OpenSSH server on this machine (ssh_hosts.py).  Jobs only wait.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from dask import config
from distributed import Security

from sitegen.execute import cluster, missing_workers
from sitegen.execute.progress import Progress
from sitegen.execute.targets import NoTarget, Target, configured_target
from sitegen.model.site import TargetSettings

HERE = Path(__file__).parent


def module(name: str) -> ModuleType:
    """Import a module of this folder under its own name, by which workers on other hosts import it too."""
    spec = importlib.util.spec_from_file_location(name, HERE / f"{name}.py")
    assert spec and spec.loader
    sys.modules[name] = found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


far_jobs, ssh_hosts = module("far_jobs"), module("ssh_hosts")
needs_sshd = pytest.mark.skipif(not shutil.which(ssh_hosts.SSHD), reason="needs OpenSSH's server")
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
SOON = {"distributed.comm.timeouts.connect": "2s"}
Jobs = list[dict[str, Any]]
Hosts = dict[str, Any]
"""Hosts of ssh_hosts.py by name."""


@pytest.fixture
def hosts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hosts]:
    """Three hosts, with the SSH configuration and the certificates that reach them."""
    made = Security.temporary()
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    key.write_text(made.tls_client_key)
    certificate.write_text(made.tls_client_cert)
    files = {"key": str(key), "cert": str(certificate)}
    tls = {f"distributed.comm.tls.{r}.{p}": f for r in ("scheduler", "worker", "client") for p, f in files.items()}
    monkeypatch.setitem(cluster.SETTINGS, "distributed.scheduler.worker-ttl", "4s")
    with ssh_hosts.three_hosts(tmp_path, HERE) as started:
        monkeypatch.setenv("HOME", str(tmp_path / "home"))
        monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
        with config.set({**tls, **SOON, "distributed.comm.tls.ca-file": str(certificate)}):
            yield started


def target_of(hosts: Hosts, tmp_path: Path) -> Target:
    python = str(tmp_path / "bin" / "python")
    return configured_target("lab", {"lab": TargetSettings(tuple(hosts), bind="127.0.0.1", python=python)})


def jobs_in(folder: Path, number: int, seconds: float = 0.5) -> Jobs:
    return [{"id": f"j{n}", "kind": "test", "log": str(folder / f"j{n}"), "seconds": seconds} for n in range(number)]


def starts_of(jobs: Jobs) -> dict[str, list[str]]:
    """Return the GPU of each start of each job."""
    logs = {job["id"]: Path(job["log"]) for job in jobs}
    return {name: [line.split(":")[1] for line in log.read_text().split()] for name, log in logs.items()}


def once_begun(job: dict[str, Any], act: Callable[[int, str], None]) -> threading.Thread:
    """Call a function with the process and the host of a job when it has begun."""

    def wait() -> None:
        log = Path(job["log"])
        while not log.exists() or "\n" not in log.read_text():
            time.sleep(0.02)
        pid, gpu = log.read_text().split()[0].split(":")
        act(int(pid), gpu.removeprefix("GPU-"))

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    return thread


def run(jobs: Jobs, target: Target, seen: list[Progress] | None = None) -> dict[str, str]:
    """Run the jobs; return the error of each, which is empty for one that finished."""
    report = seen.append if seen is not None else lambda _: None
    return {r["id"]: r.get("error", "") for r in cluster.execute(jobs, target, report, far_jobs.note_and_wait)}


@needs_sshd
def test_three_hosts_share_the_jobs_and_each_is_named(hosts: Hosts, tmp_path: Path) -> None:
    jobs, seen = jobs_in(tmp_path, 9), list[Progress]()
    assert run(jobs, target_of(hosts, tmp_path), seen) == {job["id"]: "" for job in jobs}
    assert {gpu for several in starts_of(jobs).values() for gpu in several} == {"GPU-gpu1", "GPU-gpu2", "GPU-gpu3"}
    assert {one.place for one in seen if one.state == "started"} == set(hosts)


@needs_sshd
def test_a_job_whose_worker_is_killed_runs_again_and_every_other_job_once(hosts: Hosts, tmp_path: Path) -> None:
    jobs = jobs_in(tmp_path, 9)
    once_begun(jobs[1], lambda pid, host: os.kill(pid, signal.SIGKILL))
    assert not any(run(jobs, target_of(hosts, tmp_path)).values())
    assert {name: len(several) for name, several in starts_of(jobs).items()} == {
        job["id"]: 2 if job is jobs[1] else 1 for job in jobs
    }


@needs_sshd
def test_a_host_that_goes_away_leaves_its_job_to_another(hosts: Hosts, tmp_path: Path) -> None:
    jobs = jobs_in(tmp_path, 9)
    once_begun(jobs[1], lambda pid, host: hosts[host].end())
    assert not any(run(jobs, target_of(hosts, tmp_path)).values())
    first, second = starts_of(jobs)["j1"]
    assert first != second


@needs_sshd
def test_a_host_that_falls_silent_leaves_its_job_to_another_and_gets_jobs_when_it_is_back(
    hosts: Hosts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(missing_workers, "AGAIN_S", 3.0)
    jobs, silent, back = jobs_in(tmp_path, 60, 1.0), list[str](), list[float]()

    def fall_silent(pid: int, host: str) -> None:
        silent.append(f"GPU-{host}")
        hosts[host].signal(signal.SIGSTOP)
        while len(Path(jobs[1]["log"]).read_text().split()) < 2:
            time.sleep(0.1)
        back.append(time.time())
        hosts[host].signal(signal.SIGCONT)

    once_begun(jobs[1], fall_silent)
    assert not any(run(jobs, target_of(hosts, tmp_path)).values())
    starts = starts_of(jobs)
    assert len(starts.pop("j1")) == 2 and {len(several) for several in starts.values()} == {1}
    last = {gpu: Path(job["log"]).stat().st_mtime for job in jobs[2:] for gpu in starts[job["id"]]}
    assert last[silent[0]] > back[0]


@needs_sshd
def test_a_host_that_does_not_answer_is_named_and_the_others_run(hosts: Hosts, tmp_path: Path) -> None:
    hosts["gpu2"].end()
    target = target_of(hosts, tmp_path)
    assert target.silent == ("gpu2",)
    jobs = jobs_in(tmp_path, 4)
    assert not any(run(jobs, target).values())
    assert {gpu for several in starts_of(jobs).values() for gpu in several} == {"GPU-gpu1", "GPU-gpu3"}


@needs_sshd
def test_a_python_without_sitegen_is_an_error_and_no_endless_wait(hosts: Hosts, tmp_path: Path) -> None:
    (tmp_path / "bin" / "python").write_text("#!/bin/sh\nexit 1\n")
    with pytest.raises(NoTarget, match="the workers of the target cannot be started"):
        run(jobs_in(tmp_path, 2), target_of(hosts, tmp_path))


class Lab:
    """A scheduler with workers that run already, on this machine."""

    def __init__(self) -> None:
        [port] = ssh_hosts.free_ports(1)
        self.address = f"tcp://127.0.0.1:{port}"
        self.scheduler = self.start("scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard")
        self.others: list[subprocess.Popen[bytes]] = []

    def add_worker(self, *words: str) -> None:
        self.others.append(self.start("worker", self.address, "--nthreads", "1", "--no-dashboard", *words))

    def start(self, name: str, *words: str) -> subprocess.Popen[bytes]:
        environment = {**os.environ, "PYTHONPATH": f"{ssh_hosts.ROOT}:{HERE}"}
        command = [sys.executable, "-m", f"distributed.cli.dask_{name}", *words]
        return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def end(self) -> None:
        for process in (self.scheduler, *self.others):
            process.terminate()
        for process in (self.scheduler, *self.others):
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(10)
            process.kill()


@pytest.fixture
def lab() -> Iterator[Lab]:
    started = Lab()
    yield started
    started.end()


def test_a_scheduler_that_is_lost_ends_the_run_with_the_name_of_each_job_that_is_left(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "STARTUP_S", 8)
    lab.add_worker("--resources", "GPU=1")
    jobs = jobs_in(tmp_path, 4)
    once_begun(jobs[1], lambda pid, host: lab.scheduler.kill())
    errors = run(jobs, Target(scheduler=lab.address))
    assert errors == {"j0": "", **dict.fromkeys(("j1", "j2", "j3"), "the scheduler was lost before the job ended")}


def test_a_worker_that_comes_later_gets_jobs(lab: Lab, tmp_path: Path) -> None:
    lab.add_worker("--resources", "GPU=1")
    jobs = jobs_in(tmp_path, 30)
    once_begun(jobs[0], lambda pid, host: lab.add_worker("--resources", "GPU=1"))
    assert not any(run(jobs, Target(scheduler=lab.address)).values())
    assert len({Path(job["log"]).read_text().split(":")[0] for job in jobs}) == 2


def test_a_scheduler_without_a_gpu_ends_the_run_instead_of_an_endless_wait(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "PATIENCE_S", 3.0)
    lab.add_worker()
    errors = run(jobs_in(tmp_path, 2), Target(scheduler=lab.address))
    assert errors == dict.fromkeys(("j0", "j1"), cluster.NO_WORKERS)


def test_a_scheduler_that_does_not_answer_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "STARTUP_S", 1)
    [port] = ssh_hosts.free_ports(1)
    with pytest.raises(NoTarget, match=f"the scheduler tcp://127.0.0.1:{port} does not answer"):
        run([{"id": "x", "kind": "test"}], Target(scheduler=f"tcp://127.0.0.1:{port}"))
