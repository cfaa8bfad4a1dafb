"""`sitegen`: one command for each thing to do.  Each imports what it needs when it runs, so that --help is quick."""

from __future__ import annotations

import click

import sitegen
from sitegen.cli.records import accept, bundle, compare, run, status
from sitegen.cli.site import build, check, new, serve


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(sitegen.__version__, prog_name="sitegen")
def main() -> None:
    """Posts about GPU kernels, measured on a GPU machine, published as a static site."""


for command in (build, check, serve, run, bundle, accept, status, compare, new):
    main.add_command(command)
