"""Requests for processes of a job → forks of this process, which has imported torch once.

It is started as `python -m sitegen.measure.fork_server FD [MODULE…]`.  An import takes seconds, and two dozen imports
side by side take several times as long; a fork takes milliseconds.  This process touches no CUDA and starts no thread
but those of numpy's OpenBLAS, which end before a fork.  So a forked process is as good as a fresh one.  The MODULEs are
imported at once, so that they are there before the first job; and what torch.compile needs, too, unless a request waits
by then.  Without a GPU none is named: this process then does not import Triton, and a forked process can still choose
between Triton's compiler and its interpreter.

The import of torch's compiler looks for a GPU.  With ASKS_NVML (imports.py) it asks NVML.  Without NVML, or where torch
does not know the variable, the import touches CUDA.  A process that has touched CUDA cannot be forked, so this process
then begins again, once, without the compiler.

Over the socket FD come messages of JSON.  `{"program": NAME, "arguments": […], "log": PATH}`, for a child with the two
ends of its pipes, starts a process: the reply is `{"pid": N}`.  `{"reap": PID}`, once that process is dead, gives its
exit code: the reply is `{"code": N}`, negative for a signal.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import json
import os
import select
import socket
import sys
import traceback
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, NoReturn

from sitegen.measure.child import die_with_parent
from sitegen.measure.imports import COMPILER, import_ahead

_WITHOUT_COMPILER = "SITEGEN_WITHOUT_COMPILER"
"""Variable in the environment of a process that has begun again."""
_NOT_INITIALIZED = 3
"""What libcuda returns until somebody in this process initialises it."""
MESSAGE = 1 << 16
"""Bytes: more than any request or reply has."""
_PROGRAMS = ("child", "cross_compile", "try_process", "sweep_process")
"""Modules of this package with a function `main`.  Each forked process imports its own; torch is there already."""


def imported_by(modules: Sequence[str], connection: socket.socket) -> Iterator[str]:
    """Yield the modules, and then the compiler's unless a request waits, there are no modules, or it touches CUDA."""
    yield from modules
    if modules and _WITHOUT_COMPILER not in os.environ and not select.select([connection], [], [], 0)[0]:
        yield COMPILER


def has_touched_cuda() -> bool:
    """Return whether this process has initialised CUDA; False without its driver."""
    try:
        error: int = ctypes.CDLL("libcuda.so.1").cuDeviceGetCount(ctypes.byref(ctypes.c_int()))
    except OSError:
        return False
    return error != _NOT_INITIALIZED


def begin_again_without_compiler() -> None:
    """Start this program anew in this process if it has touched CUDA, and not a second time.

    A libcuda that is only a stub for linking never returns _NOT_INITIALIZED, so a second start would not be the last.
    """
    if _WITHOUT_COMPILER in os.environ or not has_touched_cuda():
        return
    os.environ[_WITHOUT_COMPILER] = "1"
    os.execv(sys.executable, [sys.executable, "-m", "sitegen.measure.fork_server", *sys.argv[1:]])


def serve(connection: socket.socket) -> None:
    """Answer requests until the other end is closed.  The forked processes then end with this process."""
    while True:
        data, fds, _, _ = socket.recv_fds(connection, MESSAGE, 2)
        if not data:
            return
        request = json.loads(data)
        reply = {"code": _reaped(request["reap"])} if "reap" in request else {"pid": _forked(connection, request, fds)}
        connection.sendall(json.dumps(reply).encode())


def _reaped(pid: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def _forked(connection: socket.socket, request: Any, fds: list[int]) -> int:
    """Fork a process and return its PID.

    Parent and child both make the child's process group, because either of them may run first.
    """
    if request["program"] != "cross_compile":
        _import_once()
    pid = os.fork()
    if pid == 0:
        connection.close()
        _run(request, fds)
    with contextlib.suppress(OSError):
        os.setpgid(pid, pid)
    for fd in fds:
        os.close(fd)
    return pid


@cache
def _import_once() -> None:
    """Import what every child needs; a process that only compiles CUDA needs nothing of it."""
    import_ahead()
    _share_imports()


def _share_imports() -> None:
    gc.freeze()  # otherwise garbage collection in a child would copy the pages that it shares with the others


def _run(request: Any, fds: list[int]) -> NoReturn:
    """Run the program in this process, with its output in the log, and exit."""
    code = 1
    try:
        os.setpgid(0, 0)
        log = os.open(request["log"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        os.dup2(log, 1), os.dup2(log, 2)
        die_with_parent()
        if (program := request["program"]) not in _PROGRAMS:
            raise ValueError(f"no program of the fork server: {program}")
        importlib.import_module(f"sitegen.measure.{program}").main([*map(str, fds), *request["arguments"]])
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush(), sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    die_with_parent()
    parent = socket.socket(fileno=int(sys.argv[1]))
    import_ahead(imported_by(sys.argv[2:], parent))
    begin_again_without_compiler()
    _share_imports()
    serve(parent)
