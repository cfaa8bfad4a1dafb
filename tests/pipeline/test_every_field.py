"""After an edit of any field that an author writes, an incremental build gives the bytes of a clean build."""

from __future__ import annotations

import dataclasses
import datetime as dt
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from sitegen.model import bibliography, kernel, site
from sitegen.pipeline.build import update
from sitegen.pipeline.in_memory import build_in_memory

ROOT = Path(__file__).parents[2]
DAY = dt.date(2026, 11, 23)
POST, OTHER = "content/posts/in-a-folder/index.md", "content/posts/in-a-file.md"
MORE = {
    "content/posts/third.md": "---\ntitle: Third\ndate: 2026-11-19\ntags: [triton]\nkernels: [scale]\n"
    "category: kernels\ndiscuss: https://example.org/1\nbibliography: /references.bib\n---\n"
    "[@roofline], {term}`warp`\n\n![A tile](/tile.svg)\n\n```{kernel} scale/plain\n```\n",
    "content/tile.svg": "<svg viewBox='0 0 20 10'></svg>",
    "content/pages/more.md": "---\ntitle: More\n---\nTo [it](../posts/third.md).\n\n```{kernel} scale/plain\n```\n",
    "content/posts/plain.ko.md": "---\ntitle: 글\ndate: 2026-11-18\n---\n글.\n",
    "content/posts/plain.md": "---\ntitle: Plain\ndate: 2026-11-18\nbibliography: /references.bib\n---\nText.\n",
    "content/references.bib": "@article{roofline, author = {Ada Lovelace}, title = {Roofline}, year = {2009}, "
    "journal = {A Journal}, doi = {10.1/1}, eprint = {1234.5678}, archiveprefix = {arXiv}, url = {https://example.org/a}}\n",
    "content/exercises/second/index.md": "---\ntitle: Second\nkernel: scale\nsolution: tile\n"
    "counted_at: {N: 8}\n---\nText.\n",
    "content/exercises/second/starter.py": "def scale(x, *, out=None, factor): ...\n",
}


MOVE = "the file itself"


class Edit(NamedTuple):
    """An edit of a file: `old` becomes `new`.

    With an empty `old`, `new` is put at the beginning.  MOVE renames the file.
    """

    fields: str
    """The edited fields, such as `Post.title`, with a space between two."""
    path: str
    old: str
    new: str


EXERCISE = "content/exercises/vector-add/index.md"
CONFIG, SERIES, KERNEL, BIB = (
    *("content/site.yaml", "series/in-phases.yaml"),
    *("kernels/scale/kernel.yaml", "content/references.bib"),
)
SWEEP = (
    "sweeps:\n  - {name: sizes, title: Time over N, implementation: plain, workload: big, dtype: float32, "
    "dims: {N: [1024, 2048]}}\n"
)
EDITS = (
    Edit(
        "SiteConfig.whole_series", CONFIG, "language: en", "language: en\nwhole_series: true"
    ),  # first, so that its pages are there in all edits
    Edit("Post.title", POST, "In a folder: with", "Within a folder: with"),
    Edit("Post.title", OTHER, "In a file, with", "In one file, with"),
    Edit("Post.date", POST, "2026-11-21 14:30", "2026-11-21 15:30"),
    Edit("Post.date", OTHER, "date: 2026-11-20", "date: 2026-11-17"),
    Edit("Post.body", POST, "More text", "Much more text"),
    Edit("Post.body", OTHER, "Text with", "Text of other words, with\n\n## A heading\n\nand"),
    Edit("Post.description", POST, "One sentence.", "Another sentence."),
    Edit("Post.tags", POST, '"c++", 2026', '"c++", cuda'),
    Edit("Post.tags", "content/posts/third.md", "[triton]", "[Triton, tiles]"),
    Edit("Post.category", POST, "category: kernels", "category: gpus"),
    Edit("Post.updated", POST, "updated: 2026-11-22", "updated: 2026-11-23"),
    Edit("Post.teaches", POST, "[coalescing]", "[sectors]"),
    Edit("Post.needs", POST, "[warps]", "[lanes]"),
    Edit("Post.kernels", POST, "kernels: [scale]", "kernels: []"),
    Edit("Post.kernels", OTHER, "date: 2026-11-17", "date: 2026-11-17\nkernels: [scale]"),
    Edit("Post.aliases", OTHER, "[/2025/in-a-file.html, old]", "[/2024/in-a-file.html, old]"),
    Edit("Post.discuss", "content/posts/third.md", "https://example.org/1", "https://example.org/2"),
    Edit("Post.permalink", "content/posts/third.md", "category:", "permalink: /kept/\ncategory:"),
    Edit("Post.permalink Post.draft", "content/posts/draft.md", "date: 2027-01-01\ndraft: true", "date: 2026-11-16"),
    Edit("Post.bibliography", "content/posts/plain.md", "bibliography: /references.bib\n", ""),
    Edit("Post.slug", "content/posts/plain.md", MOVE, "content/posts/plainer.md"),
    Edit("Post.slug", "content/posts/plain.ko.md", MOVE, "content/posts/plainer.ko.md"),
    Edit("Post.lang", "content/posts/plainer.ko.md", MOVE, "content/posts/plainer.de.md"),
    Edit("Post.folder", "content/posts/plainer.md", MOVE, "content/posts/plainer/index.md"),
    Edit("Page.title", "content/pages/about.md", "title: About", "title: Imprint"),
    Edit("Page.description", "content/pages/about.md", "title:", "description: Who we are.\ntitle:"),
    Edit("Page.body", "content/pages/about.md", "Text.", "Other text."),
    Edit("Page.aliases", "content/pages/about.md", "/me/", "/us/"),
    Edit("Page.slug", "content/pages/about.md", MOVE, "content/pages/imprint.md"),
    Edit("Page.lang", "content/pages/imprint.md", MOVE, "content/pages/imprint.de.md"),
    Edit("Term.title", "content/terms/warp.md", "title: Warp", "title: A warp"),
    Edit("Term.body", "content/terms/warp.md", "Thirty-two", "32"),
    Edit("Term.aliases", "content/terms/warp.md", "[warps]", "[warps, wavefront]"),
    Edit("Term.slug Post.body", "content/posts/third.md", ", {term}`warp`", ""),
    Edit("Term.slug", "content/terms/warp.md", MOVE, "content/terms/warp-of-threads.md"),
    Edit("Series.title", SERIES, "title: In phases", "title: By phases"),
    Edit("Series.tagline", SERIES, "From one to two", "From two to one"),
    Edit("Series.audience", SERIES, "Anybody who can program.", "Everybody."),
    Edit("Series.prerequisites", SERIES, "None.", "Some."),
    Edit("Series.outcomes", SERIES, "Say what a warp is.", "Say what a lane is."),
    Edit("Phase.title", SERIES, "title: One", "title: First"),
    Edit("Phase.goal", SERIES, "goal: Begin.", "goal: Start."),
    Edit("Phase.topics", SERIES, "[warps]", "[lanes]"),
    Edit("Phase.exercises Site.exercises", SERIES, "[vector-add]", "[vector-add, second]"),
    Edit("Exercise.title", EXERCISE, "title: Scale a vector", "title: Scale one vector"),
    Edit("Exercise.description", EXERCISE, "A first kernel.", "The first kernel."),
    Edit("Exercise.solution", EXERCISE, "solution: tile", "solution: tile_again"),
    Edit("Exercise.counted_at", EXERCISE, "{N: 4096}", "{N: 8192}"),
    Edit("Exercise.most_loads", EXERCISE, "minutes: 30", "minutes: 30\nmost_loads: 2"),
    Edit("Exercise.machine", EXERCISE, "minutes: 30", "minutes: 30\nmachine: true"),
    Edit("Exercise.minutes", EXERCISE, "minutes: 30", "minutes: 45"),
    Edit("Exercise.needs", EXERCISE, "needs: [lanes]", "needs: [warps]"),
    Edit("Exercise.teaches", EXERCISE, "teaches: [masks]", "teaches: [tails]"),
    Edit("Exercise.body", EXERCISE, "Multiply each element", "Multiply every element"),
    Edit("Exercise.hints", EXERCISE, "`i < N`", "Compare `i` with `N`."),
    Edit("Site.files", "content/exercises/vector-add/starter.py", "write the kernel", "write it"),
    Edit("SeriesExercise.title SeriesExercise.id", SERIES, "second]", "{id: third, title: Third}]"),
    Edit("SeriesExercise.minutes", SERIES, "title: Third}", "title: Third, minutes: 30}"),
    Edit("SeriesExercise.needs", SERIES, "minutes: 30", "minutes: 30, needs: [lanes]"),
    Edit("Phase.planned PlannedPost.title", SERIES, "A third", "A fourth"),
    Edit("PlannedPost.teaches", SERIES, '"A fourth"', "{title: A fourth, teaches: [tiles]}"),
    Edit("PlannedPost.needs", SERIES, "teaches: [tiles]", "needs: [lanes], teaches: [tiles]"),
    Edit("Topic.title", SERIES, "[lanes], posts", "[{title: lanes of a warp}], posts"),
    Edit("Topic.posts", SERIES, "title: lanes of a warp", "title: lanes of a warp, posts: [in-a-file]"),
    Edit("Topic.exercises", SERIES, "posts: [in-a-file]}", "posts: [in-a-file], exercises: [third]}"),
    Edit("Phase.outcome", SERIES, "goal: Start.", "goal: Start., outcome: begin."),
    Edit("Phase.posts", SERIES, "posts: [in-a-folder]", "posts: [third, in-a-folder]"),
    Edit("Series.phases", SERIES, "  - {title: Two", "  - {title: Between, planned: [x]}\n  - {title: Two"),
    Edit("Series.after", SERIES, "prerequisites: Some.", "prerequisites: Some.\nafter: [in-short]"),
    Edit("Series.id", SERIES, MOVE, "series/by-phases.yaml"),
    Edit("WorklogEntry.tasks Task.text Task.line", "content/worklog/2026-11-20.md", "the tail", "the last tail"),
    Edit("Task.state", "content/worklog/2026-11-20.md", "- [ ]", "- [x]"),
    Edit(
        "Task.inferred Task.history", "content/worklog/2026-11-20.md", "- [x] the grid", "- the grid; - Next; - Done;"
    ),
    Edit("WorklogEntry.body", "content/worklog/2026-11-21.md", "Slower", "Faster"),
    Edit("WorklogEntry.questions", "content/worklog/diary.md", "Why 132 blocks?", "Why 264 blocks?"),
    Edit("WorklogEntry.days_left", "content/worklog/diary.md", "(T - 43)", "(T - 44)"),
    Edit("Site.worklog_intro", "content/worklog/diary.md", "A habit of mine.", "A habit of ours."),
    Edit("WorklogEntry.date", "content/worklog/2026-11-20.md", "# 2026-11-20", "# 2026-11-20\n\n# 2026-11-17\n\nx"),
    Edit("Kernel.summary", KERNEL, "The input times a factor.", "A factor times the input."),
    Edit("Kernel.flops", KERNEL, "flops: N", "flops: 2 * N"),
    Edit("Kernel.reads", KERNEL, "reads: N", "reads: 2 * N"),
    Edit("Kernel.writes", KERNEL, "writes: N", "writes: 2 * N"),
    Edit("Kernel.tolerance", KERNEL, "float32: 1e-6", "float32: 1e-5"),
    Edit("Kernel.checks", KERNEL, "{N: 1023}]", "{N: 1023}, {N: 7}]"),
    Edit("Kernel.extra_inputs", KERNEL, "extra_inputs: [exact]", "extra_inputs: [extreme]"),
    Edit("Kernel.sanitizer", KERNEL, "workloads:", "sanitizer: [{N: 1023}]\nworkloads:"),
    Edit("Kernel.workloads Workload.dims", KERNEL, "{N: 4096}", "{N: 4096}, {N: 8192}"),
    Edit("Workload.name Goal.workload", KERNEL, "large", "big"),
    Edit(
        "Kernel.baselines Kernel.baseline_files",
        KERNEL,
        "baselines: [torch]",
        "baselines: [torch, {name: by_hand, file: host.cu, host: scale_host}]",
    ),
    Edit("Kernel.goals Goal.text Goal.at_least", KERNEL, "0.95", "0.96"),
    Edit("Kernel.sweeps", KERNEL, "implementations:", f"{SWEEP}implementations:"),
    Edit("Sweep.name", KERNEL, "name: sizes", "name: lengths"),
    Edit("Sweep.title", KERNEL, "Time over N", "Time over the length"),
    Edit("Sweep.dims", KERNEL, "[1024, 2048]", "[1024, 8192]"),
    Edit("Sweep.workload", KERNEL, "workload: big", 'workload: "4096"'),
    Edit("Sweep.implementation", KERNEL, "implementation: plain", "implementation: host"),
    Edit("Sweep.implementation", KERNEL, "implementation: host", "implementation: plain"),
    Edit("Sweep.dtype", KERNEL, "dtype: float32, dims", "dtype: bfloat16, dims"),
    Edit("Sweep.constants", KERNEL, "dims: {N: [1024, 8192]}", "constants: {THREADS: [128, 256]}"),
    Edit("Goal.subject", KERNEL, "plain >= 1.0x", "best >= 1.0x"),
    Edit("Goal.gpu", KERNEL, "@ big:float32", "@ big:float32 on nvidia-h200"),
    Edit("Goal.unit", KERNEL, "of-copy", "of-ceiling"),
    Edit("Goal.dtype", KERNEL, "4096:bfloat16", "4096:float32"),
    Edit("Kernel.params", KERNEL, "factor: [2, 3]", "factor: [2, 4]"),
    Edit("Kernel.dtypes", KERNEL, "dtypes: [float32, bfloat16]\nflops", "dtypes: [bfloat16, float32]\nflops"),
    Edit("Kernel.dims Kernel.inputs Tensor.shape", KERNEL, "x: {shape: [N]}", "x: {shape: [N * 1]}"),
    Edit("Tensor.dtype Kernel.outputs", KERNEL, "y: {shape: [N]}", "y: {shape: [N], dtype: float32}"),
    Edit("Tensor.name", KERNEL, "x: {shape: [N * 1]}", "x: {shape: [N]}, z: {shape: [N]}"),
    Edit("Implementation.predicts Implementation.predicted_of_ceiling", KERNEL, "a write: 90 %", "a write: 80 %"),
    Edit("Implementation.explains", KERNEL, "host: scale_host,", 'host: scale_host, explains: "a launch is short",'),
    Edit("Implementation.arch", KERNEL, ">=sm_80", ">=sm_90"),
    Edit("Implementation.dtypes", KERNEL, "dtypes: [float32]}", "dtypes: [bfloat16]}"),
    Edit("Implementation.deterministic", KERNEL, "host: scale_host,", "host: scale_host, deterministic: true,"),
    Edit("Implementation.name", KERNEL, "name: host", "name: hosted"),
    Edit("Implementation.host", "kernels/scale/host.cu", "", 'extern "C" int scale_hosted(void** x) { return 0; }\n'),
    Edit("Implementation.host", KERNEL, "host: scale_host", "host: scale_hosted"),
    Edit("Implementation.source", "kernels/scale/plain.cu", "* float(factor)", "* float(factor) * 1"),
    Edit("Launch.constants", KERNEL, "THREADS: 256", "THREADS: 128"),
    Edit(
        "Launch.grid Implementation.launch Kernel.implementations", KERNEL, "cdiv(N, THREADS)", "cdiv(N, THREADS * 1)"
    ),
    Edit("Launch.block", KERNEL, "block: [THREADS]", "block: [THREADS, 1]"),
    Edit("Launch.shared", KERNEL, "args: [x", "shared: 1024\n      args: [x"),
    Edit("Launch.cluster", KERNEL, "args: [x", "cluster: [1]\n      args: [x"),
    Edit("Launch.args", KERNEL, "args: [x, y, N, factor]", "args: [x, y, N]"),
    Edit("Kernel.wrong Wrong.fails", KERNEL, "fails: incorrect", "fails: unwritten"),
    Edit("Wrong.implementation", KERNEL, "name: thrice", "name: threefold"),
    Edit("Wrong.mistake", KERNEL, "fails: unwritten", "mistake: Three is not the factor., fails: unwritten"),
    Edit("Wrong.gate Wrong.at", KERNEL, "fails: unwritten", "fails: unwritten, gate: written, at: {N: 1023}"),
    Edit("Bibliography.works Work.title", BIB, "{Roofline}", "{A Roofline}"),
    Edit("Work.authors Author.given Author.family", BIB, "Ada Lovelace", "Augusta King"),
    Edit("Work.year", BIB, "2009", "2010"),
    Edit("Work.where", BIB, "A Journal", "Another Journal"),
    Edit("Work.doi", BIB, "10.1/1", "10.1/2"),
    Edit("Work.arxiv", BIB, "1234.5678", "1234.5679"),
    Edit("Work.url", BIB, "example.org/a", "example.org/b"),
    Edit("Work.key Post.body", BIB, "}}\n", "}}\n@misc{other, title = {Other}}\n"),
    Edit("Site.files", "content/tile.svg", "0 0 20 10", "0 0 10 20"),
    Edit("Bibliography.path Site.bibliographies", "content/posts/third.md", "[@roofline]", "x"),
    Edit("SiteConfig.title", CONFIG, "Notes on kernels", "On kernels"),
    Edit("SiteConfig.description", CONFIG, "every form", "each form"),
    Edit("SiteConfig.base_url", CONFIG, "org/notes/", "org/"),
    Edit("EntryPoint.because", CONFIG, "shortest", "longest"),
    Edit("SiteConfig.entry_points EntryPoint.post", CONFIG, "{post: in-a-folder", "{post: in-a-file"),
    Edit("SiteConfig.countdown Countdown.goal", CONFIG, "A talk", "A trip"),
    Edit("Countdown.date", CONFIG, "2026-12-31", "2026-12-30"),
    Edit("SiteConfig.gpus", CONFIG, "gpus: [nvidia-h200]", "gpus: []"),
    Edit("SiteConfig.gpu_aliases", CONFIG, "h200: nvidia-h200", "h100: nvidia-h200"),
    Edit("SiteConfig.targets", CONFIG, "gpu1", "gpu2"),
    Edit("SiteConfig.timezone", CONFIG, "Asia/Seoul", "America/New_York"),
    Edit(
        "SiteConfig.repository", CONFIG, "language: en", "language: en\nrepository: https://github.com/a/b/tree/pages"
    ),
    Edit("SiteConfig.theme", CONFIG, "language: en", "language: en\ntheme: {measure: 42rem}"),
    Edit(
        "SiteConfig.authors Person.name",
        CONFIG,
        "language: en",
        "language: en\nauthors: {a: {name: Ada}, b: {name: Bo}}",
    ),
    Edit("Person.link", CONFIG, "{name: Ada}", "{name: Ada, link: https://example.org/ada}"),
    Edit("Person.orcid", CONFIG, "{name: Bo}", "{name: Bo, orcid: 0000-0002-1825-0097}"),
    Edit("Person.avatar", CONFIG, "{name: Ada,", "{name: Ada, avatar: icon.svg,"),
    Edit("Post.authors", POST, "category: gpus", "category: gpus\nauthors: [b, a]"),
    Edit("SiteConfig.licence", CONFIG, "language: en", "language: en\nlicence: CC-BY-4.0"),
    Edit("Post.licence", POST, "category: gpus", "category: gpus\nlicence: MIT"),
    Edit("Post.gpu", POST, "category: gpus", "category: gpus\ngpu: h100"),
    Edit("SiteConfig.edit_url", CONFIG, "language: en", "language: en\nedit_url: https://example.org/e/{path}"),
    Edit("SiteConfig.report_url", CONFIG, "language: en", "language: en\nreport_url: https://example.org/r?u={url}"),
    Edit("SiteConfig.menu", CONFIG, "language: en", "language: en\nmenu: [{title: All, link: /posts/}]"),
    Edit("MenuEntry.title MenuEntry.link", CONFIG, "title: All, link: /posts/", "title: Home, link: /"),
    Edit("SiteConfig.twins", CONFIG, "language: en", "language: en\ntwins: true"),
    Edit("SiteConfig.feeds", CONFIG, "[tags, series]", "[tags, series, worklog]"),
    Edit("SiteConfig.images", CONFIG, "language: en", "language: en\nimages: true"),
    Edit("SiteConfig.language", CONFIG, "language: en", "language: de"),
)
TYPES = (
    *(site.SiteConfig, site.Person, site.MenuEntry),
    *(site.EntryPoint, site.Countdown, site.Post, site.Page, site.Phase, site.Series, site.Task),
    *(site.Topic, site.PlannedPost, site.SeriesExercise, site.Exercise),
    *(site.WorklogEntry, site.Term, kernel.Kernel, kernel.Implementation, kernel.Launch, kernel.Wrong, kernel.Workload),
    *(kernel.Goal, kernel.Sweep, kernel.Tensor, bibliography.Bibliography, bibliography.Work, bibliography.Author),
)
NOT_HERE = {
    "SiteConfig.cards": "drawing takes long: below",
    "SiteConfig.redact": "changes no page, a build goes on or ends: tests/pipeline/test_private_words.py",
    "SiteConfig.search": "all pages are an input of its index: tests/pipeline/test_print_pages.py",
    "SiteConfig.plugins": "names an installed package: tests/plugins/test_example.py",
    "Exercise.id": "the name of a folder: its starter moves with it",
    "Exercise.kernel": "every page shows the same of it as of the solution, and the site has one kernel",
    "Kernel.name": "the name of a folder: every name of the kernel moves with it",
    "Implementation.file": "as Kernel.name",
    "Implementation.language": "follows from the file",
    "Launch.entry": "the name of a function in the file, which is a part of the key as a whole",
}


def test_every_field_that_an_author_writes_is_edited() -> None:
    fields = {f"{kind.__name__}.{one.name}" for kind in TYPES for one in dataclasses.fields(kind)}
    places = {name for name in fields if name.endswith((".span", "_span")) or name == "Implementation.line"}
    edited = {name for edit in EDITS for name in edit.fields.split()}
    assert fields - places - edited - NOT_HERE.keys() == set()
    assert not edited & NOT_HERE.keys()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "site"
    shutil.copytree(ROOT / "tests/sites/every_form", root)
    for path, text in MORE.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return root


def stale(root: Path, edits: Iterator[str], day: dt.date = DAY) -> dict[str, list[str]]:
    """Return the outputs that differ between an update and a clean build, by the edit."""
    found = {}
    assert not update(root, root / "public", as_of=day, processes=1).report
    for edit in edits:
        outcome = update(root, root / "public", as_of=day, processes=1)
        assert not outcome.failed, f"{edit}: {outcome.report}"
        clean = {
            path: made.encode() if isinstance(made, str) else made
            for path, made in build_in_memory(root, as_of=day).files.items()
        }
        public = root / "public"
        now = {f.relative_to(public).as_posix(): f.read_bytes() for f in public.rglob("*") if f.is_file()}
        if other := sorted(path for path in {*now, *clean} if now.get(path) != clean.get(path)):
            found[edit] = other
    return found


def made(root: Path, edits: tuple[Edit, ...]) -> Iterator[str]:
    """Make edits on top of each other, because undoing one would be an edit of its field, too."""
    for edit in edits:
        file = root / edit.path
        if edit.old != MOVE:
            text = file.read_bytes().decode()
            assert edit.old in text, edit
            file.write_bytes(text.replace(edit.old, edit.new, -1 if edit.old else 1).encode())
        else:
            (root / edit.new).parent.mkdir(exist_ok=True)
            file.rename(root / edit.new)
        yield f"{edit.fields}: {edit.old} → {edit.new}"


def test_no_page_is_stale_after_an_edit_of_any_field(root: Path) -> None:
    assert stale(root, made(root, EDITS)) == {}


def test_no_card_is_stale_after_an_edit_of_what_it_shows(root: Path) -> None:
    (root / CONFIG).write_text((root / CONFIG).read_text() + "cards: true\ntwins: true\n")
    shows = ("Post.title", "Post.tags", "Post.description", "Page.title", "Series.tagline", "Kernel.summary")
    assert stale(root, made(root, tuple(edit for edit in EDITS if edit.fields in shows))) == {}


def test_no_page_is_stale_on_another_day(root: Path) -> None:
    def days() -> Iterator[dt.date]:
        yield from (dt.date(2026, 11, 24), dt.date(2026, 12, 31), dt.date(2027, 1, 2))

    for day in days():
        assert stale(root, iter(["another day"]), day) == {}


def leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any, str | int]]:
    """Yield each value of a JSON document: the names that lead to it, its container, and its place in that."""
    for key, one in value.items() if isinstance(value, dict) else enumerate(value):
        names = (*path, key) if isinstance(key, str) else path
        if isinstance(one, dict | list):
            yield from leaves(one, names)
        else:
            yield names, value, key


def each_field(root: Path, file: Path) -> Iterator[str]:
    """Yield an edit of each number or truth value in a record, by name, where the record stays valid."""
    record = json.loads(file.read_text(encoding="utf-8"))
    done = {("schema",)}
    for names, holder, key in list(leaves(record)):
        before = holder[key]
        if names in done or isinstance(before, str | None) or "key_parts" in names:
            continue
        done.add(names)
        holder[key] = not before if isinstance(before, bool) else before * 2
        file.write_text(json.dumps(record), encoding="utf-8")
        if build_in_memory(root, as_of=DAY).failed:
            holder[key] = before
        else:
            yield ".".join(names)


@pytest.mark.soak
def test_no_page_is_stale_after_an_edit_of_any_field_of_a_record(root: Path) -> None:
    shutil.copytree(ROOT / "kernels/vector_add", root / "kernels/vector_add")
    assert stale(root, each_field(root, root / "kernels/vector_add/results/nvidia-h200.json")) == {}
