"""Find where the running program was installed from, to say how to install it again, here or on another machine.

pip writes the origin of a package into the file `direct_url.json` beside it (PEP 610).
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
"""Name of the distribution: on the package index `sitegen` is another project."""
_SSH = re.compile(r"(?:ssh://)?git@([^:/]+)[:/](.+)")


@dataclass(frozen=True, slots=True)
class InstallSource:
    """The origin of the program: an address that every machine reaches, a path of this machine, or the index."""

    address: str = ""
    """`git+https://…`, or the URL of a wheel; empty when no other machine can reach it."""
    path: Path | None = None
    """Path of a wheel, or of the folder of a checkout, on this machine."""
    editable: bool = False

    @property
    def published(self) -> bool:
        """Tell whether it came from a package index."""
        return not self.address and self.path is None

    @property
    def wheel(self) -> Path | None:
        """Path of the wheel, when the file still exists."""
        return self.path if self.path and self.path.suffix == ".whl" and self.path.is_file() else None

    def requirement(self, *extras: str) -> str:
        """Return a line of a requirements file for another machine; empty when no other machine reaches the origin."""
        name = NAME + _in_brackets(extras)
        return (
            f"{name} @ {self.address}" if self.address else f"{name}=={sitegen.__version__}" if self.published else ""
        )

    def command(self, *extras: str) -> str:
        """Return the command that installs these extras on this machine."""
        if self.path is None:
            return f"pip install {shlex.quote(self.requirement(*extras).partition('==')[0])}"
        return f"pip install {'-e ' if self.editable else ''}{shlex.quote(f'{self.path}{_in_brackets(extras)}')}"


def install_source() -> InstallSource:
    """Return the origin of the running program.  A program that was never installed runs from a checkout."""
    try:
        note = distribution(NAME).read_text("direct_url.json")
    except PackageNotFoundError:
        folder = Path(__file__).parents[2]
        return _of_checkout(folder, editable=True) if (folder / "pyproject.toml").is_file() else InstallSource()
    return parse_direct_url(json.loads(note)) if note else InstallSource()


def install_command(*extras: str) -> str:
    """Return the command that installs extras from the program's origin: `pip install 'kernel-sitegen[diagrams]'`."""
    return install_source().command(*extras)


def parse_direct_url(note: dict[str, object]) -> InstallSource:
    """Return the origin in the content of a `direct_url.json`."""
    url, vcs, folder = str(note["url"]), note.get("vcs_info"), note.get("dir_info")
    if isinstance(vcs, dict):
        return InstallSource(f"{vcs['vcs']}+{url}@{vcs['commit_id']}")
    path = Path(unquote(urlsplit(url).path))
    if isinstance(folder, dict):
        return _of_checkout(path, editable=bool(folder.get("editable")))
    return InstallSource(path=path) if url.startswith("file:") else InstallSource(url)


def _of_checkout(folder: Path, *, editable: bool) -> InstallSource:
    """Return a checkout as origin, with the address of the repository that it was cloned from, when it has one."""
    remote = ""
    if (folder / ".git").exists():  # else git would answer for a repository around it
        with contextlib.suppress(FileNotFoundError):
            command = ["git", "-C", str(folder), "remote", "get-url", "origin"]
            remote = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    url = _SSH.sub(r"https://\1/\2", remote)
    plain = url.startswith("https://") and "@" not in url  # an address with a password stays secret
    return InstallSource(f"git+{url}" if plain else "", folder, editable)


def _in_brackets(extras: tuple[str, ...]) -> str:
    return f"[{','.join(extras)}]" if extras else ""
