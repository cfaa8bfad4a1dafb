"""A site, the cells of its posts and its records → the jobs that a run consists of, each with every source inside."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sitegen.diagnostics import did_you_mean
from sitegen.execute.notebook import cell_code, first_line
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
)
from sitegen.model.kernel import Implementation, Kernel, Scalar, Status, Workload
from sitegen.model.linked import originals
from sitegen.model.record import Evaluation, Record, Role
from sitegen.model.site import Post, Site
from sitegen.results.freshness import (
    Freshness,
    FreshnessState,
    Versions,
    cell_freshness,
    kernel_freshness,
    newest_versions,
)
from sitegen.results.keys import cell_keys, cell_sources, implementation_key, sources_of, wrong_key
from sitegen.results.noise import AA_NOISE, noise_by_timing, timing_id
from sitegen.results.records import Records, cell_name, param_combinations
from sitegen.results.verdicts import threshold_of

DONE = (FreshnessState.FRESH, FreshnessState.OUTDATED)
"""Nothing of ours changed; an outdated record is made again only when asked for by `--all`."""


class UnknownName(ValueError):
    """A name on the command line that the site does not have."""


@dataclass(frozen=True, slots=True)
class Inventory:
    """A linked site with its records: what a plan, a status and `accept` are made from."""

    site: Site
    records: Records = field(default_factory=Records)
    cells: Mapping[str, Sequence[Cell]] = field(default_factory=dict)
    """The executable cells of each post, by slug."""

    @property
    def default_gpu(self) -> str:
        """Whose records a plan looks at when no machine says what it has: the site's first, or the recorded one."""
        return next(iter((*self.site.config.gpus, *self.records.gpus())), "")

    def posts(self) -> Iterator[tuple[Post, Sequence[Cell]]]:
        """Those with cells; translations have those of their original."""
        return ((post, self.cells[post.slug]) for post in originals(self.site) if self.cells.get(post.slug))


def status(inventory: Inventory, gpu: str) -> dict[str, Freshness]:
    """Of everything that can be recorded: `softmax/fused@8192x8192:float32`, `softmax/wrong/no_max`,
    `posts/softmax#first-look`; in the order of the site.
    """
    site, records = inventory.site, inventory.records
    newest = newest_versions(records, gpu)
    states: dict[str, Freshness] = {}
    for kernel in site.kernels:
        states |= kernel_freshness(kernel, site.files, records.kernels.get((kernel.name, gpu)), newest)
    for post, cells in inventory.posts():
        of_post = _of_post(inventory, post, cells, gpu, newest)
        states |= {f"posts/{post.slug}#{label}": state for label, state in of_post.items()}
    return states


def plan(inventory: Inventory, gpu: str, names: Sequence[str] = (), *, everything: bool = False) -> tuple[Job, ...]:
    """The jobs that bring up to date what `names` select (nothing: the whole site), ceilings first; none when all is
    fresh.  `everything` also repeats what is fresh.  A kernel's job runs all its implementations, since ratios come
    from common rounds; after its jobs it goes once through the tools.  Raises UnknownName.
    """
    all_states = status(inventory, gpu)
    selected = _selected(inventory, names, all_states)
    states = {
        title: state
        for title, state in all_states.items()
        if (everything or state.state not in DONE) and any(_selects(name, title) for name in selected)
    }
    jobs = (*_of_kernels(inventory, gpu, states), *_of_posts(inventory, states))
    return (CeilingsJob(), *jobs) if jobs else ()


def known_names(inventory: Inventory) -> tuple[str, ...]:
    """The names of groups that a command takes: `softmax`, `softmax/fused`, `softmax/wrong`, `posts/softmax`.  It also
    takes every title that `status` prints.
    """
    kernels = inventory.site.kernels
    return (
        *(kernel.name for kernel in kernels),
        *(f"{kernel.name}/{one.name}" for kernel in kernels for one in kernel.implementations),
        *(f"{kernel.name}/wrong" for kernel in kernels if kernel.wrong),
        *(f"posts/{post.slug}" for post, _ in inventory.posts()),
    )


def _selected(inventory: Inventory, names: Sequence[str], titles: Collection[str]) -> Sequence[str]:
    groups = known_names(inventory)
    known = dict.fromkeys((*groups, *(group for title in titles for group in _groups(title)), *titles))
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known)
            raise UnknownName(f"nothing to run is called `{name}`" + (f"; {hint}" if hint else ""))
    return names or groups


def _groups(title: str) -> Iterator[str]:
    """The implementation or baseline, and the job, of an evaluation: `softmax/torch` and `softmax@8192x8192:float32` of
    `softmax/torch@8192x8192:float32`.
    """
    one, at, place = title.partition("@")
    if at:
        yield one
        yield f"{one.partition('/')[0]}@{place}"


def _selects(name: str, title: str) -> bool:
    return name == title or name in _groups(title) or title.startswith((f"{name}/", f"{name}#"))


def _of_kernels(inventory: Inventory, gpu: str, states: Mapping[str, Freshness]) -> Iterator[Job]:
    site = inventory.site
    for kernel in site.kernels:
        record = inventory.records.kernels.get((kernel.name, gpu))
        timed = [
            with_previous(_kernel_job(site, kernel, workload, dtype, params), record)
            for workload in kernel.workloads
            for dtype in kernel.dtypes
            for params in param_combinations(kernel)
            if any(_is_at(title, kernel, cell_name(workload.name, dtype, params, kernel)) for title in states)
        ]
        rejects = any(title.startswith(f"{kernel.name}/wrong/") for title in states)
        yield from timed
        if rejects:
            yield _reject_job(site, kernel)
        if timed or (rejects and _races(kernel)):
            yield _inspect_job(site, kernel, counted=bool(timed))


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


def with_previous(job: KernelJob, record: Record | None) -> KernelJob:
    """The job with what a record says of those implementations whose key has changed since: more processes for what has
    not could only tell of the machine."""
    if record is None:
        return job
    keys = {e.name: e.key for e in record.evaluations if _comparable(job, e)}
    changed = {name: one for name, one in previous_of(job, record).items() if keys[name] != job.keys[name].digest}
    return replace(job, previous=changed)


def previous_of(job: KernelJob, record: Record) -> dict[str, PreviousRatios]:
    """What a record says of the job's implementations; nothing of those that were measured by other rules."""
    quiet = noise_by_timing(record)
    found = {e.name: (e, e.performance) for e in record.evaluations if e.performance and _comparable(job, e)}
    return {
        name: PreviousRatios(
            record.gpu, {r.baseline: r.value for r in timed.ratios}, threshold_of(quiet.get(timing_id(e), AA_NOISE))
        )
        for name, (e, timed) in found.items()
    }


def _comparable(job: KernelJob, e: Evaluation) -> bool:
    """Whether it is of this job, and by the measuring of today."""
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


def _inspect_job(site: Site, kernel: Kernel, *, counted: bool) -> InspectJob:
    inspected = (*kernel.implementations, *_races(kernel))
    return InspectJob(
        id=f"{kernel.name}/tools",
        kernel=kernel,
        sources=sources_of(kernel, inspected, site.files),
        sweep=param_combinations(kernel) if counted else (),
    )


def _races(kernel: Kernel) -> list[Implementation]:
    """The `wrong/` variants that only a tool may find."""
    return [wrong.implementation for wrong in kernel.wrong if wrong.fails is Status.RACE]


def _of_posts(inventory: Inventory, states: Mapping[str, Freshness]) -> Iterator[NotebookJob]:
    for post, cells in inventory.posts():
        if any(title.startswith(f"posts/{post.slug}#") for title in states):
            yield notebook_job(inventory.site, post, cells)


def notebook_job(site: Site, post: Post, cells: Sequence[Cell]) -> NotebookJob:
    """All cells of a post: a later one needs what the earlier ones defined, fresh or not."""
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


def _of_post(
    inventory: Inventory, post: Post, cells: Sequence[Cell], gpu: str, newest: Versions
) -> dict[str, Freshness]:
    records = inventory.records.cells
    mine = {cell.label: records[key] for cell in cells if (key := (post.slug, cell.label, gpu)) in records}
    return cell_freshness(post.body.path, cells, inventory.site.files, mine, newest)
