"""The cores of this machine and the place of each GPU → the cores of each worker, a share of its own near its GPU.

A worker and all that it starts stay on its cores.  What one worker compiles therefore never takes a core from which
another worker feeds its GPU.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Sequence
from pathlib import Path

SYS = Path("/sys")
_RANGE = re.compile(r"(?P<first>\d+)(?:-(?P<last>\d+))?")

Cores = tuple[int, ...]


def core_shares(cores: Sequence[int], near: Sequence[Collection[int]]) -> tuple[Cores, ...]:
    """Return the cores of each worker; no two workers have the same.  Empty: the worker may use all cores.

    `cores` are those that may be used, siblings of one physical core beside each other.  `near` has the cores near the
    GPU of each worker, empty where they are not known.  GPUs with the same near cores divide them equally.  Where that
    is not possible, all cores are divided equally; with one worker, or fewer cores than workers, nothing is divided.
    """
    if len(near) < 2 or len(cores) < len(near):
        return ((),) * len(near)
    groups = [tuple(core for core in cores if core in one) or tuple(cores) for one in near]
    if not _can_be_divided(groups):
        groups = [tuple(cores)] * len(near)
    return tuple(_share(group, groups[:n].count(group), groups.count(group)) for n, group in enumerate(groups))


def _can_be_divided(groups: Sequence[Cores]) -> bool:
    """Return whether no core is in two different groups, and each group has a core for each of its workers."""
    distinct = set(groups)
    several = sum(len(group) for group in distinct) > len({core for group in distinct for core in group})
    return not several and all(len(group) >= groups.count(group) for group in distinct)


def _share(cores: Cores, number: int, of: int) -> Cores:
    return cores[number * len(cores) // of : (number + 1) * len(cores) // of]


def usable_cores() -> Cores:
    """Return the cores that this process may use, siblings of one physical core beside each other.

    Empty where the operating system does not bind processes to cores.
    """
    if not hasattr(os, "sched_getaffinity"):
        return ()
    return tuple(sorted(os.sched_getaffinity(0), key=lambda core: (min(_siblings(core), default=core), core)))


def cores_near(bus: str) -> frozenset[int]:
    """Return the cores on the NUMA node of a PCI device; empty where the machine does not say.

    `bus` is its address as nvidia-smi prints it: `00000000:1B:00.0`.
    """
    domain, _, rest = bus.lower().partition(":")
    return _listed(SYS / "bus" / "pci" / "devices" / f"{domain[-4:]}:{rest}" / "local_cpulist") if rest else frozenset()


def _siblings(core: int) -> frozenset[int]:
    return _listed(SYS / "devices" / "system" / "cpu" / f"cpu{core}" / "topology" / "thread_siblings_list")


def _listed(file: Path) -> frozenset[int]:
    """Return the numbers in a file such as `0-7,16-23`; none when it cannot be read."""
    try:
        text = file.read_text(encoding="ascii")
    except (OSError, ValueError):
        return frozenset()
    ranges = ((int(one["first"]), int(one["last"] or one["first"])) for one in _RANGE.finditer(text))
    return frozenset(core for first, last in ranges for core in range(first, last + 1))
