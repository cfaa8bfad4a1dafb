"""Code of a site that searches its environment for tokens: a cell, a kernel, its reference."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from sitegen.execute.notebook import run_notebook
from sitegen.model.job import Key, NotebookCell, NotebookJob

ROOT = Path(__file__).parents[2]
SECRETS = {
    **dict.fromkeys(("GITHUB_TOKEN", "GH_TOKEN", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"), "s3cret"),
    **dict.fromkeys(("ACTIONS_RUNTIME_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_URL", "SSH_AUTH_SOCK"), "s3cret"),
    # names that begin as those of libraries do, and variables that name files of a CI service
    **dict.fromkeys(("NVIDIA_API_KEY", "NGC_API_KEY", "HF_TOKEN", "TORCH_HUB_TOKEN", "TRITON_SECRET"), "s3cret"),
    **dict.fromkeys(("GITHUB_ENV", "GITHUB_PATH", "HTTPS_PROXY", "NETRC", "PIP_INDEX_URL"), "s3cret"),
    "SITEGEN_PRIVATE": "redact: {s3cret: x}",  # the redaction list
}
NEEDED = {
    "CUDA_LAUNCH_BLOCKING": "1",
    "TRITON_CACHE_DIR": "/tmp/triton",
    "TORCH_HOME": "/tmp/torch",
    "OMP_NUM_THREADS": "3",
}


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {**SECRETS, **NEEDED}.items():
        monkeypatch.setenv(name, value)


def printed(source: str) -> str:
    """Return the output of a cell."""
    cell = NotebookCell("look", source, Key("k"), timeout_s=60.0)
    result = run_notebook(NotebookJob("posts/p", "p", (cell,), {}))
    return "".join(output.text for output in result.cells[0].outputs)


def test_cell_that_prints_its_environment_shows_no_token() -> None:
    seen = printed("import json, os\nprint(json.dumps(dict(os.environ)))")
    assert "s3cret" not in seen
    variables = json.loads(seen)
    assert not SECRETS.keys() & variables.keys()
    assert variables.items() >= NEEDED.items()
    assert variables["PATH"] == os.environ["PATH"] and variables["HOME"] == os.environ["HOME"]


def test_command_of_a_cell_sees_no_token() -> None:
    assert "s3cret" not in printed(
        "import subprocess\nprint(subprocess.run('env', capture_output=True, text=True).stdout)"
    )
    assert "s3cret" not in printed("!env")


@pytest.mark.torch
def test_kernel_and_reference_that_write_their_environment_down_find_no_token(tmp_path: Path) -> None:
    site = tmp_path / "site"
    sitegen(tmp_path, "new", "site", "site")
    description = site / "kernels" / "axpy" / "kernel.yaml"
    small = description.read_text().replace("16777216", "1000").replace(", {N: 268435456}", "")
    description.write_text(small.replace("baselines: [torch]", "baselines: []"))
    for name in ("tile", "reference"):
        source = site / "kernels" / "axpy" / f"{name}.py"
        look = f"import os\nwith open({str(tmp_path / name)!r}, 'a') as file:\n    file.write(str(dict(os.environ)))\n"
        source.write_text(source.read_text() + look)
    sitegen(site, "bundle", "-o", "bundle.zip", "axpy/tile")
    sitegen(site, "run", "--bundle", "bundle.zip", "-o", "result.zip")
    for seen in (tmp_path / "tile", tmp_path / "reference"):
        assert "CUDA_LAUNCH_BLOCKING" in seen.read_text()
        assert "s3cret" not in seen.read_text()


def sitegen(folder: Path, *words: str) -> None:
    command = [sys.executable, "-m", "sitegen", *words]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
