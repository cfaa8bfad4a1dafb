"""Names of modules that take seconds to import → the modules, imported before they are needed."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterable

EVALUATOR = "sitegen.measure.evaluator"
"""The module that answers requests; it imports torch."""
COMPILER = "torch._inductor.compile_fx"
"""The module with which torch.compile begins; importing it takes 3 to 4 s, and looks for a GPU."""
ASKS_NVML = {"PYTORCH_NVML_BASED_CUDA_CHECK": "1"}
"""Variable with which torch asks NVML for a GPU, so that the process does not touch CUDA."""


def import_ahead(modules: Iterable[str] = (EVALUATOR,)) -> None:
    """Import what takes seconds and touches no GPU.  A missing package shows with the first request."""
    for module in modules:
        with contextlib.suppress(Exception):
            importlib.import_module(module)
