"""Read a vault of Obsidian: its notes, the days of its journal, and the links between them by name."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from functools import partial
from urllib.parse import quote

from sitegen.importing.folders.containers import DEEPEST, callout
from sitegen.importing.folders.convert import Dialect, TextConversion
from sitegen.importing.folders.passages import Fence, Kept
from sitegen.importing.folders.placing import Found
from sitegen.importing.folders.source import Folder, as_date, as_words, with_first_heading
from sitegen.markup.collected import slug

_IMAGES = (".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".avif", ".bmp")
_DRAWN = (".canvas", ".base", ".excalidraw.md")
_QUERIES = frozenset({"dataview", "dataviewjs", "tasks", "query", "base", "button"})
_WIKI = re.compile(r"(?P<embed>!?)\[\[(?P<target>[^\[\]|\n]*?)(?:\\?\|(?P<words>[^\[\]\n]*))?\]\]")
_COMMENT = re.compile(r"%%.*?%%", re.DOTALL)
_BLOCK_ID = re.compile(r"(?<![ \t])[ \t]++\^[\w-]++[ \t]*$|^\^[\w-]+[ \t]*$", re.MULTILINE)
_MARKED = re.compile(r"==(?=\S)([^=\n]+?)(?<=\S)==")
_TAG = re.compile(r"(?<![\w/#&\[(])#(?=[^\W\d]|\d+[^\W\d])([\w/-]+)")
_SIZED = re.compile(r"(!\[[^\[\]|]*)\|\d+(?:x\d+)?(?=\])")
_CALLOUT = re.compile(
    r"^(?P<indent>[ \t]*)>[ \t]*\[!(?P<kind>[\w -]+)(?:\|[^\]]*)?\][+-]?[ \t]*(?P<title>[^\n]*)"
    r"(?P<inner>(?:\n[ \t]*>[^\n]*)*)",
    re.MULTILINE,
)


def find(folder: Folder) -> Sequence[Found]:
    """Return the notes; a note whose name is a date becomes a day of the worklog."""
    found: list[Found] = []
    drawn = [path for path in folder.files if path.endswith(_DRAWN)]
    for path in folder.files:
        _name(folder, path)
        if path.endswith(".md") and path not in drawn:
            found.append(_found(folder, path))
    if drawn:
        said = f"{len(drawn)} drawings, canvases and bases are left out"
        folder.warn("SG606", said, drawn[0], 1, "export what you need as an image")
    return found


def _found(folder: Folder, path: str) -> Found:
    text, stem = folder.text(path), posixpath.basename(path).removesuffix(".md")
    front = {key.lower(): value for key, value in text.front.items()}
    for alias in as_words(front.get("aliases")):
        folder.names.setdefault(alias.lower(), path)
    day = as_date(stem) if re.fullmatch(r"\d{4}-\d{2}-\d{2}", stem) else None
    text = with_first_heading(
        type(text)(path, {"title": text.title or stem, **text.front}, text.head, text.body, text.line)
    )
    return Found(
        text,
        str(front.get("permalink") or ""),
        as_date(front.get("date") or front.get("created")) or day,
        "worklog" if day else "posts",
        day.isoformat() if day else stem,
        front.get("publish") is False or front.get("draft") is True,
        tuple(as_words(front.get("tags") or front.get("tag"))),
        (),
        {"description": front.get("description") or front.get("summary")},
    )


def _name(folder: Folder, path: str) -> None:
    """Note the names by which links mean a file: its path, and its name where no other file has it."""
    without = path.removesuffix(".md").lower()
    folder.names[without] = folder.names[path.lower()] = path
    folder.names.setdefault(posixpath.basename(without), path)


def write(conversion: TextConversion, body: str) -> str:
    """Return a note in the Markdown of sitegen."""
    kept = Kept()
    text = kept.fences(body, partial(_fence, conversion, kept))
    text = kept.spans(text)
    text = kept.formulas(text)
    text = _BLOCK_ID.sub("", _COMMENT.sub("", text))
    text = _WIKI.sub(partial(_wiki, conversion), text)
    text = _SIZED.sub(r"\1", text)
    text = _MARKED.sub(r"<mark>\1</mark>", text)
    text = _callouts(text, kept)
    conversion.tags += [match[1] for match in _TAG.finditer(text)]
    return conversion.finished(text, kept)


def _fence(conversion: TextConversion, kept: Kept, fence: Fence) -> str | None:
    language = fence.info.lower().split(" ")[0]
    if language in _QUERIES:
        conversion.note(f"a query of `{language}`")
        return str(Fence("text", fence.code, fence.marks))
    if language.startswith("ad-"):
        return callout(kept, language.removeprefix("ad-"), "", conversion.inner(fence.code, write))
    return str(Fence(fence.info.partition(" ")[0], fence.code, fence.marks))


def _callouts(text: str, kept: Kept, depth: int = 1) -> str:
    """Return the text with each callout as a fence, the inner ones within the outer ones."""

    def changed(match: re.Match[str]) -> str:
        lines = [re.sub(r"^[ \t]*>[ ]?", "", line) for line in match["inner"].split("\n")[1:]]
        inner = _callouts("\n".join(lines), kept, depth + 1) if depth < DEEPEST else "\n".join(lines)
        made = callout(kept, match["kind"].strip().lower(), match["title"].strip(), inner)
        return "\n".join(match["indent"] + line for line in made.split("\n"))

    return _CALLOUT.sub(changed, text)


def _wiki(conversion: TextConversion, match: re.Match[str]) -> str:
    """Return the Markdown of a link or an image by name; a name that no file has stands as words."""
    name, _, heading = match["target"].replace("\\", "").partition("#")
    heading = heading.rpartition("#")[2]
    words = (match["words"] or "").strip() or (f"{name} > {heading}" if name and heading else name or heading)
    anchor = f"#{slug(heading)}" if heading and not heading.startswith("^") else ""
    path = _path(conversion, name.strip()) if name.strip() else conversion.found.text.path
    if not path:
        conversion.note(f"a link to `{name}`, which is no file")
        return words
    if match["embed"] and path.lower().endswith(_IMAGES):
        plain = posixpath.basename(path).rpartition(".")[0]
        alt = plain if re.fullmatch(r"\d*(?:x\d+)?", (match["words"] or "").strip()) else words
        return f"![{alt}](/{quote(path)})"
    if match["embed"] and path.endswith(".md"):
        conversion.note("an embedded note, which is a link")
    return f"[{words}]({anchor if not name.strip() else f'/{quote(path)}{anchor}'})"


def _path(conversion: TextConversion, name: str) -> str:
    names, here = conversion.folder.names, posixpath.dirname(conversion.found.text.path)
    keys = (posixpath.normpath(posixpath.join(here, name)).lower(), name.strip("/").lower())
    found = next((names[key] for key in keys if key in names), "")
    return found or names.get(posixpath.basename(name).lower(), "") if "/" not in name or not found else found


OBSIDIAN = Dialect("Obsidian", find, write, lambda folder: folder.root.resolve().name)
