"""The registry of diagnostic codes: the meaning of each code, why it matters, what to do, and an example.

`sitegen explain SG205` prints an entry, and the page *Diagnostics* of `docs/` shows them all.  A code is permanent: one
that is no longer raised is not given to another mistake.  A new code is one entry in the module of its room; a test
compares the entries with the codes that the program raises, and builds the examples.
"""

from __future__ import annotations

from collections.abc import Mapping

from sitegen.codes import importing, linking, markup, output, reading, records, worklog
from sitegen.codes.entry import Code, CodeGroup

GROUPS: tuple[CodeGroup, ...] = (
    reading.GROUP,
    worklog.GROUP,
    markup.GROUP,
    linking.GROUP,
    records.GROUP,
    records.RUNS,
    output.GROUP,
    importing.GROUP,
)

REGISTRY: Mapping[str, Code] = {code.id: code for group in GROUPS for code in group.codes}
"""Each code by its id, in the order of the numbers."""

__all__ = ["GROUPS", "REGISTRY", "Code", "CodeGroup"]
