"""Commands that are killed, run out of disk, may not write, or run twice at once: nothing lost, nothing half written.

Each command is first run whole, twice as two states of the site: before and after.  After a fault every file has the
bytes of one of them, and running the command again gives those of the second.  `make soak` kills each command a hundred
times; with `--capture=no` it prints a line for each fault, from which the table in the manual was made.
"""

from __future__ import annotations

import os
import random
import re
import runpy
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
machine = SimpleNamespace(**runpy.run_path(str(ROOT / "tests" / "attacks" / "gpu_machine.py")))
Files = dict[str, bytes]
Command = Callable[..., subprocess.CompletedProcess[str]]
TEMPORARY = re.compile(r"(^|/)\.[^/]+\.\d+$")
"""A file that `inside.write_bytes` was writing: hidden, and ending with the number of a process."""
SITE = "title: Notes\nbase_url: https://example.org/\n"
LOG = "11/02/26 (T - 59)\n\nThe cafÃ© and rings.\n\n11/03/26 (T - 5)\n\n[Rings](https://example.org/b\n"


def files_below(root: Path) -> Files:
    """Return the files of a site, without git's."""
    found = (path for path in sorted(root.rglob("*")) if path.is_file() and not path.is_symlink())
    inner = ((path.relative_to(root).as_posix(), path) for path in found)
    return {name: path.read_bytes() for name, path in inner if not name.startswith(".git/")}


@dataclass(frozen=True)
class Case:
    """A command, and the site in the state in which the command begins."""

    name: str
    words: tuple[str, ...]
    start: Path
    state: Path
    """The folder of caches and of what `bundle` remembers; each try has a copy."""
    before: Files
    after: Files
    seconds: float
    ends: int = 0
    """The exit code of the whole command."""


class Try:
    """A copy of the site of a case, in which the command meets a fault."""

    def __init__(self, case: Case, folder: Path, run: Command) -> None:
        self.case, self.run_command = case, run
        self.root, self.state = folder / "site", folder / "state"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(case.start, self.root, symlinks=True)
        shutil.copytree(case.state, self.state)

    def run(self, **faults: Any) -> subprocess.CompletedProcess[str]:
        given = {"XDG_CACHE_HOME": str(self.state), "XDG_STATE_HOME": str(self.state)}
        return self.run_command(self.root, *self.case.words, **given, **faults)

    def faulty(self) -> list[str]:
        """Return each file that has neither its old nor its new content, or that is gone."""
        now = files_below(self.root)
        known = [*self.case.before, *self.case.after]
        torn = [name for name, data in now.items() if not TEMPORARY.search(name) and not self._is_whole(name, data)]
        return torn + [name for name in known if name not in now and self._must_be_there(name)]

    def _is_whole(self, name: str, data: bytes) -> bool:
        return data in (self.case.before.get(name), self.case.after.get(name))

    def _must_be_there(self, name: str) -> bool:
        return name in self.case.before and name in self.case.after

    def ends_right(self) -> bool:
        """Run the command again, and tell whether the site is then as after one whole command."""
        done = self.run()
        now = {name: data for name, data in files_below(self.root).items() if not TEMPORARY.search(name)}
        return "Traceback" not in done.stderr and now == self.case.after


def make_build(root: Path, run: Command, given: dict[str, str]) -> tuple[str, ...]:
    write(root, "content/site.yaml", SITE)
    for number in range(12):
        write(
            root, f"content/posts/p{number}.md", f"---\ntitle: P{number}\ndate: 2026-11-0{number % 9 + 1}\n---\nText.\n"
        )
    assert run(root, "build", "--as-of", "2026-11-30", **given).returncode == 0
    write(root, "content/posts/p3.md", "---\ntitle: Another\ndate: 2026-11-04\ntags: [new]\n---\nOther words.\n")
    (root / "content/posts/p5.md").unlink()
    return "build", "--as-of", "2026-11-30"


def make_accept(root: Path, run: Command, given: dict[str, str]) -> tuple[str, ...]:
    machine.make_site(root)
    bundle, result = root / ".git" / "bundle.zip", root / ".git" / "result.zip"
    assert run(root, "bundle", "--all", "-o", str(bundle), **given).returncode == 0
    machine.answer(bundle, result)
    assert run(root, "accept", ".git/result.zip", **given).returncode == 0
    bundle.unlink()
    assert run(root, "bundle", "--all", "-o", str(bundle), **given).returncode == 0
    machine.answer(bundle, result, times={**machine.TIMES, "right": 545.0}, run="2026-01-23T06:00:00Z")
    return "accept", ".git/result.zip"


def make_import(root: Path, run: Command, given: dict[str, str]) -> tuple[str, ...]:
    write(root, "content/site.yaml", SITE)
    write(root, "content/posts/a.md", "---\ntitle: A\ndate: 2026-11-20\n---\nMine.\n")
    write(root, ".git/old/_config.yml", "title: Old\n")
    for number in range(1, 20):
        text = f"---\ntitle: Old {number}\n---\nWords of the day {number}.\n"
        write(root, f".git/old/_posts/2024-01-{number:02}-old-{number}.md", text)
    return "import", "jekyll", ".git/old", "--into", "."


def make_fix(root: Path, run: Command, given: dict[str, str]) -> tuple[str, ...]:
    write(root, "content/site.yaml", SITE)
    write(root, "content/worklog/log.md", LOG)
    for number in range(6):
        text = f"---\ntitle: P{number}\ndate: 2026-11-0{number + 1}\ndescripton: Words.\n---\nText.\n"
        write(root, f"content/posts/p{number}.md", text)
    return "check", "--fix", "--force", "--as-of", "2026-11-30"


MAKERS = {"build": make_build, "accept": make_accept, "import": make_import, "check --fix": make_fix}


def write(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text, encoding="utf-8")


@pytest.fixture(scope="module", params=MAKERS)
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, run_command: Command) -> Case:
    folder = tmp_path_factory.mktemp("case")
    start, state, whole = folder / "start", folder / "state", folder / "whole"
    for one in (start, state):
        one.mkdir()
    given = {"XDG_CACHE_HOME": str(state), "XDG_STATE_HOME": str(state)}
    words = MAKERS[request.param](start, run_command, given)
    case = Case(request.param, words, start, state, files_below(start), {}, 0.0)
    first = Try(case, whole, run_command)
    began = time.monotonic()
    done = first.run()
    assert "Traceback" not in done.stderr, done.stderr
    after = files_below(first.root)
    assert after != case.before
    return Case(request.param, words, start, state, case.before, after, time.monotonic() - began, done.returncode)


def outcome(case: Case, fault: str, torn: list[list[str]], wrong: int, left: int) -> None:
    """Print a row of the crash table, and fail unless nothing was lost and the next run was right."""
    print(f"{case.name} | {fault} | {len(torn)} | {sum(map(bool, torn))} | {wrong} | {left}", file=sys.__stdout__)
    assert not any(torn), next(filter(None, torn))
    assert wrong == 0


@pytest.mark.parametrize("kills", [2, pytest.param(100, marks=pytest.mark.soak)])
def test_a_killed_command(case: Case, kills: int, tmp_path: Path, run_command: Command) -> None:
    chance = random.Random(kills)
    torn, wrong, left = [], 0, 0
    for _ in range(kills):
        one = Try(case, tmp_path / "try", run_command)
        one.run(seconds=max(0.001, chance.random() * case.seconds * 1.1))
        torn.append(one.faulty())
        left += sum(1 for name in files_below(one.root) if TEMPORARY.search(name))
        wrong += not one.ends_right()
    outcome(case, "SIGALRM at a random moment", torn, wrong, left)


@pytest.mark.parametrize("tries", [1, pytest.param(20, marks=pytest.mark.soak)])
def test_a_disk_that_is_full(case: Case, tries: int, tmp_path: Path, run_command: Command) -> None:
    """No file can grow beyond a random size (RLIMIT_FSIZE): a write fails in the middle, as on a full disk."""
    chance = random.Random(tries)
    torn, wrong, left = [], 0, 0
    for _ in range(tries):
        one = Try(case, tmp_path / "try", run_command)
        done = one.run(file_bytes=chance.choice([0, 1, 100, 1000, 4096]))
        assert "Traceback" not in done.stderr, done.stderr
        torn.append(one.faulty())
        left += sum(1 for name in files_below(one.root) if TEMPORARY.search(name))
        wrong += not one.ends_right()
    outcome(case, "full disk", torn, wrong, left)


def test_folders_that_are_read_only(case: Case, tmp_path: Path, run_command: Command) -> None:
    one = Try(case, tmp_path / "try", run_command)
    folders = [one.root, *(path for path in one.root.rglob("*") if path.is_dir() and ".git" not in path.parts)]
    for folder in folders:
        folder.chmod(0o555)
    done = one.run(privileged=False)
    now = files_below(one.root)
    for folder in folders:
        folder.chmod(0o755)
    assert done.returncode == 1 and "error" in done.stderr and "Traceback" not in done.stderr, done.stderr
    assert now == case.before
    outcome(case, "read-only folders", [one.faulty()], not one.ends_right(), 0)


def test_two_at_once(case: Case, tmp_path: Path, run_command: Command) -> None:
    one = Try(case, tmp_path / "try", run_command)
    given = {**os.environ, "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(one.state), "XDG_STATE_HOME": str(one.state)}
    command = [sys.executable, "-m", "sitegen", *case.words]
    several = [
        subprocess.Popen(command, cwd=one.root, env=given, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    said = [process.communicate(timeout=60)[1] for process in several]
    assert not [words for words in said if "Traceback" in words], said
    outcome(case, "two at once", [one.faulty()], not one.ends_right(), 0)


def test_a_clock_that_goes_back(case: Case, tmp_path: Path, run_command: Command) -> None:
    """Every file is from the year 2037: what is written now is older than what was there."""
    one = Try(case, tmp_path / "try", run_command)
    for folder in (one.root, one.state):
        for path in folder.rglob("*"):
            os.utime(path, (2_114_380_800, 2_114_380_800), follow_symlinks=False)
    assert one.ends_right()
    outcome(case, "clock back", [one.faulty()], not one.ends_right(), 0)


@pytest.mark.parametrize(
    "variables", [{"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, {"LC_ALL": "tr_TR"}]
)
def test_an_odd_locale_and_an_odd_path(
    case: Case, variables: dict[str, str], tmp_path: Path, run_command: Command
) -> None:
    one = Try(case, tmp_path / "a b\n'ü\"$(id)*", run_command)
    given = {**os.environ, "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(one.state), "XDG_STATE_HOME": str(one.state)}
    command = [sys.executable, "-m", "sitegen", *case.words]
    done = subprocess.run(
        command, cwd=one.root, env={**given, **variables}, capture_output=True, check=False, timeout=60
    )
    assert b"Traceback" not in done.stderr, done.stderr.decode()
    assert files_below(one.root) == case.after
    outcome(case, f"{variables['LC_ALL']} and an odd path", [one.faulty()], not one.ends_right(), 0)
