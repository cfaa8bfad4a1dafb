"""A site and names such as `softmax/registers@8192x8192` → the jobs of `sitegen try`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sitegen.diagnostics import did_you_mean
from sitegen.execute.plan import UnknownName
from sitegen.execute.try_constants import (
    UnknownConstant,
    combinations,
    literal_blocks,
    unused_constants,
    with_constants,
)
from sitegen.model.kernel import Implementation, Kernel, Workload
from sitegen.model.site import Site
from sitegen.model.try_job import TryJob
from sitegen.results.keys import sources_of


def try_job(site: Site, name: str, settings: Mapping[str, Sequence[str]], *, ncu: bool = False) -> TryJob:
    """Return the job with a candidate for every combination of the settings.

    `name` is KERNEL/IMPLEMENTATION, with an optional @WORKLOAD and :DTYPE; the first of each is the default.  Raises
    UnknownName, and UnknownConstant also for a constant that nothing uses.
    """
    title, _, place = name.partition("@")
    kernel, implementation = _implementation(site, title)
    workload, dtype = _place(kernel, implementation, place)
    source = implementation.source or site.files[implementation.file]
    sources = sources_of(kernel, [implementation], site.files)
    code = [source, *(text for path, text in sources.items() if not path.endswith(".py"))]
    if unused := next(unused_constants(implementation, code, settings), ""):
        raise UnknownConstant(unused)
    made = {_words(values): with_constants(implementation, source, values) for values in combinations(settings)}
    candidates = {
        f"{one.name}-{n}" if settings else one.name: (words, one) for n, (words, one) in enumerate(made.items(), 1)
    }
    return TryJob(
        id=f"{title}@{workload.name}:{dtype}",
        kernel=replace(
            kernel,
            implementations=tuple(replace(one, name=key) for key, (_, one) in candidates.items()),
            wrong=(),
            goals=(),
        ),
        workload=workload,
        dtype=dtype,
        sources=sources,
        constants={key: words for key, (words, _) in candidates.items()},
        params={param: values[0] for param, values in kernel.params.items()},
        ncu=ncu,
    )


def fixed_launches(site: Site, name: str, settings: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return a sentence for each setting that a number in `block` of kernel.yaml does not follow."""
    _, implementation = _implementation(site, name.partition("@")[0])
    source = implementation.source or site.files[implementation.file]
    return tuple(literal_blocks(implementation, source, settings))


def _implementation(site: Site, title: str) -> tuple[Kernel, Implementation]:
    known = {f"{kernel.name}/{one.name}": (kernel, one) for kernel in site.kernels for one in kernel.implementations}
    if title not in known:
        raise UnknownName(_no("implementation", title, known))
    return known[title]


def _place(kernel: Kernel, implementation: Implementation, place: str) -> tuple[Workload, str]:
    word, _, dtype = place.partition(":")
    workloads = {workload.name: workload for workload in kernel.workloads}
    dtypes = implementation.dtypes or kernel.dtypes
    if word and word not in workloads:
        raise UnknownName(f"{_no(f'workload of {kernel.name}', word, workloads)}; {_to_declare(kernel, word)}")
    if dtype and dtype not in dtypes:
        raise UnknownName(_no(f"dtype of {kernel.name}/{implementation.name}", dtype, dtypes))
    return workloads[word] if word else kernel.workloads[0], dtype or dtypes[0]


def _to_declare(kernel: Kernel, name: str) -> str:
    """Return the hint for a workload that the kernel does not have: the entry to add, and where."""
    sizes = name.split("x")  # a workload without a name is called by its sizes, as `8192x8192`
    if len(sizes) == len(kernel.dims) and all(size.isdecimal() for size in sizes):
        entry = ", ".join(f"{dim}: {size}" for dim, size in zip(kernel.dims, sizes, strict=True))
    else:
        entry = ", ".join([f"name: {name}", *(f"{dim}: …" for dim in kernel.dims)])
    return f"for another size, add `{{{entry}}}` to `workloads` in {kernel.folder}/kernel.yaml"


def _no(what: str, word: str, known: Mapping[str, object] | Sequence[str]) -> str:
    hint = did_you_mean(word, known) or f"known: {', '.join(list(known)[:8])}"
    return f"no {what} is called `{word}`; {hint}"


def _words(values: Mapping[str, str]) -> str:
    return " ".join(f"{name}={value}" for name, value in values.items())
