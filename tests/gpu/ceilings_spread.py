"""Show that ceilings of arithmetic repeat in SM cycles, though the power cap moves the clock: three repetitions.

    python tests/gpu/ceilings_spread.py --out A

The first repetition is a ceilings job with everything; the others measure arithmetic alone.  Exit 1 unless the rates
per SM cycle are within 1 % of each other, and the GPU's hash is stored.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean

from machine import ROOT, Limit, environment, gpus, measured, save, table

from sitegen.model.gpu import HASH_DIGITS
from sitegen.model.job import CeilingsJob, JobResult
from sitegen.model.plain import from_plain
from sitegen.model.record import Ceiling, CycleRate

MOST = 0.01
"""Largest difference of a rate per SM cycle between repetitions, relative."""
AGAIN = """
import json, sys
from sitegen.measure.ceilings import ARITHMETIC, measure_arithmetic, use_device
from sitegen.model.plain import to_plain
use_device()
found = [measure_arithmetic(name, ways) for name, ways in ARITHMETIC.items()]
json.dump([to_plain(ceiling) for ceiling in found if ceiling], sys.stdout)
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--repetitions", type=int, default=3)
    arguments = parser.parse_args()
    limit = Limit(300)
    result = measured(CeilingsJob(), limit, gpus()[0])
    save(arguments.out, "ceilings", result)
    repetitions = [result.ceilings, *(_again() for _ in range(arguments.repetitions - 1))]
    save(arguments.out, "repetitions", repetitions)
    print(f"job: {result.seconds}, {limit.spent:.0f} s in all")
    print(_rates(result))
    print(_spreads(repetitions))
    return _judge(result, repetitions)


def _again() -> tuple[Ceiling, ...]:
    """Measure arithmetic in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", AGAIN], cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=180
    )
    if done.returncode:
        raise RuntimeError(done.stderr[-1500:])
    return tuple(from_plain(Ceiling, one) for one in json.loads(done.stdout))


def _rates(result: JobResult) -> str:
    rows = [
        (one.name, f"{one.rate:.4g}", f"{rate:.4g}", f"{one.clocks_mhz.get(way, 0):.0f}", one.seconds, way)
        for one in result.ceilings
        for way, rate in one.probes.items()
    ]
    return table(("ceiling", "per s", "probe per s", "MHz", "seconds", "probe"), rows)


def _in_cycles(repetitions: Sequence[Sequence[Ceiling]]) -> Iterator[tuple[str, list[CycleRate]]]:
    """Yield `bf16 burst` with its rate in each repetition, and so on."""
    by_name = [{one.name: one for one in ceilings} for ceilings in repetitions]
    for name in [one.name for one in repetitions[-1]]:
        for kind in ("burst", "sustained"):
            rates = [getattr(one[name], kind) for one in by_name]
            yield f"{name} {kind}", [rate for rate in rates if rate]


def _spread(values: Sequence[float]) -> float:
    return (max(values) - min(values)) / fmean(values)


def _spreads(repetitions: Sequence[Sequence[Ceiling]]) -> str:
    rows = []
    for name, rates in _in_cycles(repetitions):
        per_cycle, per_second = ([f(rate) for rate in rates] for f in (_per_cycle, _per_second))
        half = max((rate.high - rate.low) / 2 / rate.per_cycle for rate in rates)
        clocks = " ".join(f"{rate.sm_clock_mhz:.0f}" for rate in rates)
        cells = (" ".join(f"{one:.0f}" for one in per_cycle), f"{half:.3%}", f"{_spread(per_cycle):.3%}")
        rows.append((name, *cells, f"{_spread(per_second):.2%}", clocks, rates[0].way))
    head = ("ceiling", "per SM cycle", "half interval", "spread", "spread in time", "MHz", "way")
    return table(head, rows)


def _per_cycle(rate: CycleRate) -> float:
    return rate.per_cycle


def _per_second(rate: CycleRate) -> float:
    return rate.per_cycle * rate.sm_clock_mhz * 1e6


def _judge(result: JobResult, repetitions: Sequence[Sequence[Ceiling]]) -> int:
    gpu_hash = result.environment.gpu_hash if result.environment else ""
    print(f"GPU {gpu_hash}")
    kept = re.fullmatch(rf"[0-9a-f]{{{HASH_DIGITS}}}", gpu_hash) is not None
    rates = list(_in_cycles(repetitions))
    whole = all(len(one) == len(repetitions) for _, one in rates)
    steady = all(_spread([rate.per_cycle for rate in one]) <= MOST for _, one in rates if one)
    print("met" if kept and whole and steady and rates else "not met")
    return 0 if kept and whole and steady and rates else 1


if __name__ == "__main__":
    sys.exit(main())
