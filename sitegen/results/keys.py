"""Compute the key of a result: SHA-256 over everything that can change it, in named parts.

The parts tell which of them changed when a record is stale.  They are the code and the local files that it reaches,
reference.py, launch, tensors, dims, dtype, params, tolerance, checks, extra inputs and MEASURE_VERSION.  Prose,
captions, summaries, predictions and goals are no parts; nor are the formulas, since of-ceiling is computed when a page
is made.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from sitegen.model.document import Cell
from sitegen.model.job import Key
from sitegen.model.kernel import Implementation, Kernel, Language, Launch, Scalar, Sweep, Workload
from sitegen.model.measure_version import MEASURE_VERSION
from sitegen.model.plain import to_plain
from sitegen.model.sweep_points import dims_in
from sitegen.results.dependencies import SourceTexts, files_reached, files_reached_by_text

PART_DIGITS = 16
"""Hex digits kept of a part's hash, which only has to tell two versions apart; the digest is whole."""


def implementation_key(
    kernel: Kernel,
    implementation: Implementation,
    workload: Workload,
    dtype: str,
    params: Mapping[str, Scalar],
    files: SourceTexts,
) -> Key:
    """Return the key of one evaluation."""
    return _key(
        {
            **_code_parts(kernel, implementation, files),
            **_contract_parts(kernel, dtype, params),
            "dims": workload.dims,
        }
    )


def wrong_key(kernel: Kernel, implementation: Implementation, files: SourceTexts) -> Key:
    """Return the key of a `wrong/` variant's rejection, which has its first dtype, no workload and no status."""
    dtype = (implementation.dtypes or kernel.dtypes)[0]
    params = {name: values[0] for name, values in kernel.params.items()}
    return _key({**_code_parts(kernel, implementation, files), **_contract_parts(kernel, dtype, params)})


def sweep_key(kernel: Kernel, sweep: Sweep, files: SourceTexts) -> Key:
    """Return the key of a sweep: that of its implementation at its workload, with all swept values.

    The constants and dims that the sweep replaces have no part in it.
    """
    implementation = next(one for one in kernel.implementations if one.name == sweep.implementation)
    workload = next(one for one in kernel.workloads if one.name == sweep.workload)
    swept_dims = {dim for name in sweep.dims for dim in dims_in(name)}
    launch = _without_constants(implementation.launch, sweep.constants)
    params = {name: values[0] for name, values in kernel.params.items()}
    return _key(
        {
            **_code_parts(kernel, replace(implementation, launch=launch), files),
            **_contract_parts(kernel, sweep.dtype, params),
            "dims": {dim: size for dim, size in workload.dims.items() if dim not in swept_dims},
            "sweep": (sweep.constants, sweep.dims),
        }
    )


def source_part(text: str) -> str:
    """Return the part of a key that stands for the text of a source file."""
    return _sha256(_canonical(with_lf(text)))[:PART_DIGITS]


def rule_parts(kernel: Kernel, dtype: str) -> dict[str, str]:
    """Return the parts of a key that say how correctness is judged, in the form of `key_parts`."""
    parts = _contract_parts(kernel, dtype, {})
    return {name: _sha256(_canonical(parts[name]))[:PART_DIGITS] for name in ("tolerance", "checks", "extra_inputs")}


def gate_parts(kernel: Kernel, dtype: str, files: SourceTexts) -> Mapping[str, str]:
    """Return the parts of a key that decide what the gates accept, in the form of `key_parts`: rules and reference."""
    contract = _contract_parts(kernel, dtype, {})
    parts = {name: contract[name] for name in ("tensors", "tolerance", "checks", "extra_inputs", "measure")}
    return _key({**parts, **{path: with_lf(files[path]) for path in _reference_paths(kernel, files)}}).parts


def baseline_parts(
    kernel: Kernel, workload: Workload, dtype: str, params: Mapping[str, Scalar], files: SourceTexts
) -> Mapping[str, str]:
    """Return the parts of an implementation's key that also decide the result of a baseline, in the form of
    `key_parts`: reference.py, the files of baselines, the contract and the dims.
    """
    texts = {path: with_lf(files[path]) for path in _reference_paths(kernel, files)}
    return _key({**texts, **_contract_parts(kernel, dtype, params), "dims": workload.dims}).parts


def cell_keys(post: str, cells: Iterable[Cell], files: SourceTexts) -> tuple[Key, ...]:
    """Return the key of each cell of a post: its code, the code of the cells before it, the local modules reached."""
    keys: list[Key] = []
    parts: dict[str, Any] = {}
    for cell in cells:
        parts |= _cell_parts(post, cell, files)
        keys.append(_key(parts))
    return tuple(keys)


def sources_of(kernel: Kernel, implementations: Iterable[Implementation], files: SourceTexts) -> dict[str, str]:
    """Return the text of every file that a job over these implementations needs, by path, except cells."""
    paths = {path for one in implementations for path in _code_paths(kernel, one, files)}
    return {path: files[path] for path in sorted(paths | set(_reference_paths(kernel, files)))}


def cell_sources(cells: Iterable[Cell], files: SourceTexts) -> dict[str, str]:
    """Return the text of the local modules that a post's cells import, by path."""
    paths = {path for cell in cells for path in _imports_of(cell, files)}
    return {path: files[path] for path in sorted(paths)}


def _code_parts(kernel: Kernel, implementation: Implementation, files: SourceTexts) -> dict[str, Any]:
    paths = (*_code_paths(kernel, implementation, files), *_reference_paths(kernel, files))
    parts: dict[str, Any] = {path: with_lf(files[path]) for path in paths}
    if implementation.source:
        parts[implementation.file] = with_lf(implementation.source)
    launch = (implementation.launch, implementation.host, implementation.arch, implementation.deterministic)
    return {**parts, "launch": launch}


def _without_constants(launch: Launch | None, names: Iterable[str]) -> Launch | None:
    if launch is None:
        return None
    return replace(launch, constants={name: one for name, one in launch.constants.items() if name not in set(names)})


def _code_paths(kernel: Kernel, implementation: Implementation, files: SourceTexts) -> tuple[str, ...]:
    """Return the local files that an implementation reaches; the imports of a cell are relative to its kernel."""
    if not implementation.source:
        return files_reached([implementation.file], files)
    suffix = "py" if implementation.language is Language.TRITON else "cu"
    return files_reached_by_text(implementation.source, f"{kernel.folder}/cell.{suffix}", files)


def _reference_paths(kernel: Kernel, files: SourceTexts) -> tuple[str, ...]:
    """Return the local files of reference.py and of the baselines that have a file of their own."""
    return files_reached([f"{kernel.folder}/reference.py", *(one.file for one in kernel.baseline_files)], files)


def _contract_parts(kernel: Kernel, dtype: str, params: Mapping[str, Scalar]) -> dict[str, Any]:
    return {
        "tensors": (kernel.dims, kernel.inputs, kernel.outputs),
        "dtype": dtype,
        "params": params,
        "tolerance": kernel.tolerance.get(dtype),
        "checks": kernel.checks,
        "extra_inputs": kernel.extra_inputs,
        "measure": MEASURE_VERSION,
    }


def _cell_parts(post: str, cell: Cell, files: SourceTexts) -> dict[str, Any]:
    code = (cell.language, with_lf(cell.source), cell.launch, cell.raises)
    modules = {path: with_lf(files[path]) for path in _imports_of(cell, files)}
    return {f"{post}#{cell.label}": code, **modules}


def _imports_of(cell: Cell, files: SourceTexts) -> tuple[str, ...]:
    return files_reached_by_text(cell.source, "cell.cu" if cell.language == "cuda" else "cell.py", files)


def _key(parts: Mapping[str, Any]) -> Key:
    hashed = {name: _sha256(_canonical(value)) for name, value in parts.items()}
    return Key(_sha256(_canonical(hashed)), {name: hashed[name][:PART_DIGITS] for name in sorted(hashed)})


def _canonical(value: Any) -> str:
    """Return a text that is equal for equal values, whatever the order of a mapping."""
    return json.dumps(to_plain(value), sort_keys=True, separators=(",", ":"))


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def with_lf(text: str) -> str:
    """Return the text with LF line endings, so that a key is the same on every system."""
    return text.replace("\r\n", "\n").replace("\r", "\n")
