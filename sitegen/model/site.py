"""A site as its author wrote it: configuration, posts, pages, series, worklog, terms.

`read/` makes these from files; nothing here opens one.  A name of another thing is a `Ref`, which keeps the place
where the name stands, so that a later stage can point at it.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from sitegen.diagnostics import Span
from sitegen.model.markdown import Markdown as Markdown

if TYPE_CHECKING:
    from sitegen.model.bibliography import Bibliography
    from sitegen.model.kernel import Kernel


@dataclass(frozen=True, slots=True)
class Ref:
    """A name that an author wrote, and its place."""

    name: str
    span: Span


@dataclass(frozen=True, slots=True)
class EntryPoint:
    """A post at which a new reader can begin, and the reason."""

    post: Ref
    because: str


@dataclass(frozen=True, slots=True)
class Countdown:
    """A goal and its date."""

    goal: str
    date: dt.date


@dataclass(frozen=True, slots=True)
class Person:
    """An author of posts."""

    name: str
    link: str = ""
    avatar: Ref | None = None
    """The name of an image in templates/assets/."""
    orcid: str = ""


@dataclass(frozen=True, slots=True)
class MenuEntry:
    """A link in the header of each page."""

    title: str
    link: Ref


@dataclass(frozen=True, slots=True)
class TargetSettings:
    """The settings of machines with GPUs on which a run may measure; `execute/targets.py` makes a target of them."""

    hosts: tuple[str, ...] = ()
    """Hosts that SSH reaches."""
    slurm: int = 0
    """Number of GPUs that Slurm gives, each in a job of its own."""
    scheduler: str = ""
    """Address of a Dask scheduler that runs already."""
    bind: str = ""
    """Address of this machine in the network of the hosts, or of the nodes of Slurm."""
    python: str = "python3"
    """A Python there that has sitegen and torch."""
    sbatch: tuple[str, ...] = ()
    """Options of each job of Slurm."""


@dataclass(frozen=True, slots=True)
class SiteConfig:
    """The settings of content/site.yaml."""

    title: str
    base_url: str
    """Absolute address; it ends with a slash."""
    description: str = ""
    language: str = "en"
    timezone: str = "UTC"
    entry_points: tuple[EntryPoint, ...] = ()
    countdown: Countdown | None = None
    gpus: tuple[str, ...] = ()
    """Ids of the GPUs whose records are shown first."""
    gpu_aliases: Mapping[str, str] = field(default_factory=dict)
    targets: Mapping[str, TargetSettings] = field(default_factory=dict)
    """Settings of the GPU machines that `sitegen run` may use, by name."""
    cards: bool = False
    search: bool = False
    twins: bool = False
    whole_series: bool = False
    images: bool = False
    feeds: tuple[str, ...] = ()
    redact: str = ""
    """`required` when the site may only be built with a redaction list."""
    repository: str = ""
    """Address of the branch on GitHub that holds the built site, from which Colab opens notebooks."""
    theme: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Colours (light, dark), fonts and widths of the style sheet, by name."""
    menu: tuple[MenuEntry, ...] = ()
    """The links in the header; empty: the sections that the site has."""
    authors: Mapping[str, Person] = field(default_factory=dict)
    licence: str = ""
    """The licence of posts that name none: an identifier of SPDX, or an address."""
    edit_url: str = ""
    """Where a post is edited; `{path}` stands for its file, `{url}` for its page."""
    report_url: str = ""
    """Where a mistake in a post is reported, as `edit_url`."""
    plugins: tuple[Ref, ...] = ()
    """Names of installed plugins; none other is loaded."""


@dataclass(frozen=True, slots=True)
class Post:
    """One post."""

    slug: str
    title: str
    date: dt.date | dt.datetime
    body: Markdown
    span: Span
    """Place of the title in the front matter, where a mistake about the whole post is shown."""
    description: str = ""
    tags: tuple[Ref, ...] = ()
    category: str = ""
    draft: bool = False
    updated: dt.date | dt.datetime | None = None
    aliases: tuple[Ref, ...] = ()
    permalink: str = ""
    lang: str = ""
    """Language tag; empty: the site's language."""
    teaches: tuple[Ref, ...] = ()
    """Names of the concepts that a reader knows afterwards."""
    needs: tuple[Ref, ...] = ()
    """Names of the concepts that a reader must know before."""
    kernels: tuple[Ref, ...] = ()
    discuss: str = ""
    authors: tuple[Ref, ...] = ()
    """Names of `authors:` of site.yaml; empty: the first of them."""
    licence: str = ""
    bibliography: Ref | None = None
    """A .bib file beside the text, or below content/ when the name begins with a slash."""
    gpu: Ref | None = None
    """The GPU that the sentences about the post's cells are about; None: the first of the site that has results."""
    folder: str = ""
    """`content/posts/<slug>` when the post is a folder, which holds its images and results; else empty."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page without a date, such as `about`."""

    slug: str
    title: str
    body: Markdown
    span: Span
    description: str = ""
    lang: str = ""
    aliases: tuple[Ref, ...] = ()


@dataclass(frozen=True, slots=True)
class Topic:
    """A subject of a phase, and the posts and exercises of the phase that treat it."""

    title: str
    posts: tuple[Ref, ...] = ()
    exercises: tuple[Ref, ...] = ()


@dataclass(frozen=True, slots=True)
class PlannedPost:
    """A post that is not written yet, and the concepts that it will need and teach."""

    title: str
    needs: tuple[Ref, ...] = ()
    teaches: tuple[Ref, ...] = ()


@dataclass(frozen=True, slots=True)
class SeriesExercise:
    """An exercise of a phase.  One with a title is planned until `content/exercises/` has a folder of its id."""

    id: Ref
    title: str = ""
    minutes: int = 0
    """The time that a reader needs; 0 when it is unknown."""
    needs: tuple[Ref, ...] = ()
    """Names of the concepts that a reader must know before."""


@dataclass(frozen=True, slots=True)
class Phase:
    """A part of a series."""

    title: str
    goal: str = ""
    outcome: str = ""
    """The end of the sentence "You can now …"."""
    topics: tuple[Topic, ...] = ()
    posts: tuple[Ref, ...] = ()
    exercises: tuple[SeriesExercise, ...] = ()
    planned: tuple[PlannedPost, ...] = ()


@dataclass(frozen=True, slots=True)
class Series:
    """Posts in reading order, by phase.  A file without phases gives one phase without a title."""

    id: str
    title: str
    span: Span
    tagline: str = ""
    audience: str = ""
    prerequisites: str = ""
    outcomes: tuple[str, ...] = ()
    after: tuple[Ref, ...] = ()
    """Ids of the series that a reader should know before."""
    phases: tuple[Phase, ...] = ()

    @property
    def posts(self) -> tuple[Ref, ...]:
        """Posts of all phases, in reading order."""
        return tuple(post for phase in self.phases for post in phase.posts)


class TaskState(StrEnum):
    OPEN = "open"
    PARTIAL = "partial"
    DONE = "done"
    DROPPED = "dropped"


@dataclass(frozen=True, slots=True)
class Task:
    """A line of a worklog entry that carries a mark of its state, in Markdown, without the mark."""

    text: str
    state: TaskState
    line: int
    history: tuple[TaskState, ...] = ()
    """The states before this one, where the line has several marks: `- Next; - Done;`."""
    inferred: bool = False
    """True when the state was read from words; a check box and the role `{task}` say it outright."""


@dataclass(frozen=True, slots=True)
class WorklogEntry:
    """One day of the worklog.  `body` has the whole text; `tasks` and `questions` are taken from it."""

    date: dt.date
    body: Markdown
    span: Span
    days_left: int | None = None
    """N of `T - N`, as written."""
    tasks: tuple[Task, ...] = ()
    questions: tuple[tuple[str, str], ...] = ()
    """Pairs (question, answer) in Markdown."""


@dataclass(frozen=True, slots=True)
class Term:
    """A glossary entry."""

    slug: str
    title: str
    body: Markdown
    span: Span
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Exercise:
    """An exercise: content/exercises/<id>/index.md, with its starter.py beside it."""

    id: str
    title: str
    kernel: Ref
    """The kernel whose reference and checks judge the reader's code."""
    solution: Ref
    """The author's solution: a Triton implementation of the kernel."""
    counted_at: Mapping[str, int]
    """The shape at which the check counts the loaded bytes of both kernels."""
    body: Markdown
    """The statement: the text above the heading `## Hints`."""
    span: Span
    hints: Markdown | None = None
    """The text below the heading `## Hints`."""
    description: str = ""
    minutes: int = 0
    """The time that a reader needs; 0 when it is unknown."""
    needs: tuple[Ref, ...] = ()
    """Names of the concepts that a reader must know before."""
    teaches: tuple[Ref, ...] = ()
    """Names of the concepts that a reader practises."""
    most_loads: float = 1.5
    """Loaded bytes, as a multiple of those of the solution, above which the check calls a kernel slow."""
    machine: bool = False
    """Whether the check first lists what the machine has for Triton kernels."""
    counted_span: Span | None = None
    """The place of `counted_at` in the file."""

    @property
    def folder(self) -> str:
        return f"content/exercises/{self.id}"

    @property
    def starter(self) -> str:
        """Path of the file with which the reader begins."""
        return f"{self.folder}/starter.py"


@dataclass(frozen=True, slots=True)
class Site:
    """Everything that the author wrote, parsed."""

    config: SiteConfig
    posts: tuple[Post, ...] = ()
    pages: tuple[Page, ...] = ()
    series: tuple[Series, ...] = ()
    worklog: tuple[WorklogEntry, ...] = ()
    """Days, newest first."""
    worklog_intro: Markdown | None = None
    """Text before the first day."""
    kernels: tuple[Kernel, ...] = ()
    terms: tuple[Term, ...] = ()
    bibliographies: Mapping[str, Bibliography] = field(default_factory=dict)
    """Bibliographies by path."""
    exercises: tuple[Exercise, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    """Text of every file that was read, by path: diagnostics quote it, and kernels take their source from it."""
