"""List the commits of a site's repository that changed the code of kernels, by day."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sitegen.execute.git import git

_DAY = dt.timedelta(days=1)
_CHANGED = re.compile(r"\"?kernels/([^/\"]+)/(?!results/)")
"""A changed file of a kernel.  git puts a path with other than ASCII characters in quotes."""


@dataclass(frozen=True, slots=True)
class KernelCommit:
    """A commit that changed the code of kernels."""

    hash: str
    """The short hash."""
    date: dt.date
    """The day on which its author wrote it, in the author's time zone."""
    subject: str
    kernels: tuple[str, ...]

    def __str__(self) -> str:
        """Return its words for a diary; the names are code, so that the worklog links to the kernels."""
        names = ", ".join(f"`{name}`" for name in self.kernels)
        return f"{names}: {self.subject} ({self.hash})"


def kernel_commits(root: Path, first: dt.date, last: dt.date) -> tuple[KernelCommit, ...]:
    """Return the commits of HEAD whose author wrote them from the day `first` to the day `last`, oldest first.

    Merges and commits that only stored results are left out.  Without a repository there are none.
    """
    since = f"--since={first - _DAY}"  # git compares the time of the commit, which is never earlier than the author's
    form = ("--format=%x1e%h%x1f%as%x1f%s", "--name-only", "--no-renames", "--relative", "--no-merges", "--reverse")
    listed = (git(root, "log", since, *form, "--", "kernels") or b"").decode("utf-8", "replace")
    return tuple(commit for commit in _commits(listed) if first <= commit.date <= last and commit.kernels)


def _commits(listed: str) -> Iterator[KernelCommit]:
    for record in listed.split("\x1e")[1:]:
        head, *paths = record.splitlines()
        short, day, subject = head.split("\x1f", 2)
        kernels = dict.fromkeys(match[1] for path in paths if (match := _CHANGED.match(path)))
        yield KernelCommit(short, dt.date.fromisoformat(day), subject, tuple(kernels))
