"""A command → the same command with limits and without a network: `python -I -S confinement.py FILE COMMAND…`.

Code of a site runs in such a command: kernels, references, cells, and the compilers and tools that they start.  All of
them inherit what is set here.  Where the system does not let this user take the network away, FILE gets a sentence that
says why, and the command runs nevertheless.

Where the machine has several GPUs and CUDA_VISIBLE_DEVICES names one of them by its UUID, as for each worker of a run,
the command cannot open the device files of the others (Linux).  Otherwise every process that begins to use CUDA also
opens the GPUs on which other jobs are timed.

The command gets a network namespace of its own (Linux), in which it reaches only itself.  Root may make one, where it
has CAP_SYS_ADMIN.  Another user first makes a user namespace, in which numbers of users and groups stay as they are.
Only the standard library is imported, because this module is started as a file.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import resource
import shutil
import socket
import struct
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

LARGEST_FILE = 16 << 30
"""Bytes of the largest file that a process can write."""
MOST_FILES = 65_536
"""The most files that a process can have open: a process with a CUDA context has some hundred."""
MORE_THREADS = 8192
"""Threads and processes that the user can start beyond those that run already.  A job has up to 80 processes, and one
that uses torch and CUDA has some 20 threads."""
SITE_CODE = "code of the site"
OPEN = f"{SITE_CODE} can reach the network, because this system does not let it be taken away: {{why}}"
_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000
_CLONE_NEWNS = 0x00020000
_NO_DEVICES, _REMOUNT, _BIND, _ALL_BELOW, _PRIVATE = 4, 32, 4096, 16384, 1 << 18
"""Flags of mount()."""
_KEPT_FLAGS = {os.ST_NOSUID: 2, os.ST_NOEXEC: 8, os.ST_NOATIME: 1024, os.ST_NODIRATIME: 2048, os.ST_RELATIME: 1 << 21}
"""Flags of a mounted folder, as statvfs() gives them, and the same for mount(): a user may not drop them."""
_SIOCGIFFLAGS, _SIOCSIFFLAGS = 0x8913, 0x8914
_UP = 1


def main(arguments: Sequence[str]) -> NoReturn:
    """Become the command."""
    file, *command = arguments
    make_gpu_devices()
    limits = limits_here()
    if why := take_network():
        Path(file).write_text(OPEN.format(why=why), encoding="utf-8")
    keep_to_own_gpu()
    set_limits(limits)
    die_first_without_memory()
    os.execvp(command[0], command)


def limits_here() -> dict[int, int]:
    """Return the limits of each process on this machine; the deadline of the job, which others keep, limits the time.

    The memory is limited as writable private memory (RLIMIT_DATA), to the memory of the machine.  A limit of addresses
    (RLIMIT_AS) would end every process with CUDA: the driver reserves addresses for all memory of GPU and machine,
    often hundreds of GiB, without using them.  Linux does not apply the limit of processes to root.
    """
    return {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_DATA: os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"),
        resource.RLIMIT_FSIZE: LARGEST_FILE,
        resource.RLIMIT_NOFILE: MOST_FILES,
        resource.RLIMIT_NPROC: threads_of_user() + MORE_THREADS,
    }


def set_limits(limits: Mapping[int, int]) -> None:
    """Lower the limits of this process; a limit that is lower already stays."""
    for name, most in limits.items():
        soft, hard = (most if one == resource.RLIM_INFINITY else min(one, most) for one in resource.getrlimit(name))
        resource.setrlimit(name, (soft, hard))


def threads_of_user() -> int:
    """Return how many threads this user has now; 0 where the system has no /proc."""
    count = 0
    for tasks in Path("/proc").glob("[0-9]*/task"):
        with contextlib.suppress(OSError):  # a process that has ended
            count += len(list(tasks.iterdir())) if tasks.stat().st_uid == os.geteuid() else 0
    return count


def die_first_without_memory() -> None:
    """Ask Linux to end this command, and not another program of the user, when the memory of the machine is full."""
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


def take_network() -> str:
    """Move this process into a network namespace of its own; return why that is not possible, or nothing."""
    if sys.platform != "linux":
        return "only Linux has network namespaces"
    # Root in a user namespace of its own would lose its rights over the files of other users.
    flags = _CLONE_NEWUSER | _CLONE_NEWNET if os.geteuid() else _CLONE_NEWNET
    if error := _failure_in_a_fork(flags):
        return f"a network namespace cannot be made ({os.strerror(error)})"
    _enter_namespaces(flags)
    return ""


def _failure_in_a_fork(flags: int) -> int:
    """Return the error number with which `_enter_namespaces` fails in another process, 0 if it works.

    A failure in the middle, as under AppArmor, would leave this process with the unmapped user 65534.
    """
    if pid := os.fork():
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    try:
        _enter_namespaces(flags)
    except OSError as error:
        os._exit(error.errno or 1)
    os._exit(0)


def _enter_namespaces(flags: int) -> None:
    """Raises OSError."""
    user, group = os.geteuid(), os.getegid()
    if ctypes.CDLL(None, use_errno=True).unshare(flags):
        raise OSError(ctypes.get_errno(), "unshare")
    if flags & _CLONE_NEWUSER:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    _start_loopback()


def keep_to_own_gpu() -> None:
    """Hide the device files of other GPUs, where the driver and NVML answer without them."""
    if (files := files_of_other_gpus()) and answers_without(files):
        hide(files)


def answers_without(files: Sequence[Path]) -> bool:
    """Return whether the driver and NVML answer in a process from which these files are hidden."""
    if pid := os.fork():
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    try:
        hide(files)
        os._exit(0 if gpu_answers(os.environ["CUDA_VISIBLE_DEVICES"]) else 1)
    finally:
        os._exit(1)


def gpu_answers(uuid: str) -> bool:
    """Return whether CUDA finds one GPU in this process, and NVML that with the UUID."""
    try:
        cuda, nvml = ctypes.CDLL("libcuda.so.1"), ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        return False
    count, handle = ctypes.c_int(), ctypes.c_void_p()
    failed = cuda.cuInit(0) or cuda.cuDeviceGetCount(ctypes.byref(count)) or nvml.nvmlInit_v2()
    found = not failed and not nvml.nvmlDeviceGetHandleByUUID(uuid.encode(), ctypes.byref(handle))
    return found and count.value == 1


def files_of_other_gpus(gpus: Path = Path("/proc/driver/nvidia/gpus"), devices: Path = Path("/dev")) -> list[Path]:
    """Return the device files of the GPUs that CUDA_VISIBLE_DEVICES does not name; none unless it is one UUID."""
    minors = dict[str, str]()
    for file in gpus.glob("*/information"):
        with contextlib.suppress(OSError):
            pairs = (line.partition(":") for line in file.read_text(encoding="utf-8").splitlines())
            facts = {name.strip(): value.strip() for name, _, value in pairs}
            minors[facts.get("GPU UUID", "")] = facts.get("Device Minor", "")
    own = os.environ.get("CUDA_VISIBLE_DEVICES", "")
    others = sorted(minor for uuid, minor in minors.items() if uuid != own and minor.isdigit())
    return [devices / f"nvidia{minor}" for minor in others] if own in minors else []


def hide(files: Sequence[Path]) -> None:
    """Take the right to open these device files from this process and its children; do nothing where Linux refuses."""
    libc = ctypes.CDLL(None, use_errno=True)
    if sys.platform != "linux" or not files or libc.unshare(_CLONE_NEWNS):
        return
    libc.mount(None, b"/", None, _ALL_BELOW | _PRIVATE, None)
    for file in [os.fsencode(file) for file in files if file.exists()]:
        kept = sum(flag for name, flag in _KEPT_FLAGS.items() if os.statvfs(file).f_flag & name)
        if not libc.mount(file, file, None, _BIND, None):
            libc.mount(None, file, None, _REMOUNT | _BIND | _NO_DEVICES | kept, None)


def _start_loopback() -> None:
    """Let processes of the namespace reach each other at 127.0.0.1, as tools and kernels of notebooks do."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        asked = fcntl.ioctl(any_socket, _SIOCGIFFLAGS, struct.pack("16sH22x", b"lo", 0))
        flags = struct.unpack("16sH22x", asked)[1] | _UP
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sH22x", b"lo", flags))


def make_gpu_devices() -> None:
    """Let NVIDIA's own program make the device of managed memory where the driver has made none since the last boot.

    CUDA otherwise starts that program itself, which needs the rights of root and does not get them in a user namespace.
    """
    program = shutil.which("nvidia-modprobe")
    if program and Path("/dev/nvidiactl").exists() and not Path("/dev/nvidia-uvm").exists():
        with contextlib.suppress(OSError, subprocess.SubprocessError):  # CUDA may find the device without this help
            subprocess.run([program, "-u", "-c=0"], stdin=subprocess.DEVNULL, capture_output=True, timeout=30)


if __name__ == "__main__":
    main(sys.argv[1:])
