"""Define the commands that a shell and `man` read: completion, man."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click

SHELLS = ("bash", "zsh", "fish")
NAME = "sitegen"


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print a script by which SHELL completes commands, options and files.  For bash, write
    `eval "$(sitegen completion bash)"` into ~/.bashrc.
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(click.get_current_context().find_root().command, {}, NAME, "_SITEGEN_COMPLETE").source())


@click.command()
@click.pass_context
def man(ctx: click.Context) -> None:
    """Print the manual page of all commands, for `man -l -` or a file `sitegen.1`."""
    root = ctx.find_root().command
    assert isinstance(root, click.Group)
    click.echo("\n".join(_page(root)))


def _page(root: click.Group) -> Iterator[str]:
    import sitegen

    yield f'.TH SITEGEN 1 "" "sitegen {sitegen.__version__}"'
    yield f".SH NAME\nsitegen \\- {_text(root.help or '')}"
    yield ".SH SYNOPSIS\n.B sitegen\n.I command\n[\\fIoptions\\fR]"
    yield ".SH COMMANDS"
    for words, command in commands(root):
        context = click.Context(command, info_name=" ".join((NAME, *words)))
        yield f".SS {_text(context.get_usage().removeprefix('Usage: '))}\n{_text(command.help or '')}"
        for option in command.params:
            if isinstance(option, click.Option):
                value = "" if option.is_flag else f" \\fI{_text(option.make_metavar(context))}\\fR"
                yield f".TP\n\\fB{_text(', '.join(option.opts))}\\fR{value}\n{_text(option.help or '')}"
    yield ".SH EXIT STATUS\n0 for success, 1 for a mistake of the author or a failed check, 2 for a mistake of usage."


def commands(group: click.Group, above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Yield each command of a group with its words."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands(command, (*above, name))
        else:
            yield (*above, name), command


def _text(text: str) -> str:
    """Return a text for troff, in which a hyphen may be copied and no line begins with a request."""
    plain = " ".join(text.split()).replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", plain)
