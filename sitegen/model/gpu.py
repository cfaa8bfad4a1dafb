"""The id under which a GPU's records are stored."""

from __future__ import annotations

import re


def gpu_id(product_name: str) -> str:
    """Return the driver's product name in lower case, other characters as `-`: `nvidia-h200` for `NVIDIA H200`."""
    return re.sub(r"[^a-z0-9]+", "-", product_name.lower()).strip("-")
