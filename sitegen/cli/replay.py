"""Define `sitegen replay`, which measures recorded evaluations again and says whether they are the same."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from sitegen.cli.common import (
    fail,
    inventory_of,
    load_site_or_exit,
    require_installed,
    require_processes,
    say,
    usage_errors,
)
from sitegen.cli.run_progress import run_report

if TYPE_CHECKING:
    from sitegen.execute.bundle import Results
    from sitegen.execute.replay import Replay
    from sitegen.pipeline.in_memory import LoadedSite

NO_GPU = (
    "a replay measures times, and this machine has no GPU that nvidia-smi lists; "
    "`sitegen compare A B` compares two records without one"
)
OTHER_CODE = "today’s code is not the code of the record, so the replay compares two programs"
TO_RUN = {"psutil": "cluster", "torch": "gpu"}
"""The extra of sitegen that has each package for measuring on this machine."""


@click.command()
@click.argument("records", nargs=-1, required=True, metavar="RECORD...")
def replay(records: tuple[str, ...]) -> None:
    """Measure recorded evaluations again on this machine's GPU, and compare each with its record as `compare` does;
    store nothing.  RECORD is a title that `status` prints, as softmax/fused@8192x8192:float32.  Exit with 1 if one of
    them is not the same.
    """
    from sitegen.execute.targets import local_target

    loaded, target = load_site_or_exit(), local_target()
    if not target.gpu:
        fail(NO_GPU)
    require_installed(TO_RUN)
    require_processes()
    replays = _replays(loaded, target.gpu, records)
    for one in replays:
        if not one.is_same_code:
            say(f"{one.title}: {OTHER_CODE}")
    if not _print_verdicts(loaded, replays, _results(replays)):
        sys.exit(1)


def _replays(loaded: LoadedSite, gpu: str, titles: tuple[str, ...]) -> list[Replay]:
    from sitegen.execute.replay import replay_of

    with usage_errors():
        return [replay_of(inventory_of(loaded), gpu, title) for title in dict.fromkeys(titles)]


def _results(replays: list[Replay]) -> Results:
    from sitegen.execute import bundle as bundles
    from sitegen.execute.replay import replay_jobs
    from sitegen.execute.targets import local_target
    from sitegen.model.plain import to_plain

    specs = [to_plain(job) for job in replay_jobs(replays)]
    with run_report() as progress:
        return bundles.run_specs(specs, "", local_target(), progress, lambda _: None)


def _print_verdicts(loaded: LoadedSite, replays: list[Replay], results: Results) -> bool:
    """Print the verdict of each replay, or why it has none; return whether all of them are the same."""
    from sitegen.execute.replay import compare_replays
    from sitegen.results.render_comparison import render_text
    from sitegen.results.verdicts import Verdict

    rows = compare_replays(loaded.site, replays, results.run, results.results)
    click.echo(render_text(rows.values()))
    errors = {result.id: result.error for result in results.results}
    for one in replays:
        if one.title not in rows:
            say(f"{one.title}: not measured: {errors.get(one.title) or 'its job has no result'}")
    return len(rows) == len(replays) and all(row.verdict is Verdict.SAME for row in rows.values())
