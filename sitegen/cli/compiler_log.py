"""The log of NVRTC or nvcc → the errors alone, with the path of the author's file, as an editor opens it."""

from __future__ import annotations

import re

_PLACE = re.compile(r"^(?P<file>[^\s():]+)\((?P<line>\d+)\): (?P<kind>[a-z]+)")
_REMARK = re.compile(r'^Remark: |^\d+ errors? detected in the compilation of "')
_MISSING = 'expected a ";"'


def author_log(log: str, file: str, source: str) -> str:
    """Return a log without warnings, with `file` in place of its name; any text without an error stays as it is."""
    kept: list[str] = []
    shown, above = True, 0
    for line in log.splitlines():
        if place := _PLACE.match(line):
            shown = place["kind"] != "warning"
            mine = place["file"] == file.rpartition("/")[2]
            line = f"{file if mine else place['file']}:{place['line']}{line[place.end('line') + 1 :]}"
            above = int(place["line"]) - 1 if mine and shown and line.endswith(_MISSING) else 0
        if shown and not _REMARK.match(line):
            kept.append(line)
        if above and line.strip() == "^" and _marks_first_sign(kept):
            kept[-3:-3] = _line_before(source, above, file)
    return "\n".join(kept) if ": error" in log else log


def _marks_first_sign(kept: list[str]) -> bool:
    """Tell whether the caret of the last line is below the first sign of the line of code above it."""
    code, caret = kept[-2:]
    return len(code) - len(code.lstrip()) == caret.index("^")


def _line_before(source: str, last: int, file: str) -> list[str]:
    """Return the last line up to `last` that has a text, if a semicolon may be missing at its end."""
    lines = source.splitlines()
    number = next((n for n in range(min(last, len(lines)), 0, -1) if lines[n - 1].strip()), 0)
    text = lines[number - 1].strip() if number else ";"
    if text.startswith(("#", "//")) or text.endswith((";", "{", "}")):
        return []
    return [f"a `;` is missing at the end of {file}:{number}", f"    {number} | {text}"]
