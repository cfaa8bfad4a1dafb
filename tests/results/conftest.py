"""A kernel, its files, and results that a GPU could give: round figures that no GPU measured."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from sitegen.model.job import JobResult
from sitegen.model.kernel import Implementation, Kernel, Language, Launch, Status, Tensor, Workload, Wrong
from sitegen.model.record import (
    SCHEMA,
    Ceiling,
    Correctness,
    Environment,
    Evaluation,
    Performance,
    Ratio,
    Rejection,
    Role,
    Run,
)
from sitegen.model.site import Site, SiteConfig
from sitegen.results.keys import implementation_key, wrong_key

FILES = {
    "kernels/softmax/fused.py": "import torch\nfrom kernels.common import rows\n\ndef softmax(x, *, out=None): ...\n",
    "kernels/softmax/naive.cu": '#include "load.cuh"\n#include <cuda_bf16.h>\nextern "C" __global__ void naive() {}\n',
    "kernels/softmax/load.cuh": '#include "../common/vec.cuh"\n',
    "kernels/softmax/reference.py": "from .inputs import normal\n",
    "kernels/softmax/inputs.py": "normal = 1\n",
    "kernels/softmax/wrong/no_max.py": "def softmax(x, *, out=None): ...\n",
    "kernels/common/__init__.py": "",
    "kernels/common/rows.py": "import torch\n",
    "kernels/common/vec.cuh": "// vectors\n",
    "kernels/softmax/unrelated.py": "nobody = 'imports this'\n",
}

ENVIRONMENT = Environment(
    gpu="NVIDIA H200",
    arch="sm_90",
    sm_count=132,
    l2_bytes=60_000_000,
    memory_bytes=140_000_000_000,
    driver="580.1",
    cuda="13.0",
    torch="2.11.0",
    triton="3.6.0",
    python="3.12",
    sm_clock_max_mhz=1980.0,
    power_limit_w=700.0,
    ecc=True,
)


def triton(name: str, folder: str = "kernels/softmax") -> Implementation:
    return Implementation(name, f"{folder}/{name}.py", Language.TRITON)


KERNEL = Kernel(
    name="softmax",
    summary="Row-wise softmax.",
    dims=("M", "N"),
    inputs=(Tensor("x", ("M", "N")),),
    outputs=(Tensor("y", ("M", "N")),),
    dtypes=("float32", "bfloat16"),
    flops="5 * M * N",
    reads="M * N * itemsize",
    writes="M * N * itemsize",
    tolerance={"float32": 1e-6, "bfloat16": 8e-3},
    checks=({"M": 1, "N": 1},),
    workloads=(Workload("1000x1000", {"M": 1000, "N": 1000}), Workload("8x8", {"M": 8, "N": 8})),
    baselines=("torch",),
    implementations=(
        Implementation(
            "naive", "kernels/softmax/naive.cu", Language.CUDA, Launch("naive", ("M",), ("256",)), dtypes=("float32",)
        ),
        triton("fused"),
    ),
    wrong=(Wrong(triton("no_max", "kernels/softmax/wrong"), Status.INCORRECT),),
)


def key(implementation: str, kernel: Kernel = KERNEL, files=FILES, workload=None, dtype="float32", params=None):
    found = next(one for one in kernel.implementations if one.name == implementation)
    return implementation_key(kernel, found, workload or kernel.workloads[0], dtype, params or {}, files)


def ratio(baseline: str, value: float) -> Ratio:
    """Return a ratio to that baseline, known to 0.1 %, on which both generations of processes agree."""
    return Ratio(baseline, value, value * 0.999, value * 1.001, (value, value))


def timed(name: str, median_us: float, role=Role.IMPLEMENTATION, **changes) -> Evaluation:
    evaluation = Evaluation(
        role,
        name,
        "1000x1000",
        "float32",
        run="2026-11-21T06:00:00Z",
        status=Status.PASSED,
        correctness=Correctness(1e-8, 1e-8, 1e-8, 1e-8, 1e-6, 3, 3, deterministic=True),
        performance=Performance(
            median_us=median_us,
            p20_us=median_us * 0.99,
            p80_us=median_us * 1.01,
            min_us=median_us * 0.98,
            low_us=median_us * 0.999,
            high_us=median_us * 1.001,
            samples=220,
            rounds_us=(median_us,) * 3,
            ratios=tuple(ratio(b, t / median_us) for b, t in TIMES),
            by_process_us=(median_us, median_us),
        ),
    )
    if role is Role.IMPLEMENTATION:
        now = key(name, dtype=changes.get("dtype", "float32"))
        evaluation = replace(evaluation, key=now.digest, key_parts=now.parts)
    return replace(evaluation, **changes)


TIMES = (("torch", 4.0), ("copy", 2.0))
CEILINGS = (
    Ceiling("memory 1:0", 4.4e12, {"read": 4.4e12}),
    Ceiling("memory 1:1", 4.0e12, {"copy": 4.0e12}),
    Ceiling("fp32", 60e12, {"fma": 60e12}),
)


@pytest.fixture
def made() -> SimpleNamespace:
    """Functions and values for tests: `made.kernel`, `made.files`, `made.key(…)`, `made.timed(…)`, `made.site`, …."""
    run = Run("2026-11-21T06:00:00Z", "2026-11-21", "abc1234", ENVIRONMENT, CEILINGS)
    evaluations = (
        timed("naive", 3.0),
        timed("fused", 2.1),
        timed("torch", 4.0, Role.BASELINE),
        timed("copy", 2.0, Role.PROBE),
    )
    no_max = wrong_key(KERNEL, KERNEL.wrong[0].implementation, FILES)
    return SimpleNamespace(
        kernel=KERNEL,
        files=FILES,
        site=Site(SiteConfig("Bytes", "https://example.org/"), kernels=(KERNEL,), files=FILES),
        environment=ENVIRONMENT,
        ceilings=CEILINGS,
        run=run,
        key=key,
        timed=timed,
        evaluations=evaluations,
        result=JobResult(SCHEMA, "softmax@1000x1000:float32", "kernel", ENVIRONMENT, evaluations),
        rejected=JobResult(
            SCHEMA,
            "softmax/wrong",
            "reject",
            ENVIRONMENT,
            rejections=(
                Rejection("no_max", Status.INCORRECT, Status.INCORRECT, "", no_max.digest, key_parts=no_max.parts),
            ),
        ),
        measured_ceilings=JobResult(SCHEMA, "ceilings", "ceilings", ENVIRONMENT, ceilings=CEILINGS),
    )
