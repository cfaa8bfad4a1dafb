"""Find the PTX and SASS of an evaluation, and the links to the pages that show them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sitegen.model.record import Record
from sitegen.model.urls import code_folder, relative
from sitegen.render.inputs.rows import Row
from sitegen.render.inputs.sources import Sources
from sitegen.render.shared.frame import Link

KINDS = {"sass": "SASS", "ptx": "PTX"}


@dataclass(frozen=True, slots=True)
class MachineCode:
    """The text of one listing of an evaluation."""

    kind: str
    """`sass` or `ptx`."""
    url: str
    """The URL of its page."""
    text: str

    @property
    def size(self) -> str:
        """The size of the text: `38 KB`."""
        return f"{max(round(len(self.text) / 1000), 1)} KB"


def machine_code(sources: Sources, record: Record, row: Row) -> Iterator[MachineCode]:
    """Yield the SASS and the PTX of a row, where they are stored and can be read."""
    one = row.evaluation
    if one is None or one.compilation is None:
        return
    for kind, digest in (("sass", one.compilation.sass), ("ptx", one.compilation.ptx)):
        if digest and (text := sources.load_artefact(record.kernel, f"{digest}.{kind}")):
            url = f"{code_folder(record.kernel)}{row.name}-{record.gpu}-{one.dtype}-{kind}/"
            yield MachineCode(kind, url, text)


def listing_links(sources: Sources, record: Record, row: Row, here: str) -> tuple[Link, ...]:
    """Return the links to the pages with the PTX and SASS of a row."""
    return tuple(
        Link(f"{KINDS[one.kind]}, {one.size}", relative(one.url, here)) for one in machine_code(sources, record, row)
    )
