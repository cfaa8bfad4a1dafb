"""A site with one kernel, and the results that a GPU machine could send: round figures that no GPU measured."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import subprocess
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from sitegen.execute.bundle import Results
from sitegen.execute.session import inventory_of
from sitegen.model.job import JobResult, KernelJob
from sitegen.model.kernel import Status
from sitegen.model.record import Ceiling, Correctness, Environment, Evaluation, Performance, Role
from sitegen.pipeline.in_memory import load

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
CEILINGS = (Ceiling("memory 1:1", 4e12, {"copy": 4e12}),)


def samples(median_us: float) -> bytes:
    """Return the samples of one round of three calls that took equally long."""
    return json.dumps({"generations": [1], "rounds_us": [[median_us] * 3]}).encode()


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the list of bundles that a test writes in a folder of its own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


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
    """Return a possible result of a job: every implementation passed and is twice as fast as torch."""
    times = {Role.IMPLEMENTATION: median_us, Role.BASELINE: 2 * median_us, Role.PROBE: median_us}
    kept = {us: hashlib.sha256(samples(us)).hexdigest() for us in times.values()}
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
            params=job.params,
            correctness=checked(job, role),
            performance=Performance(*(times[role],) * 6, samples=3, rounds_us=(times[role],)),
            samples=kept[times[role]],
        )
        for role, name in [(Role.IMPLEMENTATION, one.name) for one in job.kernel.implementations]
        + [(Role.BASELINE, "torch"), (Role.PROBE, "copy")]
    )
    packed = {us: base64.b64encode(gzip.compress(samples(us), mtime=0)).decode() for us in kept}
    return JobResult(
        1, job.id, "kernel", ENVIRONMENT, evaluations, artefacts={f"{kept[us]}.samples": packed[us] for us in kept}
    )


def checked(job: KernelJob, role: Role) -> Correctness | None:
    """Return a correctness that passed every gate at the shapes of the job; None for a probe, which is not checked."""
    if role is Role.PROBE:
        return None
    shapes = 1 + (len(job.kernel.checks) if role is Role.IMPLEMENTATION else 0)
    return Correctness(0.0, 0.0, 0.0, 0.0, job.kernel.tolerance[job.dtype], shapes, 3, ("normal",), True)


def results(*brought: JobResult) -> Results:
    """Return the results of a run, its ceilings last."""
    ceilings = JobResult(1, "ceilings", "ceilings", ENVIRONMENT, ceilings=CEILINGS)
    return Results("2026-11-21T06:00:00Z", "abc1234", (*(r for r in brought if r.id != "ceilings"), ceilings))


@pytest.fixture
def made() -> SimpleNamespace:
    return SimpleNamespace(
        files=FILES,
        inventory=inventory,
        measured=measured,
        environment=ENVIRONMENT,
        results=results,
        replace=replace,
    )
