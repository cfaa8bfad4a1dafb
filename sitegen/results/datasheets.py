"""Look up a GPU's rates by the vendor's datasheet, which charts draw as dashed lines.

The rates and their sources stand in `datasheets.json`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources

from sitegen.model.gpu import model_of


@dataclass(frozen=True, slots=True)
class Datasheet:
    """Rates of one GPU by its datasheet."""

    name: str
    bytes_per_s: float
    flops_per_s: Mapping[str, float] = field(default_factory=dict)
    """Rates without sparsity by the name of the ceiling: `fp32`, `tf32`, `bf16`, `fp8`."""
    source: str = ""

    def rate(self, ceiling: str) -> float | None:
        """Return the rate for a ceiling, by the ceiling's name; None when the datasheet has none."""
        return self.bytes_per_s if ceiling.startswith("memory ") else self.flops_per_s.get(ceiling)


def datasheet(gpu: str) -> Datasheet | None:
    """Return the datasheet of the model of a GPU by its id; without one (None) a chart has no dashed line."""
    return _datasheets().get(model_of(gpu))


@cache
def _datasheets() -> Mapping[str, Datasheet]:
    data = json.loads(resources.files("sitegen.results").joinpath("datasheets.json").read_text(encoding="utf-8"))
    return {gpu: Datasheet(**sheet) for gpu, sheet in data.items()}
