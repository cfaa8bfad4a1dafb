"""On a GPU machine: what each gate of correctness rejects by itself.

    python tests/gpu/gates.py --out FOLDER          (up to 160 s)

Shows that no gate is there in vain and that none hides behind another: each variant under `wrong/` is checked once for
each gate, with all other gates off, at the shape that its kernel.yaml names.  The table has a row for each variant and
a column for each gate; the gate that kernel.yaml names must give the status that it names.  compute-sanitizer's
racecheck is one of the gates.  Each implementation must pass all gates at all shapes of `checks`, in each dtype, and no
gate may let outputs pass that ignore the inputs.  Without a GPU only Python files are judged, under the interpreter.

Exit 1 when a named gate lets its variant pass, when an implementation fails, or when a gate is vacuous.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from machine import ROOT, Limit, OutOfTime, environment, jobs_of, measured, save, table, the_site

from sitegen.execute.targets import local_target
from sitegen.model.job import InspectJob
from sitegen.model.kernel import Gate, Kernel, Language, Status
from sitegen.model.plain import to_plain
from sitegen.model.site import Site
from sitegen.results.records import param_combinations

sys.path.append(str(ROOT / "tests" / "kernels"))

LIMIT_S = float(os.environ.get("GATES_S", "155"))
NOT_RUN = "-"
SIGNS = {
    Status.INCORRECT: "incorrect",
    Status.WRONG_SHAPE: "shape",
    Status.WRONG_DTYPE: "dtype",
    Status.UNWRITTEN: "unwritten",
    Status.OUT_OF_BOUNDS: "bounds",
    Status.MODIFIED_INPUT: "modified",
    Status.RACE: "race",
}


@dataclass
class Found:
    """Verdicts on one kernel."""

    alone: dict[str, dict[str, str]] = field(default_factory=dict)
    """By variant and gate, with all other gates off; a verdict is `passed`, or a status and a message."""
    together: dict[str, str] = field(default_factory=dict)
    """By variant, of all gates at that shape."""
    implementations: dict[str, str] = field(default_factory=dict)
    """By name and dtype, of all gates at all shapes."""
    vacuous: list[str] = field(default_factory=list)
    loose: list[str] = field(default_factory=list)
    """Input sets whose gates let an output pass that another set at the same shape rejects."""
    seconds: float = 0.0
    error: str = ""


def status_of(verdict: str) -> str:
    return verdict.partition(":")[0]


def judge(kernel: Kernel, gpu: bool) -> Iterator[Found]:
    """Judge one kernel in this process, and yield what is known after each step."""
    found, start = Found(), time.monotonic()
    for step in (judge_variants, judge_implementations, judge_imposters):
        step(kernel, gpu, found)
        found.seconds = time.monotonic() - start
        yield found


def judge_variants(kernel: Kernel, gpu: bool, found: Found) -> None:
    from judge_all import setup_of, verdict

    from sitegen.measure.runnable import implementation_runnable

    for wrong in kernel.wrong:
        made, params = wrong.implementation, param_combinations(kernel)[0]
        if not gpu and made.language is not Language.TRITON:
            continue
        setup = setup_of(kernel, (made.dtypes or kernel.dtypes)[0], params, "cuda" if gpu else "cpu")
        runnable = implementation_runnable(ROOT, kernel, made, setup.dtype, params)
        found.alone[made.name] = {
            gate: verdict(replace(setup, gates=frozenset({gate})), runnable, [wrong.at], made.deterministic)
            for gate in Gate
            if gate is not Gate.RACECHECK
        }
        found.together[made.name] = verdict(setup, runnable, [wrong.at], made.deterministic)


def judge_implementations(kernel: Kernel, gpu: bool, found: Found) -> None:
    """Check the implementations by all gates; without a GPU tests/kernels does that."""
    from judge_all import setup_of, verdict

    from sitegen.measure.runnable import implementation_runnable

    for made in kernel.implementations if gpu else ():
        for dtype in made.dtypes or kernel.dtypes:
            for params in param_combinations(kernel):
                setup = setup_of(kernel, dtype, params, "cuda")
                name = f"{made.name}:{dtype}" + "".join(f",{n}={v}" for n, v in params.items())
                try:
                    runnable = implementation_runnable(ROOT, kernel, made, dtype, params)
                    found.implementations[name] = verdict(setup, runnable, kernel.checks, made.deterministic)
                except Exception as error:
                    found.implementations[name] = f"raised: {type(error).__name__}: {error}"


def judge_imposters(kernel: Kernel, gpu: bool, found: Found) -> None:
    """Offer zeros and outputs of another seed to the gates: at `checks`, and with a GPU at the workloads."""
    from judge_all import setup_of

    from sitegen.measure.correctness import SEEDS, cases, imposters_of

    workloads = [workload.dims for workload in kernel.workloads] if gpu else []
    for dtype in kernel.dtypes:
        for params in param_combinations(kernel):
            setup = setup_of(kernel, dtype, params, "cuda" if gpu else "cpu")
            for dims in (*kernel.checks, *workloads):
                where = f"at {dict(dims)} {dtype}"
                imposters = imposters_of(setup, dims)
                for number, case in enumerate(cases(setup, dims, SEEDS)):
                    imposters.offer(case)
                    if number and imposters.all_rejected:
                        break
                found.vacuous += imposters.vacuous(where)
                found.loose += [
                    f"{kernel.outputs[index].name}: {kind} {where} ({', '.join(dict.fromkeys(names))} inputs)"
                    for (kind, index), names in imposters.passed.items()
                    if (kind, index) in imposters.rejected
                ]


def child(name: str) -> None:
    """Judge one kernel and print what was found."""
    site = the_site()
    import torch

    gpu = torch.cuda.is_available()
    if not gpu:
        from sitegen.measure.interpreter import teach

        teach()
    else:
        from sitegen.measure.device import use_own_stream

        use_own_stream()
    kernel = next(kernel for kernel in site.kernels if kernel.name == name)
    for found in judge(kernel, gpu):
        print(json.dumps(to_plain(found)), flush=True)


def judged_in_a_process(kernel: Kernel, gpu: bool, limit: Limit) -> Found:
    """Return the verdicts of a process of its own."""
    command = [sys.executable, __file__, "--child", kernel.name]
    interpreter = {} if gpu else {"TRITON_INTERPRET": "1", "PYTHONWARNINGS": "ignore"}
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(command, cwd=ROOT, env=environment() | interpreter, stdout=out, stderr=log)
        try:
            error = "" if process.wait(max(1.0, limit.left)) == 0 else "ended"
        except subprocess.TimeoutExpired:
            process.kill()
            error = "the time is over"
        out.seek(0)
        log.seek(0)
        lines, said = [line for line in out.read().splitlines() if line.startswith("{")], log.read()[-1500:]
    found = Found(**json.loads(lines[-1])) if lines else Found()
    found.error = f"{error} after {len(lines)} of 3 steps: {said}" if error else ""
    return found


def raced(site: Site, kernel: Kernel, limit: Limit) -> Mapping[str, str]:
    """Return what racecheck says of the variants that it must reject, by name."""
    races = tuple(wrong for wrong in kernel.wrong if wrong.gate is Gate.RACECHECK)
    if not races:
        return {}
    narrow = replace(kernel, implementations=(), goals=(), baselines=kernel.baselines[:1], wrong=races)
    jobs = [replace(job, sweep=()) for job in jobs_of(site, [narrow]) if isinstance(job, InspectJob)]
    try:
        found = [one for job in jobs for one in measured(job, limit).sanitized]
    except OutOfTime:
        return {}
    return {one.name: _raced(one.findings.get("racecheck", "")) for one in found}


def _raced(finding: str) -> str:
    return f"{Status.RACE}: {finding}" if finding else str(Status.PASSED)


def judged(site: Site, kernel: Kernel, gpu: bool, limit: Limit) -> Found:
    found = judged_in_a_process(kernel, gpu, limit)
    for name, said in (raced(site, kernel, limit) if gpu else {}).items():
        found.alone.setdefault(name, {})[Gate.RACECHECK] = said
    return found


def rows(kernel: Kernel, found: Found) -> Iterator[tuple[object, ...]]:
    """Yield a row for each variant that was judged: the signs of all gates, and whether its own gate is right."""
    for wrong in kernel.wrong:
        name = wrong.implementation.name
        if not (alone := found.alone.get(name)):
            continue
        signs = [_sign(alone.get(gate, "")) for gate in Gate]
        said = status_of(alone.get(wrong.gate, "")) if wrong.gate else ""
        together = status_of(found.together.get(name, ""))
        right = said == wrong.fails and together in (wrong.fails, Status.PASSED if wrong.gate is Gate.RACECHECK else "")
        yield f"{kernel.name}/{name}", wrong.gate or "", *signs, _sign(together), "" if right else "<-- WRONG"


def _sign(verdict: str) -> str:
    status = status_of(verdict)
    return {"": NOT_RUN, "passed": "."}.get(status) or SIGNS.get(Status(status), status)


def report(kernels: Sequence[Kernel], found: Mapping[str, Found]) -> bool:
    """Print the table and every fault; return whether there is none."""
    head = ("variant", "its gate", *Gate, "all gates", "")
    made = [row for kernel in kernels for row in rows(kernel, found[kernel.name])]
    print(table(head, made))
    failed = [
        f"{kernel.name}/{name}: {said}"
        for kernel in kernels
        for name, said in found[kernel.name].implementations.items()
        if said != "passed"
    ]
    faults = [f"{k.name}: {text}" for k in kernels for text in (*found[k.name].vacuous, found[k.name].error) if text]
    print(*(f"loose but protected: {k.name}: {text}" for k in kernels for text in found[k.name].loose), sep="\n")
    print(*(f"FAULT {text}" for text in (*failed, *faults)), sep="\n")
    passed = sum(said == "passed" for one in found.values() for said in one.implementations.values())
    print(f"{len(made)} variants, {sum(not row[-1] for row in made)} right; {passed} implementations passed")
    print(", ".join(f"{name} {one.seconds:.0f} s" for name, one in found.items()))
    unproved = sorted(set(Gate) - {w.gate for k in kernels for w in k.wrong})
    print(*(f"FAULT no variant for the gate {gate}" for gate in unproved), sep="\n")
    return bool(made) and not (failed or faults or unproved or any(row[-1] for row in made))


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
    with ThreadPoolExecutor(len(kernels) if gpu else (os.cpu_count() or 1)) as pool:
        several = list(pool.map(lambda kernel: judged(site, kernel, gpu, limit), kernels))
    found: dict[str, Any] = {kernel.name: one for kernel, one in zip(kernels, several, strict=True)}
    if given.out:
        save(given.out, "gates", found)
    held = report(kernels, found)
    print(f"{limit.spent:.0f} s")
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
