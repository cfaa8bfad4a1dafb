"""Tell which GPU of a run made an evaluation, and return the run with the ceilings of that GPU.

A run may use several GPUs of one model.  Each has its own ceilings, which differ by a few percent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache

from sitegen.model.record import Environment, Evaluation, MeasuredGpu, Run
from sitegen.results.same_object import SameObject


def run_on(run: Run, gpu_hash: str) -> Run | None:
    """Return the run with the environment and the ceilings of one of its GPUs alone; None when it has no such GPU.

    An empty hash means the first GPU.  The same arguments give the same object.
    """
    if not run.other_gpus:
        return run if gpu_hash in ("", run.environment.gpu_hash) else None
    return _runs_by_gpu(SameObject(run)).get(gpu_hash or run.environment.gpu_hash)


def runs_on_each(run: Run) -> tuple[Run, ...]:
    """Return the run as `run_on` does, for each of its GPUs."""
    return tuple(_runs_by_gpu(SameObject(run)).values()) if run.other_gpus else (run,)


def made_on(evaluation: Evaluation, run: Run) -> bool:
    """Tell whether an evaluation was made in a run, on the GPU to which `run_on` has reduced the run."""
    return evaluation.run == run.id and evaluation.gpu_hash in ("", run.environment.gpu_hash)


def joined_gpus(first: Iterable[MeasuredGpu], second: Iterable[MeasuredGpu]) -> tuple[MeasuredGpu, ...]:
    """Return the GPUs of two parts of a run, each once; of a GPU in both parts, the first that has ceilings."""
    by_hash: dict[str, MeasuredGpu] = {}
    for gpu in (*first, *second):
        known = by_hash.get(gpu.environment.gpu_hash)
        if known is None or not known.ceilings:
            by_hash[gpu.environment.gpu_hash] = gpu if known is None else replace(known, ceilings=gpu.ceilings)
    return tuple(by_hash.values())


def with_gpus(run: Run, gpus: tuple[MeasuredGpu, ...]) -> Run:
    """Return the run with these GPUs, of which there is at least one."""
    return replace(run, environment=gpus[0].environment, ceilings=gpus[0].ceilings, other_gpus=gpus[1:])


def anonymous(environment: Environment) -> Environment:
    """Return the environment of any GPU of a run, for a result that does not say which of them made it."""
    return replace(environment, gpu_hash="")


@lru_cache(maxsize=64)
def _runs_by_gpu(run: SameObject[Run]) -> Mapping[str, Run]:
    gpus = run.value.gpus
    return {one.environment.gpu_hash: with_gpus(run.value, (one,)) for one in reversed(gpus)}
