"""Read the texts of a folder: front matter in YAML or TOML, and the text below it."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from sitegen import inside
from sitegen.diagnostics import Diagnostic, Severity, Span
from sitegen.importing.foreign_values import toml_values, yaml_values
from sitegen.read.source import decode

MOST_BYTES = 16 * 2**20
"""Largest text that is read."""
_FRONT = re.compile(
    r"\s*(?P<marks>---|\+\+\+)[ \t]*\n(?P<head>.*?)^(?P=marks)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE
)
_HEADING = re.compile(r"^#[ \t]+(?P<title>[^\n]+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class FolderText:
    """A text of the folder."""

    path: str
    front: Mapping[str, Any] = field(default_factory=dict)
    """The front matter as plain values."""
    head: str = ""
    """The front matter as it was written."""
    body: str = ""
    line: int = 1
    """The line of the file on which the body begins."""

    @property
    def title(self) -> str:
        """The title of the front matter, on one line; empty where there is none."""
        return " ".join(str(self.front.get("title") or "").split())


@dataclass(slots=True)
class Folder:
    """A folder that is imported: its files and what was found out about them."""

    root: Path
    files: tuple[str, ...]
    """The paths of all files that are not hidden, sorted."""
    diagnostics: list[Diagnostic] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)
    """The texts that were read, by path, from which the frames of diagnostics are cut."""
    names: dict[str, str] = field(default_factory=dict)
    """The path of the file that each name means, where links are written as names."""
    words: dict[str, str] = field(default_factory=dict)
    """The words of a link to a name that has none of its own."""

    def read(self, path: str) -> str:
        """Return the text of a file; it is empty when the file cannot be read, which is reported."""
        if path not in self.texts:
            try:
                text, mistakes = decode(inside.read_bytes(self.root, path, MOST_BYTES), path)
            except OSError as error:
                text, mistakes = "", (Diagnostic("SG606", f"the file cannot be read: {error.strerror}", Span(path)),)
            self.texts[path] = without_marks(text)
            self.diagnostics += [replace(mistake, severity=Severity.WARNING) for mistake in mistakes]
        return self.texts[path]

    def warn(self, code: str, message: str, path: str, line: int = 1, hint: str = "") -> None:
        self.diagnostics.append(Diagnostic(code, message, Span(path, line), hint, Severity.WARNING))

    def text(self, path: str) -> FolderText:
        """Return a text with its front matter; front matter that cannot be read is reported."""
        text = self.read(path)
        match = _FRONT.match(text)
        if not match:
            return FolderText(path, {}, "", text)
        front = self._front(path, match["head"], toml=match["marks"] == "+++")
        return FolderText(path, front, match["head"], text[match.end() :], text.count("\n", 0, match.end()) + 1)

    def _front(self, path: str, head: str, *, toml: bool) -> Mapping[str, Any]:
        try:
            front = toml_values(head) if toml else yaml_values(head)
        except (yaml.YAMLError, ValueError, RecursionError) as error:
            reason = str(error).split("\n", 1)[0][:100]
            self.warn("SG602", f"the front matter cannot be read: {reason}", path, 1, "its simple lines are taken")
            return dict(_simple_lines(head))
        return {str(key): value for key, value in front.items()} if isinstance(front, dict) else {}

    def settings(self, *paths: str) -> Mapping[str, Any]:
        """Return the values of the first of these YAML, TOML or JSON files that exists; empty where none does."""
        path = next((path for path in paths if path in self.files), "")
        try:
            text = self.read(path) if path else ""
            if path.endswith(".toml"):
                return toml_values(text)
            read = json.loads(text) if path.endswith(".json") else yaml_values(text)
        except (ValueError, yaml.YAMLError, RecursionError) as error:
            self.warn("SG609", f"the settings cannot be read: {str(error).split(chr(10), 1)[0][:100]}", path)
            return {}
        return read if isinstance(read, dict) else {}


def without_marks(text: str) -> str:
    """Return a text without the two private letters between which `passages` numbers what it keeps aside."""
    return text.translate({0xE000: "\ufffd", 0xE001: "\ufffd"}) if "\ue000" in text else text


_MADE = frozenset({"node_modules", "_site", "_book", "_build", "__pycache__"})


def read_folder(root: Path, made: frozenset[str] = frozenset()) -> Folder:
    """Return the folder with the paths of its files; hidden files, and folders that a program `made`, are left out."""

    def is_skipped(path: str) -> bool:
        return inside.is_hidden(path) or path.rpartition("/")[2] in _MADE or path in made

    found = inside.entries_below(root, "", is_skipped)
    paths = [path for path, _ in found if not inside.is_hidden(path)]
    folder = Folder(root, tuple(path for path in paths if inside.is_file(root, path)))
    for path in sorted(set(paths) - set(folder.files)):
        folder.warn("SG606", "it is left out: it is no regular file, or a link out of the folder", path)
    return folder


def with_first_heading(text: FolderText) -> FolderText:
    """Return a text without a title with that of its first heading, which leaves the body."""
    match = _HEADING.search(text.body)
    heading = match["title"].rstrip(" \t").rstrip("#").rstrip(" \t") if match else ""
    if not match or not heading or (text.title and " ".join(heading.split()) != text.title):
        return text
    before = re.sub(r"(?m)^(?:\([^)\n]+\)=|\+\+\+.*|%.*|[ \t]*)\n?", "", text.body[: match.start()])
    if before.strip() and text.title:
        return text
    title = text.title or re.sub(r"\{[#.][^{}]*\}|[*_`]|\{[\w:]+\}(?=`)", "", heading).strip()
    body = text.body[: match.start()] + text.body[match.end() :].removeprefix("\n")
    return replace(text, front={**text.front, "title": title}, body=body)


def as_date(value: Any) -> dt.date | dt.datetime | None:
    """Return a date or a time of front matter; None where it is neither."""
    if isinstance(value, dt.date):
        return value
    text = str(value or "").strip().strip("\"'[]")
    if match := re.match(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?=\D|$)", text):
        try:
            with_time = dt.datetime.fromisoformat(text.replace(" ", "T", 1)) if "T" in text or ":" in text else None
        except ValueError:
            with_time = None
        try:
            return with_time or dt.date(int(match[1]), int(match[2]), int(match[3]))
        except ValueError:
            return None
    for form in ("%m/%d/%Y", "%m/%d/%y", "%B %d, %Y", "%b %d, %Y", "%d %B %Y", "%d %b %Y"):
        try:
            return dt.datetime.strptime(text, form).date()
        except ValueError:
            continue
    return None


def as_words(value: Any) -> list[str]:
    """Return a list of words from a list, or from words between commas."""
    if isinstance(value, str):
        value = value.split(",")
    words = value if isinstance(value, list) else [] if value in (None, "", False) else [value]
    return list(dict.fromkeys(word for item in words if (word := " ".join(str(item).split()).lstrip("#"))))


def _simple_lines(head: str) -> Iterator[tuple[str, str]]:
    for line in head.split("\n"):
        if match := re.match(r"(\w[\w-]*)\s*[:=]\s*(\S.*)$", line):
            yield match[1], match[2].strip().strip("\"'")
