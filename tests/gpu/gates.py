"""On a GPU machine: what each gate of correctness rejects by itself.

    python tests/gpu/gates.py --out FOLDER          (up to 240 s)

Shows that every gate is needed: each variant under `wrong/` is checked once for each gate, with all other gates off, at
the shape that its kernel.yaml names.  The table has a row for each variant and a column for each gate; the gate that
kernel.yaml names must give the status that it names.  compute-sanitizer's racecheck is one of the gates.  Each
implementation must pass all gates at the shapes of `checks`, in each dtype.  No gate may let outputs pass that ignore
the inputs, also at the workloads.  Without a GPU only the variants in Python are judged, under Triton's interpreter.

Exit 1 when a named gate lets its variant pass, when an implementation fails, or when a gate is vacuous.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from machine import ROOT, Limit, OutOfTime, environment, jobs_of, measured, save, table, the_site

from sitegen.execute.targets import local_target
from sitegen.model.job import InspectJob
from sitegen.model.kernel import Gate, Implementation, Kernel, Language, Scalar, Status
from sitegen.model.plain import to_plain
from sitegen.model.site import Site
from sitegen.results.records import param_combinations

sys.path.append(str(ROOT / "tests" / "kernels"))

LIMIT_S = 230.0
COMPILERS = 8
"""Runnables of a kernel that are compiled side by side."""
SIGNS = {
    "": "-",
    Status.PASSED: ".",
    Status.WRONG_SHAPE: "shape",
    Status.WRONG_DTYPE: "dtype",
    Status.OUT_OF_BOUNDS: "bounds",
    Status.MODIFIED_INPUT: "modified",
}
"""What stands in the table for a status; other statuses stand there as they are."""


@dataclass
class Found:
    """Verdicts on one kernel.  A verdict is `passed`, or a status and a message."""

    alone: dict[str, dict[str, str]] = field(default_factory=dict)
    """By variant and gate, with all other gates off."""
    together: dict[str, str] = field(default_factory=dict)
    """By variant, of all gates at the same shape."""
    implementations: dict[str, str] = field(default_factory=dict)
    """By name, dtype and params, of all gates at all small shapes."""
    errors: dict[str, list[float]] = field(default_factory=dict)
    """Relative error and error of the worst row of what passed, by the same name."""
    vacuous: list[str] = field(default_factory=list)
    """Outputs that ignore the inputs and that no input set rejects."""
    loose: list[str] = field(default_factory=list)
    """Outputs that ignore the inputs and that only some of the input sets of a shape reject."""
    seconds: float = 0.0
    error: str = ""


def status_of(verdict: str) -> str:
    return verdict.partition(":")[0]


class Judge:
    """Judges one kernel in this process."""

    def __init__(self, kernel: Kernel, device: str, folder: Path) -> None:
        self.kernel, self.device, self.folder = kernel, device, folder
        self.found = Found()

    def steps(self) -> Iterator[None]:
        """Judge, and stop for a moment wherever something new is known."""
        yield from self.variants()
        if self.device == "cuda":
            yield from self.implementations()
        yield from self.imposters()

    def variants(self) -> Iterator[None]:
        from judge_all import verdict

        params = param_combinations(self.kernel)[0]
        judged = [w for w in self.kernel.wrong if self.runs_here(w.implementation)]
        wanted = [(w.implementation, (w.implementation.dtypes or self.kernel.dtypes)[0], params) for w in judged]
        for wrong, (made, dtype, _), runnable in zip(judged, wanted, self.compiled(wanted), strict=True):
            setup, shapes = self.setup(dtype, params), [wrong.at]
            self.found.alone[made.name] = {
                gate: verdict(replace(setup, gates=frozenset({gate})), runnable, shapes, made.deterministic)
                for gate in Gate
                if gate is not Gate.RACECHECK
            }
            self.found.together[made.name] = verdict(setup, runnable, shapes, made.deterministic)
            yield

    def implementations(self) -> Iterator[None]:
        from sitegen.measure.correctness import check
        from sitegen.measure.protocol import EvaluationEnded

        kernel = self.kernel
        wanted = [
            (made, dtype, params)
            for made in kernel.implementations
            for dtype in made.dtypes or kernel.dtypes
            for params in param_combinations(kernel)
        ]
        for (made, dtype, params), runnable in zip(wanted, self.compiled(wanted), strict=True):
            name = f"{made.name}:{dtype}" + "".join(f",{n}={v}" for n, v in params.items())
            try:
                checked = check(self.setup(dtype, params), runnable, kernel.checks, made.deterministic)
                self.found.errors[name] = [checked.relative_error, checked.row_error]
                self.found.implementations[name] = str(Status.PASSED)
            except EvaluationEnded as why:
                self.found.implementations[name] = f"{why.status}: {why.message}"
            except Exception as error:
                self.found.implementations[name] = f"{Status.RUNTIME_ERROR}: {type(error).__name__}: {error}"
            yield

    def imposters(self) -> Iterator[None]:
        """Offer zeros and outputs of another seed to the gates: at the small shapes, with a GPU at the workloads."""
        workloads = [workload.dims for workload in self.kernel.workloads] if self.device == "cuda" else []
        for dtype in self.kernel.dtypes:
            for params in param_combinations(self.kernel):
                for dims in (*self.kernel.checks, *workloads):
                    with one_at_a_time():
                        self.offer_imposters(dtype, params, dims)
            yield

    def offer_imposters(self, dtype: str, params: Mapping[str, Scalar], dims: Mapping[str, int]) -> None:
        from sitegen.measure.correctness import SEEDS, cases, imposters_of

        where, setup = f"at {dict(dims)} {dtype}", self.setup(dtype, params)
        imposters = imposters_of(setup, dims)
        for case in cases(setup, dims, SEEDS):
            imposters.offer(case)
            if imposters.all_rejected:
                break
        self.found.vacuous += imposters.vacuous(where)
        self.found.loose += [
            f"{self.kernel.outputs[index].name}: {kind} {where} ({', '.join(dict.fromkeys(names))} inputs)"
            for (kind, index), names in imposters.passed.items()
            if (kind, index) in imposters.rejected
        ]

    def runs_here(self, made: Implementation) -> bool:
        return self.device == "cuda" or made.language is Language.TRITON

    def setup(self, dtype: str, params: Mapping[str, Scalar]) -> Any:
        from judge_all import setup_of

        return setup_of(self.kernel, dtype, params, self.device)

    def compiled(self, wanted: Sequence[tuple[Implementation, str, Mapping[str, Scalar]]]) -> Iterator[Any]:
        """Yield the runnables in order.  nvcc runs side by side; imports do not, since they share Python's modules."""
        from sitegen.measure.runnable import implementation_runnable

        with ThreadPoolExecutor(COMPILERS) as pool:
            compiling = {
                number: pool.submit(implementation_runnable, self.folder, self.kernel, *one)
                for number, one in enumerate(wanted)
                if one[0].language is Language.CUDA_HOST
            }
            for number, one in enumerate(wanted):
                known = compiling.get(number)
                yield known.result() if known else implementation_runnable(self.folder, self.kernel, *one)


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Keep the large float64 references of several kernels' processes out of memory at the same time."""
    import torch

    with (Path(tempfile.gettempdir()) / "sitegen-gates.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
        if torch.cuda.is_available():
            torch.cuda.empty_cache()


def child(name: str) -> None:
    """Judge one kernel, and print what is known as JSON whenever something is added."""
    kernel, start = next(kernel for kernel in the_site().kernels if kernel.name == name), time.monotonic()
    device = use_device()
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "kernels", Path(folder) / "kernels", ignore=shutil.ignore_patterns("results"))
        judge = Judge(kernel, device, Path(folder))
        for _ in judge.steps():
            judge.found.seconds = time.monotonic() - start
            print(json.dumps(to_plain(judge.found)), flush=True)


def use_device() -> str:
    """Return `cuda` or `cpu`, made ready for the kernels."""
    import torch

    if torch.cuda.is_available():
        from sitegen.measure.device import use_own_stream

        use_own_stream()
        return "cuda"
    from sitegen.measure.interpreter import teach

    teach()
    return "cpu"


def judged(kernel: Kernel, gpu: bool, limit: Limit) -> Found:
    """Return the verdicts of a process of its own."""
    command = [sys.executable, __file__, "--child", kernel.name]
    interpreter = {} if gpu else {"TRITON_INTERPRET": "1", "PYTHONWARNINGS": "ignore"}
    error = ""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(command, cwd=ROOT, env=environment() | interpreter, stdout=out, stderr=log)
        try:
            if process.wait(max(1.0, limit.left)) != 0:
                error = f"ended with {process.returncode}"
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            error = "the time is over"
        out.seek(0)
        log.seek(0)
        lines, said = [line for line in out.read().splitlines() if line.startswith("{")], log.read()[-1500:]
    found = Found(**json.loads(lines[-1])) if lines else Found()
    found.error = f"{error} after {len(lines)} verdicts: {said}" if error else ""
    return found


def raced(site: Site, kernel: Kernel, limit: Limit) -> Mapping[str, str]:
    """Return what racecheck says of the variants that it must reject, by name."""
    races = tuple(wrong for wrong in kernel.wrong if wrong.gate is Gate.RACECHECK)
    narrow = replace(kernel, implementations=(), sweeps=(), goals=(), wrong=races)
    jobs = [replace(job, sweep=()) for job in jobs_of(site, [narrow]) if isinstance(job, InspectJob)]
    try:
        found = [one for job in jobs for one in measured(job, limit).sanitized] if races else []
    except (OutOfTime, RuntimeError) as why:
        print(f"racecheck of {kernel.name}: {why}", flush=True)
        return {}
    return {one.name: _verdict_of_tool(one.findings.get("racecheck")) for one in found}


def _verdict_of_tool(finding: str | None) -> str:
    if finding is None:
        return ""
    return f"{Status.RACE}: {finding}" if finding else str(Status.PASSED)


def rows(kernel: Kernel, found: Found) -> Iterator[tuple[object, ...]]:
    """Yield a row for each variant that was judged: the signs of all gates, and a mark where its own gate is wrong."""
    for wrong in kernel.wrong:
        name = wrong.implementation.name
        if not (alone := found.alone.get(name)) or wrong.gate is None:
            continue
        together = status_of(found.together.get(name, ""))
        hidden = {Status.PASSED, Status.INCORRECT}  # a race may give a right result, or five equal wrong ones
        allowed = {wrong.fails, *(hidden if wrong.gate is Gate.RACECHECK else ())}
        right = status_of(alone.get(wrong.gate, "")) == wrong.fails and together in allowed
        signs = [_sign(alone.get(gate, "")) for gate in Gate]
        yield f"{kernel.name}/{name}", wrong.gate, *signs, _sign(together), "" if right else "<-- WRONG"


def _sign(verdict: str) -> str:
    status = status_of(verdict)
    return SIGNS.get(status, status)


def faults(kernels: Sequence[Kernel], found: Mapping[str, Found]) -> Iterator[str]:
    """Yield a line for each fault that the table does not show."""
    for kernel in kernels:
        one = found[kernel.name]
        failed = [f"{name}: {said}" for name, said in one.implementations.items() if said != Status.PASSED]
        yield from (f"{kernel.name}: {text}" for text in (*failed, *one.vacuous, one.error) if text)
    unproved = sorted(set(Gate) - {wrong.gate for kernel in kernels for wrong in kernel.wrong})
    yield from (f"no variant is there for the gate {gate}" for gate in unproved)


def report(kernels: Sequence[Kernel], found: Mapping[str, Found]) -> bool:
    """Print the table and every fault; return whether there is none."""
    made = [row for kernel in kernels for row in rows(kernel, found[kernel.name])]
    print(table(("variant", "its gate", *Gate, "all gates", ""), made))
    loose = [f"{kernel.name}: {text}" for kernel in kernels for text in found[kernel.name].loose]
    print(end="".join(f"loose, and protected by another set: {text}\n" for text in loose))
    wrong = list(faults(kernels, found))
    print(end="".join(f"FAULT {text}\n" for text in wrong))
    passed = sum(said == Status.PASSED for one in found.values() for said in one.implementations.values())
    print(f"{len(made)} variants, {sum(not row[-1] for row in made)} right; {passed} implementations and dtypes passed")
    print(", ".join(f"{name} {one.seconds:.0f} s" for name, one in found.items()))
    return bool(made) and not wrong and not any(row[-1] for row in made)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, help="folder for the verdicts as JSON")
    parser.add_argument("--kernels", nargs="+", help="default: all")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.child:
        child(given.child)
        return 0
    site, limit = the_site(), Limit(LIMIT_S)
    gpu = any(device.gpu for device in local_target().devices)
    kernels = [k for k in site.kernels if k.name in (given.kernels or [k.name])]
    with ThreadPoolExecutor(2 * len(kernels) if gpu else os.cpu_count() or 1) as pool:
        verdicts = [pool.submit(judged, kernel, gpu, limit) for kernel in kernels]
        races = [pool.submit(raced, site, kernel, limit) for kernel in kernels if gpu]
        found = {kernel.name: one.result() for kernel, one in zip(kernels, verdicts, strict=True)}
        for kernel, race in zip(kernels, races, strict=False):
            for name, said in race.result().items():
                found[kernel.name].alone.setdefault(name, {})[Gate.RACECHECK] = said
    if given.out:
        save(given.out, "gates", found)
    held = report(kernels, found)
    print(f"{limit.spent:.0f} s")
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
