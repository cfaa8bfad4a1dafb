"""An implementation → its code, and the file name and the lexer that pages show it with."""

from __future__ import annotations

import re

from sitegen.model.kernel import Implementation, Language
from sitegen.model.site import Site


def source_of(site: Site, implementation: Implementation) -> str:
    """The text of an implementation: of its file, or of its cell."""
    return implementation.source or site.files.get(implementation.file, "")


def language_of(implementation: Implementation) -> str:
    """The name of its lexer."""
    return "triton" if implementation.language is Language.TRITON else "cuda"


def file_name(implementation: Implementation) -> str:
    """`fused.py`; of a cell its label."""
    return re.split(r"[/#]", implementation.file)[-1]
