"""Define the command that an editor starts: lsp."""

from __future__ import annotations

import click

from sitegen.cli.common import output_errors, require_installed, site_root


@click.command()
def lsp() -> None:
    """Serve an editor over stdin and stdout, by the Language Server Protocol: the mistakes of `sitegen check` while you
    type, completion of keys and names, and definitions.  The editor starts it in a folder of the site.
    """
    require_installed({"pygls": "lsp"})
    from sitegen.editor.server import serve

    with output_errors():
        serve(site_root())
