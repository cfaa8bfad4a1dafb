"""Workers that Slurm starts: Debian's slurm-wlm on this machine, with two GPUs that do not exist.

`make soak` runs these tests where Slurm and MUNGE are installed, and where the user is root, as their daemons need.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from sitegen.execute import cluster
from sitegen.execute.targets import Target

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PROGRAMS = ("slurmctld", "slurmd", "srun", "sbatch", "scancel", "munged")
pytestmark = [
    pytest.mark.soak,
    pytest.mark.skipif(not all(map(shutil.which, PROGRAMS)) or os.geteuid() != 0, reason="needs slurm-wlm, as root"),
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]
CONFIGURATION = """
ClusterName=test
SlurmctldHost={host}
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
GresTypes=gpu
ReturnToService=2
NodeName={host} CPUs=2 RealMemory=1000 Gres=gpu:2 State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def module(name: str) -> ModuleType:
    """Import a module of this folder under its own name, by which workers import it too."""
    spec = importlib.util.spec_from_file_location(name, HERE / f"{name}.py")
    assert spec and spec.loader
    sys.modules[name] = found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


far_jobs, ssh_hosts = module("far_jobs"), module("ssh_hosts")


class Slurm:
    """A cluster of one node."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.daemons = folder, list[subprocess.Popen[bytes]]()
        host, ports = socket.gethostname().partition(".")[0], ssh_hosts.free_ports(2)
        (folder / "spool").mkdir()
        (folder / "key").write_bytes(os.urandom(1024))
        (folder / "key").chmod(0o600)
        for number in range(2):
            (folder / f"gpu{number}").touch()
        (folder / "slurm.conf").write_text(CONFIGURATION.format(host=host, ports=ports, folder=folder))
        (folder / "gres.conf").write_text("".join(f"NodeName={host} Name=gpu File={folder}/gpu{n}\n" for n in range(2)))
        self.environment = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf"), "PYTHONPATH": f"{ROOT}:{HERE}"}

    def start(self) -> None:
        files = {"key-file": "key", "socket": "munge.socket", "pid-file": "munge.pid", "log-file": "munge.log"}
        munge = [f"--{name}={self.folder / file}" for name, file in {**files, "seed-file": "munge.seed"}.items()]
        for words in (["munged", "-F", "-f", *munge], ["slurmctld", "-D"], ["slurmd", "-D"]):
            with (self.folder / f"{words[0]}.out").open("wb") as out:
                self.daemons.append(subprocess.Popen(words, env=self.environment, stdout=out, stderr=out))
            time.sleep(1.0)
        until = time.monotonic() + 60
        while "idle" not in self.run("sinfo", "--noheader"):
            assert time.monotonic() < until, self.run("sinfo")
            time.sleep(0.5)

    def run(self, *words: str) -> str:
        done = subprocess.run(words, env=self.environment, capture_output=True, text=True, timeout=120, check=False)
        return done.stdout

    def add_worker(self, address: str) -> str:
        """Start a worker of a Dask scheduler in a job with one GPU, as dask-jobqueue does; return the job's number."""
        worker = f"{sys.executable} -m distributed.cli.dask_worker {address} --nthreads 1 --no-dashboard"
        options = ("--parsable", "--gres=gpu:1", f"--output={self.folder}/%j.out")
        return self.run("sbatch", *options, "--wrap", f"exec {worker} --resources GPU=1 --memory-limit 0").strip()

    def end(self) -> None:
        self.run("scancel", "--user=root")
        for daemon in reversed(self.daemons):
            daemon.send_signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                daemon.wait(10)
            daemon.kill()
            daemon.wait()


@pytest.fixture
def slurm(tmp_path: Path) -> Iterator[Slurm]:
    started = Slurm(tmp_path)
    try:
        started.start()
        yield started
    finally:
        started.end()


@pytest.fixture
def scheduler(slurm: Slurm) -> Iterator[str]:
    [port] = ssh_hosts.free_ports(1)
    words = ["--host", "127.0.0.1", "--port", str(port), "--no-dashboard"]
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", *words]
    process = subprocess.Popen(
        command, env=slurm.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    yield f"tcp://127.0.0.1:{port}"
    process.terminate()
    process.wait(20)


def test_a_worker_that_slurm_cancels_leaves_its_job_to_another(slurm: Slurm, scheduler: str, tmp_path: Path) -> None:
    numbers = [slurm.add_worker(scheduler) for _ in range(2)]
    assert all(numbers)
    jobs = [{"id": f"j{n}", "kind": "test", "log": str(tmp_path / f"j{n}"), "seconds": 1.0} for n in range(12)]

    def cancel() -> None:
        while not (tmp_path / "j3").exists():
            time.sleep(0.02)
        slurm.run("scancel", "--signal=KILL", "--full", numbers[0])

    threading.Thread(target=cancel, daemon=True).start()
    results = list(cluster.execute(jobs, Target(scheduler=scheduler), lambda _: None, far_jobs.note_and_wait))
    assert sorted(result["id"] for result in results) == sorted(str(job["id"]) for job in jobs)
    assert not any(result.get("error") for result in results)
    starts = [len(Path(str(job["log"])).read_text().split()) for job in jobs]
    assert sum(starts) in (len(jobs), len(jobs) + 1)


def test_srun_runs_a_bundle_on_a_node(slurm: Slurm, tmp_path: Path) -> None:
    from sitegen.execute.bundle import read_bundle, write_bundle
    from sitegen.model.job import Key, NotebookCell, NotebookJob

    cell = NotebookCell(
        "look", "import os\nprint(os.environ.get('SLURM_JOB_ID'))\nprint(6 * 7)", Key("k"), timeout_s=60.0
    )
    write_bundle([NotebookJob("posts/p", "p", (cell,), {})], "c", tmp_path / "b.zip")
    assert read_bundle(tmp_path / "b.zip").jobs
    said = slurm.run(
        *("srun", "--gres=gpu:1", "--time=00:05:00", sys.executable, "-m", "sitegen", "run"),
        *("--bundle", str(tmp_path / "b.zip"), "-o", str(tmp_path / "r.zip"), "--json"),
    )
    assert '"state": "finished"' in said
    assert (tmp_path / "r.zip").exists()
