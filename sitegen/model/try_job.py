"""The job of `sitegen try`: one implementation with several sets of constants, at one workload; nothing is stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sitegen.model.job import KernelJob
from sitegen.model.kernel import Kernel, Scalar, Workload


@dataclass(frozen=True, slots=True)
class TryJob:
    """Order to check and roughly time candidates: the implementations of `kernel`, each with its own constants."""

    id: str
    """`softmax/registers@8192x8192:float32`."""
    kernel: Kernel
    workload: Workload
    dtype: str
    sources: Mapping[str, str]
    """Every file that the candidates reach, by path from the site's root."""
    constants: Mapping[str, str]
    """The constants that `--set` gave each candidate, by its name: `THREADS=128 UNROLL=2`; empty without `--set`."""
    params: Mapping[str, Scalar] = field(default_factory=dict)
    ncu: bool = False
    """True to read the DRAM bytes and a `CallProfile` of each candidate by ncu."""
    kind: str = "try"

    def kernel_job(self) -> KernelJob:
        """Return the same candidates as a job of a run."""
        return KernelJob(self.id, self.kernel, self.workload, self.dtype, self.sources, {}, self.params)
