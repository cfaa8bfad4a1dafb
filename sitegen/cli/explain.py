"""Print the explanation of a diagnostic's code: its meaning, its effect, and the remedy."""

from __future__ import annotations

import re

import click

from sitegen.diagnostics import did_you_mean


@click.command()
@click.argument("code", required=False)
def explain(code: str | None) -> None:
    """Explain the diagnostic CODE, such as SG205, with an example.  Without CODE, list all codes."""
    from sitegen.codes import GROUPS, REGISTRY
    from sitegen.codes.entry import as_text

    if code is None:
        click.echo("\n\n".join("\n".join([g.title, *(f"{c.id}  {c.title}" for c in g.codes)]) for g in GROUPS))
        return
    digits = re.fullmatch(r"(?:error|warning)?\[?(?:SG)?(\d+)\]?", code, re.IGNORECASE)
    wanted = f"SG{digits[1]}" if digits else code
    if wanted not in REGISTRY:
        near = did_you_mean(wanted, REGISTRY) or "`sitegen explain` lists all codes"
        raise click.UsageError(f"no code `{wanted}`: {near}")
    click.echo(as_text(REGISTRY[wanted]))
