"""The check of a downloaded program: what it rejects, and what it says, on the CPU with functions of torch."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

from sitegen.measure.program_parts.check_and_time import Contract, Setup, check, python_call  # noqa: E402
from sitegen.measure.program_parts.embedded import embed  # noqa: E402

CONTRACT = Contract(
    kernel="double",
    implementation="own",
    language="triton",
    arch="",
    tolerance={"float32": 1e-6},
    params={"scale": [2.0, 3.0]},
    inputs=["x"],
    extra_inputs=["one_hot", "extreme"],
    checks=[{"N": 5}],
    workloads=[{"N": 5}],
    baseline="",
    outputs=lambda N, scale, itemsize: [((N,), "same")],
    least_bytes=lambda N, scale, itemsize: 2 * N * itemsize,
    operations=lambda N, scale, itemsize: N,
)


@pytest.fixture
def reference() -> ModuleType:
    made = ModuleType("reference")
    one_hot, extreme = torch.eye(5)[2], torch.tensor([torch.inf, -torch.inf, torch.nan, 1e30, 0.0])
    made.make_inputs = lambda dims, dtype, generator, device: {"x": torch.randn(dims["N"], generator=generator)}
    made.extra_inputs = lambda name, dims, *_: [{"x": one_hot if name == "one_hot" else extreme}]
    made.reference = lambda x, *, scale: scale * x
    return made


def verdict(function: Callable[..., Any], reference: ModuleType, capsys: pytest.CaptureFixture[str]) -> str:
    check(Setup(CONTRACT, reference, python_call(function, CONTRACT), "float32", "cpu"), CONTRACT.checks)
    return capsys.readouterr().out.strip()


def test_a_right_function_passes_every_set_of_inputs_and_params(reference: ModuleType, capsys: Any) -> None:
    assert "passed  6 calls, the last at N=5" in verdict(lambda x, *, scale: scale * x, reference, capsys)


def first_four(x: Any, *, scale: float, out: Any) -> None:
    out[:4] = scale * x[:4]


def in_half(x: Any, *, scale: float) -> Any:
    return (scale * x).half()


def never_infinite(x: Any, *, scale: float, out: Any) -> None:
    out.copy_((scale * x).clamp(-1e38, 1e38))


def ignores_scale(x: Any, *, scale: float) -> Any:
    return 2.0 * x


def almost_one(x: Any, *, scale: float) -> Any:
    return scale * x * (1 + 2**-22)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (first_four, "random inputs: 1 elements; at (4,) nan instead of"),
        (in_half, "torch.float16 of shape (5,), not torch.float32"),
        (never_infinite, "extreme inputs: 2 elements; at (0,) 1e+38 instead of inf"),
        (ignores_scale, "scale=3.0, random inputs: relative error 0.333 > 1e-06"),
        (almost_one, "one_hot inputs: not exact: 1 elements; at (2,)"),
    ],
)
def test_a_wrong_function_is_told_where_it_is_wrong(
    function: Callable[..., Any], words: str, reference: ModuleType, capsys: Any
) -> None:
    said = verdict(function, reference, capsys)
    assert said.startswith("FAILED")
    assert words in said


def test_a_text_becomes_the_module_that_others_import(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("found", "found.here", "found.here.one", "found.here.two"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    embed("found/here/one.py", "def three():\n    return 3\n")
    two = embed(
        "found/here/two.py", "import inspect\nfrom found.here import one\n\nTEXT = inspect.getsource(one.three)\n"
    )
    assert two.TEXT == "def three():\n    return 3\n"


def test_a_downloaded_triton_program_checks_itself_without_a_gpu_and_without_sitegen(tmp_path: Path) -> None:
    from sitegen.pipeline.probe_sources import load_program_parts
    from sitegen.read.load import load_site
    from sitegen.render.downloads.programs import program

    site, _ = load_site(Path(__file__).parents[2])
    kernel = next(kernel for kernel in site.kernels if kernel.name == "sum")
    one = next(one for one in kernel.implementations if one.name == "tile")
    file = tmp_path / "sum_tile.py"
    file.write_text(program(kernel, one, site.files, load_program_parts(), "https://example.org/"))
    done = subprocess.run([sys.executable, file], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.returncode == 0, done.stderr
    assert "passed" in done.stdout
