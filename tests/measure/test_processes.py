"""Children that hang, die or write too much, and a parent that is told to end."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sitegen.inside import OutsideError
from sitegen.measure import child, fork_server
from sitegen.measure.fork_server import imported_by
from sitegen.measure.imports import COMPILER
from sitegen.measure.process import Child, ForkServer, ForkServerGone
from sitegen.measure.protocol import Channel, ChannelClosed, DeadlinePassed, EvaluationEnded
from sitegen.measure.requests import Check, Prepare
from sitegen.measure.sources import write_sources
from sitegen.model.failure_log import LARGEST_LOG
from sitegen.model.kernel import Status
from sitegen.model.plain import to_plain
from sitegen.model.record import Correctness

ROOT = Path(__file__).parents[2]
torch_is_here = pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="needs torch and triton")

HANGS = """
import subprocess, sys
def add(x, y, *, out=None):
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    while True:
        pass
"""
GREEDY_AT_FIRST = """
calls = []
def add(x, y, *, out=None):
    calls.append(1)
    if len(calls) == 1:
        raise MemoryError("tried to allocate 1 GiB")
    return x + y if out is None else out.copy_(x + y)
"""
CHATTERS = """
import os, sys
os.write(1, b"noise on stdout, longer than any pipe\\n" * 20000)
print("last words", file=sys.stderr, flush=True)
os._exit(7)
"""


INTERPRETER = {"TRITON_INTERPRET": "1", "CUDA_VISIBLE_DEVICES": ""}


@pytest.fixture
def start(tmp_path, add_kernel):
    """Start a child with one implementation `ours`; `started.fork_server` forks it."""

    def started(source, name="ours"):
        job = add_kernel.kernel_job({"ours": source})
        (tmp_path / "job.json").write_text(json.dumps(to_plain(job)))
        write_sources(tmp_path / "site", job.sources)
        arguments = [str(tmp_path / "job.json"), "implementation", "ours", str(tmp_path / "site")]
        return Child(name, arguments, tmp_path, started.fork_server)

    started.fork_server = ForkServer(tmp_path, INTERPRETER)
    yield started
    started.fork_server.end()


def processes_in(group: int) -> list[str]:
    """Return the processes of a process group that still run."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, owner = stat.read_text().rpartition(")")[2].split()[:3]
        except OSError:
            continue
        if int(owner) == group and state != "Z":
            found.append(stat.parent.name)
    return found


@pytest.mark.torch
@torch_is_here
def test_an_endless_loop_ends_at_its_deadline_with_all_that_it_started(start):
    child = start(HANGS)
    child.ask(Prepare(), 120)
    with pytest.raises(EvaluationEnded) as ended:
        child.ask(Check(({"N": 3},)), 2)
    assert ended.value.status is Status.TIMEOUT
    assert processes_in(child.process.pid) == []


@pytest.mark.torch
@torch_is_here
def test_what_a_child_prints_never_reaches_the_protocol_and_explains_its_death(start):
    child = start(CHATTERS)
    with pytest.raises(EvaluationEnded) as ended:
        child.ask(Prepare(), 120)
    assert ended.value.status is Status.RUNTIME_ERROR
    assert ended.value.message == "the process exited with 7 during importing and compiling: last words"
    assert ended.value.log.count("noise on stdout") > 1000 and len(ended.value.log) <= LARGEST_LOG


@pytest.mark.torch
@torch_is_here
def test_a_child_that_ran_out_of_memory_can_be_asked_once_more(start):
    child = start(GREEDY_AT_FIRST)
    child.ask(Prepare(), 120)
    with pytest.raises(EvaluationEnded) as ended:
        child.ask(Check(({"N": 3},)), 60)
    assert ended.value.status is Status.OUT_OF_MEMORY and child.alive
    assert isinstance(child.ask(Check(({"N": 3},)), 60), Correctness)
    child.end()


@pytest.mark.torch
@torch_is_here
def test_a_child_that_is_killed_says_by_what(start):
    child = start(HANGS)
    os.kill(child.process.pid, signal.SIGKILL)
    with pytest.raises(EvaluationEnded, match="the process was killed by SIGKILL during importing and compiling"):
        child.ask(Prepare(), 120)
    assert not child.alive


@pytest.mark.torch
@torch_is_here
def test_children_of_a_fork_server_end_with_it_and_never_before(tmp_path, start):
    first, second = start(HANGS, "first"), start(HANGS, "second")
    first.ask(Prepare(), 120)
    first.end()
    assert (first.alive, second.alive) == (False, True)
    second.ask(Prepare(), 120)
    start.fork_server.end()
    second.process.wait(10)
    assert processes_in(second.process.pid) == []


@pytest.mark.torch
@torch_is_here
def test_the_imports_of_the_fork_server_leave_the_choice_between_compiler_and_interpreter():
    imported = "import sys; from sitegen.measure.imports import import_ahead; import_ahead(); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", imported], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "torch" in done.stdout.split()
    assert "triton" not in done.stdout.split()


def test_a_fork_server_that_waits_imports_what_torch_compile_needs_too(monkeypatch):
    ours, theirs = socket.socketpair()
    with ours, theirs:
        assert list(imported_by([], theirs)) == []
        assert list(imported_by(["triton"], theirs)) == ["triton", COMPILER]
        with monkeypatch.context() as again:
            again.setenv("SITEGEN_WITHOUT_COMPILER", "1")
            assert list(imported_by(["triton"], theirs)) == ["triton"]
        ours.send(b"{}")
        assert list(imported_by(["triton"], theirs)) == ["triton"]


def test_a_fork_server_begins_again_once_even_if_libcuda_is_only_a_stub(monkeypatch):
    begun: list[list[str]] = []
    monkeypatch.setattr(os, "environ", dict(os.environ))
    monkeypatch.setattr(os, "execv", lambda _, command: begun.append(command))
    monkeypatch.setattr(fork_server, "has_touched_cuda", lambda: True)
    fork_server.begin_again_without_compiler()
    fork_server.begin_again_without_compiler()
    assert [command[1:3] for command in begun] == [["-m", "sitegen.measure.fork_server"]]


@pytest.mark.torch
@torch_is_here
def test_many_threads_may_wait_for_the_same_process(start):
    child = start(HANGS)
    os.kill(child.process.pid, signal.SIGKILL)
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(lambda _: child.process.wait(10), range(40))) == {-signal.SIGKILL}
    child.end()
    another = start(HANGS, "another")
    assert another.alive
    another.end()


@pytest.mark.torch
@torch_is_here
def test_a_fork_server_that_is_gone_says_so_with_its_last_words(tmp_path, start):
    first = start(HANGS, "first")
    first.ask(Prepare(), 120)
    (tmp_path / "fork_server.log").write_text("out of memory\n")
    start.fork_server.end()
    with pytest.raises(ForkServerGone, match="every process of this job, is gone: out of memory"):
        start(HANGS, "second")
    with pytest.raises(EvaluationEnded, match="the process was killed by SIGKILL during importing and compiling"):
        first.ask(Prepare(), 120)


@pytest.mark.torch
@torch_is_here
def test_a_parent_that_is_told_to_go_leaves_no_process_and_no_file(tmp_path, add_kernel):
    job = add_kernel.kernel_job({"ours": HANGS})
    (tmp_path / "job.json").write_text(json.dumps(to_plain(job)))
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    command = [sys.executable, "-m", "sitegen.measure", str(tmp_path / "job.json"), str(tmp_path / "result.json")]
    parent = subprocess.Popen(command, cwd=ROOT, env={**os.environ, "TMPDIR": str(temporary)})
    started = _wait_for_forked(parent.pid)
    parent.send_signal(signal.SIGTERM)
    assert parent.wait(20) == 128 + signal.SIGTERM
    time.sleep(0.5)
    assert [left for group in started for left in processes_in(group)] == []
    assert list(temporary.glob("sitegen-measure-*")) == []
    assert not (tmp_path / "result.json").exists()


def _wait_for_forked(parent: int) -> list[int]:
    """Return the fork server of a job and its children as soon as it has one; each has its own process group."""
    for _ in range(200):
        servers = _children_of(parent)
        if forked := [child for server in servers for child in _children_of(server)]:
            return [*servers, *forked]
        time.sleep(0.1)
    raise AssertionError("no child was started")


def _children_of(parent: int) -> list[int]:
    return [int(pid) for pid in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()]


def test_a_message_that_comes_in_pieces_is_one_message():
    reads, writes = os.pipe()
    channel = Channel(reads, writes)
    os.write(writes, b'{"reply": ')
    with pytest.raises(DeadlinePassed):
        channel.receive(0.01)
    os.write(writes, b'1}\n{"reply": 2}\n')
    assert [channel.receive(1)["reply"], channel.receive(1)["reply"]] == [1, 2]
    os.close(writes)
    with pytest.raises(ChannelClosed):
        channel.receive(1)
    os.close(reads)


@pytest.mark.parametrize("path", ["../outside.py", "/etc/outside.py", "kernels/../../outside.py", ""])
def test_a_source_never_leaves_its_folder(tmp_path, path):
    with pytest.raises(OutsideError):
        write_sources(tmp_path / "site", {path: "x = 1"})


@pytest.mark.parametrize(("before", "after"), [(None, "2"), ("8", "8")])
def test_a_child_asks_cuda_for_few_hardware_queues_unless_the_author_asked_for_another_number(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, before: str | None, after: str
) -> None:
    name = "CUDA_DEVICE_MAX_CONNECTIONS"
    monkeypatch.setattr(os, "environ", {} if before is None else {name: before})
    reads, writes = os.pipe()
    os.close(writes)
    child.main([str(reads), str(os.open(os.devnull, os.O_WRONLY)), str(tmp_path), "implementation", "x", str(tmp_path)])
    assert os.environ[name] == after
