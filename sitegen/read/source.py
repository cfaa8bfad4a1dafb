"""Decode the bytes of a file to text, and split a Markdown file into front matter and body.

Text inside sitegen has no BOM, and its lines end with LF, whatever the editor wrote.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from sitegen.diagnostics import Diagnostic, Span
from sitegen.model.markdown import Markdown

_BOM = b"\xef\xbb\xbf"
_UTF16_BOMS = (b"\xff\xfe", b"\xfe\xff")
_FRONT_MATTER = re.compile(r"---[ \t]*\n(?P<yaml>.*?)^---[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_NEARLY_END = re.compile(r"^(?:[ \t]*-{2,}|\.{3}|[—–]+)[ \t]*$", re.MULTILINE)
"""A line that an author may have meant to close the front matter: other hyphens, a dash, the `...` of YAML."""
_MERGE = re.compile(r"^<{7} ", re.MULTILINE)
"""The first of the marks that git leaves where two changes meet."""
_UNREAD = "---\ntitle: Notebook\ndate: 2000-01-01\ndraft: true\n---\n"
"""The text of a notebook that cannot be read, so that it has no second mistake."""


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The YAML between the two `---` and the Markdown below; `yaml` is None when there is no front matter."""

    yaml: str | None
    body: Markdown
    yaml_line: int = 2
    """Line of the file on which the YAML begins."""


def decode(data: bytes, path: str) -> tuple[str, tuple[Diagnostic, ...]]:
    """Return the text of a file, and a diagnostic when it is not UTF-8.

    Undecodable bytes become U+FFFD, so that the rest of the file is still checked.
    """
    data = data.removeprefix(_BOM)
    try:
        text = _with_lf(data.decode("utf-8"))
        return _of_notebook(text, path) if path.endswith(".ipynb") else (text, ())
    except UnicodeDecodeError as error:
        encoding = "utf-16" if data.startswith(_UTF16_BOMS) else "utf-8"
        span = _place(data[: error.start], path)
        undecodable = Diagnostic(
            "SG001", f"byte 0x{data[error.start]:02x} is not UTF-8", span, "save the file as UTF-8"
        )
        return _with_lf(data.decode(encoding, "replace")), (undecodable,)


def _of_notebook(text: str, path: str) -> tuple[str, tuple[Diagnostic, ...]]:
    """Return the Markdown of a notebook that is a post; of every other notebook its own text."""
    from sitegen.read.notebook import NOTEBOOK, notebook_text, words_of  # late, because few sites have notebooks

    if not NOTEBOOK.fullmatch(path):
        return text, ()
    try:
        return notebook_text(text), ()
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError) as error:
        return _UNREAD, (_unread_notebook(text, error, words_of(error), path),)


def _unread_notebook(text: str, error: Exception, reason: str, path: str) -> Diagnostic:
    if not isinstance(error, json.JSONDecodeError):
        return Diagnostic("SG026", f"this is no notebook: {reason}", Span(path), "save it again in Jupyter")
    if mark := _MERGE.search(text):
        line = text.count("\n", 0, mark.start()) + 1
        message = f"this is no notebook: the marks of a merge stand in it, the first on line {line}"
        hint = "keep one of the two sides, and take out the lines `<<<<<<<`, `=======` and `>>>>>>>`"
        return Diagnostic("SG026", message, _place_in_json(line, 1, path), hint)
    place = _place_in_json(error.lineno, error.colno, path)
    hint = "correct the JSON, or restore an earlier copy: Jupyter cannot open this file"
    return Diagnostic("SG026", f"this is no notebook: {reason}", place, hint)


def _place_in_json(line: int, col: int, path: str) -> Span:
    """Return a place in a notebook that is not read; its first lines would be shown as those of `_UNREAD`."""
    return Span(path, line, col) if line > _UNREAD.count("\n") else Span(path)


def split_front_matter(text: str, path: str) -> tuple[FrontMatter, tuple[Diagnostic, ...]]:
    """Return the front matter and the body; without a closing `---` all is body, and a diagnostic says so."""
    if match := _FRONT_MATTER.match(text):
        line = text.count("\n", 0, match.end()) + 1
        return FrontMatter(match["yaml"], Markdown(text[match.end() :], path, line)), ()
    if re.match(r"---[ \t]*(\n|\Z)", text):
        return FrontMatter(None, Markdown(text, path)), (_unclosed(text, path),)
    return FrontMatter(None, Markdown(text, path)), ()


def _unclosed(text: str, path: str) -> Diagnostic:
    """Return the diagnostic for front matter without its end, at the line that is nearly its end when there is one."""
    message = "the front matter is never closed"
    if not (nearly := _NEARLY_END.search(text, text.index("\n") + 1 if "\n" in text else len(text))):
        return Diagnostic("SG004", message, Span(path, 1, 1, 3), "close it with `---`")
    line = text.count("\n", 0, nearly.start()) + 1
    hint = f"write `---` here, three hyphens alone at the beginning of the line, in place of `{nearly[0].strip()}`"
    return Diagnostic("SG004", message, Span(path, line, 1, len(nearly[0])), hint)


def no_front_matter(path: str, text: str, *keys: str) -> Diagnostic:
    """Return the diagnostic for a file without front matter, which needs at least these keys."""
    wanted = " and ".join(f"`{key}:`" for key in keys)
    if text.startswith("+++"):
        hint = f"this head is TOML: write `---` in place of each `+++`, and {wanted} with a colon in place of `=`"
        return Diagnostic("SG004", "no front matter in YAML", Span(path, 1, 1, 3), hint)
    return Diagnostic("SG004", "no front matter", Span(path), f"begin the file with `---`, {wanted}, `---`")


def _with_lf(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _place(before: bytes, path: str) -> Span:
    lines = _with_lf(before.decode("utf-8")).split("\n")
    return Span(path, len(lines), len(lines[-1]) + 1)
