"""Define the commands for measurements: run, bundle, accept, status, compare."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sitegen.cli.common import (
    NewFile,
    OldFile,
    any_failed,
    as_rows,
    count_states,
    fail,
    inventory_of,
    load_site_or_exit,
    number_of,
    print_failures,
    print_outcome,
    report,
    require_installed,
    require_processes,
    say,
    target_of,
    usage_errors,
)
from sitegen.cli.compiled import compiled_lines
from sitegen.cli.run_progress import run_report
from sitegen.diagnostics import printable

if TYPE_CHECKING:
    from sitegen.execute.plan import Inventory
    from sitegen.pipeline.in_memory import LoadedSite
    from sitegen.results.accept import AcceptedRun

NOTHING_TIMED = "nothing was timed and nothing is stored, as in every run without a GPU"
CHECKED = "what could be checked under Triton's interpreter passed; nothing was timed and nothing is stored"
UNSEEN = "a read more than 64 KiB outside of a tensor is not judged without a GPU"
FILE = OldFile()
TO_SEND = {"distributed": "cluster"}
TO_RUN = {"psutil": "cluster", "torch": "gpu"}
"""The extra of sitegen that has each package for running jobs on this machine."""


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option(
    "--all", "everything", is_flag=True, help="Measure also what is fresh (default: what is stale or missing)."
)
@click.option("--stale", is_flag=True, help="Measure only what is stale or missing, which is the default.")
@click.option(
    "--on",
    "target",
    default="local",
    show_default=True,
    help="Measure on this target of site.yaml.",
)
@click.option(
    "--beside", is_flag=True, help="Store the records as those of your own GPU, beside the published ones of its model."
)
@click.option("--bundle", "bundle_file", type=FILE, help="Execute the jobs of this bundle; this needs no site.")
@click.option("-o", "--output", type=NewFile(), help="Write the results of the bundle into this file.")
@click.option("--json", "as_json", is_flag=True, help="Print each start and end of a job as a line of JSON on stdout.")
def run(
    names: tuple[str, ...],
    everything: bool,
    stale: bool,
    target: str,
    beside: bool,
    bundle_file: Path | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """Measure kernels, cells of posts and ceilings on a GPU.  This stores a record for each.  Without a GPU, it checks
    the results under Triton's interpreter, and stores nothing.  NAME is a kernel (softmax), an implementation
    (softmax/fused), a post (posts/softmax) or any name that `status` prints.
    """
    if everything and stale:
        raise click.UsageError("--all and --stale contradict each other")
    if (bundle_file is None) != (output is None):
        raise click.UsageError("--bundle and -o belong together")
    if beside and bundle_file is not None:
        raise click.UsageError("--beside and --bundle contradict each other: `accept` stores what a bundle gives")
    if bundle_file is not None and output is not None:
        run_bundle(bundle_file, output, as_json)
    else:
        run_here(names, everything, target, beside, as_json)


def run_bundle(bundle_file: Path, output: Path, as_json: bool) -> None:
    """Run a bundle on a GPU machine, which has no pydantic, no YAML reader and no site."""
    from sitegen.cli.verdicts import Failures
    from sitegen.execute import bundle as bundles
    from sitegen.execute.archive import BadArchive
    from sitegen.execute.targets import local_target

    require_installed(TO_RUN)
    require_processes()
    target, told = local_target(), Failures()
    try:
        earlier = bundles.unfinished_results(bundles.read_bundle(bundle_file).id, output, target)
        if earlier:
            found = number_of(len(earlier.results), "result")
            say(f"{output} holds {found} of a run that was cut short: the rest follows")
        with run_report(told, as_json=as_json) as progress:
            results = bundles.run_bundle(bundle_file, output, target, progress)
    except (BadArchive, bundles.OtherGpuError, OSError) as error:
        fail(str(error))
    print_outcome(results.results)
    say(f"{len(results.results)} results in {output}")
    print_failures(results.results, told)
    if any_failed(results.results):
        sys.exit(1)


def run_here(names: Sequence[str], everything: bool, where: str, beside: bool, as_json: bool) -> None:
    from sitegen.cli.verdicts import Failures, outputs_of_cells
    from sitegen.execute import session

    loaded = load_site_or_exit()
    target = target_of(loaded, where)
    require_installed(TO_RUN if where == "local" else TO_SEND)
    if where == "local":
        require_processes()
    if target.slurm:
        say(f"sbatch gets {number_of(target.slurm, 'job')}; `squeue --me` shows whether they wait")
    for host in target.silent:
        say(f"{host} does not answer to nvidia-smi over SSH; the run goes on without it")
    told = Failures()
    with usage_errors(), run_report(told, as_json=as_json) as progress:
        outcome = session.run(
            loaded.root,
            inventory_of(loaded),
            target,
            names,
            everything=everything,
            beside=beside,
            progress=progress,
        )
    if outcome.results is None:
        say("everything is fresh")
        return
    print_outcome(outcome.results.results)
    for line in compiled_lines(outcome.results.results):
        say(line)
    if outcome.stored is not None:
        print_changes(loaded, outcome.stored)
    failed = any_failed(outcome.results.results)
    if outcome.stored is None and not outcome.diagnostics:
        for entry in outputs_of_cells(outcome.results.results):
            say(entry)
        for line in (NOTHING_TIMED,) if failed else (f"no GPU here: {CHECKED}", UNSEEN):
            say(line)
    print_failures(outcome.results.results, told)
    report(outcome.diagnostics, {})
    if outcome.diagnostics or failed:
        sys.exit(1)


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--all", "everything", is_flag=True, help="Include what is fresh (default: what is stale or missing).")
@click.option("--gpu", default="", metavar="GPU", help="Include what is due on this GPU (default: the site's first).")
@click.option("--try", "tries", is_flag=True, help="Write implementations for `try --bundle` instead of what is due.")
@click.option("--set", "settings", multiple=True, metavar="CONSTANT=VALUE,…", help="With --try: as in `sitegen try`.")
@click.option("--ncu", is_flag=True, help="With --try: read by ncu what warps wait for, DRAM bytes and more.")
@click.option("-o", "--output", type=NewFile(), required=True, help="Write the bundle into this zip file.")
def bundle(
    names: tuple[str, ...], everything: bool, gpu: str, tries: bool, settings: tuple[str, ...], ncu: bool, output: Path
) -> None:
    """Write jobs and their sources into a file for a GPU machine that cannot reach the site."""
    from sitegen.execute import session

    if (settings or ncu) and not tries:
        raise click.UsageError("--set and --ncu belong to --try")
    if tries:
        if gpu:
            raise click.UsageError("--gpu says for which records something is due, and --try stores none")
        bundle_tries(names, everything, settings, ncu, output)
        return
    loaded = load_site_or_exit()
    inventory = inventory_of(loaded)
    chosen = known_gpu(inventory, gpu) if gpu else inventory.default_gpu
    with usage_errors():
        jobs = session.bundle(loaded.root, inventory, output, names, gpu=chosen, everything=everything)
    say(f"{len(jobs)} jobs in {output}" if jobs else f"nothing is due on {chosen or 'a GPU'}, nothing was written")


def known_gpu(inventory: Inventory, name: str) -> str:
    """Return the id of a GPU by its id or its short name.  Raises UsageError for one that site and records lack."""
    from sitegen.linking.near_gpus import near_gpu
    from sitegen.linking.value_refs import gpu_names

    known = gpu_names(inventory.site, inventory.records.gpus())
    if name in known:
        return inventory.site.config.gpu_aliases.get(name, name)
    near = near_gpu(name, known)
    hint = f"did you mean `{near}`?" if near else f"known: {', '.join(known) or 'none'}"
    raise click.UsageError(f"no record of a GPU `{name}`; {hint}; `--all` writes all jobs for a GPU without records")


def bundle_tries(names: tuple[str, ...], everything: bool, settings: tuple[str, ...], ncu: bool, output: Path) -> None:
    """Write the jobs of `sitegen try` for several implementations."""
    from sitegen.cli.try_ import try_jobs
    from sitegen.execute.try_run import write_try_bundle

    if everything or not names:
        raise click.UsageError("--try needs the names of implementations, and has no --all")
    jobs = try_jobs(names, settings, ncu)
    try:
        write_try_bundle(jobs, output)
    except OSError as error:
        fail(str(error))
    candidates = sum(len(job.kernel.implementations) for job in jobs)
    say(f"{number_of(candidates, 'candidate')} in {output}")


@click.command()
@click.argument("file", type=FILE)
@click.option(
    "--bundle",
    "bundle_file",
    type=FILE,
    help="The bundle of these results; needed if another machine wrote it.",
)
@click.option(
    "--attestation",
    type=FILE,
    help="The signature of GitHub's attest-build-provenance for FILE, which `gh` verifies.",
)
@click.option("--repo", metavar="OWNER/NAME", help="The repository on GitHub whose workflow must have signed FILE.")
def accept(file: Path, bundle_file: Path | None, attestation: Path | None, repo: str | None) -> None:
    """Check the results of a bundle in FILE, and store them as records."""
    from sitegen.execute import session
    from sitegen.execute.attestation import REPOSITORY

    if (attestation is None) != (repo is None):
        raise click.UsageError("--attestation and --repo belong together")
    if repo is not None and not REPOSITORY.fullmatch(repo):
        raise click.UsageError("--repo is the name of a repository on GitHub: OWNER/NAME")
    loaded = load_site_or_exit()
    signature = (attestation, repo) if attestation and repo else None
    outcome = session.accept(loaded.root, inventory_of(loaded), file, bundle_file, signature)
    report(outcome.diagnostics, {})
    if outcome.results is None or outcome.stored is None:
        sys.exit(1)
    print_outcome(outcome.results.results)
    if not outcome.results.complete:
        say("the run was cut short: what it finished is stored, the rest stays as it was")
    stored = outcome.stored
    for line in stored.lost:
        say(f"lost: {line}")
    for line in stored.older:
        say(f"not taken: {line}")
    by = f"{stored.run.measured_by}, whose signature is valid" if stored.run.measured_by else "hand: no signature given"
    say(f"measured by {by}")
    say(f"stored {len(stored.records)} records and {len(stored.cells)} cells of run {stored.run.id}")
    print_changes(loaded, stored)
    print_failures(outcome.results.results)


@click.command()
@click.option("--claims", is_flag=True, help="List the claims of all texts instead, with their margins.")
@click.option("--goals", is_flag=True, help="List the goals of all kernels instead, with what decides them.")
@click.option("--contents", is_flag=True, help="List how many posts, words, figures, claims and kernels the site has.")
@click.option("--json", "as_json", is_flag=True, help="Print the states as JSON on stdout.")
def status(claims: bool, goals: bool, contents: bool, as_json: bool) -> None:
    """List stale and missing measurements with a reason for each, tools that are due, and the number of goals and
    claims.
    """
    from sitegen.execute.session import status_by_gpu

    if claims + goals + contents > 1:
        raise click.UsageError("--claims, --goals and --contents contradict each other")
    loaded = load_site_or_exit()
    if contents:
        print_contents(loaded, as_json)
        return
    if goals:
        print_goals(loaded, as_json)
        return
    if claims:
        print_claims(loaded, as_json)
        return
    states = status_by_gpu(inventory_of(loaded))
    if as_json:
        click.echo(json.dumps({gpu: as_rows(found) for gpu, found in states.items()}, indent=1, ensure_ascii=False))
        return
    for gpu, found in states.items():
        click.echo(f"{gpu or 'no GPU'}: {count_states(found)}")
        for title, state in found.items():
            if state.state != "fresh":
                click.echo(f"  {title}  {state.sentence}")
    print_due_tools(loaded, states)
    print_goal_counts(loaded)
    print_claim_counts(loaded)


def print_due_tools(loaded: LoadedSite, gpus: Iterable[str]) -> None:
    """Print a line for each kernel that lacks counters or findings: `softmax/tools is due: no counters of …`."""
    from sitegen.execute.plan import due_tools

    for gpu in gpus:
        for name, due in due_tools(inventory_of(loaded), gpu).items():
            for what, titles in (("counters of", due.uncounted), ("findings about", due.unwatched)):
                more = f" and {len(titles) - 1} more" if len(titles) > 1 else ""
                if titles:
                    click.echo(f"{gpu}: {name} is due: no {what} {titles[0]}{more}")


def print_goal_counts(loaded: LoadedSite) -> None:
    """Print the number of goals in each state, for each GPU with records."""
    from sitegen.execute.session import goals_by_gpu

    for gpu, results in goals_by_gpu(inventory_of(loaded)).items():
        states = Counter(str(result.state) for result in results)
        if states:
            click.echo(f"{gpu}: goals: {', '.join(f'{count} {state}' for state, count in sorted(states.items()))}")


def print_goals(loaded: LoadedSite, as_json: bool) -> None:
    from sitegen.cli.goals import goal_lines, goal_rows
    from sitegen.execute.session import goals_by_gpu

    found = goals_by_gpu(inventory_of(loaded))
    if as_json:
        click.echo(json.dumps(goal_rows(found), indent=1, ensure_ascii=False))
        return
    for line in goal_lines(found):
        click.echo(line)


def print_claim_counts(loaded: LoadedSite) -> None:
    """Print the number of claims in each state, if the site has claims."""
    from sitegen.cli.claims import verdicts_of

    states = Counter(str(verdict.state) for _, verdict in verdicts_of(loaded))
    if states:
        click.echo(f"claims: {', '.join(f'{count} {state}' for state, count in sorted(states.items()))}")


def print_contents(loaded: LoadedSite, as_json: bool) -> None:
    from sitegen.cli.contents import content_lines, contents_of

    contents = contents_of(loaded)
    if as_json:
        click.echo(json.dumps(contents, indent=1, ensure_ascii=False))
        return
    for line in content_lines(contents):
        click.echo(line)


def print_claims(loaded: LoadedSite, as_json: bool) -> None:
    from sitegen.cli.claims import claim_lines, claim_rows, verdicts_of

    verdicts = verdicts_of(loaded)
    if as_json:
        click.echo(json.dumps(claim_rows(verdicts), indent=1, ensure_ascii=False))
        return
    for line in claim_lines(verdicts):
        click.echo(line)
    say(number_of(len(verdicts), "claim"))


@click.command()
@click.argument("before")
@click.argument("after", required=False)
@click.option("--markdown", is_flag=True, help="Print a Markdown table, for a pull request.")
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON on stdout.")
@click.option(
    "--fail-on",
    type=click.Choice(["slower", "failed"]),
    multiple=True,
    help="Exit with 1 if an evaluation has this verdict; the option may be repeated.",
)
def compare(before: str, after: str | None, markdown: bool, as_json: bool, fail_on: tuple[str, ...]) -> None:
    """Compare two records, or all records of two git revisions.  This prints a verdict for each evaluation: faster,
    same, slower or ambiguous.  The verdict comes from ratios to a baseline and to a ceiling, never from microseconds.
    It also names each sentence of the site whose claim AFTER does not support any more.
    BEFORE and AFTER are files or revisions; without AFTER, BEFORE is compared with the records as they are now.
    """
    from sitegen.cli.claims import newly_false
    from sitegen.cli.sides import pairs
    from sitegen.model.markdown_text import as_words
    from sitegen.results.compare import compare_all
    from sitegen.results.render_comparison import render_json, render_markdown, render_text

    if markdown and as_json:
        raise click.UsageError("--markdown and --json contradict each other")
    loaded = load_site_or_exit()
    try:
        compared = pairs(loaded, before, after)
        rows = compare_all(loaded.site, compared)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    render = render_markdown if markdown else render_json if as_json else render_text
    click.echo(printable(render(rows)))
    for line in newly_false(loaded, compared):
        click.echo(printable(f"- {as_words(line)}" if markdown else line), err=as_json)
    refused = [row for row in rows if row.verdict in fail_on]
    if refused:
        fail("; ".join(f"{row.title} is {row.verdict}" for row in refused))


def print_changes(loaded: LoadedSite, stored: AcceptedRun) -> None:
    """Print what tools said about earlier runs, and the evaluations that changed against the records before."""
    from sitegen.cli.claims import newly_false
    from sitegen.results.compare import compare_all
    from sitegen.results.render_comparison import render_lines

    for line in (*(f"not taken: {one}" for one in stored.unused), *stored.added):
        say(line)
    old = loaded.records.kernels
    replaced = [(old[key], new) for new in stored.records if (key := (new.kernel, new.gpu)) in old]
    rows = compare_all(loaded.site, replaced)
    moved = [row for row in rows if row.notable]
    if rows:
        say(f"compared with the records before: {number_of(len(moved), 'evaluation')} of {len(rows)} changed")
    for line in (*render_lines(moved), *newly_false(loaded, replaced)):
        say(line)
