"""The id under which the records of a model of GPU are stored, and the hash that tells GPUs of one model apart."""

from __future__ import annotations

import hashlib
import re

SALT = "sitegen gpu "
"""Constant, so that the same GPU has the same hash in every run."""
HASH_DIGITS = 16
YOURS = "-yours"
"""The end of the id of a reader's own GPU."""


def gpu_id(product_name: str) -> str:
    """Return the driver's product name in lower case, other characters as `-`: `nvidia-h200` for `NVIDIA H200`."""
    return re.sub(r"[^a-z0-9]+", "-", product_name.lower()).strip("-")


def yours(gpu: str) -> str:
    """Return the id of the records of a reader's own GPU, which stand beside the published ones of the same model."""
    return f"{gpu}{YOURS}"


def is_yours(gpu: str) -> bool:
    return gpu.endswith(YOURS)


def model_of(gpu: str) -> str:
    """Return the id of the model of a GPU: `nvidia-h200` for `nvidia-h200` and for `nvidia-h200-yours`."""
    return gpu.removesuffix(YOURS)


def gpu_hash(uuid: str) -> str:
    """Return HASH_DIGITS hex digits of SHA-256 over SALT and a GPU's UUID; empty for an empty UUID.

    The UUID itself is never stored.  It cannot be computed from the digits, because it has more than 100 random bits.
    Somebody who knows a UUID can compute its hash and so recognise the GPU.
    """
    bare = uuid.strip().lower().removeprefix("gpu-")
    return hashlib.sha256(f"{SALT}{bare}".encode()).hexdigest()[:HASH_DIGITS] if bare else ""
