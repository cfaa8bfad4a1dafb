"""Define the request for a build, and the result that a build returns."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

from sitegen.diagnostics import Diagnostic
from sitegen.pipeline.build_state import PrintedSheet
from sitegen.pipeline.steps import Steps
from sitegen.pipeline.user_cache import cache_of_site
from sitegen.pipeline.versions import versions
from sitegen.read.privacy import Privacy, load_privacy
from sitegen.write.output import WriteCounts

OUTPUT = "public"
"""The folder of a site that is written when no other is named."""


@dataclass(frozen=True, slots=True)
class BuildRequest:
    """The request for one build of a site."""

    root: Path
    output: Path
    cache: Path
    """The folder in the user's cache for the builds of this site."""
    as_of: dt.date | None
    """The day of the build; None means today, in the site's time zone."""
    everything: bool
    """Whether drafts and posts of the future are built, too."""
    processes: int
    version: bytes
    """A digest of the program, its packages and the redaction list.  A cache of another version is not used."""
    steps: Steps
    in_memory: bool = False
    """Whether the pages stay in memory.  Then no parsed text is kept for the next build, there is no search index, and
    the packages that an option of the site needs may be missing.
    """
    privacy: Privacy = field(default_factory=lambda: Privacy({}))
    """What no page may show."""

    @property
    def state_file(self) -> Path:
        """The file that keeps the state of this output."""
        name = blake2b(os.fsencode(self.output.resolve()), digest_size=8).hexdigest()
        return self.cache / "outputs" / f"{name}.state"

    def day(self, timezone: str) -> dt.date:
        """Return the day for which the site is built; `timezone` is the site's."""
        if self.as_of:
            return self.as_of
        if timezone == "UTC":
            return dt.datetime.now(dt.UTC).date()
        import zoneinfo

        return dt.datetime.now(zoneinfo.ZoneInfo(timezone)).date()


@dataclass(frozen=True, slots=True)
class BuildResult:
    """The result of an update: the changes in the output folder."""

    report: str = ""
    """The mistakes, as the author sees them; empty when there are none."""
    failed: bool = False
    """Whether there were errors.  Then nothing was written."""
    written: WriteCounts = field(default_factory=lambda: WriteCounts(0, 0, 0, 0))
    printed: tuple[str, ...] = ()
    """The names of the sheets that were printed."""
    sheets: Mapping[str, PrintedSheet] = field(default_factory=dict)
    """All sheets by name, each with the reasons for which it was printed last."""
    waiting: tuple[tuple[int, str], ...] = ()
    """The posts of later days that are no drafts, by the ordinal of their day and their path."""


class MistakesError(Exception):
    """A site has errors, so that none of it is published."""

    def __init__(self, diagnostics: Collection[Diagnostic], report: str) -> None:
        super().__init__(report)
        self.diagnostics = diagnostics
        """All mistakes of the site, including warnings."""
        self.report = report
        """The mistakes, as the author sees them."""


def usable_cores() -> int:
    """Return the number of processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def make_request(
    root: Path,
    *,
    output: Path | None = None,
    as_of: dt.date | None = None,
    everything: bool = False,
    processes: int = 1,
    steps: Steps | None = None,
    in_memory: bool = False,
    redacted: bool = True,
) -> BuildRequest:
    """Return the request for a build of the site at `root`.  Raises OutputError when there is no folder for the cache.

    The default of `output` is `public/` in the site.  Without `redacted`, the words of the redaction list stay: for a
    command that changes the author's files and publishes nothing.
    """
    cache, privacy = cache_of_site(root), load_privacy(root)
    if not redacted:
        privacy = privacy.without_words()
    version = versions() + privacy.key
    return BuildRequest(
        root,
        output or root / OUTPUT,
        cache,
        as_of,
        everything,
        processes,
        version,
        steps or Steps(),
        in_memory,
        privacy,
    )
