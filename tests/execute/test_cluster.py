"""Lost workers and jobs that never end: the other jobs go on, and no process is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psutil
import pytest
from dask import config
from distributed import LocalCluster, Security

from sitegen.execute import cluster, work
from sitegen.execute.guard import ABANDONED, LATE
from sitegen.execute.local import execute
from sitegen.execute.measure_process import MeasureProcess
from sitegen.execute.progress import Progress
from sitegen.execute.targets import (
    Device,
    NoTarget,
    Target,
    _devices,
    _of_one_model,
    _visible,
    configured_target,
    local_target,
)
from sitegen.execute.told_rounds import LOOK_S, rounds_in, watched
from sitegen.execute.work import deadline_s
from sitegen.model.site import TargetSettings

THREE_GPUS = Target(tuple(Device("nvidia-h200", f"GPU-{n}") for n in range(3)))
SMI = (
    "0, GPU-aaaa1, NVIDIA H200, 00000000:1B:00.0, 143771 MiB\n"
    "1, GPU-bbbb2, NVIDIA H200, 00000000:43:00.0, 143771 MiB\n"
    "2, GPU-cccc3, NVIDIA A100-SXM4-80GB, 00000000:52:00.0, 143771 MiB\n"
)


def spec(number: int, folder: Path) -> dict[str, object]:
    return {"id": f"job-{number}", "kind": "test", "log": str(folder / f"job-{number}")}


def note_and_wait(spec):
    """Note each start, and run long enough to be killed."""
    with Path(spec["log"]).open("a") as log:
        log.write(f"{os.getpid()}:{os.environ['CUDA_VISIBLE_DEVICES']}\n")
    time.sleep(0.6)
    return {"id": spec["id"], "kind": "test", "schema": 1}


def die(spec):
    os.kill(os.getpid(), signal.SIGKILL)


def fail(spec):
    raise ValueError("an odd job")


def tell(spec):
    names = {
        "gpu": "CUDA_VISIBLE_DEVICES",
        "threads": "OMP_NUM_THREADS",
        "blas": "MKL_NUM_THREADS",
        "token": "GITHUB_TOKEN",
    }
    return {"id": spec["id"], "kind": "test"} | {key: os.environ.get(name) for key, name in names.items()}


def chatter(spec):
    print('{"id": "forged"}', flush=True)
    subprocess.run(["echo", '{"id": "forged"}'], check=True)
    return {"id": spec["id"], "kind": "test"}


def wait_unless_fast(spec):
    if spec["id"] != "fast":
        log = Path(spec["log"])
        try:
            log.write_text("begun")
            time.sleep(60)
        finally:
            log.write_text("tidied up")
    return {"id": spec["id"], "kind": "test"}


def take_rounds(spec):
    """Write rounds as the process of a job does, into the file that the worker watches."""
    rounds = Path(spec["log"])
    with watched(rounds):
        for count in (1, 2):
            rounds.write_text(str(count))
            time.sleep(3 * LOOK_S)  # the worker looks, and then the run
    return {"id": spec["id"], "kind": "test"}


def kill_the_worker_of(log: Path) -> None:
    while not log.exists() or "\n" not in log.read_text():
        time.sleep(0.02)
    os.kill(int(log.read_text().split(":")[0]), signal.SIGKILL)


def test_a_job_whose_worker_is_killed_runs_again_and_every_other_job_once(tmp_path):
    specs = [spec(n, tmp_path) for n in range(6)]
    killer = threading.Thread(target=kill_the_worker_of, args=[tmp_path / "job-1"])
    killer.start()
    results = list(execute(specs, THREE_GPUS, lambda _: None, note_and_wait))
    killer.join()
    starts = {s["id"]: Path(s["log"]).read_text().split() for s in specs}
    assert sorted(r["id"] for r in results) == sorted(starts)
    assert not any(r.get("error") for r in results)
    assert len(starts["job-1"]) == 2
    assert all(len(lines) == 1 for job, lines in starts.items() if job != "job-1")
    devices = {line.split(":")[1] for lines in starts.values() for line in lines}
    assert devices == {"GPU-0", "GPU-1", "GPU-2"}


def test_a_job_that_kills_every_worker_is_given_up_and_says_so():
    (result,) = execute([{"id": "bad", "kind": "test"}], Target((Device(),)), lambda _: None, die)
    assert result["error"] == "the worker was lost 3 times while it ran this job"


def test_a_job_that_raises_is_a_result_with_its_reason():
    seen = []
    (result,) = execute([{"id": "odd", "kind": "test"}], Target((Device(),)), seen.append, fail)
    assert result == {"schema": 1, "id": "odd", "kind": "test", "error": "ValueError: an odd job"}
    assert [(p.state, p.done, p.total) for p in seen] == [("started", 0, 1), ("failed", 1, 1)]


def test_the_rounds_of_a_job_are_reported_while_it_runs_and_begin_anew_with_the_next(tmp_path):
    seen = []
    list(execute([spec(n, tmp_path) for n in range(2)], Target((Device("nvidia-h200"),)), seen.append, take_rounds))
    assert {p.gpu for p in seen if p.place} == {"nvidia-h200"}
    assert {p.place for p in seen if p.state == "measuring"} == {"GPU 0"}
    for job in ("job-0", "job-1"):
        states = [(p.state, p.rounds) for p in seen if p.job == job]
        assert states[0] == ("started", 0) and states[-1] == ("finished", 0)
        assert [*dict.fromkeys(states[1:-1])] in ([("measuring", 1)], [("measuring", 1), ("measuring", 2)])


@pytest.mark.parametrize("text", ["", "no number", "-3", "9" * 10**6])
def test_odd_rounds_of_code_under_test_are_no_error(tmp_path, text):
    (tmp_path / "rounds").write_text(text)
    assert rounds_in(tmp_path / "rounds") in (0, 9999999999)


def test_no_jobs_start_no_cluster():
    assert list(execute([], Target(()), lambda _: None)) == []
    assert list(cluster.execute([], Target(()), lambda _: None)) == []


def test_worker_gets_the_variables_of_its_gpu_and_no_token(monkeypatch):
    monkeypatch.setenv("GITHUB_TOKEN", "a token")
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    (result,) = execute([{"id": "x", "kind": "test"}], Target((Device("a-gpu", "GPU-7"),)), lambda _: None, tell)
    assert (result["gpu"], result["threads"], result["blas"], result["token"]) == ("GPU-7", "3", "1", None)


def test_what_a_job_prints_is_no_result(capfd):
    (result,) = execute([{"id": "x", "kind": "test"}], Target((Device(),)), lambda _: None, chatter)
    assert result == {"id": "x", "kind": "test"}
    assert "{" in capfd.readouterr().err


def test_a_run_that_is_given_up_interrupts_its_jobs_so_that_they_can_tidy_up(tmp_path):
    specs = [spec(1, tmp_path) | {"id": "fast"}, spec(2, tmp_path)]
    run = execute(specs, Target((Device(), Device())), lambda _: None, wait_unless_fast)
    assert next(run)["id"] == "fast"
    while not (tmp_path / "job-2").exists() or (tmp_path / "job-2").read_text() != "begun":
        time.sleep(0.02)
    began = time.monotonic()
    run.close()
    assert time.monotonic() - began < 30  # the job would sleep for 60 s
    assert (tmp_path / "job-2").read_text() == "tidied up"


@pytest.fixture
def certificates(tmp_path: Path) -> dict[str, str]:
    """The certificate that was made for this test, as Dask's configuration names its files."""
    made = Security.temporary()
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    key.write_text(made.tls_client_key)
    certificate.write_text(made.tls_client_cert)
    files = {"key": str(key), "cert": str(certificate)}
    tls = {f"distributed.comm.tls.{r}.{p}": f for r in ("scheduler", "worker", "client") for p, f in files.items()}
    return tls | {"distributed.comm.tls.ca-file": str(certificate)}


def test_hosts_are_refused_without_certificates_and_the_scheduler_listens_by_tls_with_them(certificates):
    target = Target((Device("a-gpu", "GPU-1", "gpu1"),), bind="127.0.0.1")
    with pytest.raises(NoTarget, match="without asking for a certificate"):
        next(cluster.execute([{"id": "x", "kind": "test"}], target, lambda _: None))
    with config.set(certificates):
        security = cluster.security_for(target)
        spec = cluster._scheduler(target, security)
        with cluster.SpecCluster(workers={}, scheduler=spec, security=security) as started:
            assert started.scheduler_address.startswith("tls://127.0.0.1:")


def test_jobs_go_to_a_scheduler_that_asks_for_a_certificate(certificates, tmp_path):
    with config.set(certificates):
        options = {"n_workers": 1, "threads_per_worker": 1, "resources": {"GPU": 1}, "dashboard_address": ":0"}
        with LocalCluster(protocol="tls://", security=Security(require_encryption=True), **options) as started:
            target = Target(scheduler=started.scheduler_address)
            jobs = [{"id": name, "kind": "test"} for name in ("a", "b")]
            assert {r["id"] for r in cluster.execute(jobs, target, lambda _: None, chatter)} == {"a", "b"}
            seen: list[Progress] = []
            list(cluster.execute([spec(1, tmp_path)], target, seen.append, take_rounds))
    assert next((p.state, p.rounds) for p in seen) == ("started", 0)
    assert [(p.state, p.rounds) for p in seen][1] == ("measuring", 1)
    assert (seen[-1].state, seen[-1].rounds) == ("finished", 0)
    assert {p.gpu for p in seen} == {""}


def guard(folder: Path, seconds: float, *code: str) -> subprocess.Popen[bytes]:
    guarded = [sys.executable, "-m", "sitegen.execute.guard", str(folder)]
    process = subprocess.Popen([*guarded, sys.executable, "-c", "\n".join(code)], stdin=subprocess.PIPE)
    assert process.stdin
    process.stdin.write(f"{seconds}\n".encode())
    process.stdin.flush()
    return process


STUBBORN = (
    "import os, signal, subprocess, sys, time",
    "signal.signal(signal.SIGTERM, signal.SIG_IGN)",
    # in a session of its own, and orphaned at once
    'code = \'import subprocess, sys; subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"],'
    " start_new_session=True)'",
    "subprocess.run([sys.executable, '-c', code])",
    "print('ready', flush=True)",
    "time.sleep(60)",
)


def alive_below(process: subprocess.Popen[bytes]) -> list[psutil.Process]:
    return psutil.Process(process.pid).children(recursive=True)


def wait_for_children(process: subprocess.Popen[bytes], number: int) -> list[psutil.Process]:
    until = time.monotonic() + 20
    while len(found := alive_below(process)) < number or any(p.ppid() == 1 for p in found):
        assert time.monotonic() < until, found
        time.sleep(0.05)
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="orphans are adopted on Linux only")
def test_when_the_worker_dies_everything_that_its_job_started_ends_and_its_folder_goes(tmp_path):
    folder = tmp_path / "job"
    folder.mkdir()
    process = guard(folder, 60, *STUBBORN)
    time.sleep(0.5)
    children = wait_for_children(process, 2)
    process.stdin.close()
    assert process.wait(20) == ABANDONED
    assert not [child for child in children if child.is_running() and child.status() != psutil.STATUS_ZOMBIE]
    assert not folder.exists()


def test_a_job_over_its_time_is_ended_and_its_folder_left_to_who_asked(tmp_path):
    process = guard(tmp_path, 0.3, "import time; time.sleep(60)")
    assert process.wait(20) == LATE
    assert tmp_path.exists()
    process.stdin.close()


def test_a_command_that_ends_gives_its_status(tmp_path):
    process = guard(tmp_path, 60, "raise SystemExit(7)")
    assert process.wait(20) == 7
    assert tmp_path.exists()
    process.stdin.close()


def result_of(spec: dict[str, Any], seconds: float, ahead: bool) -> tuple[dict[str, Any], Path]:
    with ExitStack() as stack:
        process = MeasureProcess()
        stack.callback(process.end)
        if ahead:
            process.start_ahead()
        result = process.start_job(spec, seconds)
        return result(), process.folder


@pytest.mark.parametrize("ahead", [False, True])
def test_a_job_that_measure_does_not_know_fails_with_its_last_words_and_no_path(ahead):
    result, folder = result_of({"id": "x", "kind": "dance"}, 60, ahead)
    assert result["id"] == "x" and "dance" in result["error"]
    assert str(folder) not in result["error"]
    assert not folder.exists()


@pytest.mark.parametrize("ahead", [False, True])
def test_a_job_over_its_time_is_a_result_that_says_so(ahead):
    assert result_of({"id": "x", "kind": "ceilings"}, 0.0, ahead)[0]["error"] == "the job took more than 0 s"


def test_a_process_without_a_job_waits_as_long_as_its_worker_and_leaves_nothing():
    process = MeasureProcess()
    process.start_ahead()
    time.sleep(0.5)
    assert process.lives
    process.end()
    assert not process.lives and not process.folder.exists()


def test_a_folder_goes_also_when_the_job_has_ended_by_itself_before_its_worker_is_gone(tmp_path):
    folder = tmp_path / "job"
    folder.mkdir()
    child = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); time.sleep(60)"
    start = f"child = subprocess.Popen([sys.executable, '-c', {child!r}], stdout=subprocess.PIPE)"
    process = guard(folder, 60, "import subprocess, sys", start, "child.stdout.readline()")
    time.sleep(0.5)
    [orphan] = wait_for_children(process, 1)
    while orphan.ppid() != process.pid:
        time.sleep(0.01)  # the command lives, or the guard has not adopted its child
        [*_, orphan] = alive_below(process)
    process.stdin.close()
    assert process.wait(20) == 0
    assert not folder.exists() and not orphan.is_running()


@pytest.mark.parametrize(("early", "lives"), [(True, True), (False, False)])
def test_only_an_early_result_does_not_wait_for_the_processes_of_the_job(early, lives, monkeypatch):
    monkeypatch.setattr(work, "_ready", [])
    monkeypatch.setattr(work, "_left", [])
    started: list[subprocess.Popen[bytes]] = []

    def start(self, *_):
        part = self.folder / "part"
        part.write_text("{}")
        code = f"import os, time; os.replace({str(part)!r}, {str(self._result)!r}); time.sleep({60 if lives else 1})"
        started.append(subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE))
        return started[-1]

    monkeypatch.setattr(MeasureProcess, "_started", start)
    result = work.run_job({"id": "x", "kind": "try"}, early=early)
    assert (started[0].poll() is None) == lives
    assert result == {"warnings": []}
    started[0].kill()
    started[0].wait()


@pytest.mark.parametrize("ahead", [False, True])
def test_a_job_that_nobody_waits_for_leaves_nothing(ahead, monkeypatch):
    monkeypatch.setattr(work, "_ready", [])
    monkeypatch.setattr(work, "_left", [])
    if ahead:
        work.prepare_job()
    assert work.run_job({"id": "ceilings", "kind": "ceilings", "schema": 1}, early=True)["id"] == "ceilings"
    [process] = work._left
    deadline = time.monotonic() + 20
    while process.lives and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not process.lives and not process.folder.exists()


def test_a_process_that_waited_in_vain_leaves_nothing(monkeypatch):
    monkeypatch.setattr(work, "_ready", [])
    with pytest.raises(KeyboardInterrupt), work.prepared_jobs():
        [process] = work._ready
        raise KeyboardInterrupt
    assert not process.lives and not process.folder.exists() and not work._ready


def test_a_worker_prepares_the_process_of_its_next_job_and_replaces_one_that_died(monkeypatch):
    monkeypatch.setattr(work, "_ready", [])
    spec = {"id": "x", "kind": "dance"}
    assert "dance" in work.run_job(spec, prepare_next=True)["error"]
    [process] = work._ready
    assert process.lives
    process.end()
    assert "dance" in work.run_job(spec)["error"]
    assert not work._ready


def test_a_job_gets_more_time_for_more_implementations():
    few, many = ({"kernel": {"implementations": [1] * n, "baselines": ["torch"]}} for n in (1, 5))
    assert deadline_s({}) < deadline_s(few) < deadline_s(many)


def test_gpus_are_those_of_one_model_that_the_environment_leaves_to_us(monkeypatch):
    devices = _devices(SMI)
    assert [d.gpu for d in devices] == ["nvidia-h200", "nvidia-h200", "nvidia-a100-sxm4-80gb"]
    assert (devices[0].bus, devices[0].memory_bytes) == ("00000000:1B:00.0", 143771 << 20)
    assert [d.uuid for d in _of_one_model(devices)] == ["GPU-aaaa1", "GPU-bbbb2"]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "GPU-bbbb,2")
    assert [d.uuid for d in _visible(devices)] == ["GPU-bbbb2", "GPU-cccc3"]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert _visible(devices) == []


def test_a_machine_without_nvidia_smi_checks_under_the_interpreter(monkeypatch):
    monkeypatch.setenv("PATH", "")
    (device,) = local_target().devices
    assert device.gpu == "" and device.environment["TRITON_INTERPRET"] == "1"


def test_a_target_that_site_yaml_lacks_is_named_with_those_that_it_has():
    with pytest.raises(NoTarget, match="no target `lba`; it has local, lab"):
        configured_target("lba", {"lab": TargetSettings()})
    assert configured_target("lab", {"lab": TargetSettings(scheduler="tcp://gpu1:8786")}).scheduler == "tcp://gpu1:8786"


def test_hosts_need_an_address_to_connect_to_rather_than_every_interface():
    with pytest.raises(NoTarget, match="needs `bind`"):
        configured_target("lab", {"lab": TargetSettings(("gpu1",))})


def test_hosts_that_do_not_answer_are_an_error_and_no_run_on_this_machine(monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(NoTarget, match="no host of the target `lab`"):
        configured_target("lab", {"lab": TargetSettings(("gpu1",), bind="10.0.0.1")})


RUN = """
import sys
from pathlib import Path
from sitegen.execute.bundle import run_bundle, write_bundle
from sitegen.execute.targets import Device, Target
from sitegen.model.job import Key, NotebookCell, NotebookJob

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    source = f"import os, time\\nopen({str(folder / 'pid')!r}, 'w').write(str(os.getpid()))\\ntime.sleep(100)"
    cell = NotebookCell("endless", source, Key("k"), timeout_s=200.0)
    write_bundle([NotebookJob("posts/p", "p", (cell,), {})], "c", folder / "b.zip")
    run_bundle(folder / "b.zip", folder / "r.zip", Target((Device(),)))
"""


def test_a_run_that_is_killed_leaves_no_process_behind(tmp_path):
    (tmp_path / "run.py").write_text(RUN)
    run = subprocess.Popen(
        [sys.executable, str(tmp_path / "run.py"), str(tmp_path)],
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2]), "TMPDIR": str(tmp_path)},
        stderr=subprocess.DEVNULL,
    )
    until = time.monotonic() + 60
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
        assert time.monotonic() < until and run.poll() is None
        time.sleep(0.05)
    everything = psutil.Process(run.pid).children(recursive=True)
    assert int((tmp_path / "pid").read_text()) in {process.pid for process in everything}
    run.kill()
    run.wait()
    gone, alive = psutil.wait_procs(everything, timeout=20)
    assert not alive and gone


def test_two_runs_on_one_host_do_not_meet_at_a_port(tmp_path: Path) -> None:
    first = execute([spec(1, tmp_path), spec(2, tmp_path)], Target((Device(),)), lambda _: None, note_and_wait)
    assert next(first)["id"] == "job-1"
    second = execute([spec(3, tmp_path)], Target((Device(),)), lambda _: None, note_and_wait)
    assert [result["id"] for result in second] == ["job-3"]
    assert [result["id"] for result in first] == ["job-2"]


def leave_a_process(spec):
    """Start a process that outlives this worker, which then dies; the second time, tell whether that process lives."""
    log = Path(spec["log"])
    if not log.exists():
        command = [sys.executable, "-c", "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(60)"]
        log.write_text(str(subprocess.Popen(command, start_new_session=True).pid))
        time.sleep(0.5)  # until it ignores SIGTERM
        os.kill(os.getpid(), signal.SIGKILL)
    pid = int(log.read_text())
    lives = psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    return {"id": spec["id"], "kind": "test", "lives": lives}


def test_what_a_lost_worker_started_has_ended_before_its_gpu_gets_a_job(tmp_path):
    (result,) = execute([spec(1, tmp_path)], Target((Device(),)), lambda _: None, leave_a_process)
    assert result == {"id": "job-1", "kind": "test", "lives": False}
