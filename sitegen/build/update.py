"""A site and what the last build left → the output as a clean build would make it, with as little work as that takes.

When nothing changed, this is all that runs: a scan of the site and of the output, compared with what was remembered.
Nothing is imported here that reads or prints.
"""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

from sitegen.build import state as states
from sitegen.build.stages import Stages
from sitegen.build.state import Printed, State
from sitegen.build.user_cache import cache_of_site
from sitegen.build.versions import versions
from sitegen.build.workers import cores
from sitegen.write.output import WriteCounts, locked_output, refuse_link
from sitegen.write.scan import Signature, scan

OUTPUT = "public"
"""The folder of a site that is written when no other is named."""
ROOMS = ("content", "kernels", "series", "templates")
"""The folders of a site in which everything stands that a build reads."""


@dataclass(frozen=True, slots=True)
class Job:
    """One build: what is asked for, and what is known when it begins."""

    root: Path
    output: Path
    cache: Path
    """The folder in which the user keeps what builds of this site leave."""
    as_of: dt.date | None
    """None: today, in the site's time zone."""
    everything: bool
    """Drafts and posts of the future, too."""
    processes: int
    version: bytes
    stages: Stages
    began_ns: int
    seen: Mapping[str, Signature]
    """The files of the site, by path."""
    last: State | None
    """What the build before left; None when there is nothing that this version could use."""

    @property
    def remembered(self) -> Path:
        """Where the state of this output is kept."""
        return state_file(self.cache, self.output)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a build."""

    report: str = ""
    """The mistakes, as the author sees them; empty when there are none."""
    failed: bool = False
    """Then nothing was written."""
    written: WriteCounts = field(default_factory=lambda: WriteCounts(0, 0, 0, 0))
    printed: tuple[str, ...] = ()
    """The names of the sheets that were printed."""
    sheets: Mapping[str, Printed] = field(default_factory=dict)
    """All of them, each with the reasons for which it was printed last."""


def update(
    root: Path,
    output: Path,
    *,
    as_of: dt.date | None = None,
    everything: bool = False,
    processes: int | None = None,
    stages: Stages | None = None,
) -> Outcome:
    """Make `output` what the site at `root` is.  Raises OutputError."""
    stages, cache = stages or Stages(), cache_of_site(root)
    if output.absolute() == (root / OUTPUT).absolute():
        refuse_link(output)
    with locked_output(cache, output):
        with stages.stage("scan"):
            version, began_ns = versions(), time.time_ns()
            last, seen = states.load(state_file(cache, output), version), scan(root, ROOMS)
            many = processes or cores()
            job = Job(root, output, cache, as_of, everything, many, version, stages, began_ns, seen, last)
            edited = _edited(job, last) if last else None
        if last and edited is not None:
            if not edited and last.knows(seen):
                return Outcome(last.report, written=WriteCounts(0, 0, 0, len(last.outputs)), sheets=last.sheets)
            from sitegen.build.mend import mend

            if mended := mend(job, last, edited):
                return mended
        from sitegen.build.anew import build_anew

        return build_anew(job)


def state_file(cache: Path, output: Path) -> Path:
    name = blake2b(str(output.resolve()).encode(), digest_size=8).hexdigest()
    return cache / "outputs" / f"{name}.state"


def today(timezone: str) -> dt.date:
    if timezone == "UTC":
        return dt.datetime.now(dt.UTC).date()
    import zoneinfo

    return dt.datetime.now(zoneinfo.ZoneInfo(timezone)).date()


def _edited(job: Job, last: State) -> tuple[str, ...] | None:
    """The files that changed, when nothing else is another than in the last build."""
    if job.everything != last.everything or not last.same_day(job.as_of or today(last.timezone)):
        return None
    return last.edited(job.root, job.seen) if last.same_outputs(job.output) else None
