"""The cells of a post → a notebook, run in one kernel process in a folder of its own → the outputs of each cell.

It runs on the GPU machine, needs nbclient and ipykernel there, and reads no Markdown.  The kernel is a child process,
so a fault of the GPU ends the notebook, and the worker that started it goes on.  It has limits and no network, and is
reached by Unix sockets.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sitegen import inside
from sitegen.execute.guard import leaving_no_process
from sitegen.execute.measure_process import confinement, why_open
from sitegen.execute.outputs import dropped, kept, without_paths
from sitegen.execute.tracebacks import explained
from sitegen.model.job import JOB_SCHEMA, CellResult, JobResult, NotebookCell, NotebookJob
from sitegen.model.kernel import Status
from sitegen.model.plain import from_plain, to_plain
from sitegen.model.prelude import prelude
from sitegen.model.record import Output
from sitegen.model.variables import passed_on

PRELUDE_S = 120.0
STARTUP_S = 60
LONGEST_SOCKET = 100
"""The most characters of a socket's path; the operating system takes 107."""
LONGEST_TEMPORARY = 30
"""The longest path of the folder for temporary files below which sockets of `multiprocessing` still fit."""


def to_notebook(job: NotebookJob) -> Any:
    """Return an nbformat notebook without outputs, as it runs and as a reader downloads it; the first cell is
    folded."""
    from nbformat import v4

    first = prelude(cell.source for cell in job.cells)
    cells = [v4.new_code_cell(cell.source, id=_id(cell.label), metadata=_metadata(cell)) for cell in job.cells]
    if first:
        folded = {"jupyter": {"source_hidden": True}, "tags": ["hide-input"], "timeout_s": PRELUDE_S}
        cells.insert(0, v4.new_code_cell(first, id="prelude", metadata=folded))
    spec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return v4.new_notebook(cells=cells, metadata={"kernelspec": spec})


def run_notebook_spec(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Run a NotebookJob as `run_notebook` does, with plain JSON on both sides."""
    result: dict[str, Any] = to_plain(run_notebook(from_plain(NotebookJob, spec)))
    return result


def run_notebook(job: NotebookJob) -> JobResult:
    """Run the cells in order and return their outputs.

    After a cell that fails, or ends the kernel, the others are `not_run`.  The environment stays None: that of the run
    comes from the jobs that are measured beside it.
    """
    with tempfile.TemporaryDirectory(prefix="sitegen-", ignore_cleanup_errors=True) as name:
        folder = Path(name).resolve()
        _profile(folder).mkdir()
        _write_sources(folder, job.sources)
        error, results, warnings = _executed(job, folder)
        warnings = (*warnings, *why_open(_network(folder)))
    return JobResult(JOB_SCHEMA, job.id, "notebook", cells=results, warnings=warnings, error=error)


def _executed(job: NotebookJob, folder: Path) -> tuple[str, tuple[CellResult, ...], tuple[str, ...]]:
    notebook = to_notebook(job)
    codes = list(notebook.cells)
    by_label: dict[str, CellResult] = {}
    error = ""
    with _kernel_of(notebook, folder) as client:
        for index, code in enumerate(codes):
            cell = next((c for c in job.cells if c.label == code.metadata.get("label")), None)
            status, outputs, seconds, why = _run_cell(client, code, index, cell, folder)
            if cell is not None:
                message = "" if status is Status.PASSED else why or _exception(code, codes, job, folder)
                by_label[cell.label] = CellResult(cell.label, status, outputs, cell.key, seconds, message)
            elif status is not Status.PASSED:
                error = f"the first cell failed: {outputs[-1].text.splitlines()[-1] if outputs else status}"
            if status is not Status.PASSED:
                break
    results = tuple(by_label.get(c.label) or CellResult(c.label, Status.NOT_RUN, (), c.key) for c in job.cells)
    return error, results, tuple(_warnings(codes))


@contextmanager
def _kernel_of(notebook: Any, folder: Path) -> Iterator[Any]:
    """Yield the client of a new kernel, which ends with the block and all that it started."""
    with _socket_folder(folder) as sockets, _temporary_folder() as temporary:
        client = _client(notebook, folder, sockets)
        with leaving_no_process(), client.setup_kernel(env=_environment(folder, temporary)):
            yield client


def _exception(code: Any, codes: Sequence[Any], job: NotebookJob, folder: Path) -> str:
    """Return the exception of a cell, with the lines of the post that led to it; empty when it raised none."""
    raised = [output for output in code.outputs if output.output_type == "error"]
    by_label = {cell.label: cell for cell in job.cells}
    cells = {n: by_label[label] for n, one in enumerate(codes, 1) if (label := one.metadata.get("label"))}
    return explained(raised[-1], cells, folder) if raised else ""


def _run_cell(
    client: Any, code: Any, index: int, cell: NotebookCell | None, folder: Path
) -> tuple[Status, tuple[Output, ...], float, str]:
    """Run one cell; return status, outputs, seconds, and why it failed when it raised no exception of its own."""
    began = time.monotonic()
    status, why = _execute(client, code, index)
    if cell is not None and cell.raises and not _raised(code) and status is Status.PASSED:
        status, why = Status.RUNTIME_ERROR, "the cell should raise an exception, and raised none"
    outputs = kept(code.outputs, folder)
    if why:
        why = without_paths(why, folder)
        outputs = (*outputs, Output("error", why))
    return status, outputs, round(time.monotonic() - began, 3), why


def _execute(client: Any, code: Any, index: int) -> tuple[Status, str]:
    """Run the code of a cell; return its status, and why it failed when it raised no exception of its own."""
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    try:
        client.execute_cell(code, index)
    except CellTimeoutError:
        return Status.TIMEOUT, f"the cell took more than {code.metadata.timeout_s:g} s and was ended"
    except DeadKernelError:
        return Status.RUNTIME_ERROR, "the cell ended its kernel process"
    except CellExecutionError as error:
        return Status.RUNTIME_ERROR, "" if _raised(code) else f"{error}"
    return Status.PASSED, ""


def _raised(code: Any) -> bool:
    return any(output.output_type == "error" for output in code.outputs)


def _client(notebook: Any, folder: Path, sockets: Path) -> Any:
    from nbclient import NotebookClient
    from traitlets.config import Config

    return NotebookClient(
        notebook,
        kernel_name="python3",
        kernel_manager_class=_confined_kernel_manager(folder),
        resources={"metadata": {"path": str(folder)}},
        timeout_func=lambda cell: cell.metadata.timeout_s,
        startup_timeout=STARTUP_S,
        raise_on_iopub_timeout=True,
        iopub_timeout=10,
        error_on_timeout=None,
        coalesce_streams=True,
        shutdown_kernel="immediate",
        config=Config({"KernelManager": {"transport": "ipc", "ip": str(sockets / "kernel")}}),
    )


def _confined_kernel_manager(folder: Path) -> Any:
    from jupyter_client.manager import AsyncKernelManager

    class ConfinedKernelManager(AsyncKernelManager):
        """Starts the kernel with limits and without a network."""

        def format_kernel_cmd(self, extra_arguments: list[str] | None = None) -> list[str]:
            return [*confinement(_network(folder)), *super().format_kernel_cmd(extra_arguments)]

    return ConfinedKernelManager


@contextmanager
def _socket_folder(folder: Path) -> Iterator[Path]:
    """Yield a folder that only this user can enter, for the sockets at which the kernel listens.

    It is below the job's folder, or below /tmp where the path would be too long for a socket.  A port would show the
    outputs to every user of the machine, and nothing outside of the kernel's network namespace would reach it.
    """
    if len(f"{_profile(folder) / 'kernel'}-1") <= LONGEST_SOCKET:
        yield _profile(folder)
        return
    with tempfile.TemporaryDirectory(prefix="sitegen-", dir="/tmp", ignore_cleanup_errors=True) as name:
        yield Path(name)


def _profile(folder: Path) -> Path:
    return folder / ".ipython"


@contextmanager
def _temporary_folder() -> Iterator[Path]:
    """Yield a folder for the temporary files of the cells, below /tmp where sockets in it would get too long a path."""
    usual = tempfile.gettempdir()
    where = usual if len(usual) <= LONGEST_TEMPORARY else "/tmp"
    with tempfile.TemporaryDirectory(prefix="sitegen-", dir=where, ignore_cleanup_errors=True) as name:
        yield Path(name)


def _network(folder: Path) -> Path:
    """Return the file that says why the kernel has a network, if it has one."""
    return _profile(folder) / "network"


def _environment(folder: Path, temporary: Path) -> dict[str, str]:
    """Return the kernel's environment: the site's modules can be imported, and the user's own profile is not read."""
    return passed_on(os.environ) | {
        "PYTHONPATH": os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH", "")])),
        "TMPDIR": str(temporary),
        "PYTHONDONTWRITEBYTECODE": "1",
        "IPYTHONDIR": str(_profile(folder)),
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
    """Return a label as a cell id of nbformat: 1 to 64 letters, digits, - and _."""
    return "".join(c if c.isascii() and (c.isalnum() or c in "-_") else "-" for c in label)[:64]
