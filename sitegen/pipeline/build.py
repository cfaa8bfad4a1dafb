"""Build a site in one function, `build`, along one of three routes.

The module of each step is imported when the step begins, so that an update without changes imports nothing that parses
or prints.
"""

from __future__ import annotations

import contextlib
import datetime as dt
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from sitegen.pipeline.read_files import SiteFiles, read_files
from sitegen.pipeline.request import OUTPUT, BuildRequest, BuildResult, MistakesError, make_request, usable_cores
from sitegen.pipeline.steps import Steps
from sitegen.write.output import WriteCounts, check_output, locked_output, refuse_link, staging

if TYPE_CHECKING:
    from sitegen.pipeline.link_site import LinkedSite
    from sitegen.pipeline.parse_texts import ParsedSite
    from sitegen.pipeline.plan import UpdatePlan
    from sitegen.pipeline.print_pages import StagedPages

PlanType = TypeVar("PlanType")
PrintType = TypeVar("PrintType")
ResultType = TypeVar("ResultType")


@dataclass(frozen=True, slots=True)
class Route(Generic[PlanType, PrintType, ResultType]):
    """The steps of one way to build a site.

    There are three routes.  They share the steps that parse and link texts, and differ in what they print, and where:

                   `UPDATE`               `in_memory.full_route`  `preview.PreviewSite`
    finish early   when nothing or only   never                   never
                   posts changed
    parse          texts that changed     all texts               texts that were saved
    link           stops at errors        goes on with errors     goes on with errors;
                                                                  not again after an edit of prose
    plan           pages that changed     all pages               the page that is requested
    print          on all cores           in this process         in this process
    publish        into the output        in memory               in memory
    """

    read: Callable[[BuildRequest], SiteFiles]
    finish_early: Callable[[SiteFiles], ResultType | None]
    parse: Callable[[SiteFiles], ParsedSite]
    link: Callable[[ParsedSite], LinkedSite]
    plan: Callable[[LinkedSite], PlanType]
    stage: Callable[[BuildRequest], AbstractContextManager[None]]
    """Returns the folder that must be open while pages are printed and published."""
    print: Callable[[PlanType], PrintType]
    publish: Callable[[PrintType], ResultType]


def build(request: BuildRequest, route: Route[PlanType, PrintType, ResultType]) -> ResultType:
    """Build a site: read → parse → link → plan → print → publish."""
    files = route.read(request)
    if (result := route.finish_early(files)) is not None:
        return result
    parsed = route.parse(files)
    site = route.link(parsed)
    plan = route.plan(site)
    with route.stage(request):
        printed = route.print(plan)
        return route.publish(printed)


def update(
    root: Path,
    output: Path,
    *,
    as_of: dt.date | None = None,
    everything: bool = False,
    processes: int | None = None,
    steps: Steps | None = None,
) -> BuildResult:
    """Bring `output` up to date with the site at `root`, with as little work as possible.

    A site with errors is not written.  `processes` is the number of cores to use, by default all.  Raises OutputError.
    """
    cores = processes or usable_cores()
    request = make_request(root, output=output, as_of=as_of, everything=everything, processes=cores, steps=steps)
    if output.absolute() == (root / OUTPUT).absolute():
        refuse_link(output)
    with locked_output(request.cache, output):
        try:
            return build(request, UPDATE)
        except MistakesError as error:
            return BuildResult(error.report, failed=True)


def _finish_early(files: SiteFiles) -> BuildResult | None:
    """Return the result when nothing changed, or when only texts changed and no other page shows anything new of them;
    else None.
    """
    previous, edited = files.previous, files.edited
    if previous is None or edited is None:
        return None
    if not edited and previous.has_signatures(files.signatures):
        counts = WriteCounts(0, 0, 0, len(previous.outputs))
        return BuildResult(previous.report, False, counts, (), previous.sheets, previous.waiting)
    from sitegen.pipeline.patch_pages import patch_pages

    return patch_pages(files, previous, edited)


def _parse(files: SiteFiles) -> ParsedSite:
    from sitegen.pipeline.parse_texts import parse_texts

    return parse_texts(files)


def _link(parsed: ParsedSite) -> LinkedSite:
    from sitegen.pipeline.link_site import link_without_errors

    return link_without_errors(parsed)


def _plan(site: LinkedSite) -> UpdatePlan:
    from sitegen.pipeline.plan import plan_changed_pages

    return plan_changed_pages(site)


@contextlib.contextmanager
def _stage(request: BuildRequest) -> Iterator[None]:
    """Open the staging folder of an output that is empty or was made by sitegen."""
    check_output(request.output, request.cache)
    with staging(request.output):
        yield


def _print(plan: UpdatePlan) -> StagedPages:
    from sitegen.pipeline.print_pages import print_to_stage

    return print_to_stage(plan)


def _publish(pages: StagedPages) -> BuildResult:
    from sitegen.pipeline.publish import publish

    return publish(pages)


UPDATE: Route[UpdatePlan, StagedPages, BuildResult] = Route(
    read_files, _finish_early, _parse, _link, _plan, _stage, _print, _publish
)
