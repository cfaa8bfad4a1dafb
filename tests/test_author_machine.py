"""A build gives the same bytes on every machine, without torch, CUDA, numpy and a network."""

import datetime as dt
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sitegen.write.scaffold import create, new_site_files

ROOT = Path(__file__).parent.parent
TODAY = "2026-11-27"

POOR_MACHINE = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"torch", "triton", "numpy", "cuda", "cupy"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

def offline(event, args):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.bind"):
        raise OSError(f"no network: {event} {args}")

sys.meta_path.insert(0, Absent())
sys.addaudithook(offline)
"""
"""A sitecustomize for every Python process that a build starts."""


def sitegen(site: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "sitegen", *words]
    env = {**os.environ, "PYTHONPATH": "", **environment}
    return subprocess.run(command, cwd=site, env=env, capture_output=True, text=True, check=False)


def build(site: Path, **environment: str) -> dict[str, bytes]:
    """Return the built files by path."""
    built = sitegen(site, "build", "--as-of", TODAY, **environment)
    assert built.returncode == 0, built.stderr
    public = site / "public"
    return {file.relative_to(public).as_posix(): file.read_bytes() for file in public.rglob("*") if file.is_file()}


@pytest.fixture(scope="module")
def poor_machine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("poor")
    (folder / "sitecustomize.py").write_text(POOR_MACHINE)
    return folder


@pytest.fixture(scope="module")
def new_site(poor_machine: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new site, built on the poor machine."""
    folder = tmp_path_factory.mktemp("author") / "site"
    create(folder, new_site_files("Kernels", dt.date(2026, 11, 21)))
    assert "index.html" in build(folder, PYTHONPATH=str(poor_machine))
    return folder


def copy_project(folder: Path) -> None:
    for room in ("content", "series", "kernels"):
        shutil.copytree(ROOT / room, folder / room, ignore=shutil.ignore_patterns("__pycache__"))


def test_poor_machine_has_neither_torch_nor_a_network(poor_machine: Path) -> None:
    for code, error in [
        ("import torch", "ModuleNotFoundError"),
        ("from cuda.core import Device", "ModuleNotFoundError"),
        ("import socket; socket.create_connection(('127.0.0.1', 9))", "no network"),
    ]:
        env = {**os.environ, "PYTHONPATH": str(poor_machine)}
        ran = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
        assert error in ran.stderr


@pytest.mark.parametrize("command", [["check"], ["status"], ["--help"], ["build", "--help"], ["bundle", "-o", "b.zip"]])
def test_every_command_of_an_author_works_on_the_poor_machine(
    new_site: Path, poor_machine: Path, command: list[str]
) -> None:
    ran = sitegen(new_site, *command, PYTHONPATH=str(poor_machine))
    assert ran.returncode == 0, ran.stderr


@pytest.fixture(scope="module")
def on_two_machines(poor_machine: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[Path, dict[str, bytes]]:
    """The files of this project's site by folder, from builds in two folders, at two times, in two languages.

    The first of the machines is the poor one.
    """
    folder, poor = tmp_path_factory.mktemp("machines"), str(poor_machine)
    settings = {
        folder / "one": {"TZ": "Pacific/Kiritimati", "PYTHONHASHSEED": "1", "LANG": "C.UTF-8", "PYTHONPATH": poor},
        folder / "deeper/down/two": {"TZ": "Pacific/Pago_Pago", "PYTHONHASHSEED": "2", "LANG": "C"},
    }
    for site in settings:
        copy_project(site)
    return {site: build(site, **variables) for site, variables in settings.items()}


def test_whole_site_is_built_without_torch_cuda_numpy_and_network(
    on_two_machines: dict[Path, dict[str, bytes]],
) -> None:
    poor, _ = on_two_machines.values()
    assert {"index.html", "404.html", "feed.xml", "sitemap.xml"} <= set(poor)


def test_two_machines_make_the_same_bytes(on_two_machines: dict[Path, dict[str, bytes]]) -> None:
    one, two = on_two_machines.values()
    assert one.keys() == two.keys()
    assert [path for path in one if one[path] != two[path]] == []


def test_output_holds_nothing_of_the_machine_that_made_it(on_two_machines: dict[Path, dict[str, bytes]]) -> None:
    for site, files in on_two_machines.items():
        traces = (str(site.parent).encode(), str(ROOT).encode())
        assert [path for path, data in files.items() if any(trace in data for trace in traces)] == []
