"""The cells of a post → a notebook, run in one kernel process in a folder of its own → what each cell put out.

Runs on the GPU machine: needs nbclient and ipykernel there, and reads no Markdown.  The kernel is a child process, so
a fault of the GPU ends the notebook, not the worker that started it.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sitegen import inside
from sitegen.execute.outputs import dropped, kept, without_paths
from sitegen.execute.prelude import prelude
from sitegen.model.document import Cell
from sitegen.model.formula import FormulaError, evaluate, evaluate_int
from sitegen.model.job import JOB_SCHEMA, CellResult, JobResult, NotebookCell, NotebookJob
from sitegen.model.kernel import Launch, Status
from sitegen.model.plain import from_plain, to_plain
from sitegen.model.record import Output

PRELUDE_S = 120.0
STARTUP_S = 60


def cell_code(cell: Cell) -> str:
    """A cell as Python: CUDA becomes `entry = cuda(source, launch)`.  A launch over dims that a notebook does not know
    (the cell is an implementation, measured elsewhere) leaves only `entry_source`.
    """
    if cell.language != "cuda":
        return cell.source
    if cell.launch is None:
        return f"{cell.label.replace('-', '_')}_source = {_quoted(cell.source)}"
    try:
        return f"{cell.launch.entry} = cuda({_quoted(cell.source)}, {_launch(cell.launch)!r})"
    except FormulaError:
        return f"{cell.launch.entry}_source = {_quoted(cell.source)}"


def to_notebook(job: NotebookJob) -> Any:
    """An nbformat notebook without outputs, as it is run and as a reader downloads it; the first cell is folded."""
    from nbformat import v4

    first = prelude(cell.source for cell in job.cells)
    cells = [v4.new_code_cell(cell.source, id=_id(cell.label), metadata=_metadata(cell)) for cell in job.cells]
    if first:
        folded = {"jupyter": {"source_hidden": True}, "tags": ["hide-input"], "timeout_s": PRELUDE_S}
        cells.insert(0, v4.new_code_cell(first, id="prelude", metadata=folded))
    spec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return v4.new_notebook(cells=cells, metadata={"kernelspec": spec})


def run_notebook_spec(spec: Mapping[str, Any]) -> dict[str, Any]:
    """As `run_notebook`, with plain JSON on both sides."""
    result: dict[str, Any] = to_plain(run_notebook(from_plain(NotebookJob, spec)))
    return result


def run_notebook(job: NotebookJob) -> JobResult:
    """Runs the cells in order.  After a cell that fails, or ends the kernel, the rest is `not_run`.  The environment
    stays None: that of the run comes from the jobs that were measured beside it.
    """
    with tempfile.TemporaryDirectory(prefix="sitegen-", ignore_cleanup_errors=True) as name:
        folder = Path(name).resolve()
        _write_sources(folder, job.sources)
        error, results, warnings = _executed(job, folder)
    return JobResult(JOB_SCHEMA, job.id, "notebook", cells=results, warnings=warnings, error=error)


def _executed(job: NotebookJob, folder: Path) -> tuple[str, tuple[CellResult, ...], tuple[str, ...]]:
    notebook = to_notebook(job)
    codes = list(notebook.cells)
    client = _client(notebook, folder)
    by_label: dict[str, CellResult] = {}
    error = ""
    with client.setup_kernel(env=_environment(folder)):
        for index, code in enumerate(codes):
            cell = next((c for c in job.cells if c.label == code.metadata.get("label")), None)
            status, outputs, seconds = _run_cell(client, code, index, cell, folder)
            if cell is not None:
                by_label[cell.label] = CellResult(cell.label, status, outputs, cell.key, seconds)
            elif status is not Status.PASSED:
                error = f"the first cell failed: {outputs[-1].text.splitlines()[-1] if outputs else status}"
            if status is not Status.PASSED:
                break
    results = tuple(by_label.get(c.label) or CellResult(c.label, Status.NOT_RUN, (), c.key) for c in job.cells)
    return error, results, tuple(_warnings(codes))


def _run_cell(
    client: Any, code: Any, index: int, cell: NotebookCell | None, folder: Path
) -> tuple[Status, tuple[Output, ...], float]:
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    began, status, extra = time.monotonic(), Status.PASSED, ""
    try:
        client.execute_cell(code, index)
    except CellTimeoutError:
        status, extra = Status.TIMEOUT, f"the cell took more than {code.metadata.timeout_s:g} s and was ended"
    except DeadKernelError:
        status, extra = Status.RUNTIME_ERROR, "the cell ended its kernel process"
    except CellExecutionError as error:
        status = Status.RUNTIME_ERROR
        extra = "" if any(o.output_type == "error" for o in code.outputs) else f"{error}"
    failed = any(output.output_type == "error" for output in code.outputs)
    if cell is not None and cell.raises and not failed and status is Status.PASSED:
        status, extra = Status.RUNTIME_ERROR, "the cell was to raise an exception, and raised none"
    outputs = kept(code.outputs, folder)
    if extra:
        outputs = (*outputs, Output("error", without_paths(extra, folder)))
    return status, outputs, round(time.monotonic() - began, 3)


def _client(notebook: Any, folder: Path) -> Any:
    from nbclient import NotebookClient

    return NotebookClient(
        notebook,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
        timeout_func=lambda cell: cell.metadata.timeout_s,
        startup_timeout=STARTUP_S,
        raise_on_iopub_timeout=True,
        iopub_timeout=10,
        error_on_timeout=None,
        coalesce_streams=True,
        shutdown_kernel="immediate",
        # it would say that it listens on loopback without encryption
        extra_arguments=["--log-level=40"],
    )


def _environment(folder: Path) -> dict[str, str]:
    """The site's modules can be imported; nothing of the user's own profile has a part in it."""
    return os.environ | {
        "PYTHONPATH": os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH", "")])),
        "PYTHONDONTWRITEBYTECODE": "1",
        "IPYTHONDIR": str(folder / ".ipython"),
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
        "NO_COLOR": "1",
    }


def _warnings(codes: list[Any]) -> Iterator[str]:
    for code in codes:
        if types := dropped(code.outputs):
            yield f"{code.metadata.get('label', 'prelude')}: {', '.join(types)} is not kept, only its text"


def _write_sources(folder: Path, sources: Mapping[str, str]) -> None:
    for path, text in sources.items():
        inside.write_bytes(folder, path, text.encode())


def _metadata(cell: NotebookCell) -> dict[str, Any]:
    tags = ["raises-exception"] if cell.raises else []
    return {"label": cell.label, "timeout_s": cell.timeout_s, "tags": tags}


def _id(label: str) -> str:
    """nbformat wants 1 to 64 letters, digits, - and _."""
    return "".join(c if c.isascii() and (c.isalnum() or c in "-_") else "-" for c in label)[:64]


def _quoted(source: str) -> str:
    fits = '"""' not in source and not source.endswith(("\\", '"'))
    return f'r"""\n{source.strip(chr(10))}\n"""' if fits else repr(source)


def _launch(launch: Launch) -> dict[str, Any]:
    """With its numbers worked out.  Raises FormulaError where they need dims."""
    constants = {name: evaluate(value, {}) for name, value in launch.constants.items()}
    shape = {name: [evaluate_int(n, constants) for n in getattr(launch, name)] for name in ("grid", "block")}
    shared = evaluate_int(launch.shared, constants)
    return {"entry": launch.entry, **shape, "shared": shared, "constants": constants}
