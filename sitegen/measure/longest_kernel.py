"""The kernels that one call launches → the one whose resources a record shows.

It is the kernel in which the call spends most of its device time.  Where no times are known, it is the kernel with the
most work: the threads of its launches × the instructions of its code.  A kernel that is launched several times counts
with all its launches.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sitegen.measure.artefacts import Disassembly, KernelResources
from sitegen.measure.geometry import Geometry
from sitegen.measure.occupancy import SmLimits, occupancy
from sitegen.model.record import Compilation, LaunchRecord

MOST_CHARACTERS = 100
"""The longest name of a kernel in a record."""
_IDENTIFIER = re.compile(r"L?(\d+)")
"""The length before each identifier of a mangled name; `L` marks one that other files do not see."""


@dataclass(frozen=True, slots=True)
class LaunchedKernel:
    """One launch of a call."""

    name: str
    """Name of the kernel in the machine code; empty when it is not known."""
    geometry: Geometry
    resources: KernelResources | None = None
    """Resources by the driver, which knows those of a baseline too; None where no driver was asked."""

    @property
    def threads(self) -> int:
        """Threads of the whole launch."""
        return math.prod(self.geometry.grid) * self.geometry.threads


@dataclass(frozen=True, slots=True)
class LongestKernel:
    """The kernel in which a call spends most of its time."""

    launch: LaunchedKernel
    """Its longest launch."""
    share: float | None
    """Its part of the device time of all kernels of the call; None where no times are known."""


def longest_kernel(
    launches: Sequence[LaunchedKernel], times_us: Sequence[float], instructions: Mapping[str, int]
) -> LongestKernel:
    """Return the kernel with the longest device time, else with the most work; of equal ones the first.

    `launches` are not empty.  `times_us` are the device times of the launches, in the same order; empty when they are
    not known.  `instructions` are the lengths of the kernels' code, by name.
    """
    weights = list(times_us) or [one.threads * float(instructions.get(one.name, 1)) for one in launches]
    totals: dict[str, float] = {}
    for one, weight in zip(launches, weights, strict=True):
        totals[one.name] = totals.get(one.name, 0.0) + weight
    name = max(totals, key=lambda each: totals[each])
    mine = [(weight, one) for one, weight in zip(launches, weights, strict=True) if one.name == name]
    _, launch = max(mine, key=lambda pair: pair[0])
    return LongestKernel(launch, totals[name] / sum(weights) if times_us else None)


def resources_of(launch: LaunchedKernel, listing: Disassembly | None) -> KernelResources | None:
    """Return the resources of a launched kernel: by its machine code, else by the driver; None when neither knows."""
    by_code = listing.resources.get(launch.name) if listing else None
    return by_code or launch.resources


def launch_record(
    longest: LongestKernel, launches: int, limits: SmLimits | None, listing: Disassembly | None
) -> LaunchRecord:
    """Return the shape and occupancy of the longest launch of a call; `launches` are all of the call."""
    shape = longest.launch.geometry
    return LaunchRecord(
        grid=shape.grid,
        block=shape.block,
        cluster=shape.cluster,
        shared_bytes=shape.shared_bytes,
        launches=launches,
        occupancy=occupancy_of(longest.launch, limits, listing),
        kernel=written_name(longest.launch.name),
        kernel_share=longest.share,
    )


def occupancy_of(launch: LaunchedKernel, limits: SmLimits | None, listing: Disassembly | None) -> float | None:
    """Return the occupancy of a launch; None where the GPU or the kernel's resources are not known."""
    used = resources_of(launch, listing)
    if used is None or limits is None:
        return None
    shared = used.shared_bytes + launch.geometry.shared_bytes
    return occupancy(limits, used.registers, launch.geometry.threads, shared)


def compilation_of(longest: LongestKernel, listing: Disassembly) -> Compilation:
    """Return the compiled code of a call with the resources of its longest kernel.

    Instructions, hash, PTX and SASS stay those of all kernels.
    """
    used = resources_of(longest.launch, listing)
    if used is None:
        return listing.compilation
    return replace(
        listing.compilation,
        registers=used.registers,
        spill_bytes=used.local_bytes,
        shared_bytes=used.shared_bytes + longest.launch.geometry.shared_bytes,
    )


def written_name(name: str) -> str:
    """Return the name that the author wrote: `gradients` for `_Z9gradientsILi2EEvPKf`.

    Namespaces and the arguments of templates are left out.  A name that C++ has not mangled stays as it is.
    """
    at, written = len("_ZN" if name.startswith("_ZN") else "_Z"), name
    while name.startswith("_Z") and (length := _IDENTIFIER.match(name, at)):
        at = length.end() + int(length[1])
        written = name[length.end() : at]
    return (written or name)[:MOST_CHARACTERS]
