"""The wheel: everything that a site needs, nothing that belongs to the project."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MB = 1_000_000


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    dist = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(dist)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return zipfile.ZipFile(next(dist.glob("sitegen-*.whl")))


def files_below(folder: Path) -> set[str]:
    """Relative paths of what git would keep."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "."],
        cwd=folder, check=True, capture_output=True, text=True,
    ).stdout.splitlines()  # fmt: skip
    return {path for path in listed if (folder / path).is_file()}


def test_every_file_of_the_program_is_in_it(wheel: zipfile.ZipFile) -> None:
    assert {f"sitegen/{path}" for path in files_below(ROOT / "sitegen")} <= set(wheel.namelist())


def test_default_theme_is_in_it(wheel: zipfile.ZipFile) -> None:
    names = set(wheel.namelist())
    theme = {f"sitegen/theme/{path}" for path in files_below(ROOT / "templates")}
    assert theme <= names
    assert {"sitegen/theme/post.html", "sitegen/theme/assets/site.css"} <= names


def test_math_needs_nothing_that_is_not_in_it(wheel: zipfile.ZipFile) -> None:
    vendored = [name for name in wheel.namelist() if name.startswith("sitegen/markup/vendor/")]
    assert any(name.endswith(".js") for name in vendored)
    assert any("LICENSE" in name or "LICENCE" in name for name in vendored)


def test_workflows_of_a_new_site_are_in_it(wheel: zipfile.ZipFile) -> None:
    assert {"sitegen/starter/workflows/site.yml", "sitegen/starter/workflows/kernels.yml"} <= set(wheel.namelist())


def test_nothing_else_is_in_it(wheel: zipfile.ZipFile) -> None:
    assert {name.split("/")[0] for name in wheel.namelist()} == {"sitegen", "sitegen-0.1.0.dist-info"}
    assert not [name for name in wheel.namelist() if "__pycache__" in name or name.endswith(".pyc")]
    assert sum(info.compress_size for info in wheel.infolist()) < MB


def test_it_asks_for_neither_torch_nor_cuda(wheel: zipfile.ZipFile) -> None:
    metadata = wheel.read("sitegen-0.1.0.dist-info/METADATA").decode()
    required = [line for line in metadata.splitlines() if line.startswith("Requires-Dist:") and "extra ==" not in line]
    assert required
    assert not [line for line in required if any(word in line for word in ("torch", "triton", "cuda", "numpy"))]
