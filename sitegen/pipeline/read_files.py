"""Find the files of a site, and compare them with the previous build.

The module imports nothing that parses or prints: an update without changes needs only this module.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

from sitegen.pipeline.build_state import BuildState, load_state
from sitegen.pipeline.request import BuildRequest
from sitegen.write.scan import Signature, scan

SITE_FOLDERS = ("content", "kernels", "series", "templates")
"""The folders of a site with all the files that a build reads."""


@dataclass(frozen=True, slots=True)
class SiteFiles:
    """The files of a site now, and the state of the previous build."""

    request: BuildRequest
    began_ns: int
    """The time when the scan began (ns since the epoch)."""
    signatures: Mapping[str, Signature]
    """The size, times and inode of each file, by path."""
    previous: BuildState | None = None
    """The state that the previous build of this output left; None when this version of sitegen cannot use one."""
    edited: tuple[str, ...] | None = None
    """The files that changed since the previous build, when nothing else did.

    None when files are new or gone, when the output was changed, or when another day or other posts are requested.
    """


def read_files(request: BuildRequest) -> SiteFiles:
    """Scan the site, and compare it with what the previous build of this output left."""
    with request.steps.step("read"):
        began_ns = time.time_ns()
        previous = load_state(request.state_file, request.version)
        signatures = scan(request.root, SITE_FOLDERS)
        edited = _edited(request, previous, signatures) if previous else None
        return SiteFiles(request, began_ns, signatures, previous, edited)


def read_files_from_scratch(request: BuildRequest) -> SiteFiles:
    """Scan the site without the state of a previous build."""
    began_ns = time.time_ns()
    return SiteFiles(request, began_ns, scan(request.root, SITE_FOLDERS))


def _edited(request: BuildRequest, previous: BuildState, signatures: Mapping[str, Signature]) -> tuple[str, ...] | None:
    if request.everything != previous.everything or not previous.same_day(request.day(previous.timezone)):
        return None
    return previous.edited_files(request.root, signatures) if previous.same_outputs(request.output) else None
