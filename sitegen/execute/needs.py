"""A job and the GPUs of a target → why none of them has the memory that the job needs.

Only the cells of a post name such a need, `needs: {memory: 80GB}`: a kernel's job adds up its own memory on the GPU.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from sitegen.execute.targets import Device

_SIZE = re.compile(r"(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>[MG]i?B)")
_UNITS = {"MB": 10**6, "MiB": 1 << 20, "GB": 10**9, "GiB": 1 << 30}


def unmet_need(spec: Mapping[str, Any], devices: Sequence[Device]) -> str:
    """Return why no GPU of a target can run a job, given as plain JSON; empty when one can, or none is known."""
    wanted = str(spec.get("needs", {}).get("memory", ""))
    largest = max((device.memory_bytes for device in devices), default=0)
    if not wanted or not largest:
        return ""
    size = _SIZE.fullmatch(wanted)
    if size is None:
        return f"`needs: {{memory: {wanted[:40]}}}` is no size; write one such as 8GB"
    if float(size["number"]) * _UNITS[size["unit"]] <= largest:
        return ""
    return f"it needs {wanted} of GPU memory, and the largest GPU has {largest / 10**9:.0f}GB"
