"""The command that installs the running program again follows from the note of pip about its origin (PEP 610)."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import sitegen
from sitegen.read.distribution import InstallSource, install_source, parse_direct_url

COMMIT = "0123456789012345678901234567890123456789"


def test_from_the_index_it_is_the_same_version() -> None:
    assert InstallSource().requirement("gpu") == f"kernel-sitegen[gpu]=={sitegen.__version__}"
    assert InstallSource().command("gpu", "cuda") == "pip install 'kernel-sitegen[gpu,cuda]'"


def test_from_a_git_repository_it_is_the_same_commit() -> None:
    note = {"url": "https://example.org/a.git", "vcs_info": {"vcs": "git", "commit_id": COMMIT}}
    requirement = f"kernel-sitegen[gpu] @ git+https://example.org/a.git@{COMMIT}"
    assert parse_direct_url(note).requirement("gpu") == requirement
    assert parse_direct_url(note).command("gpu") == f"pip install '{requirement}'"


def test_from_a_wheel_on_the_web_it_is_that_wheel() -> None:
    note = {"url": "https://example.org/a.whl", "archive_info": {}}
    assert parse_direct_url(note).requirement() == "kernel-sitegen @ https://example.org/a.whl"


def test_a_wheel_of_this_machine_cannot_be_named_to_another(tmp_path: Path) -> None:
    wheel = tmp_path / "with a space.whl"
    wheel.write_bytes(b"")
    found = parse_direct_url({"url": wheel.as_uri(), "archive_info": {}})
    assert (found.requirement(), found.wheel) == ("", wheel)
    assert found.command("gpu") == f"pip install '{wheel}[gpu]'"
    wheel.unlink()
    assert found.wheel is None


@pytest.mark.parametrize(
    ("remote", "address"),
    [
        ("https://example.org/a.git", "git+https://example.org/a.git"),
        ("git@example.org:me/a.git", "git+https://example.org/me/a.git"),
        ("https://me:secret@example.org/a.git", ""),
        ("../elsewhere", ""),
        ("", ""),
    ],
)
def test_a_checkout_is_known_by_where_it_was_cloned_from(tmp_path: Path, remote: str, address: str) -> None:
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    if remote:
        subprocess.run(["git", "-C", str(tmp_path), "remote", "add", "origin", remote], check=True)
    found = parse_direct_url({"url": tmp_path.as_uri(), "dir_info": {"editable": True}})
    assert found == InstallSource(address, tmp_path, editable=True)
    assert found.command("gpu") == f"pip install -e '{tmp_path}[gpu]'"


def test_a_folder_inside_of_another_repository_is_not_taken_for_it(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    subprocess.run(["git", "-C", str(tmp_path), "remote", "add", "origin", "https://example.org/a.git"], check=True)
    (tmp_path / "unpacked").mkdir()
    found = parse_direct_url({"url": (tmp_path / "unpacked").as_uri(), "dir_info": {}})
    assert found == InstallSource(path=tmp_path / "unpacked")


def test_these_tests_run_a_checkout() -> None:
    assert install_source().path == Path(sitegen.__file__).parents[1]
