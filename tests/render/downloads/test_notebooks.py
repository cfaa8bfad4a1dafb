"""The cells of a post → a notebook that Jupyter accepts, and a program that Python runs."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import nbformat

from sitegen.diagnostics import Span
from sitegen.model.document import Cell
from sitegen.model.record import Output
from sitegen.pipeline.probe_sources import load_program_parts
from sitegen.render.downloads.notebooks import PostProgram, needs_of, notebook, script

CELLS = (
    Cell("sum", "python", "%time\nfrom kernels.two import TWO\nprint(TWO + 2)", Span("post.md")),
    Cell("fails", "python", 'print("""before""")\nraise ValueError("as it should")', Span("post.md"), raises=True),
    Cell("after", "python", "print('after')", Span("post.md")),
)
OUTPUTS = {
    "sum": (Output("stream", "4\n"), Output("text", "4"), Output("image", "iVBORw0KGgo=")),
    "fails": (Output("error", "Traceback\nValueError: as it should"),),
}
POST = PostProgram(
    'The "first" post',
    "https://example.org/posts/first/",
    CELLS,
    OUTPUTS,
    {"kernels/one.py": "ONE = 1\n", "kernels/two.py": "from kernels.one import ONE\n\nTWO = 2 * ONE\n"},
    load_program_parts()["embedded"],
)


def test_a_notebook_is_valid_and_keeps_every_stored_output() -> None:
    read = nbformat.reads(notebook(POST), 4)
    nbformat.validate(read)
    outputs = {cell.id: [output.output_type for output in cell.get("outputs", ())] for cell in read.cells}
    assert outputs["sum"] == ["stream", "display_data", "display_data"]
    assert outputs["fails"] == ["error"]
    assert next(cell for cell in read.cells if cell.id == "fails").outputs[0].evalue == "as it should"
    assert next(cell for cell in read.cells if cell.id == "fails").metadata.tags == ["raises-exception"]


def test_the_program_runs_with_the_local_modules_and_goes_on_after_an_expected_exception(tmp_path: Path) -> None:
    file = tmp_path / "first.py"
    file.write_text(script(POST, "first.py"))
    done = subprocess.run([sys.executable, file], cwd=tmp_path, capture_output=True, text=True)
    assert (done.stdout.splitlines(), done.stderr) == (["4", "before", "ValueError as it should", "after"], "")


def test_a_program_prints_what_its_cells_display_where_ipython_is_missing(tmp_path: Path) -> None:
    code = "from IPython.display import display\ndisplay({'text/plain': 'a row'}, raw=True)\ndisplay([2])"
    file = tmp_path / "shows.py"
    file.write_text(script(replace(POST, cells=(Cell("shows", "python", code, Span("post.md")),)), "shows.py"))
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['IPython'] = None\n")
    environment = {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, file], cwd=tmp_path, capture_output=True, text=True, env=environment)
    assert (done.stdout.splitlines(), done.stderr) == (["a row", "[2]"], "")


def test_only_cells_with_cuda_ask_for_cuda_core() -> None:
    assert "cuda-core" not in needs_of(CELLS)
    assert "cuda-core" in needs_of([*CELLS, Cell("fill", "python", 'fill = cuda("", {})', Span("post.md"))])


def test_a_post_without_cells_of_cuda_defines_no_function_for_them() -> None:
    codes = ["".join(cell["source"]) for cell in json.loads(notebook(POST))["cells"] if cell["cell_type"] == "code"]
    assert not any("def cuda" in code for code in codes)
