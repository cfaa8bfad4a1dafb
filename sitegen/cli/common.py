"""Provide what the commands share: finding the site, printing, exiting.  No other room prints or exits.

Data goes to stdout, the rest to stderr.  Exit codes are 0, 1 (the author's mistake or a failed check) and 2 (usage).  A
bug in sitegen keeps its traceback.
"""

from __future__ import annotations

import contextlib
import errno
import importlib.util
import os
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NoReturn

import click

from sitegen.diagnostics import Diagnostic, printable, render_report

if TYPE_CHECKING:
    from sitegen.cli.verdicts import Failures
    from sitegen.execute.plan import Inventory
    from sitegen.execute.targets import Target
    from sitegen.pipeline.in_memory import LoadedSite
    from sitegen.results.freshness import Freshness

PROCESS = Path("/proc/self")
"""What Linux says about this process, if /proc is mounted."""


class OldFile(click.Path):
    """The path of a regular file that exists: a pipe or a device could be read without end."""

    def __init__(self) -> None:
        super().__init__(path_type=Path, dir_okay=False, exists=True)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        super().convert(value, param, ctx)
        path = Path(value)
        if not path.is_file():
            self.fail(f"'{printable(str(path))}' is not a regular file", param, ctx)
        return path


class NewFile(click.Path):
    """A file that is written at the end of long work.  Its folder is checked at the beginning."""

    def __init__(self) -> None:
        super().__init__(path_type=Path, dir_okay=False)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        super().convert(value, param, ctx)
        path = Path(value)
        if not path.parent.is_dir():
            self.fail(f"there is no folder '{path.parent}'", param, ctx)
        if not os.access(path.parent, os.W_OK):
            self.fail(f"the folder '{path.parent}' cannot be written", param, ctx)
        return path


class WrongNameError(click.UsageError):
    """A name that the site does not have.  The form of the command line is right, so its usage is not printed."""

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(f"Error: {printable(self.format_message())}", file=file, err=True)


def site_root() -> Path:
    from sitegen.read.root import find_root

    root = find_root(Path.cwd())
    if root is None:
        raise click.UsageError("no content/site.yaml here or above; `sitegen new site DIR` makes a site")
    return root


def load_site_or_exit() -> LoadedSite:
    """Return the site.  Exits with 1 when it has mistakes, because part of a site must not be measured as the whole.

    A broken claim is only reported: measuring again may be what mends it.
    """
    from sitegen.pipeline.broken_claims import is_fatal
    from sitegen.pipeline.in_memory import load

    root = site_root()
    with output_errors():
        loaded = load(root, everything=True)
    report(loaded.diagnostics, loaded.texts)
    if any(map(is_fatal, loaded.diagnostics)):
        sys.exit(1)
    return loaded


def inventory_of(loaded: LoadedSite) -> Inventory:
    from sitegen.execute import session

    return session.inventory_of(loaded.site, loaded.documents, loaded.records)


def require_states(loaded: LoadedSite, *, fresh: bool, current: bool) -> None:
    """Exit with 1 when a record is not in the required state."""
    refused = ({"stale", "missing"} if fresh else set()) | ({"outdated"} if current else set())
    if not refused:
        return
    from sitegen.execute.session import status_by_gpu

    lines = [
        f"{title} on {gpu or 'no GPU'}: {state.sentence}"
        for gpu, states in status_by_gpu(inventory_of(loaded)).items()
        for title, state in states.items()
        if state.state in refused
    ]
    if lines:
        say("\n".join(lines))
        fail(f"{number_of(len(lines), 'record')} not as required, nothing was written")


def as_rows(states: Mapping[str, Freshness]) -> list[dict[str, Any]]:
    return [{"name": name, "state": s.state, "reasons": list(s.reasons)} for name, s in states.items()]


def count_states(states: Mapping[str, Freshness]) -> str:
    """Return the number of records in each state: `41 fresh, 2 stale`."""
    counts: dict[str, int] = {}
    for state in states.values():
        counts[state.state] = counts.get(state.state, 0) + 1
    return ", ".join(f"{count} {name}" for name, count in counts.items()) or "nothing to record"


def target_of(loaded: LoadedSite, name: str) -> Target:
    from sitegen.execute.targets import NoTarget, configured_target

    try:
        return configured_target(name, loaded.site.config.targets)
    except NoTarget as error:
        raise WrongNameError(str(error)) from error


@contextlib.contextmanager
def usage_errors() -> Iterator[None]:
    """Report a name that the site does not have, and a target that cannot be used, and exit with 2."""
    from sitegen.execute.plan import UnknownName
    from sitegen.execute.targets import NoTarget

    try:
        yield
    except (UnknownName, NoTarget) as error:
        raise WrongNameError(str(error)) from error


def require_installed(packages: Mapping[str, str]) -> None:
    """Exit with 1 when a package is missing; `packages` gives the extra of sitegen that has each package."""
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    if missing:
        from sitegen.read.distribution import install_command

        extras = sorted({packages[name] for name in missing})
        fail(f"not installed here: {', '.join(missing)}; `{install_command(*extras)}` brings what is missing")


def require_processes() -> None:
    """Exit with 1 where Linux does not list the processes of the machine; a job could not end what it started."""
    if sys.platform == "linux" and not PROCESS.exists():
        fail(
            f"there is no {PROCESS}: Linux lists processes there, and sitegen must end those that a job started; "
            "mount it by `mount -t proc proc /proc`, or start the container with a /proc of its own"
        )


def any_failed(results: Sequence[Any]) -> bool:
    """Return whether a job failed.

    Without a GPU no ceilings can be measured, which is no failure.  With a GPU failed checks are results to store;
    without one they are the only results, so they count as failures.
    """
    gpu = any(result.environment for result in results)
    undone = any((result.error and gpu) or result.undone for result in results)
    return undone or (not gpu and any(result.incorrect for result in results))


def print_outcome(results: Sequence[Any]) -> None:
    """Print warnings, the verdicts on implementations, `wrong/` variants and cells, and the stages.

    A failure without a GPU has no stages: nothing is slow there that an author could mend.
    """
    from sitegen.cli.verdicts import notes, table, verdicts
    from sitegen.results.stages import stage_rows
    from sitegen.results.tool_results import with_tool_results

    found = with_tool_results(results)
    gpu = any(result.environment for result in results)
    stages = table(stage_rows(results)) if gpu or not any_failed(results) else []
    for line in (*notes(found), *verdicts(found), *stages):
        say(line)


def print_failures(results: Sequence[Any], told: Failures | None = None) -> None:
    """Print the reasons of failures that were not told yet, and last the number of those that stand above."""
    from sitegen.cli.verdicts import Failures
    from sitegen.results.tool_results import with_tool_results

    told = told or Failures()
    earlier = told.count
    for line in told.new_in(with_tool_results(results)):
        say(line)
    if earlier:
        say(f"{number_of(told.count, 'error')}, shown above")


def report(diagnostics: Collection[Diagnostic], texts: Mapping[str, str], *, without_warnings: bool = False) -> None:
    """Print all mistakes or the errors with their source lines, and the count of all."""
    if diagnostics:
        say(render_report(diagnostics, texts, without_warnings=without_warnings))


def number_of(count: int, noun: str) -> str:
    """Return a number with its noun: `1 error`, `2 errors`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def write_new(write: Callable[[], None]) -> None:
    with output_errors():
        write()


_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS)
"""Errors of the operating system that say that the disk is full, or that it takes no file."""


@contextlib.contextmanager
def output_errors() -> Iterator[None]:
    """Exit with 1 and a message when something cannot be written, or the disk has no room for a cache."""
    from sitegen.write.output import OutputError, unwritable_error

    try:
        yield
    except OutputError as error:
        report([error.diagnostic], {})
        sys.exit(1)
    except OSError as error:
        if error.errno not in _NO_ROOM:
            raise
        path = str(error.filename or "the output")
        report([unwritable_error(path, error, "make room, and run the command again").diagnostic], {})
        sys.exit(1)


def say(text: str) -> None:
    """Print a line on stderr; what a repository or a result brought cannot control the terminal."""
    click.echo(printable(text), err=True)


def fail(text: str) -> NoReturn:
    say(f"sitegen: {text}")
    sys.exit(1)
