"""Show that every baseline of a kernel is timed, and that a run stores each evaluation with the ceilings of its GPU.

    python tests/gpu/baselines.py --out A matmul/tile@4096x4096x4096:bfloat16 sum/vec4@256Mi:float32

A run with one job for each title, in which one implementation is timed beside all baselines.  Exit 1 unless all of
them pass, each evaluation names a GPU with ceilings, and `accept` would store the records.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from machine import jobs_of, kernel_of, narrowed, records_of, save, table, the_site, without_listings

from sitegen.execute.bundle import Results, run_specs
from sitegen.execute.targets import local_target
from sitegen.model.job import InspectJob
from sitegen.model.kernel import Kernel
from sitegen.model.plain import to_plain
from sitegen.model.record import Record
from sitegen.model.site import Site
from sitegen.results.figures import figures, impossible_rates, run_of

_TITLE = re.compile(r"(?P<kernel>\w+)/(?P<name>[\w.-]+)@(?P<workload>\w+):(?P<dtype>\w+)")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("titles", nargs="+")
    arguments = parser.parse_args()
    site = the_site()
    kernels = [_narrowed(site, title) for title in arguments.titles]
    jobs = [job for job in jobs_of(site, kernels) if not isinstance(job, InspectJob)]
    results = run_specs(
        [to_plain(job) for job in jobs],
        "",
        local_target(),
        lambda p: print(f"{p.job} {p.state} {p.seconds:.0f} s {p.message}", flush=True),
        lambda results: _save(arguments.out, results),
    )
    records = records_of(site, kernels, results.results, results.run)
    save(arguments.out, "records", records)
    doubts = [doubt for kernel in kernels for doubt in _show(kernel, records[kernel.name])]
    print("\n".join(doubts) or "met")
    return 1 if doubts else 0


def _narrowed(site: Site, title: str) -> Kernel:
    match = _TITLE.fullmatch(title)
    if match is None:
        raise SystemExit(f"{title} is not written like sum/vec4@256Mi:float32")
    kernel = kernel_of(site, match["kernel"])
    narrow = narrowed(kernel, [match["workload"]], match["dtype"], [match["name"]])
    return replace(narrow, baselines=kernel.baselines)


def _save(folder: Path, results: Results) -> None:
    save(folder, "results", [without_listings(result) for result in results.results])


def _show(kernel: Kernel, record: Record) -> Iterator[str]:
    """Print the figures of a record, and yield a sentence for each thing that is not as it should be."""
    rows = []
    for one in record.evaluations:
        found, run, timed = figures(kernel, record, one), run_of(record, one), one.performance
        if timed is None or found is None or run is None:
            yield f"{kernel.name}/{one.name}: {one.status} {one.message[:600]}"
            continue
        if not (one.gpu_hash and one.gpu_hash == run.environment.gpu_hash and run.ceilings):
            yield f"{kernel.name}/{one.name}: its GPU has no ceilings in the run"
        shares = [found.of_ceiling and f"{found.of_ceiling:.4f}"]
        shares += [
            f"{s.value:.4f} ({s.low:.4f}-{s.high:.4f})" if s else "" for s in (found.in_cycles, found.of_sustained)
        ]
        ratio = next((f"{r.value:.3f}" for r in timed.ratios if r.baseline == kernel.baselines[0]), "")
        rows.append((one.name, one.gpu_hash, timed.median_us, f"{timed.sm_clock_mhz or 0:.0f}", ratio, *shares))
    print(table(("name", "GPU", "µs", "MHz", "ratio", "of ceiling", "in cycles", "sustained"), rows))
    for run in record.runs:
        yield from (message for _, message in impossible_rates(kernel, record, run))


if __name__ == "__main__":
    sys.exit(main())
