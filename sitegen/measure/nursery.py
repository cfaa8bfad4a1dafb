"""Where the children of a job come from on a GPU machine: `python -m sitegen.measure.nursery FD` imports torch once,
then forks itself for each.

An import takes seconds, and two dozen side by side take several times as long; a fork takes milliseconds.  Nothing here
touches CUDA or starts a thread of its own, so what is forked is as good as a fresh process.

Over the socket FD come messages of JSON.  `{"arguments": […], "log": PATH}`, with the two ends of the child's pipes →
`{"pid": N}`; `{"reap": PID}`, once that child is dead → `{"code": N}`, negative for a signal.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import socket
import sys
import traceback
from typing import Any, NoReturn

from sitegen.measure.child import die_with_parent, import_ahead, main

MESSAGE = 1 << 16
"""More bytes than a request or a reply has."""


def serve(connection: socket.socket) -> None:
    """Answers until the other end is closed; the children then end with this process."""
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
    """Its process group is its own in either process, whichever comes first."""
    pid = os.fork()
    if pid == 0:
        connection.close()
        _be_a_child(request, fds)
    with contextlib.suppress(OSError):
        os.setpgid(pid, pid)
    for fd in fds:
        os.close(fd)
    return pid


def _be_a_child(request: Any, fds: list[int]) -> NoReturn:
    code = 1
    try:
        os.setpgid(0, 0)
        log = os.open(request["log"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        os.dup2(log, 1), os.dup2(log, 2)
        main([*map(str, fds), *request["arguments"]])
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush(), sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    die_with_parent()
    import_ahead()
    gc.freeze()  # else each child's search for garbage would copy the memory that it shares with the others
    serve(socket.socket(fileno=int(sys.argv[1])))
