"""Find misspelt words of a site's prose by `codespell`, which knows misspellings and takes no rare word for one.

codespell runs as a program of its own: its licence, the GPL, differs from that of sitegen.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from sitegen.diagnostics import Diagnostic, Severity, Span
from sitegen.markup.typed_figures import prose

WORDS = "content/words.txt"
"""The words that a site allows, one a line."""
_FOUND = re.compile(r"^(\d+): .*\n\t(.+?) ==> (.+)$", re.MULTILINE)
_WORD = re.compile(r"[\w\-'’]+")
"""A word, as codespell finds it.  Each word is sent to it once, because it prints the whole line of each mistake."""
_CODE = re.compile(r"(`+).+?\1|\$[^$\n]+\$|\]\([^)]*\)|https?://\S+")


def misspellings(texts: Mapping[str, str], words: str = "") -> Iterator[Diagnostic]:
    """Yield a warning for each misspelt word in the Markdown of a site; `texts` are its files by path,
    and `words` are allowed, one a line."""
    found = [
        (word[0], Span(path, number + 1, word.start() + 1, len(word[0])))
        for path, text in texts.items()
        for number, line in _prose_of(path, text)
        for word in _WORD.finditer(line)
    ]
    said = _codespell("\n".join(dict.fromkeys(word for word, _ in found)), words)
    right = {word: instead for _, word, instead in _FOUND.findall(said)}
    for word, span in found:
        if word in right:
            hint = f"did you mean {' or '.join(f'`{one.strip()}`' for one in right[word].strip(' ,').split(','))}?"
            yield Diagnostic("SG141", f"`{word}` is misspelt", span, hint, Severity.WARNING)


def _prose_of(path: str, text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of prose of a text, with spaces for code, formulas and addresses; other files have none."""
    if path.startswith("content/") and path.endswith(".md"):
        for number, line in prose(text.split("\n")):
            yield number, _CODE.sub(lambda match: " " * len(match[0]), line)


def _codespell(text: str, words: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        allowed = Path(folder) / "words.txt"
        allowed.write_text(words.lower(), encoding="utf-8")
        command = [sys.executable, "-m", "codespell_lib", "--ignore-words", str(allowed), "-"]
        ran = subprocess.run(command, input=text, cwd=folder, capture_output=True, text=True, check=False)
    return ran.stdout
