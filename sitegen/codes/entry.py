"""The entry of one diagnostic code in the registry, and its text for a terminal."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

WIDTH = 88
"""Most characters of a line of prose in a terminal; examples keep their own lines."""


@dataclass(frozen=True, slots=True)
class Code:
    """One kind of mistake."""

    id: str
    """`SG205`."""
    title: str
    """Name of the mistake, without a full stop."""
    explanation: str
    """Two to four sentences: what is wrong, why it matters, what to do."""
    wrong: str
    """The shortest text that has the mistake."""
    right: str
    """The same text without the mistake."""
    file: str = ""
    """File of the example, relative to the site's root; empty when the example is described in words."""
    warning: bool = False
    """True when the mistake is a warning, which does not fail the build."""


@dataclass(frozen=True, slots=True)
class CodeGroup:
    """The codes of one room or stage, which share their first digit."""

    title: str
    intro: str
    codes: tuple[Code, ...]


def as_text(code: Code) -> str:
    """Return the entry as `sitegen explain` prints it."""
    kind = "warning" if code.warning else "error"
    place = f" in {code.file}" if code.file else ""
    parts = [
        f"{code.id} ({kind}): {code.title}",
        textwrap.fill(code.explanation, WIDTH),
        f"Wrong{place}:\n\n{_indented(code.wrong)}",
        f"Right:\n\n{_indented(code.right)}",
    ]
    return "\n\n".join(parts)


def _indented(example: str) -> str:
    return textwrap.indent(example.rstrip("\n"), "    ")
