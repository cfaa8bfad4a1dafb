"""Fixtures: a site that a stranger could commit, beside files that no command may read, write or remove."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

SECRET = "a-secret-of-this-machine"
FILES = {
    "content/site.yaml": "title: Notes\nbase_url: https://example.org/\n",
    "content/posts/first.md": "---\ntitle: First\ndate: 2026-11-20\n---\nThe first text.\n",
    "content/posts/x/index.md": "---\ntitle: X\ndate: 2026-11-21\n---\nA [file](data.txt).\n",
    "content/posts/x/data.txt": "data",
}
MEMORY = 4 * 2**30
Command = Callable[..., subprocess.CompletedProcess[str]]


class Run:
    """The result of a command of sitegen."""

    def __init__(self, done: subprocess.CompletedProcess[str]) -> None:
        self.status, self.said = done.returncode, done.stdout + done.stderr

    @property
    def refused(self) -> bool:
        """True if the command ended with messages for the author and without a traceback."""
        return self.status == 1 and "error[" in self.said and "Traceback" not in self.said


class Attacked:
    """A site, and the files beside it."""

    def __init__(self, folder: Path, run_command: Command) -> None:
        self._run_command = run_command
        self.root, self.victim, self.cache = folder / "site", folder / "victim", folder / "cache"
        for path, text in FILES.items():
            self.write(path, text)
        self.victim.mkdir()
        (self.victim / "secret").write_text(SECRET)
        self.before = self.files(self.victim)

    def write(self, path: str, text: str | bytes) -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_bytes(text.encode() if isinstance(text, str) else text)

    def link(self, path: str, target: str | Path) -> None:
        """Put a link in the place of a file, as a repository can bring it."""
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).unlink(missing_ok=True)
        (self.root / path).symlink_to(target)

    def run(self, *words: str, cwd: Path | None = None, **variables: str) -> Run:
        """Run a command of sitegen; the test fails if the command takes a minute or too much memory."""
        variables = {"XDG_CACHE_HOME": str(self.cache), "TOKEN_OF_CI": SECRET, **variables}
        return Run(self._run_command(cwd or self.root, *words, memory_bytes=MEMORY, **variables))

    @staticmethod
    def files(folder: Path) -> dict[str, bytes]:
        found = folder.rglob("*")
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found if path.is_file()}

    @property
    def untouched(self) -> bool:
        """True if the files beside the site are unchanged."""
        return self.files(self.victim) == self.before

    @property
    def published(self) -> bytes:
        """The content of every file in the output."""
        return b"".join(self.files(self.root / "public").values())


@pytest.fixture
def site(tmp_path: Path, run_command: Command) -> Attacked:
    return Attacked(tmp_path, run_command)


@pytest.fixture
def made_by_sitegen() -> Callable[[Attacked], None]:
    """Commit an output that looks as if sitegen had made it."""

    def commit(site: Attacked) -> None:
        site.write("public/index.html", '<!doctype html><meta name="generator" content="sitegen"><title>Home</title>')

    return commit
