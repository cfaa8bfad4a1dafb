"""A site with one kernel, and what a GPU machine could bring back: round figures that no GPU ever gave."""

from __future__ import annotations

import base64
import gzip
import hashlib
import subprocess
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from sitegen.build.whole import load
from sitegen.execute.bundle import Results
from sitegen.execute.session import inventory_of
from sitegen.model.job import JobResult, KernelJob
from sitegen.model.kernel import Status
from sitegen.model.record import Correctness, Environment, Evaluation, Performance, Role

FILES = {
    "content/site.yaml": "title: Bytes\nbase_url: https://example.org/\ngpus: [nvidia-h200]\n",
    "content/posts/first/index.md": """---
title: A first post
date: 2026-11-21
draft: true
---
```{code-cell} python
#| label: answer
from kernels.double.right import double
print(40 + 2)
```
""",
    "kernels/double/kernel.yaml": """kernel: double
summary: Twice each element.
dims: [N]
inputs: {x: {shape: [N]}}
outputs: {y: {shape: [N]}}
dtypes: [float32, bfloat16]
flops: N
reads: N * itemsize
writes: N * itemsize
tolerance: {float32: 1e-6, bfloat16: 8e-3}
checks: [{N: 3}]
workloads: [{N: 64}, {N: 128}]
baselines: [torch]
implementations:
  - {name: right, file: right.py, predicts: "100 %"}
  - {name: other, file: other.py, dtypes: [float32]}
wrong:
  - {name: off, file: wrong/off.py, fails: incorrect}
""",
    "kernels/double/reference.py": "BASELINES = {}\n",
    "kernels/double/right.py": "def double(x, *, out=None): ...\n",
    "kernels/double/other.py": "def double(x, *, out=None): ...\n",
    "kernels/double/wrong/off.py": "def double(x, *, out=None): ...\n",
}
ENVIRONMENT = Environment(
    *("NVIDIA H200", "sm_90", 132, 60_000_000, 140_000_000_000),
    *("580.1", "13.0", "2.11.0", "3.6.0", "3.12", 1980.0, 700.0, True),
)
SAMPLES = b"1.0 2.0 3.0"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The site in a folder, committed."""
    site = tmp_path / "site"
    for path, text in FILES.items():
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        (site / path).write_text(text)
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    for command in (["init", "-q"], ["add", "."], [*identity, "commit", "-q", "-m", "first"]):
        subprocess.run(["git", "-C", str(site), *command], check=True)
    return site


def inventory(root: Path):
    loaded = load(root, everything=True)
    assert not loaded.diagnostics
    return inventory_of(loaded.site, loaded.documents, loaded.records)


def measured(job: KernelJob, median_us: float = 2.0) -> JobResult:
    """What a GPU could say of a job: everything passed."""
    digest = hashlib.sha256(SAMPLES).hexdigest()
    evaluations = tuple(
        Evaluation(
            role,
            name,
            job.workload.name,
            job.dtype,
            run="",
            status=Status.PASSED,
            key=job.keys[name].digest if name in job.keys else "",
            key_parts=job.keys[name].parts if name in job.keys else {},
            correctness=Correctness(0.0, 0.0, 0.0, 0.0, 1e-6, 1, 1, deterministic=True),
            performance=Performance(*(median_us,) * 6, samples=3, rounds_us=(median_us,)),
            samples=digest,
        )
        for role, name in [(Role.IMPLEMENTATION, one.name) for one in job.kernel.implementations]
        + [(Role.BASELINE, "torch"), (Role.PROBE, "copy")]
    )
    packed = base64.b64encode(gzip.compress(SAMPLES, mtime=0)).decode()
    return JobResult(1, job.id, "kernel", ENVIRONMENT, evaluations, artefacts={f"{digest}.samples": packed})


@pytest.fixture
def made() -> SimpleNamespace:
    return SimpleNamespace(
        files=FILES,
        inventory=inventory,
        measured=measured,
        environment=ENVIRONMENT,
        results=lambda *results: Results("2026-11-21T06:00:00Z", "abc1234", results),
        replace=replace,
    )
