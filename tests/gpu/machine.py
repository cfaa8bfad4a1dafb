"""Functions that the scripts of this folder share.

They make jobs of the site's kernels, run them by `python -m sitegen.measure`, make the records that `accept` would make
of the results, limit the time, and store the raw data.  On a GPU machine nothing is installed: the repository is put on
the path here.  Beside torch, Triton and cuda.core the scripts need PyYAML, to read kernel.yaml; faults.py also needs
click, psutil and Dask.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from sitegen.execute.plan import Inventory, plan  # noqa: E402
from sitegen.execute.targets import Device, local_target  # noqa: E402
from sitegen.model.job import Job, JobResult, KernelJob  # noqa: E402
from sitegen.model.kernel import Kernel, Workload  # noqa: E402
from sitegen.model.plain import from_plain, to_plain  # noqa: E402
from sitegen.model.record import Evaluation, Record, Role  # noqa: E402
from sitegen.model.site import Site  # noqa: E402
from sitegen.read.load import parse_site, text_files  # noqa: E402
from sitegen.results.accept import RunHeader, accept_results  # noqa: E402
from sitegen.results.records import Records  # noqa: E402

GRACE_S = 5.0
LAST_WORDS = 1500


class OutOfTime(Exception):
    """The time limit of the script is reached."""


@dataclass
class Limit:
    """The seconds that a script may take."""

    seconds: float

    def __post_init__(self) -> None:
        self.began = time.monotonic()

    @property
    def spent(self) -> float:
        return time.monotonic() - self.began

    @property
    def left(self) -> float:
        return self.seconds - self.spent


def gpus() -> tuple[Device, ...]:
    """Return the GPUs of this machine that a script may use.  Raises SystemExit when there is none."""
    found = tuple(device for device in local_target().devices if device.gpu)
    if not found:
        raise SystemExit("this machine has no GPU")
    return found


def the_site() -> Site:
    """Return the site with its kernels only: its posts and its bibliography need packages that a GPU machine lacks."""
    paths = [path for path in text_files(ROOT) if path.startswith("kernels/") or path == "content/site.yaml"]
    return parse_site({path: (ROOT / path).read_text(encoding="utf-8") for path in paths})[0]


def kernel_of(site: Site, name: str) -> Kernel:
    found = next((kernel for kernel in site.kernels if kernel.name == name), None)
    if found is None:
        raise SystemExit(f"the site has no kernel {name}")
    return found


def narrowed(kernel: Kernel, workloads: Sequence[str], dtype: str, names: Sequence[str]) -> Kernel:
    """Return a kernel with only these workloads, implementations and dtype, and the first baseline; without checks."""
    known = {one.name: one for one in kernel.implementations}
    if missing := [name for name in names if name not in known]:
        raise SystemExit(f"{kernel.name} has no implementation {missing[0]}, only {', '.join(known)}")
    return replace(
        kernel,
        workloads=tuple(_workload(kernel, name) for name in workloads),
        implementations=tuple(known[name] for name in names),
        dtypes=(dtype,),
        baselines=kernel.baselines[:1],
        checks=(),
        extra_inputs=(),
        wrong=(),
        goals=(),
        sweeps=(),
    )


def jobs_of(site: Site, kernels: Sequence[Kernel], more: Mapping[str, str] | None = None) -> tuple[Job, ...]:
    """Return the jobs of a run of these kernels, ceilings first.

    `more` are files by path that the site does not have.
    """
    narrow = replace(site, kernels=tuple(kernels), posts=(), files={**site.files, **(more or {})})
    return plan(Inventory(narrow), "", everything=True)


def kernel_jobs(site: Site, kernel: Kernel, more: Mapping[str, str] | None = None) -> list[KernelJob]:
    return [job for job in jobs_of(site, [kernel], more) if isinstance(job, KernelJob)]


def measured(job: Job, limit: Limit, device: Device | None = None) -> JobResult:
    """Return the result of a job in a process of its own, on this device or on the first one.

    Raises OutOfTime, and RuntimeError when the job has no result.
    """
    if limit.left <= 0:
        raise OutOfTime
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / name for name in ("job.json", "result.json", "log")]
        files[0].write_text(json.dumps(to_plain(job)))
        with files[2].open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "sitegen.measure", *map(str, files[:2])],
                cwd=ROOT,
                env=environment() | (dict(device.environment) if device else {}),
                stdout=log,
                stderr=subprocess.STDOUT,
            )
            try:
                status = process.wait(limit.left)
            except subprocess.TimeoutExpired:
                raise OutOfTime from None
            finally:
                end(process)
        if status != 0:
            raise RuntimeError(f"{job.id}: measuring ended with {status}\n{files[2].read_text()[-LAST_WORDS:]}")
        return from_plain(JobResult, json.loads(files[1].read_text()))


def environment() -> dict[str, str]:
    """Return the environment of a process that must find this package."""
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))}


def end(process: subprocess.Popen[Any]) -> None:
    """End a process that is still running.

    SIGTERM lets `measure` end its children and remove its folder.
    """
    process.terminate()
    try:
        process.wait(GRACE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def records_of(site: Site, kernels: Iterable[Kernel], results: Sequence[JobResult], run: str) -> dict[str, Record]:
    """Return the records that `accept` would store of one run, by kernel; `run` is its id: `2026-11-21T06:10:05Z`."""
    new = accept_results(replace(site, kernels=tuple(kernels)), Records(), RunHeader(run, ""), results)
    return {record.kernel: record for record in new.records} if new else {}


def stored_records(site: Site) -> tuple[Record, ...]:
    """Return the records of the site's kernels in this repository.  Raises SystemExit when one cannot be read."""
    from sitegen.results.store import load_records  # needs pydantic, which a GPU machine may not have

    records, mistakes = load_records(ROOT, site)
    if mistakes:
        raise SystemExit("; ".join(mistake.message for mistake in mistakes))
    return tuple(records.kernels.values())


def evaluations(result: JobResult, role: Role = Role.IMPLEMENTATION) -> dict[str, Evaluation]:
    """Return the evaluations of a result by name."""
    return {e.name: e for e in result.evaluations if e.role is role}


def save(folder: Path, name: str, value: Any) -> None:
    """Write a value as JSON, whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    part = folder / f".{name}.part"
    part.write_text(json.dumps(to_plain(value)))
    part.replace(folder / f"{name}.json")


def without_listings(result: JobResult) -> JobResult:
    """Return the result without PTX and SASS, which are large and contain no times."""
    return replace(result, artefacts={n: text for n, text in result.artefacts.items() if n.endswith(".samples")})


def without_artefacts(result: JobResult) -> JobResult:
    """Return the result without artefacts."""
    return replace(result, artefacts={})


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return rows as text in columns as wide as their widest entry, with numbers to the right."""
    texts = [list(head), *([_text(value) for value in row] for row in rows)]
    widths = [max(len(row[column]) for row in texts) for column in range(len(head))]
    right = [all(_is_number(row[column]) for row in texts[1:]) for column in range(len(head))]
    lines = [
        "  ".join(c.rjust(w) if r else c.ljust(w) for c, w, r in zip(row, widths, right, strict=True)) for row in texts
    ]
    return "\n".join(line.rstrip() for line in lines)


def _text(value: object) -> str:
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def _is_number(text: str) -> bool:
    return text[:1] in "+-" or text[:1].isdigit()


def _workload(kernel: Kernel, name: str) -> Workload:
    found = next((workload for workload in kernel.workloads if workload.name == name), None)
    if found is None:
        raise SystemExit(f"{kernel.name} has no workload {name}, only {', '.join(w.name for w in kernel.workloads)}")
    return found
