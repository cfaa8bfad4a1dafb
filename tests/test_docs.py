"""README and CONTRIBUTING say what the program does: every command and option in them exists, and none is left out."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from sitegen.cli import main
from sitegen.markup.looks import OF_CODE, OF_SHOWN

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / ".github" / "CONTRIBUTING.md").read_text(encoding="utf-8")


def commands(group: click.Group = main, above: tuple[str, ...] = ()) -> dict[tuple[str, ...], click.Command]:
    """Every command of the program by its words."""
    found: dict[tuple[str, ...], click.Command] = {}
    context = click.Context(group)
    for name in group.list_commands(context):
        words, command = (*above, name), group.get_command(context, name)
        assert command is not None
        found |= commands(command, words) if isinstance(command, click.Group) else {words: command}
    return found


def invocations(text: str) -> Iterator[list[str]]:
    """The words after `sitegen` wherever a document shows a command, in a fence or in a line."""
    shown = re.findall(r"`(sitegen [^`\n]+)`|^(sitegen .+)$", text, re.MULTILINE)
    for inline, line in shown:
        yield shlex.split(inline or line, comments=True)[1:]


def command_of(words: list[str]) -> tuple[tuple[str, ...], list[str]]:
    """The command that the words begin with, and the rest."""
    names = max((names for names in commands() if tuple(words[: len(names)]) == names), key=len, default=())
    return names, words[len(names) :]


def mistakes(text: str) -> list[str]:
    """What a document shows and the program does not have."""
    wrong = []
    for words in invocations(text):
        names, rest = command_of(words)
        known = {option for parameter in commands()[names].params for option in parameter.opts} if names else set()
        wrong += [] if names else [f"no command `sitegen {shlex.join(words)}`"]
        wrong += [f"{' '.join(names)} has no {word}" for word in rest if word.startswith("-") and word not in known]
    return wrong


@pytest.mark.parametrize("text", [README, CONTRIBUTING], ids=["README", "CONTRIBUTING"])
def test_every_command_and_option_shown_exists(text: str) -> None:
    assert list(invocations(text))
    assert mistakes(text) == []


def test_command_or_option_that_does_not_exist_is_found() -> None:
    text = "```sh\nsitegen built\nsitegen build --fast   # quickly\n```\nand `sitegen new page X`"
    assert mistakes(text) == ["no command `sitegen built`", "build has no --fast", "no command `sitegen new page X`"]


def test_every_command_is_in_the_readme() -> None:
    assert set(commands()) - {command_of(words)[0] for words in invocations(README)} == set()


def test_every_command_and_option_explains_itself() -> None:
    for names, command in commands().items():
        assert command.help, names
        assert [p.name for p in command.params if isinstance(p, click.Option) and not p.help] == [], names


def test_option_in_the_readmes_prose_exists() -> None:
    """`--as-of`, alone between backquotes, belongs to some command."""
    known = {option for command in commands().values() for parameter in command.params for option in parameter.opts}
    assert set(re.findall(r"`(--[a-z-]+)", README)) <= known


@pytest.mark.parametrize("target", ["site", "test", "test-web", "soak", "venv"])
def test_make_targets_of_the_readme_exist_and_are_all_there(target: str) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.search(rf"^{target}:", makefile, re.MULTILINE)
    assert f"make {target}" in README
    phony = re.search(r"^\.PHONY: (.+)$", makefile, re.MULTILINE)
    assert phony
    assert target in phony[1].split()


def test_ci_calls_the_test_command_of_the_readme() -> None:
    assert "make test" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_folders_of_the_readme_are_those_of_the_repository() -> None:
    table = README.partition("## Folders")[2]
    named = {
        name for cell in re.findall(r"^\| (`.+?) \|", table, re.MULTILINE) for name in re.findall(r"`(\w+)/`", cell)
    }
    assert {name for name in named if not (ROOT / name).is_dir()} <= {"public"}
    assert {"content", "series", "kernels", "templates", "sitegen", "tests"} <= named


@pytest.mark.parametrize("document", [ROOT / "README.md", ROOT / ".github" / "CONTRIBUTING.md"], ids=lambda p: p.name)
def test_links_between_documents_lead_somewhere(document: Path) -> None:
    text = re.sub(r"^(```+).*?^\1$", "", document.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    targets = [target for target in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in target]
    assert [target for target in targets if not (document.parent / target).exists()] == []


FIRST_POST = README.partition("## The first post")[2].partition("\n## ")[0]


def fences(language: str) -> list[str]:
    """The blocks of a language in the walk to the first post, in order."""
    return [body for _, body in re.findall(rf"^(```+){language}\n(.*?)^\1$", FIRST_POST, re.MULTILINE | re.DOTALL)]


def follow(commands: str, home: Path, folder: Path) -> None:
    """Every command but those that go on for ever or take long, in a shell, as somebody would type them."""
    typed = "\n".join(line for line in commands.splitlines() if not re.match(r"sitegen (serve|run)", line))
    home.mkdir(exist_ok=True)
    program = f'sitegen() {{ {shlex.quote(sys.executable)} -m sitegen "$@"; }}\n'
    env = {**os.environ, "HOME": str(home), "PYTHONPATH": str(ROOT)}
    ran = subprocess.run(
        ["bash", "-e"], input=program + typed, cwd=folder, env=env, text=True, capture_output=True, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_first_post_of_the_readme_is_on_the_page_when_its_steps_are_followed(tmp_path: Path) -> None:
    begin, end = fences("sh")
    (text,) = fences("markdown")
    site = tmp_path / "home" / "kernels"
    follow(begin, tmp_path / "home", tmp_path)
    (post,) = site.glob("content/posts/*/index.md")
    written = post.read_text(encoding="utf-8") + text
    post.write_text(written.replace("draft: true\n", ""), encoding="utf-8")
    follow(end, tmp_path / "home", site)
    page = (site / "public" / "posts" / post.parent.name / "index.html").read_text(encoding="utf-8")
    assert "Where the time goes" in page
    assert "This cell is the implementation" in page
    assert "two_tiles" in (site / "public" / "kernels" / "axpy" / "index.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("picture", re.findall(r"\((\.github/screenshots/[^)]+)\)", README))
def test_picture_of_the_readme_is_small(picture: str) -> None:
    assert 0 < (ROOT / picture).stat().st_size < 300_000


def listing_options() -> dict[str, str]:
    """Where each option of the readme's table of listings may stand."""
    table = README.partition("## Listings")[2].partition("\n## ")[0]
    return dict(re.findall(r"^\| `([\w-]+)` \|.*\| ([^|]+) \|$", table, re.MULTILINE))


def test_options_of_listings_in_the_readme_are_those_of_the_program() -> None:
    everywhere = {name for name, where in listing_options().items() if where == "all"}
    assert everywhere == set(OF_CODE)
    assert set(listing_options()) == set(OF_SHOWN)
    assert {name for name, where in listing_options().items() if "{kernel}" in where} == {"label", "diff"}
