"""Find the source of an implementation, its first sentence, and the file name and the lexer for it."""

from __future__ import annotations

import re

from sitegen.model.kernel import Implementation, Language
from sitegen.model.site import Site

_HEAD = re.compile(
    r"\A(?:[^\S\n]*(?:#include[^\n]*)?\n)*[^\S\n]*"
    r'(?:"""(?P<python>.*?)(?:"""|\n[^\S\n]*\n)|(?P<c>(?://[^\n]*\n)+))',
    re.S,
)
"""The docstring or the comment at the head of a file, after its includes."""
_SENTENCE_END = re.compile(r"[.!?](?=\s+[^a-z\s]|\s*$)")


def source_of(site: Site, implementation: Implementation) -> str:
    """Return the source of an implementation, from its file or its cell."""
    return implementation.source or site.files.get(implementation.file, "")


def language_of(implementation: Implementation) -> str:
    """Return the name of the lexer for an implementation."""
    return "triton" if implementation.language is Language.TRITON else "cuda"


def file_name(implementation: Implementation) -> str:
    """Return the file name of an implementation, such as `fused.py`; for a cell its label."""
    return re.split(r"[/#]", implementation.file)[-1]


def first_sentence_of(source: str) -> str:
    """Return the first sentence of the comment at the head of a source; empty when it begins with no comment."""
    head = _HEAD.match(source)
    if head is None:
        return ""
    text = head["python"] or "\n".join(line[2:].strip() for line in (head["c"] or "").splitlines())
    paragraph = " ".join(text.strip().partition("\n\n")[0].split())
    end = _SENTENCE_END.search(paragraph)
    return paragraph[: end.end()] if end else paragraph
