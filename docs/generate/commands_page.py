"""Write the page *Commands* from the commands of `sitegen/cli/`."""

from __future__ import annotations

from collections.abc import Iterator

import click
from prose import front_matter, prose, table

from sitegen.cli import main
from sitegen.cli.shell import commands

NAME = "reference-commands.md"
FRONT = front_matter("Commands", "reference/commands", "Every command with its arguments and options.")
INTRO = (
    "Commands work in every folder of a site. Data goes to stdout, everything else to stderr. The exit status "
    "is 0, 1 for a mistake of the author or a failed check, and 2 for a mistake of usage. `NO_COLOR` is "
    "honoured. With `--help`, each command prints its part of this page.\n"
    "\n"
)


def page() -> str:
    """Return the Markdown of the page."""
    return "\n".join([FRONT, INTRO, *(part for words, one in commands(main) for part in _command(words, one))])


def _command(words: tuple[str, ...], command: click.Command) -> Iterator[str]:
    context = click.Context(command, info_name=f"sitegen {' '.join(words)}")
    yield f"## `sitegen {' '.join(words)}` {{#{'-'.join(words)}}}\n"
    yield f"```text\n{context.get_usage().removeprefix('Usage: ')}\n```\n"
    yield f"{prose(command.help or '')}\n"
    options = [one for one in command.params if isinstance(one, click.Option)]
    if options:
        yield table(["option", "meaning"], ((_name(one, context), _meaning(one)) for one in options))


def _name(option: click.Option, context: click.Context) -> str:
    value = "" if option.is_flag else f" {option.make_metavar(context)}"
    return f"`{', '.join(option.opts)}{value}`"


def _meaning(option: click.Option) -> str:
    needed = "**required.** " if option.required else ""
    default = f" The default is `{option.default}`." if option.show_default else ""
    return needed + prose(option.help or "") + default
