"""Commands that look for a network, for memory, and for what other commands of the user can do."""

from __future__ import annotations

import errno
import json
import os
import resource
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sitegen.measure import confinement

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="namespaces and /proc are Linux's")
FILE = confinement.__file__


def confined(tmp_path: Path, code: str, expect: int = 0) -> Any:
    """Return what a Python program prints as JSON."""
    words = [sys.executable, "-I", "-S", FILE, str(tmp_path / "network"), sys.executable, "-c", code]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == expect, done.stderr
    return json.loads(done.stdout) if done.stdout else None


@pytest.fixture
def without_network(tmp_path: Path) -> None:
    confined(tmp_path, "pass")
    if (tmp_path / "network").exists():
        pytest.skip((tmp_path / "network").read_text())


@pytest.fixture
def listener() -> Iterator[int]:
    """The port of a service on this machine, which answers whoever connects."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=lambda: [one.close() for one in iter(lambda: accepted(server), None)]).start()
        with socket.create_connection(server.getsockname(), 5):
            yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)


def accepted(server: socket.socket) -> socket.socket | None:
    try:
        return server.accept()[0]
    except OSError:
        return None


CONNECT = """
import json, socket
try:
    socket.create_connection(("{host}", {port}), 3)
except OSError as error:
    print(json.dumps(error.errno))
else:
    print(json.dumps("connected"))
"""


def test_a_command_reaches_no_service_of_this_machine_and_no_other_machine(
    tmp_path: Path, without_network: None, listener: int
) -> None:
    assert confined(tmp_path, CONNECT.format(host="127.0.0.1", port=listener)) == errno.ECONNREFUSED
    assert confined(tmp_path, CONNECT.format(host="192.0.2.1", port=80)) == errno.ENETUNREACH


def test_processes_of_a_command_reach_each_other(tmp_path: Path, without_network: None) -> None:
    code = "import socket\ns = socket.create_server(('127.0.0.1', 0))\nsocket.create_connection(s.getsockname(), 3)"
    confined(tmp_path, f"{code}\nprint(1)")


def test_a_user_who_is_not_root_keeps_numbers_and_files(tmp_path: Path, without_network: None) -> None:
    code = f"""
import json, os, sys
sys.path.insert(0, {str(Path(FILE).parents[2])!r})
from sitegen.measure import confinement
flags = confinement._CLONE_NEWUSER | confinement._CLONE_NEWNET
assert not confinement._failure_in_a_fork(flags)
confinement._enter_namespaces(flags)
open({str(tmp_path / "mine")!r}, "w").close()
print(json.dumps([os.getuid(), os.getgid()]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [os.getuid(), os.getgid()]
    assert (tmp_path / "mine").stat().st_uid == os.getuid()


def test_a_system_that_makes_no_namespace_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confinement, "_failure_in_a_fork", lambda flags: errno.EPERM)
    assert confinement.take_network() == "a network namespace cannot be made (Operation not permitted)"


@pytest.mark.parametrize("user", [0, 1000])
def test_root_keeps_its_rights_over_files_of_others_where_it_may_make_no_network(
    monkeypatch: pytest.MonkeyPatch, user: int
) -> None:
    """In a user namespace of its own, root would own files of root alone."""
    tried: list[int] = []
    monkeypatch.setattr(os, "geteuid", lambda: user)
    monkeypatch.setattr(confinement, "_failure_in_a_fork", lambda flags: tried.append(flags) or errno.EPERM)
    confinement.take_network()
    assert [bool(flags & confinement._CLONE_NEWUSER) for flags in tried] == [user != 0]


def test_a_failure_in_the_middle_stays_in_the_fork(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(flags: int) -> None:
        raise OSError(errno.EACCES, "write uid_map")

    monkeypatch.setattr(confinement, "_enter_namespaces", fail)
    before = Path("/proc/self/ns/net").readlink(), Path("/proc/self/ns/user").readlink()
    assert "Permission denied" in confinement.take_network()
    assert (Path("/proc/self/ns/net").readlink(), Path("/proc/self/ns/user").readlink()) == before


def test_a_file_that_grows_without_end_is_an_error_of_the_program(tmp_path: Path) -> None:
    code = f"""
import json
with open({str(tmp_path / "large")!r}, "wb") as file:
    file.truncate({confinement.LARGEST_FILE})
    try:
        file.truncate({confinement.LARGEST_FILE + 1})
    except OSError as error:
        print(json.dumps(error.errno))
"""
    assert confined(tmp_path, code) == errno.EFBIG


def test_a_program_cannot_take_more_memory_than_the_machine_has_but_may_reserve_addresses_as_cuda_does(
    tmp_path: Path,
) -> None:
    code = """
import ctypes, json, os
size = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_ssize_t
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
PRIVATE, ANONYMOUS, NORESERVE = 2, 32, 0x4000
flags = PRIVATE | ANONYMOUS | NORESERVE
print(json.dumps([libc.mmap(None, 4 * size, 0, flags, -1, 0) > 0, libc.mmap(None, size, 3, flags, -1, 0)]))
"""
    assert confined(tmp_path, code) == [True, -1]


def test_limits_are_lowered_and_never_raised(tmp_path: Path) -> None:
    code = "import json, resource as r\nprint(json.dumps([r.getrlimit(r.RLIMIT_CORE), r.getrlimit(r.RLIMIT_NOFILE)]))"
    core, files = confined(tmp_path, code)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert core == [0, 0]
    assert files == [min(one, confinement.MOST_FILES) for one in (soft, hard)]


def test_a_user_can_start_more_threads_than_run_already() -> None:
    limits = confinement.limits_here()
    assert limits[resource.RLIMIT_NPROC] > confinement.MORE_THREADS


def test_the_command_is_the_first_that_ends_when_memory_is_full(tmp_path: Path) -> None:
    assert confined(tmp_path, "print(open('/proc/self/oom_score_adj').read())") == 1000


GPU = """
Model: \t\t NVIDIA H100 80GB HBM3
GPU UUID: \t {uuid}
Device Minor: \t {minor}
"""


@pytest.mark.parametrize(
    ("visible", "hidden"),
    [("GPU-a", ["nvidia2"]), ("GPU-b", ["nvidia0"]), ("0", []), ("GPU-a,GPU-b", []), ("", []), ("GPU-c", [])],
)
def test_a_command_for_one_gpu_is_kept_from_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, visible: str, hidden: list[str]
) -> None:
    for folder, uuid, minor in (("0000:1b:00.0", "GPU-a", 0), ("0000:43:00.0", "GPU-b", 2)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "information").write_text(GPU.format(uuid=uuid, minor=minor))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert confinement.files_of_other_gpus(tmp_path, Path("/dev")) == [Path("/dev", name) for name in hidden]
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES")
    assert confinement.files_of_other_gpus(tmp_path, Path("/dev")) == []


@pytest.mark.parametrize("answers", [True, False])
def test_the_others_stay_open_where_the_driver_does_not_answer_without_them(
    monkeypatch: pytest.MonkeyPatch, answers: bool
) -> None:
    hidden: list[list[Path]] = []
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "GPU-a")
    monkeypatch.setattr(confinement, "files_of_other_gpus", lambda: [Path("/dev/nvidia1")])
    monkeypatch.setattr(confinement, "hide", lambda files: hidden.append(list(files)))
    monkeypatch.setattr(confinement, "gpu_answers", lambda uuid: answers and uuid == "GPU-a" and len(hidden) == 1)
    confinement.keep_to_own_gpu()
    assert hidden == ([[Path("/dev/nvidia1")]] if answers else [])


def test_a_driver_that_crashes_without_them_is_one_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "GPU-a")
    monkeypatch.setattr(confinement, "hide", lambda files: None)
    monkeypatch.setattr(confinement, "gpu_answers", lambda uuid: os.kill(os.getpid(), 9))
    assert not confinement.answers_without([])


def test_without_a_driver_no_gpu_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise OSError(name)

    monkeypatch.setattr(confinement.ctypes, "CDLL", missing)
    assert not confinement.gpu_answers("GPU-a")


@pytest.mark.parametrize(
    ("cuda", "nvml", "gpus", "answers"), [(0, 0, 1, True), (0, 0, 2, False), (0, 9, 1, False), (100, 0, 1, False)]
)
def test_a_gpu_answers_where_cuda_finds_it_alone_and_nvml_finds_it(
    monkeypatch: pytest.MonkeyPatch, cuda: int, nvml: int, gpus: int, answers: bool
) -> None:
    class Library:
        def cuInit(self, flags: int) -> int:
            return cuda

        def cuDeviceGetCount(self, count: Any) -> int:
            count._obj.value = gpus
            return 0

        def nvmlInit_v2(self) -> int:
            return 0

        def nvmlDeviceGetHandleByUUID(self, uuid: bytes, handle: Any) -> int:
            return nvml

    monkeypatch.setattr(confinement.ctypes, "CDLL", lambda name: Library())
    assert confinement.gpu_answers("GPU-a") is answers


HIDE = f"""
import importlib.util, json
spec = importlib.util.spec_from_file_location("confinement", {FILE!r})
confinement = importlib.util.module_from_spec(spec)
spec.loader.exec_module(confinement)
confinement.hide([confinement.Path(name) for name in ("/dev/not-there", "/dev/null")])
def opens(name):
    try:
        open(name).close()
    except OSError as error:
        return error.errno
    return 0
print(json.dumps([opens("/dev/null"), opens("/dev/zero")]))
"""


def test_a_hidden_device_file_cannot_be_opened_also_by_root_and_others_can(
    tmp_path: Path, without_network: None
) -> None:
    found = confined(tmp_path, HIDE)
    if found == [0, 0]:
        pytest.skip("this system lets nobody mount")
    assert found == [errno.EACCES, 0]
    assert Path("/dev/null").read_bytes() == b""  # only that command was kept from it
