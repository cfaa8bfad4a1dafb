"""Time the imports before a job begins its work, with compiled modules kept and without.

    python tests/gpu/start_costs.py          (on the GPU machine; about a minute, nothing is left)

Each line is a fresh process that imports what the fork server imports for all children of a job: torch; and what
torch.compile needs beside it, which each child imports that compiles with it.

- `as it is`: with the environment of this process, as children have it.
- `nothing kept`: no compiled module is read or written.
- `kept`: compiled modules go to a folder and come from there; the first process writes them.
- `side by side`: many processes at once, as a job would start them if it had no fork server; the slowest counts.

Where `as it is` takes as long as `nothing kept`, the machine has no compiled modules beside packages and writes none
(PYTHONDONTWRITEBYTECODE): `python -m compileall -q -j 0` over torch and Triton, once, then helps every job.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor

from machine import table

IMPORTS = ("torch", "torch._dynamo", "torch._inductor.compile_fx")
AT_ONCE = 12
"""Processes that a job of six evaluations starts in two generations."""
PROGRAM = """
import importlib, sys, time
for name in sys.argv[1:]:
    start = time.perf_counter()
    importlib.import_module(name)
    print(time.perf_counter() - start)
"""
_SWITCHES = ("PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX")


def seconds(environment: Mapping[str, str]) -> list[float]:
    """Return the seconds of each import, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *IMPORTS], env=environment, capture_output=True, text=True, check=True
    )
    return [float(line) for line in done.stdout.splitlines()]


def side_by_side(environment: Mapping[str, str]) -> list[float]:
    """Return the time of each import in the slowest of AT_ONCE processes."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return [max(column) for column in zip(*pool.map(seconds, [environment] * AT_ONCE), strict=True)]


def environment(**changes: str) -> dict[str, str]:
    """Return the environment of this process without the variables that decide where compiled modules are stored."""
    return {name: value for name, value in os.environ.items() if name not in _SWITCHES} | changes


def lines() -> Iterator[tuple[object, ...]]:
    """Yield the rows of the table, each as soon as it is known."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as empty:
        kept = environment(PYTHONPYCACHEPREFIX=folder)
        nothing = environment(PYTHONPYCACHEPREFIX=empty, PYTHONDONTWRITEBYTECODE="1")
        yield "as it is", *seconds(os.environ)
        yield "as it is, again", *seconds(os.environ)
        yield "nothing kept", *seconds(nothing)
        yield "kept, the first", *seconds(kept)
        yield "kept, again", *seconds(kept)
        yield "as it is, side by side", *side_by_side(os.environ)
        yield "kept, side by side", *side_by_side(kept)


if __name__ == "__main__":
    print(table(("seconds", *IMPORTS), lines()))
