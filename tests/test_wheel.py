"""The wheel contains everything that a site needs, and nothing else of the project."""

import os
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
    return zipfile.ZipFile(next(dist.glob("kernel_sitegen-*.whl")))


def files_below(folder: Path) -> set[str]:
    """Return relative paths of the files that git would keep."""
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
    assert {name.split("/")[0] for name in wheel.namelist()} == {"sitegen", "kernel_sitegen-0.1.0.dist-info"}
    assert not [name for name in wheel.namelist() if "__pycache__" in name or name.endswith(".pyc")]
    assert sum(info.compress_size for info in wheel.infolist()) < 1.7 * MB


def test_it_asks_for_neither_torch_nor_cuda(wheel: zipfile.ZipFile) -> None:
    metadata = wheel.read("kernel_sitegen-0.1.0.dist-info/METADATA").decode()
    required = [line for line in metadata.splitlines() if line.startswith("Requires-Dist:") and "extra ==" not in line]
    assert required
    assert not [line for line in required if any(word in line for word in ("torch", "triton", "cuda", "numpy"))]


def test_its_name_is_not_that_of_somebody_elses_project(wheel: zipfile.ZipFile) -> None:
    metadata = wheel.read("kernel_sitegen-0.1.0.dist-info/METADATA").decode()
    assert "\nName: kernel-sitegen\n" in metadata
    assert "sitegen = sitegen.cli:main" in wheel.read("kernel_sitegen-0.1.0.dist-info/entry_points.txt").decode()
    assert not [line for line in metadata.splitlines() if line.startswith("Requires-Dist: sitegen")]


def test_a_site_made_by_an_installed_wheel_can_install_it_again(wheel: zipfile.ZipFile, tmp_path: Path) -> None:
    """In a fresh clone on another machine, the wheel is in the repository, and the workflows' lines name it."""
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--disable-pip-version-check"]
    there, elsewhere, site = tmp_path / "there", tmp_path / "elsewhere", tmp_path / "site"
    subprocess.run([*pip, "--target", str(there), str(wheel.filename)], check=True)
    subprocess.run(
        [sys.executable, "-m", "sitegen", "new", "site", str(site)],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(there)},
        check=True,
    )
    (line,) = (site / ".github/requirements.txt").read_text().splitlines()
    (on_a_gpu,) = (site / ".github/requirements-gpu.txt").read_text().splitlines()
    assert on_a_gpu == f"{line}[cluster,cuda,gpu]"
    for file in ("requirements.txt", "requirements-gpu.txt"):
        target = ["--target", str(elsewhere / file), "--requirement", f".github/{file}"]
        subprocess.run([*pip, *target], cwd=site, check=True)
        assert (elsewhere / file / "sitegen" / "theme" / "post.html").is_file()


def test_its_bill_of_materials_and_the_licences_of_others_are_in_it(wheel: zipfile.ZipFile) -> None:
    folder = "kernel_sitegen-0.1.0.dist-info"
    assert wheel.read(f"{folder}/sboms/sbom.cdx.json") == (ROOT / "sbom.cdx.json").read_bytes()
    assert f"{folder}/licenses/THIRD_PARTY.md" in wheel.namelist()
