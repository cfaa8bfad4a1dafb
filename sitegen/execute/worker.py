"""Jobs on standard input → results on standard output, one line of JSON each: `python -m sitegen.execute.worker`.

The first line names the function that runs the jobs, where it is imported from, the cores of this worker, and the file
that gets the number of rounds of the present job.  When
standard input closes, the parent is gone or has no more jobs.  The job in progress is then interrupted, so that it can
end its own processes and remove its folder, and the worker ends.
"""

from __future__ import annotations

import importlib
import json
import os
import queue
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from sitegen.execute.measure_process import failure
from sitegen.execute.told_rounds import told_to

GRACE_S = 5.0
"""Seconds that an interrupted job may take to end."""


def main() -> None:
    """Run jobs until standard input closes."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job would ignore it
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as answers:
        os.dup2(2, 1)  # the output of a job must not mix with results
        lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        threading.Thread(target=_read, args=(lines,), daemon=True).start()
        first = json.loads(lines.get())
        if first["cores"]:
            os.sched_setaffinity(0, first["cores"])  # also of whatever is started here
        work = _import_work(first)
        while True:
            spec = json.loads(lines.get())
            with told_to(partial(_tell, Path(first["rounds"]))):
                answer = _result(work, spec)
            answers.write(json.dumps(answer) + "\n")
            answers.flush()


def _read(lines: queue.SimpleQueue[bytes]) -> None:
    """Hand lines to the main thread; end the process when there are no more, whatever it is doing."""
    for line in sys.stdin.buffer:
        lines.put(line)
    main_thread = threading.main_thread()
    assert main_thread.ident is not None
    signal.pthread_kill(main_thread.ident, signal.SIGINT)
    main_thread.join(GRACE_S)
    os._exit(0)


def _tell(file: Path, rounds: int) -> None:
    file.write_text(str(rounds), encoding="ascii")


def _import_work(first: Mapping[str, Any]) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    sys.path[:] = first["path"]
    value: Any = importlib.import_module(first["module"])
    for name in first["function"].split("."):
        value = getattr(value, name)
    work: Callable[[Mapping[str, Any]], dict[str, Any]] = value
    return work


def _result(work: Callable[[Mapping[str, Any]], dict[str, Any]], spec: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return work(spec)
    except Exception as error:
        return failure(spec, f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        os._exit(0)
