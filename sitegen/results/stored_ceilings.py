"""Find the stored ceilings of a GPU, and the share of them that a time reaches which is not stored itself."""

from __future__ import annotations

from collections.abc import Iterable

from sitegen.model.gpu import gpu_id
from sitegen.model.kernel import Kernel
from sitegen.model.record import Environment, Evaluation, Run
from sitegen.results.figures import cost_of_evaluation, probed_ceilings, share_of_ceiling, workload_ceilings
from sitegen.results.records import Records
from sitegen.results.run_gpus import run_on


def newest_run_with_ceilings(records: Records, gpu: str, kernels: Iterable[str]) -> Run | None:
    """Return the newest run that measured the ceilings of a GPU, by its id, among the records of these kernels."""
    found = [record for name in kernels if (record := records.kernels.get((name, gpu)))]
    measured = (run for record in found for run in record.runs if run.ceilings)
    return max(measured, key=lambda run: run.id, default=None)


def stored_run(records: Records, kernel: Kernel, environment: Environment) -> Run | None:
    """Return the newest run that measured the ceilings of such a GPU: one of this kernel, else of any.

    It is reduced to the GPU of the environment where the run used that one, else to its first GPU.
    """
    gpu, every = gpu_id(environment.gpu), {name for name, _ in records.kernels}
    run = newest_run_with_ceilings(records, gpu, [kernel.name]) or newest_run_with_ceilings(records, gpu, every)
    return (run_on(run, environment.gpu_hash) or run_on(run, "")) if run else None


def share_of_stored_ceiling(records: Records, kernel: Kernel, run: Run, evaluation: Evaluation) -> float | None:
    """Return the share of the ceiling of a run that an evaluation reaches; None without a time or a ceiling.

    The ceilings are those that the kernel's page shows, which the fastest evaluations of the run may raise.
    """
    timed, cost = evaluation.performance, cost_of_evaluation(kernel, evaluation)
    if timed is None or cost is None:
        return None
    record = records.kernels.get((kernel.name, gpu_id(run.environment.gpu)))
    known = record is not None and any(one.id == run.id for one in record.runs)
    if record is not None and known:
        limits = workload_ceilings(kernel, record, run, cost, evaluation.dtype)
    else:
        limits = probed_ceilings(run, cost, evaluation.dtype)
    return share_of_ceiling(limits, cost, timed)
