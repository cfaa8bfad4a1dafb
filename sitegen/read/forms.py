"""List the keys of all YAML that an author writes, each with a sentence: the registry of the manual and the schemas.

The readers of this room take their keys from the dataclasses of the model; `tests/read/test_forms.py` compares what
they accept with the forms here.  A value's type comes from the annotation of its field, or from `values` where a
function of its own reads the key.
"""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

from sitegen.model.dtypes import DTYPES
from sitegen.model.kernel import Implementation, Kernel, Launch, Scalar, Status, Sweep, Tensor, Workload, Wrong
from sitegen.model.site import (
    Countdown,
    EntryPoint,
    Exercise,
    MenuEntry,
    Page,
    Person,
    Phase,
    PlannedPost,
    Post,
    Series,
    SeriesExercise,
    SiteConfig,
    TargetSettings,
    Term,
    Topic,
)
from sitegen.read.config import FEEDS
from sitegen.read.own_directive import OwnDirective, OwnOption


@dataclass(frozen=True, slots=True)
class OneOf:
    """One of several words."""

    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Either:
    """A value of one of several types."""

    types: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list of values of one type."""

    type: Any


@dataclass(frozen=True, slots=True)
class MapOf:
    """Values of one type by names that the author chooses."""

    type: Any


@dataclass(frozen=True, slots=True)
class Form:
    """The keys of one mapping of YAML."""

    title: str
    of: type
    """Dataclass whose fields are the keys."""
    about: Mapping[str, str]
    """A sentence of Markdown for each key, in the order of the manual."""
    values: Mapping[str, Any] = field(default_factory=dict)
    """Types of the keys that are no fields, or whose YAML differs from the annotation of the field."""
    required: frozenset[str] = frozenset()
    """Required keys among those in `values`; for all others the field decides."""
    field_of: Mapping[str, str] = field(default_factory=dict)
    """The field of a key that is named otherwise."""
    others: Any = None
    """Type of the values of all other keys, such as the sizes of a workload; None: there are no other keys."""

    def type_of(self, key: str) -> Any:
        """Return the type of a key's value: one of the four above, a dataclass, or a plain type."""
        if key in self.values:
            return simple_type(self.values[key])
        return simple_type(typing.get_type_hints(self.of)[self.field_of.get(key, key)])

    def is_required(self, key: str) -> bool:
        """Tell whether the mapping must have a key."""
        one = _field(self.of, self.field_of.get(key, key))
        if key in self.values or one is None:
            return key in self.required
        return one.default is dataclasses.MISSING and one.default_factory is dataclasses.MISSING

    def default(self, key: str) -> Any:
        """Return the value that a missing key stands for; None where there is none to name."""
        one = _field(self.of, self.field_of.get(key, key))
        return one.default if one and one.default is not dataclasses.MISSING else None


def simple_type(hint: Any) -> Any:
    """Return an annotation as `OneOf`, `Either`, `ListOf` or `MapOf`; others, such as `str`, stay as they are."""
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        types = tuple(arg for arg in args if arg is not NoneType)
        return simple_type(types[0]) if len(types) == 1 else Either(types)
    if origin is tuple:
        return ListOf(args[0])
    if origin is not None and issubclass(origin, Mapping):
        return MapOf(args[1])
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return OneOf(tuple(member.value for member in hint))
    return hint


def _field(cls: type, name: str) -> dataclasses.Field[Any] | None:
    return next((one for one in dataclasses.fields(cls) if one.name == name), None)


@dataclass(frozen=True, slots=True)
class FileForm:
    """One kind of file with YAML: a whole file, or the front matter of a Markdown file."""

    name: str
    """Name of its schema: `site`."""
    title: str
    path: str
    about: str
    forms: tuple[Form, ...]
    """The form of the file, and those of the mappings in it."""

    @property
    def is_front_matter(self) -> bool:
        """True when the YAML stands at the head of a Markdown file."""
        return self.path.endswith(".md")


ENTRY_POINT = Form(
    "an entry point",
    EntryPoint,
    {"post": "The slug of the post.", "because": "The reason for which a reader begins there, as a sentence."},
)
COUNTDOWN = Form(
    "the countdown",
    Countdown,
    {"goal": "What is to be reached.", "date": "The day of the goal; each day of the worklog shows the days left."},
)


TARGET = Form(
    "a target",
    TargetSettings,
    {
        "hosts": "Hosts with GPUs that SSH reaches without a password.",
        "slurm": "The number of GPUs to ask Slurm for. Each comes with a job of its own, which `sbatch` starts.",
        "scheduler": "The address of a Dask scheduler that runs already: `tls://…` or `tcp://…`. "
        "A target has one of `hosts`, `slurm` and `scheduler`.",
        "bind": "The address of this machine in the network of the hosts or nodes. "
        "A target with `hosts` or `slurm` needs it.",
        "python": "A Python on the hosts or nodes that has sitegen and torch.",
        "sbatch": "Options of each job of Slurm, such as `--partition=gpu`. "
        "Without an option about GPUs it is `--gres=gpu:1`.",
    },
)
PERSON = Form(
    "an author",
    Person,
    {
        "name": "The name, as pages and citations show it.",
        "link": "The address of the author's page.",
        "avatar": "The name of an image in `templates/assets/`.",
        "orcid": "The ORCID, such as `0000-0002-1825-0097`.",
    },
)
MENU_ENTRY = Form(
    "an entry of the menu",
    MenuEntry,
    {"title": "The words of the link.", "link": "A page of the site, such as `/kernels/`, or another address."},
)
SITE = Form(
    "the file",
    SiteConfig,
    {
        "title": "The name of the site, in the header of each page.",
        "base_url": "The absolute address of the site, for feeds, canonical links and cards.",
        "description": "One sentence about the site, for search engines and the home page.",
        "language": "The language of texts that name none, as a tag such as `en`, `ko` or `pt-BR`.",
        "timezone": "The time zone of times without an offset, and of today, such as `Europe/Berlin`.",
        "entry_points": "Posts at which a new reader can begin. The home page lists them.",
        "countdown": "A goal with its date, for the worklog.",
        "gpus": "Ids of GPUs, such as `nvidia-h200`. Pages show the records of the first one that has them.",
        "gpu_aliases": "Short names of GPUs, each with its id behind it: `{h200: nvidia-h200}`.",
        "targets": "Machines on which `sitegen run --on NAME` may measure, by name.",
        "cards": "Whether posts, pages, series and kernels get an image for social networks. Needs the extra `cards`.",
        "search": "Whether there is a search page.",
        "twins": "Whether there is an `index.md` beside each `index.html`, and an `llms.txt`.",
        "whole_series": "Whether each series gets a page with all its posts, and one with all its questions.",
        "images": "Whether images get AVIF and WebP versions in several widths.",
        "feeds": "Further Atom feeds: one for each tag, one for each series, one for the worklog.",
        "redact": "With `required`, a build without a redaction list fails.",
        "repository": "The branch of a public repository that holds the built site, from which Colab opens notebooks.",
        "theme": "Colours `[light, dark]`, fonts and widths, by the names of variables of `assets/site.css`.",
        "menu": "The links in the header, in place of the sections of the site.",
        "authors": "The authors, by the names that posts call them.",
        "licence": "The licence of the posts: an identifier of SPDX such as `CC-BY-4.0`, or an address.",
        "edit_url": "Where a post is edited; `{path}` stands for its file, `{url}` for the address of its page.",
        "report_url": "Where readers report a mistake in a post; `{path}` and `{url}` stand for the same.",
        "plugins": "Names of installed packages that add directives, checks, files and importers.",
    },
    values={
        "feeds": ListOf(OneOf(FEEDS)),
        "theme": MapOf(Either((str, ListOf(str)))),
        "redact": OneOf(("required",)),
    },
)
TOPIC = Form(
    "a topic",
    Topic,
    {
        "title": "The subject.",
        "posts": "The posts of the phase that treat it, by their slugs.",
        "exercises": "The exercises of the phase that treat it, by their ids.",
    },
)
PLANNED = Form(
    "a planned post",
    PlannedPost,
    {
        "title": "The title that the post will have.",
        "needs": "The concepts that a reader will need.",
        "teaches": "The concepts that the post will teach.",
    },
)
EXERCISE_OF_SERIES = Form(
    "an exercise of a phase",
    SeriesExercise,
    {
        "id": "The name of the folder in `content/exercises/`.",
        "title": "The title of an exercise that is not written yet.",
        "minutes": "The time that a reader needs.",
        "needs": "The concepts that a reader needs.",
    },
)
_OF_PHASE = {
    "topics": ListOf(Either((str, Topic))),
    "exercises": ListOf(Either((str, SeriesExercise))),
    "planned": ListOf(Either((str, PlannedPost))),
}
PHASE = Form(
    "a phase",
    Phase,
    {
        "title": "The name of the phase.",
        "goal": "What the reader is able to do afterwards, as a sentence.",
        "outcome": "The end of the sentence “You can now …”.",
        "topics": "The subjects of the phase; a topic is its title alone, or a mapping.",
        "posts": "The posts in reading order, by their slugs.",
        "exercises": "The exercises; each is its id alone, or a mapping.",
        "planned": "Posts that are not written yet; each is its title alone, or a mapping.",
    },
    values=_OF_PHASE,
)
SERIES = Form(
    "the file",
    Series,
    {
        "title": "The name of the series.",
        "tagline": "One line below the title.",
        "audience": "The readers for whom it is written.",
        "prerequisites": "What they must know already.",
        "outcomes": "What a reader can do at the end, a phrase each.",
        "after": "Series that a reader should know before, by the names of their files.",
        "phases": "The parts of the series, in order.",
        "posts": "Instead of `phases`: the posts of a series that has one phase.",
        "exercises": "Instead of `phases`: the exercises of a series that has one phase.",
        "planned": "Instead of `phases`: the planned posts of a series that has one phase.",
        "topics": "Instead of `phases`: the topics of a series that has one phase.",
    },
    values={**_OF_PHASE, "posts": ListOf(str)},
)
TENSOR = Form(
    "a tensor",
    Tensor,
    {
        "shape": "The size of each axis, outermost first; each is a formula over the dims.",
        "dtype": "The dtype; `same` is the dtype of the evaluation.",
    },
    values={"dtype": OneOf(("same", *DTYPES))},
)
WORKLOAD = Form(
    "a workload",
    Workload,
    {"name": "A name for the workload. Without it, the sizes joined by `x`, as in `8192x8192`."},
    values={"name": str},
    others=int,
)
LAUNCH = Form(
    "a launch",
    Launch,
    {
        "entry": 'The `extern "C"` function of the file that is launched.',
        "grid": "The number of blocks on one to three axes; each is a formula over dims, params and constants.",
        "block": "The number of threads of a block on one to three axes, as formulas.",
        "cluster": "The number of blocks of a cluster on one to three axes, as formulas.",
        "shared": (
            "The bytes of dynamic shared memory, as a formula. Where a block takes more than the GPU has, the status "
            "is `unsupported`."
        ),
        "args": "The arguments in the order of the function: names of inputs, outputs, dims, params or constants.",
        "constants": "Numbers that the compiler gets as `-DNAME=value`; each is a formula.",
    },
)
_OF_IMPLEMENTATION = {
    "name": "The name, by which pages, goals and commands call it.",
    "file": "A `.py` file with a function named like the kernel, or a `.cu` file; relative to the kernel's folder.",
    "launch": "How a `.cu` file without host code is launched.",
    "host": 'The `extern "C"` host function of a `.cu` file that nvcc compiles.',
    "arch": "The least architecture on which it is tried, such as `>=sm_90`. Without it, any.",
    "dtypes": "The dtypes that it takes. Without it, all dtypes of the kernel.",
    "predicts": "The expected speed and why. Its last percentage is the share of the ceiling: `one read: 95 %`.",
    "explains": "Why the measured speed differs from the prediction.",
    "deterministic": "Whether five calls must give the same bits. If they do not, the status is `race`.",
}
IMPLEMENTATION = Form("an implementation", Implementation, _OF_IMPLEMENTATION)
WRONG = Form(
    "a wrong variant",
    Wrong,
    {
        **_OF_IMPLEMENTATION,
        "fails": "The status that the checker must give it.",
        "mistake": "What is wrong with it, in one sentence.",
        "gate": "The gate that must reject it, also when all other gates are off.",
        "at": "The shape of `checks` at which this gate must reject it.",
    },
    values={
        **{key: typing.get_type_hints(Implementation)[key] for key in _OF_IMPLEMENTATION},
        "fails": OneOf(tuple(status.value for status in Status if status.failed)),
    },
    required=frozenset({"name", "file", "fails"}),
)
SWEEP = Form(
    "a sweep",
    Sweep,
    {
        "name": "The name, as in `{plot} softmax/block-size`.",
        "title": "The title of the chart.",
        "implementation": "The implementation that is measured.",
        "workload": "The name of the workload.",
        "dtype": "The dtype.",
        "constants": "The values of constants of the launch, by name. Every combination is a point.",
        "dims": "The sizes of dims, by name. `M=N=K` gives three dims one value.",
    },
)
KERNEL = Form(
    "the file",
    Kernel,
    {
        "kernel": "The name of the kernel, which is the name of its folder.",
        "summary": "One sentence about the operation.",
        "dims": "The names of the sizes, in the order in which a workload's name lists them.",
        "inputs": "The tensors that the kernel reads, by name, in the order of the arguments.",
        "outputs": "The tensors that it writes, by name.",
        "params": "Scalar arguments by name. A list is swept: each value is measured.",
        "dtypes": "The dtypes in which it is measured.",
        "flops": "The number of operations, as a formula over dims, params and `itemsize`.",
        "reads": "The least bytes read, as a formula: each input once.",
        "writes": "The least bytes written, as a formula: each output once.",
        "tolerance": "The largest relative error in the Frobenius norm, by dtype.",
        "checks": "Small and odd shapes at which correctness is checked and nothing is timed.",
        "extra_inputs": "Names of further input sets, which the function `extra_inputs` of `reference.py` makes.",
        "sanitizer": "Shapes at which compute-sanitizer watches a call. Without it, two of `checks`.",
        "workloads": "Shapes at which the kernel is timed.",
        "baselines": "What a user would call instead: names of functions in `reference.py`, or implementations.",
        "implementations": "The implementations under `kernels/<kernel>/`.",
        "wrong": "Variants that the checker must reject.",
        "goals": "Goals such as `best >= 0.98 of-copy @ 8192x8192:float32`; with ` on nvidia-h200`, for one GPU.",
        "sweeps": "Measurements of one implementation at several values.",
    },
    values={
        "inputs": MapOf(Tensor),
        "outputs": MapOf(Tensor),
        "params": MapOf(Either((Scalar, ListOf(Scalar)))),
        "dtypes": ListOf(OneOf(tuple(DTYPES))),
        "workloads": ListOf(Workload),
        "baselines": ListOf(Either((str, Implementation))),
        "wrong": ListOf(Wrong),
        "goals": ListOf(str),
    },
    required=frozenset({"inputs", "outputs", "dtypes", "workloads", "baselines"}),
    field_of={"kernel": "name"},
)
_OF_TEXT = {
    "title": "The title. It may contain a figure of a record: `` {value}`softmax/fused of-copy` ``.",
    "description": "One sentence for lists, search engines, cards and feeds.",
    "lang": "The language of the text. Without it, the site's. A translation gets it from its file, `index.ko.md`.",
    "aliases": "Old addresses that redirect to this page, such as `/old/softmax/`.",
}
POST = Form(
    "the front matter",
    Post,
    {
        "title": _OF_TEXT["title"],
        "date": "The day or the time of publication. A post of a later day than today's is not published yet.",
        "description": _OF_TEXT["description"],
        "tags": "Words by which lists and feeds group posts.",
        "category": "One word by which the page of categories groups posts.",
        "draft": "Whether only `serve` and `check` see the post.",
        "updated": "The day or the time of the last change that a reader should know of.",
        "aliases": _OF_TEXT["aliases"],
        "permalink": "The address of the post, such as `/softmax/`. Without it, `/posts/<slug>/`.",
        "lang": _OF_TEXT["lang"],
        "teaches": "Names of the concepts that a reader knows afterwards.",
        "needs": "Names of the concepts that a reader must know before.",
        "kernels": "Kernels that the post is about. It links to their pages, and they link to the post.",
        "authors": "The authors, by their names in `authors:` of site.yaml. Without it, the first of them.",
        "licence": "The licence of the post, as in site.yaml. Without it, that of the site.",
        "gpu": "The GPU that the sentences about this post's cells are about, such as `nvidia-h200`. `{output}` prints "
        "its figures, and its tab comes first. Without it, the first GPU of site.yaml that has results of the cell.",
        "discuss": "The address at which readers discuss the post; the post ends with a link to it.",
        "bibliography": "A `.bib` file beside the text, or below `content/` when the name begins with a slash.",
    },
)
PAGE = Form("the front matter", Page, _OF_TEXT)
TERM = Form(
    "the front matter",
    Term,
    {"title": "The term.", "aliases": "Other words for the term, which `` {term}`…` `` finds too."},
)
EXERCISE = Form(
    "the front matter",
    Exercise,
    {
        "title": "The title.",
        "kernel": "The kernel whose reference and checks judge the reader's code.",
        "solution": "The author's solution: the name of a Triton implementation of that kernel.",
        "counted_at": "The shape at which the check counts loaded bytes, by dimension.",
        "most_loads": "Loaded bytes, touched sectors, and on a GPU time, as a multiple of the solution's, above which "
        "a kernel is slow.",
        "description": "One sentence, for lists and search engines.",
        "minutes": "The minutes that a reader needs.",
        "needs": "The concepts that a reader must know before.",
        "teaches": "The concepts that a reader practises.",
        "machine": "Whether the check first lists what the machine has.",
    },
)
OWN_DIRECTIVE = Form(
    "the head",
    OwnDirective,
    {
        "about": "One sentence about the directive.",
        "argument": "What the text behind the name must be, such as `an address`. Without it, there is none.",
        "content": "What the fence contains: nothing, text that the template reads, or Markdown.",
        "options": "The options by name; each is a sentence alone, or a mapping.",
    },
    values={"options": MapOf(Either((str, OwnOption)))},
)
OWN_OPTION = Form(
    "an option",
    OwnOption,
    {
        "about": "One sentence about the option.",
        "default": "The value of an option that a text does not write.",
        "required": "Whether a text must write the option.",
        "values": "The words that the option takes. Without it, any text.",
    },
)
FILES = (
    FileForm(
        "site",
        "site.yaml",
        "content/site.yaml",
        "The settings of the site.",
        (SITE, ENTRY_POINT, COUNTDOWN, PERSON, MENU_ENTRY, TARGET),
    ),
    FileForm(
        "series",
        "Series",
        "series/<id>.yaml",
        "A series of posts in reading order. The id is the name of the file.",
        (SERIES, PHASE, TOPIC, EXERCISE_OF_SERIES, PLANNED),
    ),
    FileForm(
        "kernel",
        "kernel.yaml",
        "kernels/<kernel>/kernel.yaml",
        "An operation, its implementations, and how they are measured.",
        (KERNEL, TENSOR, WORKLOAD, IMPLEMENTATION, LAUNCH, WRONG, SWEEP),
    ),
    FileForm("post", "Posts", "content/posts/<slug>/index.md", "The front matter of a post.", (POST,)),
    FileForm("page", "Pages", "content/pages/<slug>.md", "The front matter of a page without a date.", (PAGE,)),
    FileForm("term", "Terms", "content/terms/<term>.md", "The front matter of an entry of the glossary.", (TERM,)),
    FileForm(
        "exercise", "Exercises", "content/exercises/<id>/index.md", "The front matter of an exercise.", (EXERCISE,)
    ),
    FileForm(
        "directive",
        "Directives of a site",
        "templates/directives/<name>.html",
        "The comment of Jinja at the head of a template that makes a directive.",
        (OWN_DIRECTIVE, OWN_OPTION),
    ),
)
"""Every kind of file with YAML, in the order of the manual."""
