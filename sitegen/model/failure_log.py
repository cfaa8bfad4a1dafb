"""Turn what a compiler or a failed process printed into a log, which is kept beside the sentence of a failure.

A log begins with an explanation of a few lines, which a terminal shows.  An empty line separates it from the whole
text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

LARGEST_LOG = 256 * 1024
"""Most bytes of a log in UTF-8."""
LONGEST_SENTENCE = 240
"""Most characters of the sentence of a failure, which stands in a table."""
LEFT_OUT = "\n… {} characters are left out …\n"
_COLOURS = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[@-_]")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_PACKAGES = re.compile(r"/[^\s:\"']*/(?:site|dist)-packages/")
_STDLIB = re.compile(r"/[^\s:\"']*/lib/python3\.\d+/")
_FOLDERS = re.compile(r"(?:(?<=-[IL])|(?<![\w./<]))/(?:[^\s/:;\"'`(),<>]+/)+")
"""The folders of an absolute path, up to the name of its file."""


def log_of(explanation: str, whole: str) -> str:
    """Return the log of a failure, at most LARGEST_LOG bytes.

    It is the explanation alone when the whole text says no more, and empty when the explanation is one line.
    """
    explanation, whole = _lines_of(explanation), _plain(whole)
    told = set(map(str.strip, explanation.splitlines()))
    if all(line.strip() in told for line in whole.splitlines() if line.strip()):
        return explanation if "\n" in explanation else ""
    return _shortened(f"{explanation}\n\n{whole}\n")


def explanation_in(log: str) -> str:
    """Return the lines with which a log begins; empty for an empty log."""
    return log.partition("\n\n")[0]


def without_library_paths(text: str) -> str:
    """Return the text with paths of installed packages and of Python's own modules relative to their folder."""
    return _STDLIB.sub("", _PACKAGES.sub("", text))


def without_machine_paths(text: str, folders: Iterable[Path]) -> str:
    """Return the text without paths of this machine.

    Paths below `folders` become relative; of every other absolute path only the name of the file stays.
    """
    for folder in folders:
        text = text.replace(f"{folder}/", "")
    return _FOLDERS.sub("", without_library_paths(text))


def _plain(text: str) -> str:
    """Return the text without colours and control characters, and without spaces at its end."""
    return _CONTROL.sub("", _COLOURS.sub("", text.replace("\r\n", "\n"))).rstrip()


def _lines_of(text: str) -> str:
    """Return the text without empty lines."""
    return "\n".join(line.rstrip() for line in _plain(text).splitlines() if line.strip())


def _shortened(log: str) -> str:
    """Return the log without its middle when it is too large: both its beginning and its end may name the cause."""
    data = log.encode()
    if len(data) <= LARGEST_LOG:
        return log
    half = (LARGEST_LOG - 100) // 2
    head, tail = data[:half].decode(errors="ignore"), data[-half:].decode(errors="ignore")
    return head + LEFT_OUT.format(len(log) - len(head) - len(tail)) + tail
