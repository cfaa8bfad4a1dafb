"""Leave out the mistakes that follow from a kernel.yaml whose `kernel` is not the name of its folder.

The reader reports that mistake itself (SG024).  Texts and records still name the kernel as kernel.yaml does.  Each of
these names would be one more mistake, and renaming the folder mends them all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from sitegen.diagnostics import Diagnostic
from sitegen.model.site import Site

_CODES = ("SG201", "SG204", "SG304")
_NAME = re.compile(r"^kernel:[ \t]*[\"']?([\w.-]+)", re.MULTILINE)


def without_consequences(mistakes: Iterable[Diagnostic], site: Site) -> tuple[Diagnostic, ...]:
    """Return the mistakes other than unknown kernels, dead links and records that mean a misnamed kernel."""
    found = tuple(mistakes)
    names = set(_misnamed(site)) if any(one.code in _CODES for one in found) else set()
    return tuple(one for one in found if not any(_means(one, name) for name in names))


def _misnamed(site: Site) -> Iterator[str]:
    for kernel in site.kernels:
        written = _NAME.search(site.files.get(f"{kernel.folder}/kernel.yaml", ""))
        if written and written[1] != kernel.name:
            yield written[1]


def _means(mistake: Diagnostic, name: str) -> bool:
    match mistake.code:
        case "SG201":
            return re.search(rf"kernels/{re.escape(name)}[/`]", mistake.message) is not None
        case "SG204":
            return mistake.message == f"unknown kernel `{name}`"
        case "SG304":
            return mistake.message.startswith(f"the kernel of the record is `{name}`,")
    return False
