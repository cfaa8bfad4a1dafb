"""Write the page *Figures, claims and statuses* from the tables of `sitegen/model/` and the forms of claims."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping
from enum import Enum

from prose import front_matter, prose, table

from sitegen.model.ceiling_table import CEILINGS
from sitegen.model.figure_table import CEILING_NAMES, FIGURES, FIGURES_WITH_NAME, MACHINE, OTHER_NAMES, Unit
from sitegen.model.kernel import Gate, Status
from sitegen.model.variables import PASSED_ON, REDACTION_LIST
from sitegen.read.claims import FORMS

NAME = "reference-figures.md"
FRONT = front_matter(
    "Figures, claims and statuses",
    "reference/figures",
    "Every figure that a sentence can name, every form of a claim, every status and every gate of the checker.",
)
MEANING: Mapping[str, str] = {
    "time": "the median device time of one call",
    "sustained-time": "the time of a call among many without a pause, when the GPU has lowered its clock",
    "bandwidth": "`reads` and `writes` of kernel.yaml, divided by the time",
    "operations": "`flops` of kernel.yaml, divided by the time",
    "of-ceiling": "the least time that the measured ceilings allow, divided by the time",
    "of-sustained": "the same with the sustained time and ceilings",
    "of-copy": "the time of the best copy of the same bytes, divided by the time",
    "of-read": "the time of the best program that only reads, divided by the time",
    "registers": "registers of a thread; of the longest of several kernels in a call",
    "spills": "bytes of local memory of a thread; of the longest of several kernels in a call",
    "shared": "bytes of shared memory of a block; of the longest of several kernels in a call",
    "occupancy": "warps that fit on an SM at once, of the most that it can hold; of the longest of several kernels",
    "launches": "kernels, copies, fills and allocations that a call launches",
    "dram-bytes": "bytes from and to DRAM, as the GPU's counters read them",
    "dram-read": "bytes from DRAM, as the counters read them",
    "dram-written": "bytes to DRAM, as the counters read them",
    "re-read": "the counted bytes, divided by the least bytes",
    "least-bytes": "`reads` and `writes` of kernel.yaml",
    "clock": "the clock of the SMs during the samples",
    "power": "the power during the samples",
    "cycles": "cycles of an SM in one call",
    "error": "the largest relative error that the checks found",
    "x": "the time of another implementation or baseline, divided by the time: `x torch`",
    "instructions": "instructions of a class in the machine code: `instructions HGMMA`",
}
STATUSES: Mapping[Status, str] = {
    Status.PASSED: "all gates passed; only this status has times",
    Status.INCORRECT: "the result is wrong",
    Status.WRONG_SHAPE: "an output has another shape or number",
    Status.WRONG_DTYPE: "an output has another dtype",
    Status.UNWRITTEN: "an element of `out` was not written, or `out` was ignored",
    Status.OUT_OF_BOUNDS: "memory beside an input or an output was written, or compute-sanitizer saw such an access",
    Status.MODIFIED_INPUT: "an input was changed",
    Status.RACE: "five calls of an implementation that is declared deterministic gave different bits, or five calls of "
    "another one gave wrong results that differ by more than the limits of error, or racecheck or synccheck found a "
    "hazard",
    Status.COMPILE_ERROR: "the compiler refused the source",
    Status.RUNTIME_ERROR: "the code raised an exception, or the launch failed",
    Status.TIMEOUT: "a launch or the whole evaluation took too long",
    Status.OUT_OF_MEMORY: "the code asked for more memory than there is",
    Status.DOES_NOT_FIT: "the GPU has too little memory for the workload; no failure",
    Status.UNSUPPORTED: (
        "the implementation does not take this dtype or architecture, or a block of its `launch` takes more shared "
        "memory than the GPU has; no failure"
    ),
    Status.NOT_RUN: "the evaluation was not tried; no failure",
}
FIGURE_INTRO = (
    "A figure is `kernel/implementation@workload:dtype name`, in `` {value}`…` `` and in claims. [Figures and "
    "claims](/write-figures/) explains their use.\n"
    "\n"
    "## Figures of an evaluation {#figures}\n"
    "\n"
)


def page() -> str:
    """Return the Markdown of the page."""
    figures = {**FIGURES, **FIGURES_WITH_NAME}
    rows = ((f"`{name}`", _unit(unit), MEANING[name]) for name, unit in figures.items())
    return "\n".join(
        [
            FRONT,
            FIGURE_INTRO,
            table(["name", "unit", "meaning"], rows),
            f"Other names: {', '.join(f'`{short}` is `{name}`' for short, name in OTHER_NAMES.items())}.\n",
            "## Ceilings {#ceilings}\n\nBehind the word `ceiling`, as in `` {value}`ceiling read` ``.\n",
            table(["name", "what is measured"], ((f"`{n}`", CEILINGS[k].title) for n, k in CEILING_NAMES.items())),
            "## The machine {#machine}\n\nBehind the word `machine`, as in `` {value}`machine driver` ``.\n",
            table(["name", "unit"], ((f"`{name}`", _unit(unit)) for name, unit in MACHINE.items())),
            "## Claims {#claims}\n\nAn example of each form of a claim, behind `softmax/fused`:\n",
            "".join(f"- {form}\n" for form in FORMS),
            "## Statuses {#statuses}\n\n`sitegen run` gives one of them to each evaluation.\n",
            table(["status", "meaning"], ((f"`{one}`", STATUSES[one]) for one in Status)),
            "## Gates {#gates}\n\nThe tests of correctness, in their order. `gate:` of a wrong variant names one.\n",
            table(
                ["gate", "what must hold", "status otherwise"],
                ((f"`{one}`", prose(said), f"`{one.status}`") for one, said in _documented(Gate)),
            ),
            "## Environment {#environment}\n\nCode of a site sees these variables of the environment and no others:\n",
            f"{', '.join(f'`{name}`' for name in PASSED_ON)}. Names with TOKEN, SECRET, PASSW, CREDENTIAL, _KEY "
            f"or _AUTH stay behind, and so does `{REDACTION_LIST}`.\n",
        ]
    )


def _unit(unit: Unit) -> str:
    return {Unit.COUNT: "a number", Unit.ERROR: "a relative error", Unit.TEXT: "a name"}.get(unit, unit.value)


def _documented(cls: type[Gate]) -> list[tuple[Gate, str]]:
    """Return each member with the docstring below it."""
    body = ast.parse(inspect.getsource(cls)).body[0]
    assert isinstance(body, ast.ClassDef) and issubclass(cls, Enum)
    said = {
        one.targets[0].id: below.value.value
        for one, below in zip(body.body, body.body[1:], strict=False)
        if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name)
        if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
    }
    return [(member, str(said[member.name])) for member in cls]
