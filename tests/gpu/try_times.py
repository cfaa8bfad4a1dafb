"""Time `sitegen try` with empty caches and again, on four implementations, and a sweep of twelve combinations.

    python tests/gpu/try_times.py --out FOLDER          (on the GPU machine; about two minutes)

Each line is the whole command, from its start to its end.  Exits 1 when a first try takes more than 15 s, a second one
more than 5 s, or a candidate does not pass.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from machine import ROOT, gpus, table

COLD_S, WARM_S = 15.0, 5.0
NAMES = ("softmax/fused", "vector_add/tile", "softmax/registers", "vector_add/vec4")
SWEEP = ("softmax/online_tiles", "--set", "THREADS=128,256,512,1024", "--set", "UNROLL=1,2,4")
Row = tuple[str, str, float, float, bool]
"""Name, kind, seconds, the most seconds (0: no limit), and whether every candidate passed."""


def rows(folder: Path) -> Iterator[Row]:
    """Yield each try as soon as it is done."""
    for number, name in enumerate(NAMES):
        with tempfile.TemporaryDirectory() as cache:
            os.environ |= {"TRITON_CACHE_DIR": cache, "CUDA_CACHE_PATH": cache, "XDG_CACHE_HOME": cache}
            yield timed((name,), "first", COLD_S, folder / f"{number}-first.txt")
            yield timed((name,), "second", WARM_S, folder / f"{number}-second.txt")
    yield timed(SWEEP, "12 combinations", 0.0, folder / "sweep.txt")


def timed(words: Sequence[str], kind: str, most_s: float, file: Path) -> Row:
    """Do one try, and store what it prints.  A combination of the sweep may be one that cannot be launched."""
    began = time.monotonic()
    done = subprocess.run([sys.executable, "-m", "sitegen", "try", *words], cwd=ROOT, capture_output=True, text=True)
    seconds = time.monotonic() - began
    file.write_text(done.stdout + done.stderr, encoding="utf-8")
    return words[0], kind, seconds, most_s, done.returncode == 0 or not most_s


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, required=True)
    folder = parser.parse_args().out
    folder.mkdir(parents=True, exist_ok=True)
    gpus()
    found = list(rows(folder))
    print(table(("name", "try", "seconds", "at most", "passed"), found))
    return int(any(not passed or (most and seconds > most) for _, _, seconds, most, passed in found))


if __name__ == "__main__":
    sys.exit(main())
