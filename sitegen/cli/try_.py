"""Define `sitegen try`, the command for somebody who writes a kernel: save, look at the figures, change a line."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sitegen.cli.common import (
    OldFile,
    WrongNameError,
    fail,
    report,
    require_installed,
    require_processes,
    say,
    site_root,
    usage_errors,
)

if TYPE_CHECKING:
    from sitegen.cli.try_table import StoredCeiling
    from sitegen.model.job import JobResult
    from sitegen.model.site import Site
    from sitegen.model.try_job import TryJob
    from sitegen.results.records import Records

TO_TRY = {"psutil": "cluster", "torch": "gpu"}
NCU = "Read by ncu what warps wait for, DRAM bytes, sectors, bank conflicts and tensor cores; this takes longer."
SET = "Try these values of a constant, as in THREADS=128,256; repeated, it tries every combination."


@click.command("try")
@click.argument("name", required=False, metavar="[NAME[@WORKLOAD[:DTYPE]]]")
@click.option("--set", "settings", multiple=True, metavar="CONSTANT=VALUE,…", help=SET)
@click.option("--watch", is_flag=True, help="Repeat when a file of the kernel is saved.")
@click.option("--ncu", is_flag=True, help=NCU)
@click.option(
    "--bundle",
    "bundle_file",
    type=OldFile(),
    help="Try what `bundle --try` wrote into this file; this needs no site.",
)
def try_(name: str | None, settings: tuple[str, ...], watch: bool, ncu: bool, bundle_file: Path | None) -> None:
    """Check one implementation, time it roughly, and print registers, spills and occupancy; store nothing.  NAME is an
    implementation, as softmax/fused; its first workload and dtype are the default.  Without a GPU, Triton's interpreter
    checks the results, and the compiler says what it makes for Hopper.
    """
    if (name is None) == (bundle_file is None):
        raise click.UsageError("give either NAME or --bundle")
    if bundle_file is not None and (settings or watch or ncu):
        raise click.UsageError("a bundle says itself what to try: --set, --watch and --ncu belong to `bundle --try`")
    require_installed(TO_TRY)
    require_processes()
    if bundle_file is not None:
        passed = _try_bundle(bundle_file)
    else:
        assert name is not None
        from sitegen.execute.work import prepared_jobs

        with prepared_jobs():  # the first one imports torch while the kernels are read
            passed = _try_name(name, settings, ncu, again=watch)
            for _ in saves(site_root(), name) if watch else ():
                _try_again(name, settings, ncu)
    if not passed:
        sys.exit(1)


def try_jobs(names: tuple[str, ...], settings: tuple[str, ...], ncu: bool) -> list[TryJob]:
    """Return the jobs of the site here.  Exits with 1 when a kernel has mistakes, and with 2 for an unknown name."""
    return _jobs_in(_kernels_or_exit(), names, settings, ncu)


def _kernels_or_exit() -> Site:
    """Return the site without its texts.  Exits with 1 when its configuration or a kernel has mistakes."""
    from sitegen.diagnostics import has_errors
    from sitegen.pipeline.kernels_only import load_kernels

    site, mistakes = load_kernels(site_root())
    report(mistakes, site.files)
    if has_errors(mistakes):
        sys.exit(1)
    return site


def _jobs_in(site: Site, names: tuple[str, ...], settings: tuple[str, ...], ncu: bool) -> list[TryJob]:
    from sitegen.execute.try_constants import UnknownConstant, parse_settings
    from sitegen.execute.try_plan import fixed_launches, try_job

    with usage_errors():
        try:
            parsed = parse_settings(settings)
            jobs = [try_job(site, name, parsed, ncu=ncu) for name in names]
        except UnknownConstant as error:
            raise WrongNameError(str(error)) from error
    for warning in dict.fromkeys(warning for name in names for warning in fixed_launches(site, name, parsed)):
        say(warning)
    return jobs


def saves(root: Path, name: str) -> Iterator[None]:
    """Yield when a file of the kernel is saved; a job writes none of them."""
    import watchfiles

    kernel = root / "kernels" / name.partition("/")[0]
    say(f"waiting for a change below {kernel.relative_to(root)} (Ctrl-C ends)")
    for changed in watchfiles.watch(kernel, raise_interrupt=False):
        if any(kernel / "results" not in Path(path).parents for _, path in changed):
            yield


def _try_again(name: str, settings: tuple[str, ...], ncu: bool) -> None:
    """Try once more; a mistake that was saved is printed, and the watch goes on."""
    try:
        _try_name(name, settings, ncu, again=True)
    except click.UsageError as error:
        say(f"sitegen: {error.format_message()}")
    except SystemExit:
        return  # the mistakes are printed already


def _try_name(name: str, settings: tuple[str, ...], ncu: bool, again: bool) -> bool:
    site = _kernels_or_exit()
    passed = [_run(job, site, again) for job in _jobs_in(site, (name,), settings, ncu)]
    return all(passed)


def _try_bundle(file: Path) -> bool:
    from sitegen.execute.archive import BadArchive
    from sitegen.execute.try_run import read_try_bundle

    try:
        jobs = read_try_bundle(file)
    except (BadArchive, OSError) as error:
        fail(str(error))
    passed = [_run(job) for job in jobs]  # all of them, also after one that failed
    return all(passed)


def _run(job: TryJob, site: Site | None = None, again: bool = False) -> bool:
    """Run a job and print its table; return whether every candidate passed or could not be judged.

    Without a site there are no stored ceilings to compare with.  `again` prepares the process of another job.
    """
    from sitegen.cli.try_table import table_lines
    from sitegen.execute.try_run import run_try_job

    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(_records, site, job.kernel.name) if site else None  # while the job is at work
        result = run_try_job(job, again)
    ceiling = _stored_ceiling(job, result, site, reading.result()) if site and reading else None
    for line in table_lines(job, result, ceiling):
        click.echo(line)
    for warning in (*result.warnings, *filter(None, [result.error])):
        say(warning)
    return not result.error and not any(e.status.failed for e in result.evaluations)


def _records(site: Site, kernel: str | None = None) -> Records:
    """Return the records of one kernel, or of all."""
    from sitegen.results.store import load_records

    kernels = tuple(one for one in site.kernels if kernel in (None, one.name))
    return load_records(site_root(), replace(site, kernels=kernels))[0]


def _stored_ceiling(job: TryJob, result: JobResult, site: Site, kernel_records: Records) -> StoredCeiling | None:
    """Return the share of the stored ceilings that each candidate reaches; None when the site has none of this GPU.

    Those of the other kernels are read only where the kernel's own have no ceilings, because it takes seconds.
    """
    from sitegen.cli.try_table import StoredCeiling
    from sitegen.results.stored_ceilings import share_of_stored_ceiling, stored_run

    if result.environment is None:
        return None
    kernel = next(one for one in site.kernels if one.name == job.kernel.name)
    records, run = kernel_records, stored_run(kernel_records, kernel, result.environment)
    if run is None:
        records = _records(site)
        run = stored_run(records, kernel, result.environment)
    if run is None:
        return None
    shares = {one.name: share_of_stored_ceiling(records, kernel, run, one) for one in result.evaluations}
    return StoredCeiling(run.date, shares)
