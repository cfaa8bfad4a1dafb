"""Where the running program was installed from, and so how to install it again, here or on another machine.

pip leaves a note of that beside an installed package, `direct_url.json` (PEP 610).
"""

from __future__ import annotations

import contextlib
import json
import re
import shlex
import subprocess
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from urllib.parse import unquote, urlsplit

import sitegen

NAME = "kernel-sitegen"
"""The distribution.  On the package index `sitegen` is another project; the command and the import are `sitegen`."""
_SSH = re.compile(r"(?:ssh://)?git@([^:/]+)[:/](.+)")


@dataclass(frozen=True, slots=True)
class Source:
    """Where the program came from: an address that every machine reaches, or a path of this one; or the index."""

    address: str = ""
    """`git+https://…`, or the URL of a wheel; empty when no other machine can reach it."""
    path: Path | None = None
    """A wheel, or the folder of a checkout, on this machine."""
    editable: bool = False

    @property
    def published(self) -> bool:
        """Whether it came from a package index."""
        return not self.address and self.path is None

    @property
    def wheel(self) -> Path | None:
        """The file, when it still stands where it was installed from."""
        return self.path if self.path and self.path.suffix == ".whl" and self.path.is_file() else None

    def requirement(self, *extras: str) -> str:
        """A line of a requirements file for another machine; empty when that could not reach it."""
        name = NAME + _in_brackets(extras)
        return (
            f"{name} @ {self.address}" if self.address else f"{name}=={sitegen.__version__}" if self.published else ""
        )

    def command(self, *extras: str) -> str:
        """What to type on this machine to get these extras too."""
        if self.path is None:
            return f"pip install {shlex.quote(self.requirement(*extras).partition('==')[0])}"
        return f"pip install {'-e ' if self.editable else ''}{shlex.quote(f'{self.path}{_in_brackets(extras)}')}"


def source() -> Source:
    """Of the running program.  One that lies in a folder without having been installed is a checkout."""
    try:
        note = distribution(NAME).read_text("direct_url.json")
    except PackageNotFoundError:
        folder = Path(__file__).parents[2]
        return _of_checkout(folder, editable=True) if (folder / "pyproject.toml").is_file() else Source()
    return of_note(json.loads(note)) if note else Source()


def install_command(*extras: str) -> str:
    """`pip install 'kernel-sitegen[diagrams]'`, from wherever the running program came."""
    return source().command(*extras)


def of_note(note: dict[str, object]) -> Source:
    """Read a `direct_url.json`."""
    url, vcs, folder = str(note["url"]), note.get("vcs_info"), note.get("dir_info")
    if isinstance(vcs, dict):
        return Source(f"{vcs['vcs']}+{url}@{vcs['commit_id']}")
    path = Path(unquote(urlsplit(url).path))
    if isinstance(folder, dict):
        return _of_checkout(path, editable=bool(folder.get("editable")))
    return Source(path=path) if url.startswith("file:") else Source(url)


def _of_checkout(folder: Path, *, editable: bool) -> Source:
    """With the address of the repository that it was cloned from, when it has one."""
    remote = ""
    if (folder / ".git").exists():  # else git would answer for a repository around it
        with contextlib.suppress(FileNotFoundError):
            command = ["git", "-C", str(folder), "remote", "get-url", "origin"]
            remote = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    url = _SSH.sub(r"https://\1/\2", remote)
    plain = url.startswith("https://") and "@" not in url  # an address with a password is nobody else's business
    return Source(f"git+{url}" if plain else "", folder, editable)


def _in_brackets(extras: tuple[str, ...]) -> str:
    return f"[{','.join(extras)}]" if extras else ""
