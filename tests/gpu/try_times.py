"""Time `sitegen try` with empty caches and again, on four implementations, and a sweep of twelve combinations.

    python tests/gpu/try_times.py --out FOLDER          (on the GPU machine; about two minutes)

Each line is one process of the job, as the command starts it; reading the site is not in it.  Exits 1 when a first try
takes more than 15 s, a second one more than 5 s, or a candidate does not pass.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from machine import gpus, table, the_site

from sitegen.execute.try_constants import parse_settings
from sitegen.execute.try_plan import try_job
from sitegen.execute.try_run import run_try_job
from sitegen.model.kernel import Status
from sitegen.model.plain import to_plain

COLD_S, WARM_S = 15.0, 5.0
NAMES = ("softmax/fused", "vector_add/tile", "softmax/registers", "vector_add/vec4")
SWEEP = ("softmax/online_tiles", ("THREADS=128,256,512,1024", "UNROLL=1,2,4"))
Row = tuple[str, str, float, float, bool]
"""Name, kind, seconds, the most seconds (0: no limit), and whether every candidate passed."""


def rows(folder: Path) -> Iterator[Row]:
    """Yield each try as soon as it is done."""
    for number, name in enumerate(NAMES):
        with tempfile.TemporaryDirectory() as cache:
            os.environ |= {"TRITON_CACHE_DIR": cache, "CUDA_CACHE_PATH": cache}
            yield timed(name, "first", (), COLD_S, folder / f"{number}-first.json")
            yield timed(name, "second", (), WARM_S, folder / f"{number}-second.json")
    yield timed(SWEEP[0], "12 combinations", SWEEP[1], 0.0, folder / "sweep.json")


def timed(name: str, kind: str, words: tuple[str, ...], most_s: float, file: Path) -> Row:
    """Do one try, and store its result."""
    job = try_job(the_site(), name, parse_settings(words))
    began = time.monotonic()
    result = run_try_job(job)
    seconds = time.monotonic() - began
    file.write_text(json.dumps(to_plain(result), indent=1), encoding="utf-8")
    named = len(result.evaluations) == len(job.kernel.implementations)
    passed = named and (not most_s or all(e.status is Status.PASSED for e in result.evaluations))
    return name, kind, seconds, most_s, passed and result.environment is not None


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
