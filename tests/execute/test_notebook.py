"""The cells of a post in one process: their outputs, the outputs that are stored, and their status."""

from __future__ import annotations

import base64
import json
import struct
import tempfile
import zlib
from pathlib import Path

import nbformat
import pytest

from sitegen.diagnostics import Span
from sitegen.execute.notebook import run_notebook, to_notebook
from sitegen.execute.outputs import LARGEST_TEXT, bare_png, kept, without_paths
from sitegen.inside import OutsideError
from sitegen.model.cell_code import cell_code
from sitegen.model.document import Cell
from sitegen.model.job import Key, NotebookCell, NotebookJob
from sitegen.model.kernel import Launch
from sitegen.model.prelude import prelude
from sitegen.model.record import Output

FOLDER = Path("/somewhere/sitegen-abc")


def job(*sources: str, files=None, **options) -> NotebookJob:
    cells = tuple(NotebookCell(f"cell-{n}", source, Key(f"key-{n}"), **options) for n, source in enumerate(sources))
    return NotebookJob("posts/p", "p", cells, files or {})


def run(*sources: str, files=None, **options):
    return [(cell.status, cell.outputs) for cell in run_notebook(job(*sources, files=files, **options)).cells]


def text_of(outputs) -> str:
    return "\n".join(output.text for output in outputs)


def test_cells_share_names_and_find_the_site_s_modules():
    files = {"kernels/double/right.py": "def double(x):\n    return 2 * x\n"}
    assert run("from kernels.double.right import double\na = 4", "print(double(a))\ndouble(a)", files=files) == [
        ("passed", ()),
        ("passed", (Output("stream", "8\n"), Output("text", "8"))),
    ]


def test_an_exception_ends_the_notebook_and_its_traceback_names_no_folder_of_the_machine():
    files = {"kernels/double/right.py": "def double(x):\n    return x / 0\n"}
    source = (
        "import os\nfrom kernels.double.right import double\nprint(os.getcwd(), __import__('sys').prefix)\ndouble(1)"
    )
    (first, outputs), (second, nothing) = run(source, "1", files=files)
    assert (first, second, nothing) == ("runtime_error", "not_run", ())
    assert outputs[-1].kind == "error" and "ZeroDivisionError" in outputs[-1].text
    assert "kernels/double/right.py" in outputs[-1].text and "\x1b" not in outputs[-1].text
    assert tempfile.gettempdir() + "/" not in text_of(outputs) and "/lib/python" not in text_of(outputs)


def test_an_exception_that_was_promised_is_no_failure_and_one_that_did_not_come_is():
    assert [status for status, _ in run("1 / 0", "1 / 0", raises=True)] == ["passed", "passed"]
    ((status, outputs),) = run("1", raises=True)
    assert status == "runtime_error" and "raised none" in text_of(outputs)


def test_a_cell_that_kills_its_process_is_named_and_the_rest_is_not_run():
    results = run("print('before', flush=True)\nimport os, time\ntime.sleep(0.2)\nos.abort()", "1")
    assert [status for status, _ in results] == ["runtime_error", "not_run"]
    assert "ended its kernel process" in text_of(results[0][1])


def test_an_endless_cell_is_ended_after_its_time():
    results = run("while True: pass", "1", timeout_s=1.0)
    assert [status for status, _ in results] == ["timeout", "not_run"]
    assert "more than 1 s" in text_of(results[0][1])


def test_our_own_data_is_kept_and_html_is_dropped_for_its_text_with_a_warning():
    show = "from IPython.display import display\n"
    ours = show + "display({'application/vnd.sitegen+json': {'b': 1, 'a': [2]}, 'text/plain': 'x'}, raw=True)"
    html = show + "display({'text/html': '<b>x</b>', 'text/plain': 'plain'}, raw=True)"
    result = run_notebook(job(ours, html))
    assert [cell.outputs for cell in result.cells] == [
        (Output("data", '{"a": [2], "b": 1}'),),
        (Output("text", "plain"),),
    ]
    assert result.warnings == ("cell-1: text/html is not kept, only its text",)


def test_the_user_s_own_ipython_profile_has_no_part_in_it(monkeypatch, tmp_path):
    startup = tmp_path / "profile_default/startup"
    startup.mkdir(parents=True)
    (startup / "mine.py").write_text("secret = 1\n")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    ((status, outputs),) = run("secret")
    assert status == "runtime_error" and "NameError" in text_of(outputs)


def test_a_source_outside_of_the_site_is_refused():
    with pytest.raises(OutsideError):
        run("1", files={"../evil.py": ""})


# ---------------------------------------------------------------------------------------- what is kept


def stream(text: str) -> dict[str, str]:
    return {"output_type": "stream", "name": "stdout", "text": text}


def test_pieces_of_a_stream_are_joined_and_a_progress_bar_is_its_last_state():
    (output,) = kept([stream("1 %\r50 %\r"), stream("100 %\n")], FOLDER)
    assert output == Output("stream", "50 %100 %\n")
    assert kept([stream("1 %\r50 %\r100 %\n")], FOLDER) == (Output("stream", "100 %\n"),)


def test_colours_and_empty_output_are_dropped():
    assert kept([stream("\x1b[31mred\x1b[0m\n"), stream("")], FOLDER) == (Output("stream", "red\n"),)
    assert kept([stream("\n")], FOLDER) == ()


def test_a_flood_is_cut_and_says_how_much():
    (output,) = kept([stream("x" * (LARGEST_TEXT + 5))], FOLDER)
    assert output.text.endswith("… 5 more characters") and len(output.text) < LARGEST_TEXT + 100
    many = kept([{"output_type": "display_data", "data": {"text/plain": "1"}, "metadata": {}}] * 100, FOLDER)
    assert len(many) == 33 and "68 more outputs" in many[-1].text


def test_the_end_of_a_long_traceback_is_kept_since_its_cause_stands_there():
    error = {"output_type": "error", "ename": "E", "evalue": "v", "traceback": ["x" * LARGEST_TEXT, "the cause"]}
    (output,) = kept([error], FOLDER)
    assert output.text.endswith("the cause") and output.text.startswith("… ")


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("File /somewhere/sitegen-abc/kernels/a.py:3", "File kernels/a.py:3"),
        ("/usr/lib/python3.12/site-packages/torch/nn.py:7: UserWarning", "torch/nn.py:7: UserWarning"),
        ("/usr/lib/python3.12/json/decoder.py:7", "json/decoder.py:7"),
        ("/tmp/ipykernel_12/345.py:1: DeprecationWarning", "<cell>:1: DeprecationWarning"),
        ("in /somewhere/sitegen-abc", "in ."),
        ("3 / 4 stays, and /dev/null", "3 / 4 stays, and /dev/null"),
    ],
)
def test_no_path_of_the_machine_survives(text, clean):
    assert without_paths(text, FOLDER) == clean


def png(*chunks: tuple[bytes, bytes]) -> bytes:
    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    pixels = zlib.compress(b"\0\0")
    body = [chunk(b"IHDR", header), *(chunk(*c) for c in chunks), chunk(b"IDAT", pixels), chunk(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(body)


def test_an_image_loses_its_comments_and_keeps_its_pixels():
    image = png((b"tEXt", b"Software\0of somebody"), (b"tIME", b"\0" * 7))
    assert base64.b64decode(bare_png(base64.b64encode(image).decode())) == png()


@pytest.mark.parametrize("data", [b"", b"GIF89a", png()[:-3], png() + b"\0"])
def test_what_is_no_whole_png_is_not_kept(data):
    assert bare_png(base64.b64encode(data).decode()) == ""
    assert bare_png("no base64") == ""


# ---------------------------------------------------------------------------------- what a reader downloads

FILL = 'extern "C" __global__ void fill(float* out) { out[0] = 1; }'


def cuda_cell(**launch) -> Cell:
    return Cell(
        "fill", "cuda", FILL, Span("p"), launch=Launch("fill", **{"grid": ("132",), "block": ("256",), **launch})
    )


def test_a_cuda_cell_becomes_a_call_with_its_numbers_worked_out():
    code = cell_code(cuda_cell(grid=("2 * N",), constants={"N": "66"}))
    called = {}
    exec(code, {"cuda": lambda source, launch: called.update(source=source.strip(), launch=launch)})
    launch = {"entry": "fill", "grid": [132], "block": [256], "shared": 0, "constants": {"N": 66}}
    assert called == {"source": FILL, "launch": launch}


def test_a_cuda_cell_whose_launch_needs_dims_is_only_its_source():
    names: dict[str, str] = {}
    exec(cell_code(cuda_cell(grid=("M",))), names)
    assert names["fill_source"].strip() == FILL


@pytest.mark.parametrize("source", ['a """ b', "ends with \\", 'ends with "'])
def test_any_cuda_source_survives_being_quoted(source):
    names: dict[str, str] = {}
    exec(cell_code(Cell("fill", "cuda", source, Span("p"), launch=Launch("fill", ("M",), ("1",)))), names)
    assert names["fill_source"].strip() == source


def test_the_first_cell_holds_what_the_others_use_and_nothing_else():
    assert prelude(["print(1)"]) == ""
    assert prelude(["@triton.jit\ndef f(x): tl.load(x)"]) == "import triton\nimport triton.language as tl"
    both = prelude(["f = cuda(source, {})"])
    assert both.startswith("import torch\n") and "def cuda(source, launch):" in both
    compile(both, "prelude", "exec")


def test_the_first_cell_looks_for_the_headers_of_cute_only_where_a_cell_includes_them():
    plain = prelude(["f = cuda(source, {})"])
    assert "header_options" not in plain
    cute = prelude(['f = cuda("#include <cute/tensor.hpp>", {})'])
    assert "        **header_options(source),\n" in cute
    names: dict[str, object] = {}
    exec(cute.replace("import torch\n", ""), names)
    assert names["header_options"]("#include <cuda_bf16.h>") == {}


@pytest.mark.nvrtc
def test_a_cell_that_includes_cute_names_the_package_that_is_missing(monkeypatch):
    names: dict[str, object] = {}
    exec(prelude(['f = cuda("#include <cute/tensor.hpp>", {})']).replace("import torch\n", ""), names)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match=r"nvidia-cutlass==4\.2\.0\.0"):
        names["header_options"]("#include <cute/tensor.hpp>")


def test_the_notebook_is_valid_deterministic_and_its_first_cell_folded():
    made = to_notebook(job("torch.ones(1)", "1"))
    nbformat.validate(made)
    assert made.cells[0].metadata.jupyter.source_hidden is True
    assert json.dumps(made, sort_keys=True) == json.dumps(to_notebook(job("torch.ones(1)", "1")), sort_keys=True)
    assert [cell.source for cell in made.cells[1:]] == ["torch.ones(1)", "1"]


@pytest.mark.torch
def test_a_triton_cell_runs_under_the_interpreter(monkeypatch):
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    source = """
@triton.jit
def twice(x, y, N: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(y + at, 2 * tl.load(x + at))

x = torch.arange(4, dtype=torch.float32)
y = torch.empty_like(x)
twice[(1,)](x, y, 4)
print(y.tolist())
"""
    ((status, outputs),) = run(source)
    assert (status, outputs) == ("passed", (Output("stream", "[0.0, 2.0, 4.0, 6.0]\n"),))
