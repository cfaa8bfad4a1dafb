"""Run commands of sitegen for the tests: a request is a line of JSON on stdin, its exit code a line on stdout.

Each command runs in a fork of this process, which has built a site before.  A new interpreter would have to import
sitegen first, which takes three times as long as most of the commands that are tested.
"""

from __future__ import annotations

import contextlib
import ctypes
import datetime as dt
import json
import os
import resource
import signal
import sys
import tempfile
import traceback
from pathlib import Path

import click

from sitegen.cli import main
from sitegen.write.scaffold import create, new_site_files


def import_everything() -> None:
    """Build a site and look up every command: both import further modules only when they need them."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        create(Path(folder), new_site_files("Kernels", dt.date(2026, 11, 21)))
        main(["build", "--quiet"], standalone_mode=False)
    context = click.Context(main)
    for name in main.list_commands(context):
        main.get_command(context, name)


def serve() -> None:
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            os._exit(run(**json.loads(line)))  # at once: to take the forked interpreter down costs more than a command
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def run(
    words: list[str],
    cwd: str,
    variables: dict[str, str],
    output: str,
    errors: str,
    memory_bytes: int,
    seconds: float,
    file_bytes: int,
    privileged: bool,
) -> int:
    """Run a command in this process, which ends when the command takes too long; return the exit code."""
    for descriptor, path in enumerate((os.devnull, output, errors)):
        os.dup2(os.open(path, os.O_RDWR | os.O_CREAT), descriptor)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(variables)
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, file_bytes))
    if not privileged:
        drop_capabilities()
    signal.setitimer(signal.ITIMER_REAL, seconds)  # no handler: the signal ends the process at once, as SIGKILL does
    status = 1
    try:
        main(words, prog_name="sitegen")
    except SystemExit as end:
        status = int(end.code or 0)
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    return status


def drop_capabilities() -> None:
    """Give up what lets the superuser write into a folder that is read-only (capset(2), version 3)."""
    header, nothing = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    if ctypes.CDLL(None).capset(header, nothing) != 0:
        raise OSError("the capabilities could not be dropped")


if __name__ == "__main__":
    import_everything()
    serve()
