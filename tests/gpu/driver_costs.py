"""Time what the driver does for a process of a job: alone, for several processes of a GPU, and for those of all GPUs.

    python tests/gpu/driver_costs.py --out FOLDER [--seconds 40]        (on a GPU machine)
    python tests/gpu/driver_costs.py --report FOLDER                    (prints the table again; needs no GPU)

A job creates a CUDA context in each of its processes (sitegen/measure/jobs.py).  Here so many processes are forked from
one that has imported torch.  They begin together, and each notes the seconds of its stages: the driver, a context, what
torch adds, NVML, the first kernel, 1 GiB of memory, and the same memory given back.  Then all are ended at once, as a
job ends a generation.

Stages that take twice as long with twice as many GPUs are served one process after the other on the whole host.

- `as it is`: as processes of a job begin today.
- `no NVML`: without NVML.
- `own GPU only`: the device files of the other GPUs are hidden, as in a container with one GPU; needs root.
- `one connection`: CUDA_DEVICE_MAX_CONNECTIONS=1, so that a context has fewer channels.

Exit 0 when a process that sees its own GPU only works and takes less of the host's time than one that sees all.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import select
import signal
import sys
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any, NoReturn

from machine import Limit, gpus, save, table

from sitegen.execute.targets import Device

SECONDS = 40.0
CHEAPER = 0.95
"""Share of today's seconds from which a case is cheaper."""
STAGES = ("driver", "context", "torch", "NVML", "kernel", "memory", "given back")
ELEMENTS = 1 << 28
HEAD = ("case", "GPUs", "each", *STAGES, "ready", "ended", "a process")
MODULES = ("torch", "pynvml", "cuda.core")
_NEW_MOUNTS = 0x00020000
_NO_DEVICES, _REMOUNT, _BIND, _ALL_BELOW, _PRIVATE = 4, 32, 4096, 16384, 1 << 18


@dataclass(frozen=True)
class Case:
    """Processes that begin together."""

    name: str
    gpus: int
    """GPUs of the host that are used; 0 stands for all."""
    each: int
    """Processes of each GPU."""
    nvml: bool = True
    alone: bool = False
    """True to hide the device files of other GPUs."""
    environment: tuple[tuple[str, str], ...] = ()


ONE = (("CUDA_DEVICE_MAX_CONNECTIONS", "1"),)
CASES = (
    Case("as it is", 0, 4),
    Case("own GPU only", 0, 4, alone=True),
    Case("as it is", 1, 4),
    Case("own GPU only", 1, 4, alone=True),
    Case("one connection", 0, 4, nvml=False, environment=ONE),
    Case("own GPU only, one connection", 0, 4, nvml=False, alone=True, environment=ONE),
    Case("no NVML", 0, 4, nvml=False),
    Case("as it is", 1, 1),
    Case("one connection", 1, 4, nvml=False, environment=ONE),
)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--out", type=Path, help="folder for the results")
    what.add_argument("--report", type=Path, help="print the results in this folder again")
    parser.add_argument("--seconds", type=float, default=SECONDS, help=f"limit; default: {SECONDS:.0f}")
    given = parser.parse_args(arguments)
    if given.out:
        measure(given.out.resolve(), Limit(given.seconds))
    found = json.loads(((given.report or given.out) / "driver_costs.json").read_text())
    print(report(found))
    return 0 if is_cheaper(found, "own GPU only") else 1


def is_cheaper(found: Sequence[Mapping[str, Any]], name: str) -> bool:
    """Return whether all processes of a case on several GPUs worked, and took less of the host's time than today's."""
    each = {one["case"]: (row(one)[-1], all(one["notes"])) for one in found if one["gpus"] > 1}
    if name not in each or "as it is" not in each:
        return False
    seconds, worked = each[name]
    return worked and float(str(seconds)) < CHEAPER * float(str(each["as it is"][0]))


def measure(out: Path, limit: Limit) -> None:
    """Run the cases while time is left, in a process that has imported torch and touches no GPU."""
    devices, found = gpus(), list[dict[str, Any]]()
    for module in MODULES:
        with suppress(ImportError):
            __import__(module)
    took_s = 0.0
    for case in CASES:
        if limit.left < 2 * took_s + 2:
            print(f"no time is left for {case.name}", flush=True)
            continue
        began = time.monotonic()
        found.append(run(case, devices, limit))
        took_s = time.monotonic() - began
        save(out, "driver_costs", found)


def run(case: Case, devices: Sequence[Device], limit: Limit) -> dict[str, Any]:
    """Return what the processes of a case noted, when all were ready, and the seconds in which they ended."""
    used = devices[: case.gpus] if case.gpus else devices
    go, children = os.pipe(), list[tuple[int, int]]()
    for device in [device for device in used for _ in range(case.each)]:
        answer = os.pipe()
        if (pid := os.fork()) == 0:
            child(case, device, devices, go, answer[1])
        os.close(answer[1])
        children.append((pid, answer[0]))
    began = time.monotonic()
    os.close(go[0]), os.close(go[1])  # at which all begin
    notes = [read(fd, limit) for _, fd in children]
    ready = time.monotonic()
    for pid, fd in children:
        os.kill(pid, signal.SIGTERM), os.close(fd)
    for pid, _ in children:
        os.waitpid(pid, 0)
    whole = {"ready": ready - began, "ended": time.monotonic() - ready}
    return {"case": case.name, "gpus": len(used), "each": case.each, "notes": notes, **whole}


def read(fd: int, limit: Limit) -> dict[str, float]:
    """Return what a process noted; nothing when it failed or took too long."""
    if not select.select([fd], [], [], max(0.1, limit.left))[0]:
        return {}
    with suppress(ValueError):
        return dict(json.loads(os.read(fd, 1 << 16)))
    return {}


def child(case: Case, device: Device, devices: Sequence[Device], go: tuple[int, int], answer: int) -> NoReturn:
    """Begin when the other end of `go` closes, write the seconds of each stage, and wait to be ended."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        os.close(go[1])
        os.environ.update(device.environment | dict(case.environment))
        if case.alone:
            hide([one for one in devices if one != device])
        os.read(go[0], 1)
        os.write(answer, json.dumps(noted(case, device)).encode())
        while True:
            signal.pause()
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(1)


def noted(case: Case, device: Device) -> dict[str, float]:
    """Return the seconds of each stage of this process."""
    times = [time.monotonic(), *(time.monotonic() for _ in stages(case, device))]
    return {name: after - before for name, (before, after) in zip(STAGES, pairwise(times), strict=True)}


def stages(case: Case, device: Device) -> Iterator[None]:
    """Do the stages, and stop after each of them."""
    import torch

    driver, context = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p()
    driver.cuInit(0)
    yield
    driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
    driver.cuCtxSetCurrent(context)
    yield
    torch.cuda.init()
    torch.cuda.set_stream(torch.cuda.Stream())
    with suppress(ImportError):
        from cuda.core import Device as Core

        Core(0).set_current()
    yield
    if case.nvml:
        ask_nvml(device)
    yield
    torch.zeros(1, device="cuda").add_(1)
    torch.cuda.synchronize()
    yield
    memory = torch.empty(ELEMENTS, dtype=torch.float32, device="cuda").fill_(1)
    torch.cuda.synchronize()
    yield
    del memory
    torch.cuda.empty_cache()
    yield


def ask_nvml(device: Device) -> None:
    """Ask NVML as a process of a job does (sitegen/measure/clock.py)."""
    import pynvml

    try:
        pynvml.nvmlInit()
        handle = pynvml.nvmlDeviceGetHandleByUUID(device.uuid)
        pynvml.nvmlDeviceGetMaxClockInfo(handle, pynvml.NVML_CLOCK_SM)
        pynvml.nvmlDeviceGetPowerUsage(handle)
    except pynvml.NVMLError as error:
        print(f"NVML on {device.uuid}: {error}", file=sys.stderr)


def hide(devices: Sequence[Device]) -> None:
    """Let this process open the device files of these GPUs no more."""
    libc = ctypes.CDLL(None, use_errno=True)
    files = [f"/dev/nvidia{minor_of(device.bus)}".encode() for device in devices]
    failed = libc.unshare(_NEW_MOUNTS) or libc.mount(None, b"/", None, _ALL_BELOW | _PRIVATE, None)
    for file in files:
        failed = failed or libc.mount(file, file, None, _BIND, None)
        failed = failed or libc.mount(None, file, None, _REMOUNT | _BIND | _NO_DEVICES, None)
    if failed:
        raise OSError(ctypes.get_errno(), "the device files of other GPUs cannot be hidden")


def minor_of(bus: str) -> int:
    """Return the number in the name of a GPU's device file."""
    text = Path(f"/proc/driver/nvidia/gpus/{bus.lower()[-12:]}/information").read_text()
    return int(next(line.split(":")[1] for line in text.splitlines() if line.startswith("Device Minor")))


def report(found: Sequence[Mapping[str, Any]]) -> str:
    """Return a line for each case, with the mean seconds of the stages."""
    return table(HEAD, [row(one) for one in found])


def row(one: Mapping[str, Any]) -> tuple[object, ...]:
    """Return the line of a case.

    The last figure is the seconds of the host for each process, from the beginning to the end of all.
    """
    notes = [note for note in one["notes"] if note]
    means = [fmean(note[stage] for note in notes) if notes else 0.0 for stage in STAGES]
    processes = max(1, one["gpus"] * one["each"])
    failed = len(one["notes"]) - len(notes)
    name = f"{one['case']} ({failed} failed)" if failed else one["case"]
    both = one["ready"], one["ended"]
    return (name, one["gpus"], one["each"], *means, *both, sum(both) / processes)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
