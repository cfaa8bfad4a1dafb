"""Define the command that an editor starts: lsp."""

from __future__ import annotations

import click

from sitegen.cli.common import fail, output_errors, require_installed, site_root


@click.command()
def lsp() -> None:
    """Serve an editor over stdin and stdout, by the Language Server Protocol: the mistakes of `sitegen check` while you
    type, completion of keys and names, and definitions.  The editor starts it in a folder of the site.
    """
    require_installed({"pygls": "lsp"})
    from sitegen.editor.server import TooLong, serve

    with output_errors():
        try:
            serve(site_root())
        except TooLong as error:
            fail(f"{error}: the server ends")
