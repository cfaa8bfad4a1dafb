"""List the figures that a text may show of a record, with their units: those of an evaluation, of a ceiling and of the
machine.

`results/quantities.py` computes each of them, and `render/texts/values.py` writes them with their units.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from sitegen.model.ceiling_table import CEILINGS, CeilingUnit


class Unit(StrEnum):
    """The unit in which a figure is computed."""

    MICROSECONDS = "µs"
    BYTES_PER_S = "B/s"
    FLOPS_PER_S = "FLOP/s"
    BYTES = "B"
    SHARE = "share"
    """A part of a whole: 0.95 is shown as `95 %`."""
    RATIO = "ratio"
    """A quotient of two figures with equal units: 1.5 is shown as `1.50 ×`."""
    COUNT = "count"
    MEGAHERTZ = "MHz"
    WATTS = "W"
    ERROR = "error"
    """A relative error: 1.2e-7."""
    TEXT = "text"
    """A name or a version."""


FIGURES: Mapping[str, Unit] = {
    "time": Unit.MICROSECONDS,
    "sustained-time": Unit.MICROSECONDS,
    "bandwidth": Unit.BYTES_PER_S,
    "operations": Unit.FLOPS_PER_S,
    "of-ceiling": Unit.SHARE,
    "of-sustained": Unit.SHARE,
    "of-copy": Unit.SHARE,
    "of-read": Unit.SHARE,
    "registers": Unit.COUNT,
    "spills": Unit.BYTES,
    "shared": Unit.BYTES,
    "occupancy": Unit.SHARE,
    "launches": Unit.COUNT,
    "dram-bytes": Unit.BYTES,
    "dram-read": Unit.BYTES,
    "dram-written": Unit.BYTES,
    "re-read": Unit.RATIO,
    "least-bytes": Unit.BYTES,
    "clock": Unit.MEGAHERTZ,
    "power": Unit.WATTS,
    "cycles": Unit.COUNT,
    "error": Unit.ERROR,
}
"""Figures of an evaluation, by the name that an author writes."""
FIGURES_WITH_NAME: Mapping[str, Unit] = {"x": Unit.RATIO, "instructions": Unit.COUNT}
"""Figures of an evaluation with a name behind them: `x torch`, `instructions HGMMA`."""
MACHINE: Mapping[str, Unit] = {
    "gpu": Unit.TEXT,
    "arch": Unit.TEXT,
    "driver": Unit.TEXT,
    "cuda": Unit.TEXT,
    "torch": Unit.TEXT,
    "triton": Unit.TEXT,
    "python": Unit.TEXT,
    "sms": Unit.COUNT,
    "l2": Unit.BYTES,
    "memory": Unit.BYTES,
    "clock": Unit.MEGAHERTZ,
    "power-cap": Unit.WATTS,
}
"""Facts about a machine, behind the word `machine`: `machine driver`."""
OTHER_NAMES: Mapping[str, str] = {"regs": "registers", "spilled": "spills", "dram": "dram-bytes", "reread": "re-read"}
"""Other names of figures."""
CEILING_NAMES: Mapping[str, str] = {
    "read": "memory 1:0",
    "two-reads": "memory 2:1",
    "copy": "memory 1:1",
    "write": "memory 0:1",
    **{name: name for name in CEILINGS if not name.startswith("memory ")},
}
"""Names of ceilings in records by the names that an author writes behind the word `ceiling`: `ceiling read`."""


def ceiling_unit(name: str) -> Unit:
    """Return the unit of a ceiling, by a name of CEILING_NAMES."""
    return Unit.BYTES_PER_S if CEILINGS[CEILING_NAMES[name]].unit is CeilingUnit.BYTES else Unit.FLOPS_PER_S
