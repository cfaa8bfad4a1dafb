"""What the vendor says of a GPU: the dashed lines.  Figures and their source stand in `datasheets.json`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources


@dataclass(frozen=True, slots=True)
class Datasheet:
    name: str
    bytes_per_s: float
    flops_per_s: Mapping[str, float] = field(default_factory=dict)
    """Dense rates by the ceiling's name: `fp32`, `tf32`, `bf16`, `fp8`."""
    source: str = ""

    def rate(self, ceiling: str) -> float | None:
        """What it says of a ceiling, by the ceiling's name; None where it says nothing."""
        return self.bytes_per_s if ceiling.startswith("memory ") else self.flops_per_s.get(ceiling)


def datasheet(gpu: str) -> Datasheet | None:
    """The sheet of a GPU's id, or None: then a chart has no dashed line."""
    return _all().get(gpu)


@cache
def _all() -> Mapping[str, Datasheet]:
    data = json.loads(resources.files("sitegen.results").joinpath("datasheets.json").read_text(encoding="utf-8"))
    return {gpu: Datasheet(**sheet) for gpu, sheet in data.items()}
