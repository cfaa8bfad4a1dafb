"""Define `sitegen doctor`, which looks at this machine."""

from __future__ import annotations

import click


@click.command()
def doctor() -> None:
    """Say what this machine has for measuring, how to get what is missing, and what works all the same."""
    from sitegen.measure.doctor import findings, works_all_the_same

    found = list(findings(_memory_bytes_per_s))
    for one in found:
        click.echo(f"{'ok     ' if one.works else 'missing'}  {one.name:<18} {one.text}")
    for line in works_all_the_same(found):
        click.echo(line)


def _memory_bytes_per_s(name: str) -> float | None:
    """Return the memory's bytes per second by the datasheet of a GPU, given its product name."""
    from sitegen.model.gpu import gpu_id
    from sitegen.results.datasheets import datasheet

    sheet = datasheet(gpu_id(name))
    return sheet.bytes_per_s if sheet else None
