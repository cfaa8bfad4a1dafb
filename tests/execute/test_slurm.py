"""Workers that Slurm starts: a false Slurm of three programs, and Debian's slurm-wlm with two GPUs that do not exist.

`make soak` runs the tests of slurm-wlm, where Slurm and MUNGE are installed, and where the user is root, as their
daemons need.
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
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from dask import config
from distributed import Security

from sitegen.execute import cluster, missing_workers, slurm
from sitegen.execute.targets import NoTarget, Target, configured_target
from sitegen.model.site import TargetSettings

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PROGRAMS = ("slurmctld", "slurmd", "srun", "sbatch", "scancel", "munged")
IS_HERE = all(map(shutil.which, PROGRAMS)) and os.geteuid() == 0
needs_slurm = pytest.mark.skipif(not IS_HERE, reason="needs slurm-wlm, as root")
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
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


SETTINGS = TargetSettings(slurm=2, bind="127.0.0.1", python=sys.executable)


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


SBATCH = """#!{python}
import itertools, pathlib, subprocess, sys
folder = pathlib.Path("{folder}")
script = pathlib.Path(sys.argv[1]).read_text()
for number in map(str, itertools.count(1)):
    try:
        with (folder / (number + ".script")).open("x") as file:  # two may be submitted at once
            file.write(script)
        break
    except FileExistsError:
        pass
if "--partition=none" in script:
    sys.exit("sbatch: error: invalid partition specified: none")
with (folder / (number + ".out")).open("wb") as out:
    words = ["sleep", "600"] if (folder / "busy").exists() else ["sh", sys.argv[1]]
    process = subprocess.Popen(words, start_new_session=True, stdin=subprocess.DEVNULL, stdout=out, stderr=out)
(folder / (number + ".job")).write_text(str(process.pid))
print("Submitted batch job", number)
"""
SQUEUE = """#!{python}
import os, pathlib, psutil
for job in pathlib.Path("{folder}").glob("*.job"):
    pid = int(job.read_text())
    if psutil.pid_exists(pid) and psutil.Process(pid).status() != "zombie":
        print(job.stem)
"""
SCANCEL = """#!{python}
import contextlib, os, pathlib, signal, sys
job = pathlib.Path("{folder}", sys.argv[1] + ".job")
with contextlib.suppress(ProcessLookupError):
    os.killpg(int(job.read_text()), signal.SIGKILL)
"""


class FalseSlurm:
    """Three programs that start each job at once, as a process of this machine; with the file `busy`, jobs wait."""

    def __init__(self, folder: Path) -> None:
        self.folder, programs = folder / "slurm", folder / "bin"
        for one in (self.folder, programs):
            one.mkdir()
        for name, text in (("sbatch", SBATCH), ("squeue", SQUEUE), ("scancel", SCANCEL)):
            (programs / name).write_text(text.format(python=sys.executable, folder=self.folder))
            (programs / name).chmod(0o755)
        self.path = f"{programs}{os.pathsep}{os.environ['PATH']}"

    def scripts(self) -> list[str]:
        return [file.read_text() for file in sorted(self.folder.glob("*.script"))]

    def living(self) -> list[str]:
        words = {"capture_output": True, "text": True, "check": True}
        return subprocess.run(["squeue"], env={**os.environ, "PATH": self.path}, **words).stdout.split()

    def kill(self, number: str) -> None:
        subprocess.run(["scancel", number], env={**os.environ, "PATH": self.path}, check=True)


@pytest.fixture
def certificates(tmp_path: Path) -> Iterator[None]:
    made = Security.temporary()
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    key.write_text(made.tls_client_key)
    certificate.write_text(made.tls_client_cert)
    files = {"key": str(key), "cert": str(certificate)}
    tls = {f"distributed.comm.tls.{r}.{p}": f for r in ("scheduler", "worker", "client") for p, f in files.items()}
    with config.set({**tls, "distributed.comm.tls.ca-file": str(certificate)}):
        yield


@pytest.fixture
def false_slurm(tmp_path: Path, certificates: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[FalseSlurm]:
    made = FalseSlurm(tmp_path)
    monkeypatch.setenv("PATH", made.path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PYTHONPATH", f"{ROOT}:{HERE}")
    yield made
    for number in made.living():
        made.kill(number)


def jobs_in(folder: Path, number: int) -> list[dict[str, Any]]:
    return [{"id": f"j{n}", "kind": "test", "log": str(folder / f"j{n}"), "seconds": 0.5} for n in range(number)]


def run(jobs: list[dict[str, Any]], target: Target) -> dict[str, str]:
    """Run the jobs; return the error of each, which is empty for one that finished."""
    return {r["id"]: r.get("error", "") for r in cluster.execute(jobs, target, lambda _: None, far_jobs.note_and_wait)}


def once_begun(job: dict[str, Any], act: Callable[[], None]) -> None:
    """Call a function when a job has begun."""

    def wait() -> None:
        while not Path(job["log"]).exists():
            time.sleep(0.02)
        act()

    threading.Thread(target=wait, daemon=True).start()


def test_slurm_gets_a_job_for_each_gpu_and_no_job_stays(false_slurm: FalseSlurm, tmp_path: Path) -> None:
    target = configured_target("far", {"far": replace(SETTINGS, sbatch=("--partition=gpu", "--mem=9G"))})
    jobs = jobs_in(tmp_path, 12)  # long enough for a second worker that starts late
    assert run(jobs, target) == {job["id"]: "" for job in jobs}
    assert len({Path(job["log"]).read_text().split(":")[0] for job in jobs}) == 2
    assert len(false_slurm.scripts()) == 2
    for script in false_slurm.scripts():
        options = {line.removeprefix("#SBATCH ") for line in script.splitlines() if line.startswith("#SBATCH")}
        assert {"--gres=gpu:1", "--partition=gpu", "--mem=9G"} <= options
        assert not any(option.startswith(("-t", "--cpus", "--mem=1G")) for option in options)
    assert false_slurm.living() == []


def test_options_about_gpus_take_the_place_of_ours(false_slurm: FalseSlurm, tmp_path: Path) -> None:
    run(jobs_in(tmp_path, 1), configured_target("far", {"far": replace(SETTINGS, sbatch=("--gpus=h100:1",))}))
    assert "--gpus=h100:1" in false_slurm.scripts()[0] and "--gres" not in false_slurm.scripts()[0]


def test_a_job_that_slurm_ends_is_submitted_again(
    false_slurm: FalseSlurm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(missing_workers, "AGAIN_S", 4.0)  # two looks last longer than a submission on a busy machine
    jobs = jobs_in(tmp_path, 12)
    once_begun(jobs[6], lambda: false_slurm.kill("1"))
    assert not any(run(jobs, configured_target("far", {"far": replace(SETTINGS, slurm=1)})).values())
    assert len(false_slurm.scripts()) == 2


def test_jobs_that_wait_in_the_queue_are_waited_for(
    false_slurm: FalseSlurm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(missing_workers, "AGAIN_S", 0.3)
    monkeypatch.setattr(cluster, "PATIENCE_S", 2.0)
    (false_slurm.folder / "busy").touch()
    began = time.monotonic()

    def end_the_queue() -> None:
        time.sleep(6.0)
        for number in false_slurm.living():
            false_slurm.kill(number)

    threading.Thread(target=end_the_queue, daemon=True).start()
    errors = run(jobs_in(tmp_path, 2), configured_target("far", {"far": SETTINGS}))
    assert time.monotonic() - began > 6.0
    assert errors == dict.fromkeys(("j0", "j1"), slurm.NO_WORKERS.format(folder=tmp_path / "cache/sitegen/slurm"))


def test_a_python_without_sitegen_ends_the_run_and_names_the_output_of_the_jobs(
    false_slurm: FalseSlurm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(missing_workers, "AGAIN_S", 0.3)
    monkeypatch.setattr(cluster, "PATIENCE_S", 2.0)
    errors = run(jobs_in(tmp_path, 1), configured_target("far", {"far": replace(SETTINGS, python="no such; python")}))
    assert errors == {"j0": slurm.NO_WORKERS.format(folder=tmp_path / "cache/sitegen/slurm")}
    assert "'no such; python' -m" in false_slurm.scripts()[0]


def test_what_sbatch_refuses_is_an_error_with_its_words(false_slurm: FalseSlurm, tmp_path: Path) -> None:
    target = configured_target("far", {"far": replace(SETTINGS, sbatch=("--partition=none",))})
    with pytest.raises(NoTarget, match=r"started: sbatch: error: invalid partition specified: none$"):
        run(jobs_in(tmp_path, 1), target)


def test_a_run_that_is_given_up_leaves_no_job_in_the_queue(false_slurm: FalseSlurm, tmp_path: Path) -> None:
    target = configured_target("far", {"far": SETTINGS})
    results = cluster.execute(jobs_in(tmp_path, 20), target, lambda _: None, far_jobs.note_and_wait)
    next(results)
    results.close()
    assert false_slurm.living() == []


def test_a_machine_without_slurm_is_named_with_what_it_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(NoTarget, match="the target `far` needs sbatch and squeue and scancel"):
        configured_target("far", {"far": SETTINGS})


def test_slurm_is_refused_without_certificates(tmp_path: Path) -> None:
    with pytest.raises(NoTarget, match="without asking for a certificate"):
        run(jobs_in(tmp_path, 1), Target(slurm=1, bind="127.0.0.1"))


@pytest.fixture
def started_slurm(tmp_path: Path) -> Iterator[Slurm]:
    started = Slurm(tmp_path)
    try:
        started.start()
        yield started
    finally:
        started.end()


@pytest.fixture
def scheduler(started_slurm: Slurm) -> Iterator[str]:
    [port] = ssh_hosts.free_ports(1)
    words = ["--host", "127.0.0.1", "--port", str(port), "--no-dashboard"]
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", *words]
    process = subprocess.Popen(
        command,
        env=started_slurm.environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    yield f"tcp://127.0.0.1:{port}"
    process.terminate()
    process.wait(20)


@pytest.mark.soak
@needs_slurm
def test_a_worker_that_slurm_cancels_leaves_its_job_to_another(
    started_slurm: Slurm, scheduler: str, tmp_path: Path
) -> None:
    numbers = [started_slurm.add_worker(scheduler) for _ in range(2)]
    assert all(numbers)
    jobs = [{"id": f"j{n}", "kind": "test", "log": str(tmp_path / f"j{n}"), "seconds": 1.0} for n in range(12)]

    def cancel() -> None:
        while not (tmp_path / "j3").exists():
            time.sleep(0.02)
        started_slurm.run("scancel", "--signal=KILL", "--full", numbers[0])

    threading.Thread(target=cancel, daemon=True).start()
    results = list(cluster.execute(jobs, Target(scheduler=scheduler), lambda _: None, far_jobs.note_and_wait))
    assert sorted(result["id"] for result in results) == sorted(str(job["id"]) for job in jobs)
    assert not any(result.get("error") for result in results)
    starts = [len(Path(str(job["log"])).read_text().split()) for job in jobs]
    assert sum(starts) in (len(jobs), len(jobs) + 1)


@pytest.mark.soak
@needs_slurm
def test_srun_runs_a_bundle_on_a_node(started_slurm: Slurm, tmp_path: Path) -> None:
    from sitegen.execute.bundle import read_bundle, write_bundle
    from sitegen.model.job import Key, NotebookCell, NotebookJob

    cell = NotebookCell(
        "look", "import os\nprint(os.environ.get('SLURM_JOB_ID'))\nprint(6 * 7)", Key("k"), timeout_s=60.0
    )
    write_bundle([NotebookJob("posts/p", "p", (cell,), {})], "c", tmp_path / "b.zip")
    assert read_bundle(tmp_path / "b.zip").jobs
    said = started_slurm.run(
        *("srun", "--gres=gpu:1", "--time=00:05:00", sys.executable, "-m", "sitegen", "run"),
        *("--bundle", str(tmp_path / "b.zip"), "-o", str(tmp_path / "r.zip"), "--json"),
    )
    assert '"state": "finished"' in said
    assert (tmp_path / "r.zip").exists()


@pytest.mark.soak
@needs_slurm
def test_a_target_in_slurm_finishes_though_slurm_cancels_one_of_its_jobs(
    started_slurm: Slurm, certificates: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SLURM_CONF", "PYTHONPATH"):
        monkeypatch.setenv(name, started_slurm.environment[name])
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(missing_workers, "AGAIN_S", 2.0)
    target = configured_target("far", {"far": replace(SETTINGS, sbatch=("--time=00:10:00",))})
    jobs, submitted = jobs_in(tmp_path, 60), list[str]()

    def cancel() -> None:
        submitted.extend(started_slurm.run("squeue", "--noheader", "--format=%A").split())
        started_slurm.run("scancel", submitted[0])

    once_begun(jobs[3], cancel)
    assert not any(run(jobs, target).values())
    assert len(submitted) == 2
    processes = {line.partition(":")[0] for job in jobs for line in Path(job["log"]).read_text().split()}
    assert len(processes) == 3  # of two jobs, and of the one that took the place of the first
    assert started_slurm.run("squeue", "--noheader", "--states=PD,R") == ""
    assert len(list((tmp_path / "cache/sitegen/slurm").glob("*.out"))) >= 2
