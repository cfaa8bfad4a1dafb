"""Load the CUDA sources of the ceiling probes, for the page that shows them."""

from __future__ import annotations

from importlib import resources


def load_probe_sources() -> dict[str, str]:
    """Return the CUDA source of each probe by file name, without importing `measure`."""
    folder = resources.files("sitegen").joinpath("measure", "probes")
    files = sorted((file for file in folder.iterdir() if file.name.endswith(".cu")), key=lambda file: file.name)
    return {file.name: file.read_text(encoding="utf-8") for file in files}
