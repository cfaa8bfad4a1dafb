"""Find the source of an implementation, and the file name and the lexer with which pages show it."""

from __future__ import annotations

import re

from sitegen.model.kernel import Implementation, Language
from sitegen.model.site import Site


def source_of(site: Site, implementation: Implementation) -> str:
    """Return the source of an implementation, from its file or its cell."""
    return implementation.source or site.files.get(implementation.file, "")


def language_of(implementation: Implementation) -> str:
    """Return the name of the lexer for an implementation."""
    return "triton" if implementation.language is Language.TRITON else "cuda"


def file_name(implementation: Implementation) -> str:
    """Return the file name of an implementation, such as `fused.py`; for a cell its label."""
    return re.split(r"[/#]", implementation.file)[-1]
