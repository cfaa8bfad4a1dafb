"""The id under which a GPU's records are stored."""

from __future__ import annotations

import re


def gpu_id(product_name: str) -> str:
    """The driver's product name in lower case, other characters as `-`: `NVIDIA H200` is `nvidia-h200`."""
    return re.sub(r"[^a-z0-9]+", "-", product_name.lower()).strip("-")
