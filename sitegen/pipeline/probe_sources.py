"""Load texts of `measure` that pages show and downloads hold: the ceiling probes, and the parts of programs."""

from __future__ import annotations

from importlib import resources


def load_probe_sources() -> dict[str, str]:
    """Return the CUDA source of each probe by file name, without importing `measure`."""
    return _texts("probes", ".cu")


def load_program_parts() -> dict[str, str]:
    """Return the modules that a downloaded program holds, by name, without importing them."""
    return {name.removesuffix(".py"): text for name, text in _texts("program_parts", ".py").items()}


def _texts(folder: str, suffix: str) -> dict[str, str]:
    """Return the text of each file with a suffix in a folder of `measure`, by file name."""
    found = resources.files("sitegen").joinpath("measure", folder).iterdir()
    files = sorted((file for file in found if file.name.endswith(suffix)), key=lambda file: file.name)
    return {file.name: file.read_text(encoding="utf-8") for file in files}
