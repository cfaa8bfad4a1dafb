"""Define `sitegen try`, the command for somebody who writes a kernel: save, look at the figures, change a line."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sitegen.cli.common import fail, load_site_or_exit, require_installed, say, site_root, usage_errors

if TYPE_CHECKING:
    from sitegen.model.try_job import TryJob

TO_TRY = {"psutil": "cluster", "torch": "gpu"}
SET = "Try these values of a constant, as in THREADS=128,256; repeated, it tries every combination."


@click.command("try")
@click.argument("name", required=False, metavar="[NAME[@WORKLOAD[:DTYPE]]]")
@click.option("--set", "settings", multiple=True, metavar="CONSTANT=VALUE,…", help=SET)
@click.option("--watch", is_flag=True, help="Repeat when a file of the kernel is saved.")
@click.option("--ncu", is_flag=True, help="Read the DRAM bytes of a call by ncu; this takes longer.")
@click.option(
    "--bundle",
    "bundle_file",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
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
    if bundle_file is not None:
        passed = _try_bundle(bundle_file)
    else:
        assert name is not None
        passed = _try_name(name, settings, ncu)
        for _ in saves(site_root(), name) if watch else ():
            _try_again(name, settings, ncu)
    if not passed:
        sys.exit(1)


def try_jobs(names: tuple[str, ...], settings: tuple[str, ...], ncu: bool) -> list[TryJob]:
    """Return the jobs of the site here.  Exits with 1 when the site has mistakes, and with 2 for an unknown name."""
    from sitegen.execute.try_constants import UnknownConstant, parse_settings
    from sitegen.execute.try_plan import try_job

    loaded = load_site_or_exit()
    with usage_errors():
        try:
            parsed = parse_settings(settings)
            return [try_job(loaded.site, name, parsed, ncu=ncu) for name in names]
        except UnknownConstant as error:
            raise click.UsageError(str(error)) from error


def saves(root: Path, name: str) -> Iterator[None]:
    """Yield when a file of the kernel, or a post, is saved; a job writes none of them."""
    import watchfiles

    kernel = root / "kernels" / name.partition("/")[0]
    folders = [folder for folder in (kernel, root / "content") if folder.is_dir()]
    say(f"waiting for a change below {kernel.relative_to(root)} (Ctrl-C ends)")
    for changed in watchfiles.watch(*folders, raise_interrupt=False):
        if any(kernel / "results" not in Path(path).parents for _, path in changed):
            yield


def _try_again(name: str, settings: tuple[str, ...], ncu: bool) -> None:
    """Try once more; a mistake that was saved is printed, and the watch goes on."""
    try:
        _try_name(name, settings, ncu)
    except click.UsageError as error:
        say(f"sitegen: {error.format_message()}")
    except SystemExit:
        return  # the mistakes are printed already


def _try_name(name: str, settings: tuple[str, ...], ncu: bool) -> bool:
    passed = [_run(job) for job in try_jobs((name,), settings, ncu)]
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


def _run(job: TryJob) -> bool:
    """Run a job and print its table; return whether every candidate passed or could not be judged."""
    from sitegen.cli.try_table import table_lines
    from sitegen.execute.try_run import run_try_job

    result = run_try_job(job)
    for line in table_lines(job, result):
        click.echo(line)
    for warning in (*result.warnings, *filter(None, [result.error])):
        say(warning)
    return not result.error and not any(e.status.failed for e in result.evaluations)
