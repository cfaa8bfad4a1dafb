"""Run a queue of equal jobs on one GPU of a host and on several of them, and print jobs per minute and their ratio.

    python tests/gpu/several_gpus.py --out FOLDER                       (up to 420 s)
    python tests/gpu/several_gpus.py --out FOLDER --parts warm one all --alone 4 --seconds 230
    python tests/gpu/several_gpus.py --report FOLDER                    (judges again; needs no GPU)

Shows that the GPUs of a host share the jobs of `sitegen run --bundle` and do not disturb each other.  A job checks and
times one implementation of copy, with torch and the two probes, by the same rounds as every job of a run.

- `warm`: one job on each GPU, which fills the caches of compilers.
- `one`: JOBS jobs on the first GPU alone, or as many as `--alone` says.
- `killed`: two jobs for each GPU; the worker of the last GPU and all its processes are killed in the middle of a job.
- `two`: JOBS jobs for each of the first two GPUs, where there are more.
- `all`: JOBS jobs for each GPU, on all GPUs.

Meanwhile the script notes when and where each job starts and ends, which processes use each GPU, and on which cores the
processes of each worker may run.  What was seen is saved every few seconds.

Exit 1 when a line is not met: jobs per minute on two GPUs are at least 1.9 times as many as on one, on four 3.7 times,
and so on in proportion; every job has one result; no GPU was used by two jobs at once; no core belongs to two workers;
no evaluation on several GPUs is `slower` or `faster` than one of `one`; the simulation of the queue, with the stages of
the jobs of `one`, foretells the seconds of each part on several GPUs within 10 %, where it was not cut short.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import cycle, pairwise
from operator import itemgetter
from pathlib import Path
from statistics import fmean, median
from typing import Any

from job_steps import Stages, steps_of
from machine import (
    ROOT,
    Limit,
    end,
    environment,
    gpus,
    kernel_jobs,
    kernel_of,
    narrowed,
    records_of,
    save,
    table,
    the_site,
)

from sitegen.execute.bundle import read_results, write_bundle
from sitegen.execute.schedule import Loss, simulate_steps
from sitegen.execute.targets import Device
from sitegen.model.job import JobResult, KernelJob
from sitegen.results.compare import compare_records
from sitegen.results.verdicts import Verdict

SECONDS = 420.0
JOBS = 16
"""Jobs for each GPU in the parts `one`, `two` and `all`."""
FEW = 2
"""Jobs for each GPU in the part `killed`."""
PARTS = ("warm", "one", "killed", "two", "all")
SEVERAL = ("two", "all")
"""Parts that are compared with `one`."""
SHARES, FORETOLD = {2: 0.95}, 0.1
"""The least jobs per minute, as a share of those that so many GPUs would do apart; where a number has none, SHARE."""
SHARE = 0.925
LOOK_S = 0.5
SAVE_S = 5.0
"""Seconds between two times that what was seen of a part is saved while it runs."""
POLL_S = 0.1
"""Seconds by which the script may notice the end of a killed process too late."""
KERNEL, WORKLOAD, DTYPE, IMPLEMENTATION = "copy", "256Mi", "float32", "vec4"
LINES = ("line", "value", "wanted", "")
STAGES = (
    *("start", "check", "next generations", "plan", "time", "recheck", "take over", "more generations"),
    *("artefacts", "end", "total"),
)
"""Stages of a job whose seconds are listed (sitegen/measure/workspace.py)."""


def the_job() -> KernelJob:
    site = the_site()
    return kernel_jobs(site, narrowed(kernel_of(site, KERNEL), [WORKLOAD], DTYPE, [IMPLEMENTATION]))[0]


def queue_of(job: KernelJob, number: int) -> list[KernelJob]:
    """Return so many equal jobs, which differ in their ids."""
    return [replace(job, id=f"{job.id}-{n:03d}") for n in range(1, number + 1)]


@dataclass
class Seen:
    """What the script notes of one part; all times are seconds of one clock."""

    gpus: int
    jobs: int
    """Jobs in the queue."""
    events: list[dict[str, Any]] = field(default_factory=list)
    """Starts and ends of jobs, in order: `at`, `job`, `state`, `place`, `message`."""
    users: list[dict[str, list[int]]] = field(default_factory=list)
    """At each look, the guards whose processes use each GPU, by its number.  A guard has one job."""
    cores: dict[str, list[int]] = field(default_factory=dict)
    """The cores on which processes of each worker could run, by the number of its GPU."""
    killed: dict[str, Any] = field(default_factory=dict)
    """The job whose worker was killed, the number of its processes, and when the last of them was gone."""
    complete: bool = False


def run_part(
    name: str, job: KernelJob, devices: Sequence[Device], out: Path, limit: Limit, each: int, parts: dict[str, Seen]
) -> None:
    """Run the queue of a part as an author would run it, so many jobs on each GPU; what was seen goes to `parts`."""
    used = devices[: {"one": 1, "two": 2}.get(name)]
    bundle = out / f"{name}.jobs"
    write_bundle(queue_of(job, each * len(used)), "", bundle)
    seen = parts[name] = Seen(len(used), each * len(used))
    command = [
        sys.executable,
        "-m",
        "sitegen",
        "run",
        "--bundle",
        str(bundle),
        "-o",
        str(out / f"{name}.zip"),
        "--json",
    ]
    visible = {"CUDA_VISIBLE_DEVICES": ",".join(device.uuid for device in used), "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}
    with (out / "several_gpus.log").open("ab") as log:
        run = subprocess.Popen(command, cwd=ROOT, env=environment() | visible, stdout=subprocess.PIPE, stderr=log)
        reader = threading.Thread(target=read_events, args=(run, seen), daemon=True)
        reader.start()
        try:
            watch(run, seen, used, limit, lambda: save(out, "several_gpus", parts), kill=name == "killed")
            seen.complete = run.poll() is not None
        finally:
            end(run)
            reader.join(10.0)
            bundle.unlink()
            save(out, "several_gpus", parts)


def read_events(run: subprocess.Popen[bytes], seen: Seen) -> None:
    """Note each line of `sitegen run --json` with the time at which it came."""
    assert run.stdout
    for line in run.stdout:
        event = json.loads(line)
        kept = {key: event[key] for key in ("job", "state", "place", "message", "seconds")}
        seen.events.append({"at": time.monotonic(), **kept})


def watch(
    run: subprocess.Popen[bytes],
    seen: Seen,
    devices: Sequence[Device],
    limit: Limit,
    store: Callable[[], None],
    kill: bool,
) -> None:
    """Look at the GPUs and the workers until the run is over or no time is left; `store` saves what was seen."""
    stored = time.monotonic()
    while run.poll() is None and limit.left > 0:
        if time.monotonic() - stored > SAVE_S:
            store()
            stored = time.monotonic()
        workers = workers_of(run, devices)
        for number, worker in workers.items():
            cores = {core for one in children(worker.pid, recursive=True) for core in affinity(one)}
            seen.cores[str(number)] = sorted(cores | set(seen.cores.get(str(number), ())))
        seen.users.append({str(number): users_of(device) for number, device in enumerate(devices)})
        last = len(devices) - 1
        if kill and not seen.killed and last in workers and (victim := job_under_way(seen.events, f"GPU {last}")):
            seen.killed = {"job": victim} | killed(workers[last])
        time.sleep(LOOK_S)


def job_under_way(events: Sequence[Mapping[str, Any]], place: str) -> str:
    """Return the job that is timed at a place, once another job has ended; empty before."""
    ended = {event["job"] for event in events if event["state"] == "finished"}
    timed = [str(event["job"]) for event in events if event["state"] == "measuring" and event["place"] == place]
    return timed[-1] if ended and timed and timed[-1] not in ended else ""


def workers_of(run: subprocess.Popen[bytes], devices: Sequence[Device]) -> dict[int, Any]:
    """Return the worker of each GPU, by the GPU's number."""
    import psutil

    found: dict[int, Any] = {}
    for number, device in enumerate(devices):
        for child in children(run.pid):
            try:
                if child.environ().get("CUDA_VISIBLE_DEVICES") == device.uuid and is_a(child, "sitegen.execute.worker"):
                    found[number] = child
            except psutil.Error:
                continue
    return found


def children(pid: int, recursive: bool = False) -> list[Any]:
    import psutil

    try:
        return list(psutil.Process(pid).children(recursive=recursive))
    except psutil.Error:
        return []


def family(worker: Any) -> list[Any]:
    return [worker, *children(worker.pid, recursive=True)]


def is_a(process: Any, module: str) -> bool:
    import psutil

    try:
        return module in process.cmdline()
    except psutil.Error:
        return False


def affinity(process: Any) -> list[int]:
    import psutil

    try:
        return list(process.cpu_affinity())
    except psutil.Error:
        return []


def users_of(device: Device) -> list[int]:
    """Return the guards above the processes that use a GPU; a process below no guard is its own."""
    import psutil

    found = set[int]()
    for pid in pids_on(device):
        try:
            above = psutil.Process(pid).parents()
        except psutil.Error:
            continue
        found.add(next((one.pid for one in above if is_a(one, "sitegen.execute.guard")), pid))
    return sorted(found)


def pids_on(device: Device) -> list[int]:
    """Return the processes with a CUDA context on a GPU."""
    import pynvml

    try:
        pynvml.nvmlInit()  # counts its calls, and costs nothing after the first
        handle = pynvml.nvmlDeviceGetHandleByUUID(device.uuid)
        return [one.pid for one in pynvml.nvmlDeviceGetComputeRunningProcesses(handle)]
    except pynvml.NVMLError:
        return []


def killed(worker: Any) -> dict[str, Any]:
    """Kill a worker and everything below it; return how many processes, and when the last was gone."""
    import psutil

    everybody = family(worker)
    for process in everybody:
        try:
            process.kill()
        except psutil.Error:
            continue
    while any(lives(process) for process in everybody):
        time.sleep(0.002)
    return {"processes": len(everybody), "gone": time.monotonic()}


def lives(process: Any) -> bool:
    import psutil

    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False


def intervals(seen: Mapping[str, Any]) -> list[tuple[str, str, float, float]]:
    """Return place, job, start and end of each time that a job ran; a lost job ended when its last process was gone.

    A job that is handed out again at once waits for its new worker.  Its second time begins when that times it first.
    A job that was under way when the script ended is left out.
    """
    found, running = list[tuple[str, str, float, float]](), dict[str, tuple[str, float]]()
    again = set[str]()
    for event in seen["events"]:
        job, at = event["job"], event["at"]
        if event["state"] == "measuring":
            if job in again:
                again.remove(job)
                running[job] = event["place"], at
            continue
        if before := running.pop(job, None):
            lost = event["state"] == "started"
            found.append((before[0], job, before[1], seen["killed"].get("gone", at) if lost else at))
            again |= {job} if lost else set()
        if event["state"] == "started":
            running[job] = event["place"], at
    return found


def overlaps(found: Sequence[tuple[str, str, float, float]]) -> list[str]:
    """Return a sentence for each two jobs that ran at one place at once."""
    ordered = sorted(found, key=lambda one: (one[0], one[2]))
    return [
        f"{second[1]} began on {first[0]} before {first[1]} had ended"
        for first, second in pairwise(ordered)
        if first[0] == second[0] and second[2] < first[3] - POLL_S
    ]


def makespan_s(seen: Mapping[str, Any]) -> float:
    """Return the seconds from the first start to the last end."""
    found = intervals(seen)
    return max(one[3] for one in found) - min(one[2] for one in found) if found else 0.0


def finished(seen: Mapping[str, Any]) -> Counter[str]:
    """Return how often each job finished."""
    return Counter(event["job"] for event in seen["events"] if event["state"] == "finished")


def per_minute(seen: Mapping[str, Any]) -> float:
    return 60.0 * finished(seen).total() / makespan_s(seen) if finished(seen) else 0.0


def steady_per_minute(seen: Mapping[str, Any]) -> float:
    """Return the jobs per minute without the first job of each place, for which torch is imported.

    Each place counts from the end of its first job to the end of its last one.
    """
    ends: dict[str, list[float]] = {}
    for place, _, _, ended in intervals(seen):
        ends.setdefault(place, []).append(ended)
    return sum(60.0 * (len(one) - 1) / (max(one) - min(one)) for one in ends.values() if len(one) > 1)


def queue_line(name: str, seen: Mapping[str, Any]) -> Iterator[tuple[object, ...]]:
    """Yield the lines that every part must meet."""
    done, wanted = finished(seen), seen["jobs"]
    once = sum(1 for times in done.values() if times == 1)
    yield f"{name}: jobs with one result", once, wanted, once == wanted
    twice = len(overlaps(intervals(seen)))
    yield f"{name}: starts on a GPU before the last job there had ended", twice, 0, twice == 0
    looks = [len(guards) for look in seen["users"] for guards in look.values()]
    shared = sum(guards > 1 for guards in looks)
    used = sum(guards > 0 for guards in looks)
    yield f"{name}: looks at which two jobs used a GPU, of {used}", shared, 0, shared == 0 < used
    held = [set(cores) for cores in seen["cores"].values()]
    common = len(set.intersection(*held)) if len(held) > 1 else 0
    yield f"{name}: cores of two workers", common, 0, common == 0


def lines_of(
    parts: Mapping[str, Any], verdicts: Counter[Verdict], stages: Mapping[str, Stages]
) -> Iterator[tuple[object, ...]]:
    """Yield each line: what it is about, its value, what is wanted, and whether it is met.

    `stages` has the seconds of each stage of the jobs of `one`, by the job's id.
    """
    for name, seen in parts.items():
        yield from queue_line(name, seen)
    for name in (name for name in SEVERAL if "one" in parts and name in parts):
        gpus_used = parts[name]["gpus"]
        wanted = SHARES.get(gpus_used, SHARE) * gpus_used
        ratio = steady_per_minute(parts[name]) / (steady_per_minute(parts["one"]) or 1.0)
        yield f"{name}: jobs per minute, of those on one GPU", ratio, wanted, ratio >= wanted
        whole = per_minute(parts[name]) / (per_minute(parts["one"]) or 1.0)
        yield f"{name}: the same with the first jobs", whole, "", True
    if "one" in parts and any(name in parts for name in SEVERAL):
        changed = verdicts[Verdict.SLOWER] + verdicts[Verdict.FASTER]
        yield f"slower or faster than on one GPU, of {verdicts.total()}", changed, 0, changed == 0 < verdicts.total()
    yield from foretold_lines(parts, stages)
    if "killed" in parts:
        seen = parts["killed"]
        starts = Counter(event["job"] for event in seen["events"] if event["state"] == "started")
        again = [job for job, times in starts.items() if times > 1]
        yield "jobs that began again", len(again), 1, again == [seen["killed"].get("job")]


def foretold_s(seen: Mapping[str, Any], one: Mapping[str, Any], stages: Mapping[str, Stages]) -> float:
    """Return the seconds that the simulation gives for a part, from the seconds of the jobs on one GPU.

    The jobs of `one` are used in turn.  The first job of a worker takes longer, because nothing has imported torch for
    it; it is used for that difference only.
    """
    (_, first_s), *others = [(job, ended - began) for _, job, began, ended in sorted(intervals(one), key=itemgetter(2))]
    known = [steps_of(stages.get(job, {}), whole_s) for job, whole_s in others]
    jobs = len({event["job"] for event in seen["events"]})
    start_s = max(0.0, first_s - median(whole_s for _, whole_s in others))
    queue = [steps for steps, _ in zip(cycle(known), range(jobs), strict=False)]
    return simulate_steps(queue, seen["gpus"], start_s, losses_in(seen)).makespan


def losses_in(seen: Mapping[str, Any]) -> list[Loss]:
    """Return the worker that was killed, and when, since the first start of a job."""
    if "gone" not in seen["killed"]:
        return []
    return [Loss(seen["gpus"] - 1, seen["killed"]["gone"] - min(event["at"] for event in seen["events"]))]


def foretold_lines(parts: Mapping[str, Any], stages: Mapping[str, Stages]) -> Iterator[tuple[object, ...]]:
    """Yield a line for each part on all GPUs that was not cut short: what the simulation is off by."""
    for name in ("killed", *SEVERAL):
        judged = name in parts and parts[name]["complete"]
        if judged and "one" in parts and len(intervals(parts["one"])) > 1:
            off = foretold_s(parts[name], parts["one"], stages) / (makespan_s(parts[name]) or 1.0) - 1
            yield f"{name}: error of the simulated seconds", off, FORETOLD, abs(off) <= FORETOLD


def compared(folder: Path) -> Counter[Verdict]:
    """Return the verdicts of each evaluation on several GPUs against one of `one`."""
    one = results_in(folder / "one.zip")
    several = [result for name in SEVERAL for result in results_in(folder / f"{name}.zip")]
    site, job = the_site(), the_job()
    kernels = [job.kernel]
    before = [records_of(site, kernels, [result], "2026-01-01T00:00:00Z")[KERNEL] for result in one]
    after = [records_of(site, kernels, [result], "2026-01-02T00:00:00Z")[KERNEL] for result in several]
    narrow = replace(site, kernels=tuple(kernels))
    pairs = [(before[n % len(before)], record) for n, record in enumerate(after)] if before else []
    return Counter(row.verdict for pair in pairs for row in compare_records(narrow, *pair))


def results_in(path: Path) -> list[JobResult]:
    """Return the results that have times."""
    found = read_results(path)[0] if path.exists() else None
    return [result for result in found.results if result.environment and not result.error] if found else []


def stage_rows(parts: Mapping[str, Any], results: Mapping[str, Sequence[JobResult]]) -> Iterator[tuple[object, ...]]:
    """Yield the mean seconds of each stage in each part: by GPU, without the first job of each."""
    for name, seen in parts.items():
        stages = {result.id: result.seconds for result in results.get(name, ())}
        later: dict[str, list[tuple[str, float]]] = {}
        for place, job, began, ended in sorted(intervals(seen), key=itemgetter(2)):
            later.setdefault(place, []).append((job, ended - began))
        for place, jobs in sorted(later.items()):
            known = [(stages[job], whole_s) for job, whole_s in jobs[1:] if job in stages]
            if known:
                means = (fmean(one.get(stage, 0.0) for one, _ in known) for stage in STAGES)
                yield name, place, len(known), fmean(whole_s for _, whole_s in known), *means


def report(folder: Path) -> tuple[str, bool]:
    parts = json.loads((folder / "several_gpus.json").read_text())
    rows = [
        (name, seen["gpus"], finished(seen).total(), makespan_s(seen), per_minute(seen), steady_per_minute(seen))
        for name, seen in parts.items()
    ]
    results = {name: results_in(folder / f"{name}.zip") for name in parts}
    stages = {result.id: result.seconds for result in results.get("one", ())}
    lines = list(lines_of(parts, compared(folder), stages))
    judged = [(what, value, wanted, "" if held else "<-- NOT MET") for what, value, wanted, held in lines]
    cores = [f"GPU {number}: {len(found)} cores" for number, found in sorted(_last_cores(parts).items())]
    tables = (
        table(("part", "GPUs", "jobs", "seconds", "per minute", "without first jobs"), rows),
        ", ".join(cores),
        table(("part", "place", "jobs", "whole", *STAGES), stage_rows(parts, results)),
        table(LINES, judged),
    )
    return "\n\n".join(tables), "all" in parts and all(held for *_, held in lines)


def _last_cores(parts: Mapping[str, Any]) -> dict[str, list[int]]:
    return dict(next((seen["cores"] for name, seen in parts.items() if name in ("all", "killed")), {}))


def measure(out: Path, names: Sequence[str], seconds: float, jobs: int, alone: int) -> None:
    """Run the parts, and save what was seen while they run; a part for which no time is left does not begin."""
    limit, devices, job = Limit(seconds), gpus(), the_job()
    out.mkdir(parents=True, exist_ok=True)
    parts: dict[str, Seen] = {}
    for name in names:
        if limit.left < 10 or (name == "two" and len(devices) < 3):
            print(f"{name} does not run: {limit.left:.0f} s are left for {len(devices)} GPUs", flush=True)
            continue
        each = {"warm": 1, "killed": FEW, "one": alone}.get(name, jobs)
        run_part(name, job, devices, out, limit, each, parts)
        print(f"{name}: done after {limit.spent:.0f} s", flush=True)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--out", type=Path, help="folder for the results")
    what.add_argument("--report", type=Path, help="judge the results in this folder again")
    parser.add_argument("--seconds", type=float, default=SECONDS, help=f"limit of all parts; default: {SECONDS:.0f}")
    parser.add_argument(
        "--jobs", type=int, default=JOBS, help="jobs for each GPU in `one` and `all`; default: %(default)s"
    )
    parser.add_argument("--alone", type=int, help="jobs of `one`; default: as many as for each GPU")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS), help="default: all")
    given = parser.parse_args(arguments)
    if given.out:
        names = [name for name in PARTS if name in given.parts]
        measure(given.out.resolve(), names, given.seconds, given.jobs, given.alone or given.jobs)
    text, held = report(given.report or given.out)
    print(text)
    ((given.report or given.out) / "several_gpus.txt").write_text(text + "\n")
    return 0 if held else 1


if __name__ == "__main__":
    os.environ.setdefault("PYTHONUNBUFFERED", "1")
    sys.exit(main(sys.argv[1:]))
