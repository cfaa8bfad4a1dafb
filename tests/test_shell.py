"""What shells, `man` and containers read of the program: completion, the manual page, the Dockerfiles."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from sitegen.cli import main
from sitegen.cli.shell import SHELLS, commands

ROOT = Path(__file__).parents[1]


def completed(shell: str, words: str) -> str:
    """Return what a script of completion is told for words of which the last is being typed."""
    last = words.split(" ")[-1]
    number = last if shell == "fish" else str(words.count(" "))
    env = {**os.environ, "_SITEGEN_COMPLETE": f"{shell}_complete", "COMP_WORDS": words, "COMP_CWORD": number}
    ran = subprocess.run(
        [sys.executable, "-m", "sitegen"], cwd=ROOT, env=env, capture_output=True, text=True, check=False
    )
    return ran.stdout


@pytest.mark.parametrize("shell", SHELLS)
def test_shell_completes_commands(shell: str) -> None:
    assert {"exercise", "kernel", "post"} <= set(re.split(r"[\s,]+", completed(shell, "sitegen new ")))


def test_options_are_completed() -> None:
    assert "--require-fresh" in completed("bash", "sitegen build --req")


@pytest.mark.parametrize("shell", SHELLS)
def test_script_of_completion_asks_the_program(shell: str) -> None:
    ran = CliRunner().invoke(main, ["completion", shell])
    assert ran.exit_code == 0
    assert f"_SITEGEN_COMPLETE={shell}_complete" in ran.output


def test_manual_page_has_every_command_and_option() -> None:
    page = CliRunner().invoke(main, ["man"]).output.replace("\\-", "-")
    for words, command in commands(main):
        assert f".SS sitegen {' '.join(words)}" in page
        options = [one.opts[0] for one in command.params if isinstance(one, click.Option)]
        assert [option for option in options if option not in page] == []
    requests = re.findall(r"^\.(\w+)", page, re.MULTILINE)
    assert set(requests) <= {"TH", "SH", "SS", "TP", "B", "I"}, "a line of prose begins with a full stop"


@pytest.mark.parametrize("name", ["cpu", "cuda"])
def test_dockerfile_copies_what_is_there_and_installs_extras_that_exist(name: str) -> None:
    text = (ROOT / f".github/docker/{name}.Dockerfile").read_text("utf-8")
    copied = [source for line in re.findall(r"^COPY (.+)$", text, re.MULTILINE) for source in line.split()[:-1]]
    assert {"sitegen", "templates", "pyproject.toml"} <= set(copied)
    assert [source for source in copied if not (ROOT / source).exists()] == []
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    (wanted,) = re.findall(r"/source\[([a-z,]+)\]", text)
    assert set(wanted.split(",")) <= extras.keys()
