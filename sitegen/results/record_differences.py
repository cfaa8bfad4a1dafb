"""Say in words what differs between two records of one evaluation besides its times: the compiler's output, the
launch, the check, the tools, the versions.

These differences have no noise: a compiler that spills does so each time.  They are reported whether or not a time
changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from sitegen.model.record import Compilation, Correctness, Environment, Evaluation, LaunchRecord
from sitegen.results.records import PastRun

MOST_CLASSES = 4
"""Number of instruction classes that are named; the others are counted."""
ERROR_CHANGE = 0.1
"""Relative change of an error from which it is reported; smaller changes come from another order of summation."""


def deterministic_changes(old: Evaluation, new: Evaluation) -> tuple[str, ...]:
    """Return the differences in fields that both records have: `registers 80 → 96`, `spills 0 → 48 bytes`, …

    Resources and shapes of two different kernels of a call are not compared.
    """
    one_kernel = old.launch is None or new.launch is None or _same_kernel(old.launch, new.launch)
    return (
        *(_compilation(old.compilation, new.compilation) if one_kernel and old.compilation and new.compilation else ()),
        *(_launch(old.launch, new.launch) if old.launch and new.launch else ()),
        *(_correctness(old.correctness, new.correctness) if old.correctness and new.correctness else ()),
        *_sanitizer(old.sanitizer, new.sanitizer),
    )


def same_code(old: Evaluation, new: Evaluation) -> bool:
    """Tell whether both records have the hash of the machine code and the launch, and these are equal."""
    codes = [e.compilation.sass_hash if e.compilation else "" for e in (old, new)]
    if not all(codes) or codes[0] != codes[1] or old.launch is None or new.launch is None:
        return False
    if _same_kernel(old.launch, new.launch):
        return _launch_shape(old.launch) == _launch_shape(new.launch)
    return old.launch.launches == new.launch.launches


def newer_versions(before: PastRun | Environment, after: PastRun | Environment) -> tuple[str, ...]:
    """Return the versions that differ between two runs: `Triton 3.5.1 → 3.6.0`."""
    names = {"driver": "driver", "cuda": "CUDA", "torch": "torch", "triton": "Triton"}
    pairs = [(shown, getattr(before, name), getattr(after, name)) for name, shown in names.items()]
    return tuple(f"{shown} {old} → {new}" for shown, old, new in pairs if old != new)


def _compilation(old: Compilation, new: Compilation) -> Iterator[str]:
    yield from _difference("spills", old.spill_bytes, new.spill_bytes, " bytes")
    yield from _difference("registers", old.registers, new.registers)
    yield from _difference("shared memory", old.shared_bytes, new.shared_bytes, " bytes")
    yield from _instructions(old.instructions, new.instructions)


def _instructions(old: Mapping[str, int], new: Mapping[str, int]) -> Iterator[str]:
    """Yield one sentence with the instruction classes whose counts changed most."""
    if not old or not new:
        return
    counts = {name: (old.get(name, 0), new.get(name, 0)) for name in (*old, *new)}
    changed = sorted(
        (name for name, (a, b) in counts.items() if a != b), key=lambda n: (-abs(counts[n][1] - counts[n][0]), n)
    )
    if changed:
        shown = [f"{name} {counts[name][0]} → {counts[name][1]}" for name in changed[:MOST_CLASSES]]
        more = [f"{len(changed) - MOST_CLASSES} more"] if len(changed) > MOST_CLASSES else []
        yield f"instructions: {', '.join([*shown, *more])}"


def _launch(old: LaunchRecord, new: LaunchRecord) -> Iterator[str]:
    yield from _difference("launches", old.launches, new.launches)
    if not _same_kernel(old, new):
        if old.kernel and new.kernel:
            yield f"longest kernel {old.kernel} → {new.kernel}"
        return
    for name in ("grid", "block", "cluster"):
        yield from _difference(name, _product(getattr(old, name)), _product(getattr(new, name)))
    yield from _difference("dynamic shared memory", old.shared_bytes, new.shared_bytes, " bytes")


def _same_kernel(old: LaunchRecord, new: LaunchRecord) -> bool:
    """Tell whether both records describe the same kernel of their call; of an older one that is known only where the
    call has one launch.
    """
    if old.kernel and new.kernel:
        return old.kernel == new.kernel
    return old.kernel == new.kernel or (old.launches, new.launches) == (1, 1)


def _correctness(old: Correctness, new: Correctness) -> Iterator[str]:
    a, b = old.relative_error, new.relative_error
    if abs(a - b) > ERROR_CHANGE * max(abs(a), abs(b)):
        yield f"relative error {a:.2g} → {b:.2g}"
    if old.deterministic != new.deterministic:
        yield "now deterministic" if new.deterministic else "no longer deterministic"


def _sanitizer(old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[str]:
    """Yield the findings that are new or gone; a finding of a tool that was not run before is new."""
    for tool, finding in new.items():
        if finding and not old.get(tool):
            yield f"{tool} found: {finding.splitlines()[0]}"
    yield from (f"{tool} finds nothing any more" for tool in new if old.get(tool) and not new[tool])


def _difference(name: str, old: int | str, new: int | str, unit: str = "") -> Iterator[str]:
    if old != new:
        yield f"{name} {old} → {new}{unit}"


def _product(sizes: Iterable[int]) -> str:
    return "×".join(map(str, sizes))


def _launch_shape(launch: LaunchRecord) -> tuple[object, ...]:
    """Return the launch without the occupancy, which follows from the rest and was not always recorded."""
    return (launch.grid, launch.block, launch.cluster, launch.shared_bytes, launch.launches)
