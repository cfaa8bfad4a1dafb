"""A repository whose configuration names programs: `bundle` and `compare` call git, which starts none of them.

Each test writes a configuration as a copied `.git`, or an embedded bare repository, can bring it.
"""

from __future__ import annotations

import datetime as dt
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from sitegen.write.scaffold import create, new_site_files

Command = Callable[..., subprocess.CompletedProcess[str]]
IDENTITY = ("-c", "user.name=Author", "-c", "user.email=author@example.org")


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", *IDENTITY, *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def commit(folder: Path) -> None:
    git(folder, "init", "--quiet", "--initial-branch", "main")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message", "a site")


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A repository with one commit, which is a new site."""
    root = tmp_path / "site"
    create(root, new_site_files("Kernels", dt.date(2026, 11, 21)))
    commit(root)
    return root


@pytest.fixture
def marker(tmp_path: Path) -> Path:
    """The path of the file that `program` creates when it is started."""
    return tmp_path / "it-ran"


@pytest.fixture
def program(tmp_path: Path, marker: Path) -> Path:
    """The path of a program that a configuration can name: it creates the marker and ends."""
    path = tmp_path / "program"
    path.write_text(f"#!/bin/sh\ntouch '{marker}'\n")
    path.chmod(0o755)
    return path


def bundle(run_command: Command, site: Path, **variables: str) -> None:
    done = run_command(site, "bundle", "-o", "bundle.zip", **variables)
    assert done.returncode == 0 and (site / "bundle.zip").is_file(), done.stderr


@pytest.mark.parametrize("key", ["core.fsmonitor", "core.hooksPath", "filter.x.clean", "filter.x.process"])
def test_bundle_starts_no_program_that_the_configuration_names(
    site: Path, program: Path, marker: Path, key: str, run_command: Command
) -> None:
    value = program
    if key == "core.hooksPath":
        value = program.with_name("hooks")
        value.mkdir()
        shutil.copy(program, value / "post-index-change")
    git(site, "config", key, str(value))
    (site / ".git" / "info" / "attributes").write_text("*.md filter=x\n")
    about = site / "content" / "pages" / "about.md"
    about.write_text(about.read_text().replace("Every", "Evers"))  # as long as before: git must read it to compare
    os.utime(site / "series" / "first-steps.yaml", (1, 1))  # git notes the new time in its index, and calls a hook
    bundle(run_command, site)
    assert not marker.exists()


def test_filter_whose_name_holds_an_equals_sign_is_switched_off(
    site: Path, program: Path, marker: Path, run_command: Command
) -> None:
    git(site, "config", "filter.a=b.clean", str(program))
    (site / ".git" / "info" / "attributes").write_text("*.md filter=a=b\n")
    (site / "content" / "pages" / "about.md").write_text("---\ntitle: Changed\n---\n")
    bundle(run_command, site)
    assert not marker.exists()


def test_filter_of_an_included_configuration_is_switched_off(
    site: Path, program: Path, marker: Path, run_command: Command
) -> None:
    (site / ".git" / "more").write_text(f'[filter "x"]\n\tclean = {program}\n\trequired = true\n')
    git(site, "config", "include.path", "more")
    (site / ".git" / "info" / "attributes").write_text("*.md filter=x\n")
    (site / "content" / "pages" / "about.md").write_text("---\ntitle: Changed\n---\n")
    bundle(run_command, site)
    assert not marker.exists()


def test_embedded_bare_repository_is_not_taken_for_the_repository_of_the_site(
    tmp_path: Path, site: Path, program: Path, marker: Path, run_command: Command
) -> None:
    """An ordinary commit can hold the files of a bare repository, with a configuration, beside those of a site."""
    bare = tmp_path / "bare.git"
    git(tmp_path, "clone", "--quiet", "--bare", "site", bare.name)
    git(bare, "config", "core.bare", "false")
    git(bare, "config", "core.worktree", ".")
    git(bare, "config", "core.fsmonitor", str(program))
    outer = tmp_path / "outer"
    shutil.copytree(site, outer / "site", ignore=shutil.ignore_patterns(".git"))
    for part in ("HEAD", "config", "objects", "refs", "packed-refs"):
        copy = shutil.copytree if (bare / part).is_dir() else shutil.copy
        copy(bare / part, outer / "site" / part)
    (outer / "site" / "refs" / "keep").touch()  # git keeps no empty folders
    commit(outer)
    git(tmp_path, "clone", "--quiet", "outer", "clone")
    bundle(run_command, tmp_path / "clone" / "site")
    assert not marker.exists()


def test_program_of_a_submodule_is_not_started(
    tmp_path: Path, site: Path, program: Path, marker: Path, run_command: Command
) -> None:
    allowed = ("-c", "protocol.file.allow=always")
    git(site, *allowed, "submodule", "--quiet", "add", str(site), "inner")
    git(site, "commit", "--quiet", "--message", "with a submodule")
    git(site / "inner", "config", "core.fsmonitor", str(program))
    run_command(site, "bundle", "-o", "bundle.zip")
    assert not marker.exists()


def without_a_blob(site: Path) -> None:
    """Remove a record from the object database of a partial clone: git fetches it when a command needs it."""
    record = site / "kernels" / "axpy" / "results" / "a-gpu.json"
    record.parent.mkdir()
    record.write_text("{}\n")
    git(site, "add", ".")
    git(site, "commit", "--quiet", "--message", "a record")
    blob = git(site, "rev-parse", "HEAD:kernels/axpy/results/a-gpu.json")
    (site / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    record.unlink()
    git(site, "config", "core.repositoryFormatVersion", "1")
    git(site, "config", "extensions.partialClone", "origin")
    git(site, "config", "remote.origin.promisor", "true")


@pytest.mark.parametrize("allowed", ["", "protocol.file.allow", "protocol.ext.allow", "protocol.ssh.allow"])
def test_compare_fetches_nothing_from_a_remote_that_names_a_program(
    site: Path, program: Path, marker: Path, allowed: str, run_command: Command
) -> None:
    without_a_blob(site)
    ssh, ext = "ssh" in allowed, "ext" in allowed
    url = "ssh://host.invalid/site" if ssh else f"ext::{program}" if ext else f"file://{site}"
    git(site, "config", "remote.origin.url", url)
    git(site, "config", "remote.origin.uploadpack", str(program))
    git(site, "config", "core.sshCommand", str(program))
    if allowed:  # this key of the repository is more specific than `protocol.allow`
        git(site, "config", allowed, "always")
    run_command(site, "compare", "HEAD")
    assert not marker.exists()


def test_variables_of_git_do_not_lead_to_another_repository(
    tmp_path: Path, site: Path, program: Path, marker: Path, run_command: Command
) -> None:
    """A hook of another repository sets GIT_DIR and GIT_INDEX_FILE."""
    other = tmp_path / "other"
    other.mkdir()
    (other / "file").touch()
    commit(other)
    git(other, "config", "core.fsmonitor", str(program))
    bundle(run_command, site, GIT_DIR=str(other / ".git"), GIT_WORK_TREE=str(other), GIT_EXTERNAL_DIFF=str(program))
    assert not marker.exists()


def test_a_word_of_compare_is_a_revision_and_never_an_option(site: Path, run_command: Command) -> None:
    done = run_command(site, "compare", "--", "--output=pwned")
    assert done.returncode == 2 and "no revision" in done.stderr
    assert not (site / "pwned").exists()
