"""Compare the key and the names of each evaluation with its kernel: a sentence for each contradiction.

A stale evaluation is no contradiction: its key and one of the key's parts differ from today's.
"""

from __future__ import annotations

from collections.abc import Iterator

from sitegen.model.kernel import Kernel
from sitegen.model.record import Evaluation, Record, Role
from sitegen.results.dependencies import SourceTexts
from sitegen.results.keys import implementation_key
from sitegen.results.records import cell_name


def key_contradictions(kernel: Kernel, record: Record, files: SourceTexts) -> Iterator[str]:
    """Yield a sentence for each implementation of which the key says something else than its parts, and for each
    evaluation of a name, a workload or a dtype that kernel.yaml does not have.
    """
    names = {one.name for one in kernel.implementations}
    workloads = {one.name for one in kernel.workloads}
    for one in record.evaluations:
        title = f"{kernel.name}/{one.name}@{cell_name(one.workload, one.dtype, one.params, kernel)} on {record.gpu}"
        if one.workload not in workloads or one.dtype not in kernel.dtypes:
            yield f"{title}: kernel.yaml has no such workload or dtype"
        elif one.role is Role.IMPLEMENTATION and one.name not in names:
            yield f"{title}: kernel.yaml has no such implementation"
        elif one.role is Role.IMPLEMENTATION and _contradicts(kernel, one, files):
            yield f"{title}: its key and the parts of its key contradict each other"


def _contradicts(kernel: Kernel, one: Evaluation, files: SourceTexts) -> bool:
    made = next(made for made in kernel.implementations if made.name == one.name)
    workload = next(workload for workload in kernel.workloads if workload.name == one.workload)
    today = implementation_key(kernel, made, workload, one.dtype, one.params, files)
    return (one.key == today.digest) != (dict(one.key_parts) == dict(today.parts))
