"""What pages show of an implementation's source."""

from __future__ import annotations

import pytest

from sitegen.render.inputs.implementations import first_sentence_of


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("\n" * 400 + "int x;", ""),
        ("\n \t\n" * 400 + "// After many lines.\n", "After many lines."),
        ("#include <cuda.h>\n\n#include <a.h>\n// Reads a row once. Writes it.\nint x;\n", "Reads a row once."),
        ('"""A tile of e.g. some rows\nand its sum.  More."""\n', "A tile of e.g. some rows and its sum."),
        ('"""A title\n\nA text."""', "A title"),
        ("import torch\n", ""),
    ],
)
def test_the_first_sentence_stands_in_the_comment_at_the_head(source: str, sentence: str) -> None:
    assert first_sentence_of(source) == sentence
