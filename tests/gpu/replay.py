"""Measure ten stored records again, and show for each whether `sitegen compare` calls it the same.

    python tests/gpu/replay.py --out FOLDER [softmax/fused@8192x8192:float32 …]    (on a GPU machine)

Without titles it chooses ten fresh records of this model of GPU: the best implementation of each kernel at the workload
that takes longest, then at the next one.  Each is one job as `sitegen replay` makes it; the ceilings are measured once.
A replay that is done is kept in FOLDER, and a later call on the same GPU goes on with the rest.  Exits 1 when a replay
is not the same, and 3 when time ran out.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, zip_longest
from pathlib import Path

from machine import ROOT, Limit, OutOfTime, gpus, measured, save, table, the_site, without_artefacts

from sitegen.execute.plan import Inventory
from sitegen.execute.replay import Replay, compare_replays, replay_of
from sitegen.model.job import CeilingsJob, JobResult
from sitegen.model.plain import from_plain
from sitegen.model.record import Record, Role
from sitegen.model.site import Site
from sitegen.results.compare import EvaluationComparison
from sitegen.results.record_differences import newer_versions
from sitegen.results.records import Records, cell_name
from sitegen.results.verdicts import Verdict

COUNT, SECONDS = 10, 580.0
HEAD = ("record", "verdict", "µs before", "µs now", "same GPU", "why")


def stored(site: Site, gpu: str) -> Inventory:
    """Return the site with its records of one model of GPU, read without pydantic, which a GPU machine may lack."""
    paths = [ROOT / "kernels" / kernel.name / "results" / f"{gpu}.json" for kernel in site.kernels]
    records = [from_plain(Record, json.loads(path.read_text(encoding="utf-8"))) for path in paths if path.exists()]
    return Inventory(site, Records({(record.kernel, gpu): record for record in records}))


def chosen(inventory: Inventory, gpu: str) -> list[str]:
    """Return the titles of the best fresh evaluations: one of each kernel, then the next of each."""
    every = [list(_best(inventory, record)) for record in inventory.records.kernels.values()]
    titles = (title for title in chain(*zip_longest(*every)) if title)
    fresh = (title for title in titles if replay_of(inventory, gpu, title).is_same_code)
    return [title for title, _ in zip(fresh, range(COUNT), strict=False)]


def _best(inventory: Inventory, record: Record) -> Iterator[str]:
    """Yield the title of the fastest implementation at each workload, dtype and params, largest time first."""
    kernel = next(one for one in inventory.site.kernels if one.name == record.kernel)
    fastest: dict[str, tuple[float, str]] = {}
    for one in record.evaluations:
        if one.role is Role.IMPLEMENTATION and one.performance and one.name in {i.name for i in kernel.implementations}:
            cell = cell_name(one.workload, one.dtype, one.params, kernel)
            found = (one.performance.median_us, f"{kernel.name}/{one.name}@{cell}")
            fastest[cell] = min(fastest.get(cell, found), found)
    yield from (title for _, title in sorted(fastest.values(), reverse=True))


def results_of(replays: Sequence[Replay], out: Path, limit: Limit) -> Iterator[JobResult]:
    """Yield the ceilings and the result of each replay; what an earlier call measured is read.  Raises OutOfTime."""
    jobs = (CeilingsJob(), *(replay.job for replay in replays))
    for number, job in enumerate(jobs):
        file = out / f"{number:02}-{job.id.translate(str.maketrans('/@:', '---'))}.json"
        if not file.exists():
            save(out, file.stem, without_artefacts(measured(job, limit)))
            print(f"{job.id}: {limit.spent:.0f} s", flush=True)
        yield from_plain(JobResult, json.loads(file.read_text(encoding="utf-8")))


def rows(
    replays: Sequence[Replay], compared: Mapping[str, EvaluationComparison], results: Sequence[JobResult]
) -> Iterator[tuple[object, ...]]:
    by_id = {result.id: result for result in results}
    for one in replays:
        result, before = by_id[one.title], next(e for e in one.record.evaluations if e.key == _key(one))
        now = next((e for e in result.evaluations if e.role is Role.IMPLEMENTATION), None)
        here = result.environment
        was = next((run.environment for run in one.record.runs if run.id == before.run), None)
        versions = newer_versions(was, here) if was and here else ()
        row = compared.get(one.title)
        yield (
            one.title,
            row.verdict if row else "none",
            f"{before.performance.median_us:.2f}" if before.performance else "",
            f"{now.performance.median_us:.2f}" if now and now.performance else "",
            "yes" if here and here.gpu_hash == before.gpu_hash else "no",
            "; ".join(filter(None, (row.reason if row else result.error, *versions))),
        )


def _key(replay: Replay) -> str:
    (key,) = replay.job.keys.values()
    return key.digest


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("titles", nargs="*")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    given = parser.parse_args()
    gpu, limit, site = gpus()[0].gpu, Limit(given.seconds), the_site()
    inventory = stored(site, gpu)
    titles = given.titles or chosen(inventory, gpu)
    if not titles:
        raise SystemExit(f"no fresh record of {gpu} is stored")
    replays = [replay_of(inventory, gpu, title) for title in titles]
    try:
        results = list(results_of(replays, given.out, limit))
    except OutOfTime:
        print("out of time: the same command goes on with the rest")
        return 3
    run = dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    compared = compare_replays(site, replays, run, results)
    listed = list(rows(replays, compared, results))
    print(table(HEAD, listed))
    save(given.out, "replays", listed)
    same = sum(row.verdict is Verdict.SAME for row in compared.values())
    print(f"{same} of {len(replays)} are the same")
    return 0 if same == len(replays) else 1


if __name__ == "__main__":
    sys.exit(main())
