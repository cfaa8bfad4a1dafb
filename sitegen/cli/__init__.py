"""Find the command of `sitegen` that a command line names, and run it.

The module of a command is imported when the command is called, and imports other modules when it runs.  A build without
changes therefore takes hardly longer than the start of Python.
"""

from __future__ import annotations

import sys
from importlib import import_module
from keyword import iskeyword
from typing import Any

import click

import sitegen

_SITE, _RECORDS = "sitegen.cli.site", "sitegen.cli.records"
_COMMANDS = {
    "build": _SITE,
    "check": _SITE,
    "serve": _SITE,
    "try": "sitegen.cli.try_",
    "exercise": "sitegen.cli.exercise",
    "run": _RECORDS,
    "bundle": _RECORDS,
    "accept": _RECORDS,
    "status": _RECORDS,
    "compare": _RECORDS,
    "replay": "sitegen.cli.replay",
    "verify": "sitegen.cli.verify",
    "new": "sitegen.cli.new",
    "worklog": "sitegen.cli.worklog",
    "import": "sitegen.cli.importing",
    "explain": "sitegen.cli.explain",
    "lsp": "sitegen.cli.lsp",
    "completion": "sitegen.cli.shell",
    "man": "sitegen.cli.shell",
    "doctor": "sitegen.cli.doctor",
}
"""Map each command to the module that defines it."""


PLATFORMS = ("linux", "darwin")
"""The platforms on which sitegen works.  It locks files with `fcntl` and forks workers, which Windows cannot do; WSL is
a Linux.
"""


_OF_WHOLE_SITE = {
    "build": "it builds the whole site; leave the name out",
    "check": "it checks the whole site; leave the name out",
    "serve": "it shows the whole site; leave the name out",
    "status": "it lists the whole site; leave the name out",
}
"""Commands without arguments, with what they do and what to do about an argument."""


class _Lazy(click.Group):
    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Return the command; one that takes the whole site refuses the path of a file in these words."""
        name, command, rest = super().resolve_command(ctx, args)
        if name in _OF_WHOLE_SITE and rest and not rest[0].startswith("-"):
            from sitegen.cli.common import WrongNameError

            raise WrongNameError(f"`{name}` takes no file and no name: {_OF_WHOLE_SITE[name]}", ctx)
        return name, command, rest

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Refuse a platform on which no command works, before a command's module is imported."""
        if sys.platform not in PLATFORMS:
            click.echo(f"sitegen: it runs on Linux and macOS, not on {sys.platform}; on Windows use WSL", err=True)
            sys.exit(1)
        return super().main(*args, **kwargs)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command = getattr(import_module(_COMMANDS[cmd_name]), f"{cmd_name}_" if iskeyword(cmd_name) else cmd_name)
        assert isinstance(command, click.Command)
        return command


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(sitegen.__version__, prog_name="sitegen")
def main() -> None:
    """Measure the GPU kernels of a site, and build the site from its texts and measurements."""
