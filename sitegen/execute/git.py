"""Run git on a site's folder and return what it prints.  Nothing that the repository configures is executed.

A repository can bring its own configuration: inside a copied `.git`, or as a bare repository that is embedded in an
ordinary clone.  Many keys of that configuration name a program, and git starts it.  Every call of git therefore goes
through `git`, which switches these keys off.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

_OVERRIDES = (
    "safe.bareRepository=explicit",  # an embedded bare repository is not taken for the site's repository
    "protocol.allow=never",
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.sshCommand=false",
    "core.gitProxy=",
    "core.askPass=",
    "core.editor=false",
    "core.pager=cat",
    "credential.helper=",
    "diff.external=",
    "gpg.program=false",
    "log.showSignature=false",
    "submodule.recurse=false",
)
_ENVIRONMENT = {
    # `protocol.allow` alone is not enough: a repository's `protocol.file.allow` is more specific and wins.  This
    # variable overrides all of them; no protocol is called `none`.
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
}
_KEPT = ("GIT_CONFIG_", "GIT_CEILING_DIRECTORIES", "GIT_EXEC_PATH")
"""Beginnings of the variables of git that are the user's own configuration.  The others, such as GIT_DIR, could lead to
another repository or name a program."""
_FILTERS = r"^filter\..*\.(clean|smudge|process|required)$"


def git(root: Path, *words: str) -> bytes | None:
    """Return the standard output of `git WORDS` in `root`; None when git fails or is not installed."""
    return _run(root, words, _without_filters(root) if words[0] == "status" else {})


def _without_filters(root: Path) -> dict[str, str]:
    """Return variables that empty every filter driver of the repository's configuration.

    `git status` gives changed files to `filter.<name>.clean`, a command line.  The drivers of the user's own
    configuration, such as Git LFS, stay.
    """
    listed = _run(root, ("config", "--includes", "--show-scope", "--null", "--name-only", "--get-regexp", _FILTERS), {})
    fields = (listed or b"").decode("utf-8", "surrogateescape").split("\0")
    keys = [key for scope, key in zip(fields[::2], fields[1::2], strict=False) if scope in ("local", "worktree")]
    # Variables, because a driver's name may hold a `=`, at which the option `-c` would end the key.
    first = _number(os.environ.get("GIT_CONFIG_COUNT", ""))
    variables = {"GIT_CONFIG_COUNT": str(first + len(keys))}
    for number, key in enumerate(keys, first):
        variables[f"GIT_CONFIG_KEY_{number}"] = key
        variables[f"GIT_CONFIG_VALUE_{number}"] = "false" if key.endswith(".required") else ""
    return variables


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() else 0


def _run(root: Path, words: tuple[str, ...], extra: dict[str, str]) -> bytes | None:
    options = [word for override in _OVERRIDES for word in ("-c", override)]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name.startswith(_KEPT)}
    command = ["git", "--no-pager", "-C", str(root), *options, *words]
    environment = kept | _ENVIRONMENT | extra
    try:
        done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    except OSError:
        return None
    return done.stdout if done.returncode == 0 else None
