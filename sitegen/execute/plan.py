"""A site, the cells of its posts and its records → the jobs of a run, each with all its sources."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sitegen.diagnostics import did_you_mean
from sitegen.execute.job_lengths import expected_seconds
from sitegen.execute.schedule import longest_first
from sitegen.model.cell_code import cell_code, first_line
from sitegen.model.document import Cell
from sitegen.model.job import (
    CeilingsJob,
    InspectJob,
    Job,
    KernelJob,
    NotebookCell,
    NotebookJob,
    PreviousRatios,
    RejectJob,
    SweepJob,
)
from sitegen.model.kernel import Implementation, Kernel, Scalar, Status, Sweep, Workload
from sitegen.model.linked import originals
from sitegen.model.record import Evaluation, Record, Role
from sitegen.model.site import Post, Site
from sitegen.results.due_tools import can_count, can_watch, uncounted, unwatched
from sitegen.results.freshness import (
    Freshness,
    FreshnessState,
    Versions,
    cell_freshness,
    kernel_freshness,
    newest_versions,
    sweep_title,
)
from sitegen.results.keys import cell_keys, cell_sources, implementation_key, sources_of, sweep_key, wrong_key
from sitegen.results.noise import AA_NOISE, noise_by_timing, timing_id
from sitegen.results.records import Records, cell_name, param_combinations
from sitegen.results.same_code import SameCode, is_same_key
from sitegen.results.verdicts import threshold_of

DONE = (FreshnessState.FRESH, FreshnessState.OUTDATED)
"""States in which our code is unchanged; only `--all` repeats them, also outdated records."""


@dataclass(frozen=True, slots=True)
class DueTools:
    """Titles of the evaluations for which the tools of a kernel are due."""

    uncounted: tuple[str, ...] = ()
    """The fastest implementations that have no counters."""
    unwatched: tuple[str, ...] = ()
    """One title for each implementation and dtype that no sanitizer has watched."""


class UnknownName(ValueError):
    """A name on the command line that the site does not have."""


@dataclass(frozen=True, slots=True)
class Inventory:
    """A linked site with its records, from which `plan`, `status` and `accept` work."""

    site: Site
    records: Records = field(default_factory=Records)
    cells: Mapping[str, Sequence[Cell]] = field(default_factory=dict)
    """The executable cells of each post, by slug."""

    @property
    def default_gpu(self) -> str:
        """The GPU whose records a plan uses when the target does not name one: the site's first, or the first
        recorded."""
        return next(iter((*self.site.config.gpus, *self.records.gpus())), "")

    def posts(self) -> Iterator[tuple[Post, Sequence[Cell]]]:
        """Yield the posts with cells; a translation has the cells of its original, and is left out."""
        return ((post, self.cells[post.slug]) for post in originals(self.site) if self.cells.get(post.slug))


def status(inventory: Inventory, gpu: str) -> dict[str, Freshness]:
    """Return the freshness of everything that can be recorded on a GPU, by title, in the order of the site.

    Titles are `softmax/fused@8192x8192:float32`, `softmax/wrong/no_max`, `softmax/sweep/threads` and
    `posts/softmax#first-look`.
    """
    site, records = inventory.site, inventory.records
    newest = newest_versions(records, gpu)
    states: dict[str, Freshness] = {}
    for kernel in site.kernels:
        states |= kernel_freshness(
            kernel, site.files, records.kernels.get((kernel.name, gpu)), newest, records.same_code
        )
    for post, cells in inventory.posts():
        by_label = _cell_states(inventory, post, cells, gpu, newest)
        states |= {f"posts/{post.slug}#{label}": state for label, state in by_label.items()}
    return states


def plan(inventory: Inventory, gpu: str, names: Sequence[str] = (), *, everything: bool = False) -> tuple[Job, ...]:
    """Return the jobs that make the selected records up to date, ceilings first; none when all are fresh.

    `names` select records by title or group; without names, all of the site.  The jobs of a name come before those of
    the next name.  Within a name, and without names, the longest jobs come first, so that no GPU is busy with a long
    job when the others have nothing left (schedule.py).  `everything` also repeats fresh ones.  A kernel's job runs all
    its implementations, because ratios come from common rounds.  The name `softmax/tools` asks for the tools of a
    kernel, also when all its times are fresh; `due_tools` says when they are due without it, and for which
    implementations.  Raises UnknownName.
    """
    all_states = status(inventory, gpu)
    selected = _selected(inventory, names, all_states)
    states = {
        title: state
        for title, state in all_states.items()
        if (everything or state.state not in DONE) and any(_selects(name, title) for name in selected)
    }
    due = {
        name: one
        for name, one in due_tools(inventory, gpu).items()
        if name not in names and any(_selects(group, name) for group in selected)
    }
    tools = [*due, *(name for name in names if name in _tools(inventory.site))]
    states |= {name: Freshness(FreshnessState.MISSING) for name in tools}
    jobs = _only_due(_jobs(inventory, gpu, states), due)
    seconds = {job.id: expected_seconds(job, inventory.records, gpu) for job in jobs}
    return longest_first(jobs, seconds, _ranks(inventory, gpu, states, names)) if jobs else ()


def _only_due(jobs: Sequence[Job], due: Mapping[str, DueTools]) -> tuple[Job, ...]:
    """Return the jobs; one of tools that are only due keeps the implementations that lack counters or findings.

    Tools that come with times, or were asked for, take all implementations.
    """
    timed = {job.kernel.name for job in jobs if isinstance(job, KernelJob)}
    return tuple(
        _inspect_due(job, due[job.id])
        if isinstance(job, InspectJob) and job.id in due and job.kernel.name not in timed
        else job
        for job in jobs
    )


def _inspect_due(job: InspectJob, due: DueTools) -> Job:
    """Return the job of the implementations that are due; it counts nothing if only findings are."""
    job = job if due.uncounted else replace(job, sweep=())
    return _only_named(job, {title.partition("@")[0] for title in (*due.uncounted, *due.unwatched)})


def only_named(jobs: Sequence[Job], names: Sequence[str]) -> tuple[Job, ...]:
    """Return the jobs without the implementations beside a named one, for a run that times nothing.

    The name of a kernel, or of one of its jobs, names all its implementations.
    """
    parts = {name.partition("@")[0] for name in names}
    return tuple(_only_named(job, parts) if isinstance(job, KernelJob | InspectJob) else job for job in jobs)


def without_tools(jobs: Sequence[Job]) -> tuple[Job, ...]:
    """Return the jobs without those of the tools, which need a GPU; all of them where only ceilings would be left."""
    others = tuple(job for job in jobs if not isinstance(job, InspectJob))
    return others if any(not isinstance(job, CeilingsJob) for job in others) else tuple(jobs)


def _only_named(job: KernelJob | InspectJob, names: Collection[str]) -> Job:
    kernel = job.kernel
    named = tuple(one for one in kernel.implementations if f"{kernel.name}/{one.name}" in names)
    if not named or kernel.name in names:
        return job
    return replace(job, kernel=replace(kernel, implementations=named))


def due_tools(inventory: Inventory, gpu: str) -> dict[str, DueTools]:
    """Return the tools jobs that are due on a GPU, by id, each with the titles of the evaluations that need them.

    Evaluations of other sources than today's are left out, because their jobs bring the tools along.  `status` has no
    such job in its states: `build --require-fresh` also holds where no counters can be read.
    """
    records = {kernel: record for (kernel, where), record in inventory.records.kernels.items() if where == gpu}
    counts, watches = can_count(records.values()), can_watch(records.values())
    newest = newest_versions(inventory.records, gpu)
    same = inventory.records.same_code
    due: dict[str, DueTools] = {}
    for kernel, record in ((one, records[one.name]) for one in inventory.site.kernels if one.name in records):
        missing = (uncounted(record) if counts else (), unwatched(record) if watches else ())
        states = kernel_freshness(kernel, inventory.site.files, record, newest, same) if any(missing) else {}
        done = {title for title, state in states.items() if state.state in DONE}
        fresh = DueTools(*(tuple(t for one in ones if (t := _title(kernel, one)) in done) for ones in missing))
        if fresh != DueTools():
            due[f"{kernel.name}/tools"] = fresh
    return due


def _title(kernel: Kernel, one: Evaluation) -> str:
    return f"{kernel.name}/{one.name}@{cell_name(one.workload, one.dtype, one.params, kernel)}"


def _jobs(inventory: Inventory, gpu: str, states: Mapping[str, Freshness]) -> tuple[Job, ...]:
    """Return the jobs that measure what is in `states`, in the order of the site, ceilings first."""
    jobs = (*_kernel_jobs(inventory, gpu, states), *_notebook_jobs(inventory, states))
    return (CeilingsJob(), *jobs) if jobs else ()


def _ranks(inventory: Inventory, gpu: str, states: Mapping[str, Freshness], names: Sequence[str]) -> dict[str, int]:
    """Return for each job the number of the first name that selects it; nothing for a single name or none."""
    ranks: dict[str, int] = {}
    for number, name in enumerate(names if len(names) > 1 else ()):
        mine = {title: state for title, state in states.items() if _selects(name, title)}
        ranks |= {job.id: number for job in _jobs(inventory, gpu, mine) if job.id not in ranks}
    return ranks


def known_names(inventory: Inventory) -> tuple[str, ...]:
    """Return the names of groups that a command takes: `softmax`, `softmax/fused`, `softmax/wrong`, `softmax/sweep`,
    `softmax/tools`, `posts/softmax`.

    A command also takes every title that `status` prints.
    """
    kernels = inventory.site.kernels
    return (
        *(kernel.name for kernel in kernels),
        *(f"{kernel.name}/{one.name}" for kernel in kernels for one in kernel.implementations),
        *(f"{kernel.name}/wrong" for kernel in kernels if kernel.wrong),
        *(f"{kernel.name}/sweep" for kernel in kernels if kernel.sweeps),
        *_tools(inventory.site),
        *(f"posts/{post.slug}" for post, _ in inventory.posts()),
    )


def _tools(site: Site) -> tuple[str, ...]:
    """Return the id of each kernel's job that runs the vendor's tools."""
    return tuple(f"{kernel.name}/tools" for kernel in site.kernels)


def _selected(inventory: Inventory, names: Sequence[str], titles: Collection[str]) -> Sequence[str]:
    """Return the names, or all groups when there are none.  Raises UnknownName."""
    groups = known_names(inventory)
    known = dict.fromkeys((*groups, *(group for title in titles for group in _groups(title)), *titles))
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known)
            raise UnknownName(f"nothing to run is called `{name}`" + (f"; {hint}" if hint else ""))
    return names or groups


def _groups(title: str) -> Iterator[str]:
    """Yield the implementation or baseline of an evaluation, and its job.

    For `softmax/torch@8192x8192:float32` they are `softmax/torch` and `softmax@8192x8192:float32`.
    """
    one, at, place = title.partition("@")
    if at:
        yield one
        yield f"{one.partition('/')[0]}@{place}"


def _selects(name: str, title: str) -> bool:
    return name == title or name in _groups(title) or title.startswith((f"{name}/", f"{name}#"))


def _kernel_jobs(inventory: Inventory, gpu: str, states: Mapping[str, Freshness]) -> Iterator[Job]:
    site = inventory.site
    for kernel in site.kernels:
        record = inventory.records.kernels.get((kernel.name, gpu))
        timed = [
            with_previous(_kernel_job(site, kernel, workload, dtype, params), record, inventory.records.same_code)
            for workload in kernel.workloads
            for dtype in kernel.dtypes
            for params in param_combinations(kernel)
            if any(_is_at(title, kernel, cell_name(workload.name, dtype, params, kernel)) for title in states)
        ]
        rejects = any(title.startswith(f"{kernel.name}/wrong/") for title in states)
        yield from timed
        if rejects:
            yield _reject_job(site, kernel)
        asked = f"{kernel.name}/tools" in states
        if timed or asked or (rejects and _races(kernel)):
            yield _inspect_job(site, kernel, counted=bool(timed) or asked)
        yield from (
            _sweep_job(site, kernel, one) for one in kernel.sweeps if sweep_title(kernel.name, one.name) in states
        )


def _is_at(title: str, kernel: Kernel, place: str) -> bool:
    return title.startswith(f"{kernel.name}/") and title.endswith(f"@{place}")


def _kernel_job(site: Site, kernel: Kernel, workload: Workload, dtype: str, params: Mapping[str, Scalar]) -> KernelJob:
    return KernelJob(
        id=f"{kernel.name}@{cell_name(workload.name, dtype, params, kernel)}",
        kernel=kernel,
        workload=workload,
        dtype=dtype,
        sources=sources_of(kernel, kernel.implementations, site.files),
        keys={
            one.name: implementation_key(kernel, one, workload, dtype, params, site.files)
            for one in kernel.implementations
        },
        params=params,
    )


def with_previous(job: KernelJob, record: Record | None, same: SameCode) -> KernelJob:
    """Return the job with the recorded ratios of the implementations whose keys have changed since.

    An implementation that has not changed is left out: more processes could only show that the machine differs.
    """
    if record is None:
        return job
    unchanged = {
        e.name
        for e in record.evaluations
        if _comparable(job, e) and is_same_key(job.keys[e.name], e.key, e.key_parts, same)
    }
    changed = {name: one for name, one in previous_of(job, record).items() if name not in unchanged}
    return replace(job, previous=changed)


def previous_of(job: KernelJob, record: Record) -> dict[str, PreviousRatios]:
    """Return the recorded ratios of the job's implementations, without those of another MEASURE_VERSION."""
    noise = noise_by_timing(record)
    timed = {e.name: (e, e.performance) for e in record.evaluations if e.performance and _comparable(job, e)}
    return {
        name: PreviousRatios(
            record.gpu,
            {r.baseline: r.value for r in performance.ratios},
            threshold_of(noise.get(timing_id(e), AA_NOISE)),
        )
        for name, (e, performance) in timed.items()
    }


def _comparable(job: KernelJob, e: Evaluation) -> bool:
    """Return whether an evaluation belongs to this job, and was measured by today's MEASURE_VERSION."""
    here = (job.workload.name, job.dtype, dict(job.params)) == (e.workload, e.dtype, dict(e.params))
    key = job.keys.get(e.name) if here and e.role is Role.IMPLEMENTATION else None
    return key is not None and key.parts["measure"] == e.key_parts.get("measure")


def _reject_job(site: Site, kernel: Kernel) -> RejectJob:
    variants = [wrong.implementation for wrong in kernel.wrong]
    return RejectJob(
        id=f"{kernel.name}/wrong",
        kernel=kernel,
        dtype=kernel.dtypes[0],
        sources=sources_of(kernel, variants, site.files),
        keys={one.name: wrong_key(kernel, one, site.files) for one in variants},
    )


def _sweep_job(site: Site, kernel: Kernel, sweep: Sweep) -> SweepJob:
    return SweepJob(
        id=sweep_title(kernel.name, sweep.name),
        kernel=kernel,
        sweep=sweep,
        sources=sources_of(
            kernel, [one for one in kernel.implementations if one.name == sweep.implementation], site.files
        ),
        key=sweep_key(kernel, sweep, site.files),
        params={name: values[0] for name, values in kernel.params.items()},
    )


def _inspect_job(site: Site, kernel: Kernel, *, counted: bool) -> InspectJob:
    inspected = (*kernel.implementations, *_races(kernel))
    return InspectJob(
        id=f"{kernel.name}/tools",
        kernel=kernel,
        sources=sources_of(kernel, inspected, site.files),
        sweep=param_combinations(kernel) if counted else (),
    )


def _races(kernel: Kernel) -> list[Implementation]:
    """Return the `wrong/` variants that race, whose mistake only a tool may find."""
    return [wrong.implementation for wrong in kernel.wrong if wrong.fails is Status.RACE]


def _notebook_jobs(inventory: Inventory, states: Mapping[str, Freshness]) -> Iterator[NotebookJob]:
    for post, cells in inventory.posts():
        if any(title.startswith(f"posts/{post.slug}#") for title in states):
            yield notebook_job(inventory.site, post, cells)


def notebook_job(site: Site, post: Post, cells: Sequence[Cell]) -> NotebookJob:
    """Return the job with all cells of a post, because a cell needs the definitions of the cells before it."""
    keys = cell_keys(post.body.path, cells, site.files)
    needs = {name: value for cell in cells for name, value in cell.needs.items()}
    return NotebookJob(
        id=f"posts/{post.slug}",
        post=post.slug,
        cells=tuple(
            NotebookCell(
                cell.label, cell_code(cell), key, cell.timeout_s, cell.raises, post.body.path, first_line(cell)
            )
            for cell, key in zip(cells, keys, strict=True)
        ),
        sources=cell_sources(cells, site.files),
        needs=needs,
    )


def _cell_states(
    inventory: Inventory, post: Post, cells: Sequence[Cell], gpu: str, newest: Versions
) -> dict[str, Freshness]:
    records = inventory.records.cells
    mine = {cell.label: records[key] for cell in cells if (key := (post.slug, cell.label, gpu)) in records}
    return cell_freshness(post.body.path, cells, inventory.site.files, mine, newest)
