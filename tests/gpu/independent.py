"""Time the best implementation of each kernel by a timer that shares no code with sitegen's, beside the stored times.

    python tests/gpu/independent.py public/downloads/kernels --out A        (on a GPU machine, about 2 minutes)

It takes the best implementation of each kernel and dtype at the workload that takes longest, out of the records of this
model of GPU, and the file that the site offers for download, which knows nothing of sitegen.  A process of its own
compiles each one, six at a time, and times it alone: calls one behind the other between two events, for about 30 ms,
with inputs that change from call to call and exceed the L2 eight times; the median of 15 such rounds.  Before
each round the GPU rests, since it lowers its clock under the load of a matrix product.  The baseline is timed in turn
with it, so a GPU with another clock moves both.
A row holds when the time or its ratio to the baseline is within 2 % of the stored one.  Exits 1 when one does not hold.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from math import ceil
from pathlib import Path
from statistics import median
from types import ModuleType
from typing import Any

from machine import ROOT, gpus, table, the_site

from sitegen.model.kernel import Kernel, Status
from sitegen.model.plain import from_plain
from sitegen.model.record import Evaluation, Record, Role

ALLOWED, AT_ONCE, FILE_S = 0.02, 6, 150.0
L2_FACTOR, ROUNDS, ROUND_S, REST_S = 8, 15, 0.03, 0.05
CALL = re.compile(r'^if __name__ == "__main__":\n(?:    .*\n)*?    main\(', re.M)
"""The last lines of a download, `main(contract, reference, call)`."""
Place = tuple[str, str, str]
"""Workload, dtype and params."""


@dataclass(frozen=True)
class Stored:
    """The figures of a record to compare with."""

    kernel: str
    name: str
    workload: str
    dtype: str
    dims: dict[str, int]
    params: dict[str, Any]
    baseline: str
    us: float
    baseline_us: float

    @property
    def title(self) -> str:
        return f"{self.kernel}/{self.name}@{self.workload}:{self.dtype}"


def bests_of(kernel: Kernel, record: Record) -> Iterator[Stored]:
    """Yield for each dtype the fastest implementation at the workload that takes longest."""
    timed = [one for one in record.evaluations if one.status is Status.PASSED and one.performance]
    fastest: dict[Place, Evaluation] = {}
    for one in timed:
        if one.role is Role.IMPLEMENTATION and _us(one) <= _us(fastest.setdefault(_place(one), one)):
            fastest[_place(one)] = one
    longest: dict[str, Evaluation] = {}
    for one in fastest.values():
        if _us(one) >= _us(longest.setdefault(one.dtype, one)):
            longest[one.dtype] = one
    for one in longest.values():
        base = next(b for b in timed if b.name == kernel.baselines[0] and _place(b) == _place(one))
        dims = next(each.dims for each in kernel.workloads if each.name == one.workload)
        place = one.workload, one.dtype, dict(dims), dict(one.params)
        yield Stored(kernel.name, one.name, *place, base.name, _us(one), _us(base))


def _place(one: Evaluation) -> Place:
    return one.workload, one.dtype, str(sorted(one.params.items()))


def _us(one: Evaluation) -> float:
    assert one.performance is not None
    return one.performance.median_us


def stored_times(gpu: str) -> Iterator[Stored]:
    for kernel in the_site().kernels:
        path = ROOT / "kernels" / kernel.name / "results" / f"{gpu}.json"
        if path.exists():
            yield from bests_of(kernel, from_plain(Record, json.loads(path.read_text())))


# In a process of its own: a download and a timer.


def time_alone(file: Path, want: Stored, lock: Path) -> tuple[float, float]:
    """Return the µs of a call of the download and of its baseline."""
    import torch

    module = module_of(file)
    contract, reference, call = module.TAKEN
    setup = module.Setup(contract, reference, call, want.dtype, "cuda")
    names = setup.names(want.dims, want.params)
    l2_bytes = torch.cuda.get_device_properties(0).L2_cache_size
    sets = max(2, ceil(L2_FACTOR * l2_bytes / contract.least_bytes(**names)))
    inputs = [_inputs(setup, want, seed) for seed in range(sets)]
    outs = [setup.new_outputs(names) for _ in range(sets)]
    ours: list[Callable[[], Any]] = [partial(call, *each, names, want.dtype) for each in zip(inputs, outs, strict=True)]
    base = reference.BASELINES[want.baseline]
    theirs: list[Callable[[], Any]] = [partial(base, **each, **want.params) for each in inputs]
    for called in (*ours, *theirs):
        called()
    torch.cuda.synchronize()
    with lock.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        pairs = [(_round_us(ours), _round_us(theirs)) for _ in range(ROUNDS + 2)][2:]
    return median(a for a, _ in pairs), median(b for _, b in pairs)


def module_of(file: Path) -> Any:
    """Return a download as a module, whose TAKEN has what its last line gives to `main`."""
    module = sys.modules["download"] = ModuleType("download")
    module.__file__ = str(file)
    exec(compile(CALL.sub("TAKEN = (", file.read_text(encoding="utf-8")), str(file), "exec"), module.__dict__)
    return module


def _inputs(setup: Any, want: Stored, seed: int) -> dict[str, Any]:
    import torch

    random = torch.Generator(device="cuda").manual_seed(seed)
    made = setup.reference.make_inputs(want.dims, getattr(torch, want.dtype), random, "cuda")
    return {name: made[name].contiguous() for name in setup.contract.inputs}


def _round_us(calls: Sequence[Callable[[], Any]]) -> float:
    """Return the µs of one of many calls that follow each other without a pause."""
    time.sleep(REST_S)
    count = max(len(calls), ceil(ROUND_S * 1e6 / _between_us(calls, len(calls))))
    return _between_us(calls, count)


def _between_us(calls: Sequence[Callable[[], Any]], count: int) -> float:
    import torch

    first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    first.record()
    for i in range(count):
        calls[i % len(calls)]()
    last.record()
    torch.cuda.synchronize()
    return float(first.elapsed_time(last)) * 1e3 / count


# The table of all.


def timed(folder: Path, want: Stored, lock: Path) -> dict[str, Any]:
    file = folder / f"{want.kernel}_{want.name}.py"
    command = [sys.executable, __file__, "--one", str(file), json.dumps(asdict(want)), str(lock)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=FILE_S)
        ours, theirs = json.loads(done.stdout.splitlines()[-1])
    except (subprocess.TimeoutExpired, ValueError, IndexError) as error:
        words = error.cmd if isinstance(error, subprocess.TimeoutExpired) else done.stderr.splitlines()[-3:]
        return {**asdict(want), "title": want.title, "error": str(words)}
    ratio = (want.baseline_us / want.us) / (theirs / ours)
    return {
        **asdict(want),
        "title": want.title,
        "independent_us": ours,
        "independent_baseline_us": theirs,
        "time": ours / want.us,
        "ratio": ratio,
        "holds": min(abs(ours / want.us - 1), abs(ratio - 1)) <= ALLOWED,
    }


def row_of(one: dict[str, Any]) -> tuple[str, ...]:
    if "error" in one:
        return one["title"], f"{one['us']:.1f}", one["error"], "", "", "no"
    shares = (f"{one[name] - 1:+.1%}" for name in ("time", "ratio"))
    return one["title"], f"{one['us']:.1f}", f"{one['independent_us']:.1f}", *shares, "yes" if one["holds"] else "no"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("downloads", type=Path)
    options.add_argument("--out", type=Path, required=True)
    given = options.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        wanted = list(stored_times(gpus()[0].gpu))
        found = list(pool.map(lambda one: timed(given.downloads, one, given.out / "lock"), wanted))
    (given.out / "independent.json").write_text(json.dumps(found, indent=1))
    head = ("evaluation", "stored µs", "independent µs", "time", "ratio to baseline", "within 2 %")
    print(table(head, [row_of(one) for one in found]))
    held = sum(bool(one.get("holds")) for one in found)
    print(f"{held} of {len(found)} hold")
    sys.exit(held < len(found))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(time_alone(Path(sys.argv[2]), Stored(**json.loads(sys.argv[3])), Path(sys.argv[4]))))
    else:
        main()
