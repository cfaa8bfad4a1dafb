"""The CUDA sources of the ceilings' probes, which their page shows."""

from __future__ import annotations

from importlib import resources


def load_probes() -> dict[str, str]:
    """The CUDA sources of the ceilings' probes, by file name: shown as text, nothing of `measure` is imported."""
    folder = resources.files("sitegen").joinpath("measure", "probes")
    files = sorted((file for file in folder.iterdir() if file.name.endswith(".cu")), key=lambda file: file.name)
    return {file.name: file.read_text(encoding="utf-8") for file in files}
