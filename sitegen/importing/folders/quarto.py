"""Read a site of Quarto: its documents, the cells in them, and the forms of Pandoc."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import partial
from typing import Any

from sitegen.importing.folders.authors import author_names
from sitegen.importing.folders.cells import cell, notebook_text
from sitegen.importing.folders.containers import callout, container, containers
from sitegen.importing.folders.convert import Dialect, TextConversion
from sitegen.importing.folders.passages import Fence, Kept
from sitegen.importing.folders.placing import Found, Place
from sitegen.importing.folders.series import series_of
from sitegen.importing.folders.shortcodes import Shortcode, replaced
from sitegen.importing.folders.source import Folder, FolderText, as_date, as_words, with_first_heading
from sitegen.model.urls import is_external

_CONFIGS = ("_quarto.yml", "_quarto.yaml")
_TEXTS = (".qmd", ".ipynb", ".md", ".rmd")
_ATTRIBUTES = re.compile(
    r"(?P<before>\]\([^()\n]*+(?:\([^()\n]*+\)[^()\n]*+)?\)|^#{1,6}[^\n{]*+|\$\$)[ \t]*+\{(?P<inner>[^{}\n]+)\}",
    re.MULTILINE,
)
_IMAGE = (
    r"!\[(?P<caption>(?:[^\[\]\n]|\n(?![ \t]*\n)|\[[^\[\]\n]*\])*+)\]"
    r"\((?P<target>[^()\s]++)(?P<title>[ \t]++\"[^\"\n]*\")?\)"
)
_ALONE = re.compile(
    rf"(?:\A|(?<=\n\n))(?P<indent>[ \t]*+){_IMAGE}(?:\{{(?P<attributes>[^{{}}\n]++)\}})?[ \t]*+(?=\n[ \t]*\n|\s*\Z)"
)
_DESCRIBED = re.compile(rf"{_IMAGE}(?P<attributes>\{{[^{{}}\n]*fig-alt=[^{{}}\n]*\}})")
_ALT = re.compile(r"fig-alt=(?:\"(?P<double>[^\"]*)\"|'(?P<single>[^']*)')")
_SPAN = re.compile(r"\[(?P<words>[^\[\]\n]+)\]\{(?:[.#][^{}\n]*|[\w-]+=[^{}\n]*)\}")
_CODE_SPAN = re.compile(r"^\{?(?:python|r|julia)\}? +")
_HEADING = re.compile(
    r"^#{1,6}[ \t]+(?P<title>[^\s{]?[^\n{]*+(?:\{(?![^{}\n]*\}[ \t]*$)[^\n{]*+)*+)(?:\{[^{}\n]*\}[ \t]*)?$",
    re.MULTILINE,
)
_MARGIN = re.compile(r"\.(?:column-margin|aside)\b")
_LABELLED = re.compile(
    r"^#{1,6}[ \t]+(?P<title>[^\n{]++)\{[^{}\n]*?#(?P<heading>(?:sec|fig|tbl|eq|lst)-[\w-]+)"
    r"|^(?!#)[^\n]*\{[^{}\n]*?#(?P<other>(?:sec|fig|tbl|eq|lst)-[\w-]+)"
    r"|^[ \t]*(?:#\||//\||%%\|)[ \t]*label:[ \t]*[\"']?(?P<cell>(?:fig|tbl|lst)-[\w-]+)",
    re.MULTILINE,
)
_REFERENCE = re.compile(
    r"(?<![\w\\@/.])(?P<open>\[)?-?@(?P<label>(?:sec|fig|tbl|eq|lst)-[\w-]*\w)(?(open)\](?![(\[{]))", re.IGNORECASE
)
_LISTED = re.compile(r"^[ \t]*listing[ \t]*:", re.MULTILINE)
_NO_WORDS = re.compile(r"^[ \t]*:{3,}[^\n]*$|<[^<>]*>|\{[^{}\n]*\}|\]\([^()\n]*\)", re.MULTILINE)
_FEW = 20
"""Most words of a page of lists that is left out."""


def find(folder: Folder) -> Sequence[Found]:
    """Return the documents, those of a book in its order; a page that lists others is left out, with a warning."""
    found: list[Found] = []
    chapters = [path for _, paths in _chapters(folder) for path in paths]
    documents = _rendered(folder)
    if chapters and (others := [path for path in documents if path not in chapters and path.endswith(".qmd")]):
        said = f"{len(others)} documents that are no chapters of the book are left out"
        folder.warn("SG606", said, others[0], 1, "add them to `chapters`, and import again")
    for path in chapters or documents:
        text = notebook_text(folder, path) if path.endswith(".ipynb") else folder.text(path)
        if path.endswith(".md") and not text.head:
            continue
        text = with_first_heading(text)
        if _LISTED.search(text.head) and len(re.findall(r"\w+", _NO_WORDS.sub("", text.body))) <= _FEW:
            folder.warn("SG606", "a page that lists others is left out", path, 1, "lists are made without a text")
            continue
        found.append(_found(folder, text, is_chapter=path in chapters and path != "index.qmd"))
        _note_labels(folder, found[-1])
    return found


def _rendered(folder: Folder) -> list[str]:
    """Return the documents of which Quarto makes pages: those that `render` of the project asks for, or all."""
    asked = folder.settings(*_CONFIGS).get("project")
    patterns = as_words(asked.get("render") if isinstance(asked, dict) else None)
    documents = [path for path in folder.files if path.lower().endswith(_TEXTS) and not _is_partial(path)]
    return [path for path in documents if not _is_made(folder, path) and _is_asked_for(path, patterns)]


def _is_made(folder: Folder, path: str) -> bool:
    """Tell whether Quarto wrote a file itself: `keep-md` leaves `a.html.md` beside `a.qmd`."""
    kept = re.fullmatch(r"(.+)\.\w+\.md", path)
    return kept is not None and any(f"{kept[1]}{ending}" in folder.files for ending in _TEXTS)


def _is_asked_for(path: str, patterns: Sequence[str]) -> bool:
    """Tell whether a list such as `["*.qmd", "!drafts/"]` names a document; one without `/` fits in any folder."""

    def fits(pattern: str) -> bool:
        name = path if "/" in pattern else posixpath.basename(path)
        return fnmatchcase(name, pattern.lstrip("/")) or path.startswith(f"{pattern.strip('/')}/")

    wanted = [pattern for pattern in patterns if not pattern.startswith("!")]
    unwanted = [pattern[1:] for pattern in patterns if pattern.startswith("!")]
    return (not wanted or any(map(fits, wanted))) and not any(map(fits, unwanted))


def _chapters(folder: Folder) -> list[tuple[str, list[str]]]:
    """Return the title and the documents of each part of a book; none for a site."""
    book = folder.settings(*_CONFIGS).get("book")
    parts: list[tuple[str, list[str]]] = []
    book = book if isinstance(book, dict) else {}
    appendices = [{"part": "Appendices", "chapters": book["appendices"]}] if book.get("appendices") else []
    for entry in [*(book.get("chapters") or []), *appendices]:
        part = entry.get("part") if isinstance(entry, dict) else None
        paths = [path for path in _documents([part, entry]) if path in folder.files]
        if part:
            title = with_first_heading(folder.text(paths[0])).title if str(part) in paths else str(part)
            stem = str(part).removesuffix(".qmd")
            parts.append((stem.replace("-", " ").capitalize() if title == f"{stem}.qmd" else title, paths))
        elif parts and not parts[-1][0]:
            parts[-1][1].extend(paths)
        else:
            parts.append(("", paths))
    return [(title, paths) for title, paths in parts if paths]


def _documents(entry: Any) -> Iterator[str]:
    """Yield the paths in an entry of `chapters`."""
    if isinstance(entry, str):
        yield posixpath.normpath(entry)
    elif isinstance(entry, dict):
        yield from (path for key in ("file", "href", "chapters") for path in _documents(entry.get(key)))
    elif isinstance(entry, list):
        yield from (path for one in entry for path in _documents(one))


def _note_labels(folder: Folder, one: Found) -> None:
    """Note where each label of a document leads, and the words of a link to it from another document."""
    path, whole = one.text.path, folder.texts[one.text.path]
    for match in _LABELLED.finditer(whole):
        title = " ".join(re.sub(r"[*`]", "", match["title"] or "").split())
        is_title = title == one.text.title and path not in folder.words
        folder.words.setdefault(path, one.text.title)
        label = match["heading"] or match["other"] or match["cell"]
        folder.names.setdefault(label, path if is_title else f"{path}#{label}")
        folder.words.setdefault(label, title or one.text.title)


def _is_partial(path: str) -> bool:
    """Tell whether Quarto makes no page of a file: its name or a folder above it begins with `_`."""
    return "/_" in f"/{path}" or posixpath.basename(path).upper().startswith("README.")


def _found(folder: Folder, text: FolderText, *, is_chapter: bool) -> Found:
    front = text.front
    stem = text.path.rpartition(".")[0]
    name = posixpath.basename(posixpath.dirname(text.path)) if stem.endswith("/index") else posixpath.basename(stem)
    date = as_date(front.get("date"))
    title = text.title or name.replace("-", " ").replace("_", " ").capitalize() or "Home"
    if not text.title:
        text = FolderText(text.path, {**front, "title": title}, text.head, text.body, text.line)
    return Found(
        text,
        f"/{stem.removesuffix('index')}" if stem.endswith("index") else f"/{stem}.html",
        date,
        "posts" if date or is_chapter or "/" in text.path else "pages",
        name or "home",
        front.get("draft") is True,
        tuple(as_words(front.get("categories") or front.get("tags"))),
        tuple(f"/{alias.strip('/')}" for alias in as_words(front.get("aliases")) if not alias.startswith(".")),
        {"authors": author_names(front), "description": front.get("description") or front.get("subtitle")},
    )


def write(conversion: TextConversion, body: str) -> str:
    """Return a document in the Markdown of sitegen."""
    kept = Kept()
    text = replaced(body, partial(_included, conversion, 0))
    text = kept.fences(text, partial(_fence, conversion))
    text = kept.spans(text, lambda marks, code: f"`{_CODE_SPAN.sub('', code)}`" if _CODE_SPAN.match(code) else None)
    text = _ALONE.sub(partial(_figure, conversion), text)
    text = _DESCRIBED.sub(_described, text)
    text = _ATTRIBUTES.sub(partial(_attributes, conversion), text)
    text = kept.formulas(text)
    text = replaced(text, partial(_shortcode, conversion, kept))
    text = _SPAN.sub(lambda match: match["words"], text)
    text = _REFERENCE.sub(partial(_reference, conversion), text)
    text = containers(text, partial(_container, conversion, kept))
    return conversion.finished(text, kept)


def _reference(conversion: TextConversion, match: re.Match[str]) -> str:
    """Return a link for a reference to another document; one within the document stays."""
    names, words, path = conversion.folder.names, conversion.folder.words, conversion.found.text.path
    target = names.get(match["label"], f"{path}#")
    if target.startswith(f"{path}#"):
        return match[0]
    return f"[{words.get(match['label'], match['label'])}](/{target})"


def _included(conversion: TextConversion, depth: int, code: Shortcode, inner: str | None) -> str:
    """Return the text of an included file; every other shortcode stays as it was."""
    if code.name != "include" or depth > 5:
        return code.source
    here = posixpath.dirname(conversion.found.text.path)
    path = posixpath.normpath(
        posixpath.join("" if code.get(at=0).startswith("/") else here, code.get(at=0).lstrip("/"))
    )
    if path not in conversion.folder.files:
        conversion.note(f"the file `{path}` that is included")
        return code.source
    body = conversion.folder.text(path).body
    if not conversion.may_include(body):
        return code.source
    return replaced(body, partial(_included, conversion, depth + 1))


def _fence(conversion: TextConversion, fence: Fence) -> str:
    """Return a cell with the options that are known here, or a listing; of a cell `{comment}` nothing, as Quarto."""
    match = re.match(
        r"\{(?P<cell>[\w-]+)(?P<more>[^}]*)\}|\{(?P<attributes>[.=#][^}]*)\}|(?P<plain>[\w+#-]*)", fence.info
    )
    if match and match["cell"] == "comment":
        return ""
    if match and match["cell"] and match["cell"] != "mermaid":
        named = fence.info[match.end() :].strip() if match["cell"] == "code-cell" else match["cell"]
        return cell(conversion, named or "python", fence.code)
    if match and match["cell"]:
        return str(Fence("mermaid", re.sub(r"(?m)^%%\|.*\n", "", fence.code), fence.marks))
    if match and match["attributes"]:
        if match["attributes"].startswith("=html"):
            return fence.code
        language = re.search(r"\.([\w+#-]+)", match["attributes"])
        name = re.search(r"(?:filename|file)=\"([^\"]+)\"", match["attributes"])
        title = f' filename="{name[1]}"' if name else ""
        return str(Fence(f"{language[1] if language else 'text'}{title}", fence.code, fence.marks))
    return str(Fence(match["plain"] if match else "", fence.code, fence.marks))


def _figure(conversion: TextConversion, match: re.Match[str]) -> str:
    """Return an image that stands alone, whose words are a caption to Quarto, as a figure."""
    caption, attributes = match["caption"].strip(), match["attributes"] or ""
    if not caption or is_external(match["target"]):
        return match[0]
    label = re.search(r"#(fig-[\w-]+)", attributes)
    lines = [
        f"```{{figure}} {conversion.links.target(match['target'])}",
        f":alt: {_words_of_image(attributes, caption)}",
    ]
    lines += [f":label: {label[1]}"] if label else []
    return "\n".join(f"{match['indent']}{line}".rstrip() for line in [*lines, "", *caption.split("\n"), "```"])


def _described(match: re.Match[str]) -> str:
    """Return an image with `fig-alt` for those who do not see it; its caption is not shown where it has text around."""
    return f"![{_words_of_image(match['attributes'], match['caption'])}]({match['target']}){match['attributes']}"


def _words_of_image(attributes: str, caption: str) -> str:
    """Return what `fig-alt` says, else the caption, as plain words."""
    alt = _ALT.search(attributes)
    words = (alt["double"] or alt["single"] or "") if alt else ""
    return " ".join(re.sub(r"\]\([^()\n]*\)|[\[\]*`]", "", words or caption).split())


def _attributes(conversion: TextConversion, match: re.Match[str]) -> str:
    """Keep the id of a link, an image, a heading or a formula; the other attributes are left out."""
    if not re.search(r"(?:^|\s)[#.]|=", match["inner"]):
        return match[0]
    id = re.search(r"(?:^|\s)#([\w:.-]+)", match["inner"])
    before = match["before"].rstrip() if match["before"].startswith("#") else match["before"]
    spaced = " " if before.startswith(("#", "$$")) else ""
    return f"{before}{spaced}{{#{id[1]}}}" if id else before


def _shortcode(conversion: TextConversion, kept: Kept, code: Shortcode, inner: str | None) -> str:
    if code.name in ("video", "embed", "pdf") and (source := code.get("src", "url", at=0)):
        return f"[{source}]({source})"
    if code.name == "meta":
        return str(conversion.found.text.front.get(code.get(at=0), ""))
    if code.name in ("pagebreak", "fa", "bi", "iconify", "include"):
        return kept.keep(f"`{code.source}`") if code.name == "include" else ""
    conversion.note(f"the shortcode `{code.name}`")
    return kept.keep(f"`{' '.join(code.source.split())}`") + (inner or "")


def _container(conversion: TextConversion, kept: Kept, info: str, inner: str) -> str:
    """Return a callout, a set of tabs or a note in the margin; of every other container its text."""
    kind = re.search(r"callout-(\w+)", info)
    heading = _HEADING.match(inner.lstrip("\n"))
    if kind:
        title = re.search(r"title=\"([^\"]*)\"", info)
        shown = title[1] if title else heading["title"].rstrip() if heading else ""
        rest = inner.lstrip("\n")[heading.end() :] if heading and not title else inner
        return f"\n{callout(kept, kind[1], shown, rest)}\n"
    if "panel-tabset" in info:
        return _tabs(kept, inner)
    if _MARGIN.search(info):
        return f"\n{container(kept, 'margin', '', inner)}\n"
    if 'unless-format="html"' in info or 'when-format="pdf"' in info:
        return ""
    if not re.search(r"content-visible|content-hidden|column|grid|layout|g-col", info):
        conversion.note(f"the container `{info[:40]}`")
    return f"\n{inner}\n"


def _tabs(kept: Kept, inner: str) -> str:
    headings = list(_HEADING.finditer(inner))
    if not headings:
        return inner
    level = len(headings[0][0]) - len(headings[0][0].lstrip("#"))
    tops = [match for match in headings if len(match[0]) - len(match[0].lstrip("#")) == level]
    ends = [*(match.start() for match in tops[1:]), len(inner)]
    items = [
        container(kept, "tab-item", top["title"].rstrip(), inner[top.end() : end] or " ")
        for top, end in zip(tops, ends, strict=True)
    ]
    return f"\n{inner[: tops[0].start()].strip()}\n{container(kept, 'tab-set', '', chr(10).join(items))}\n"


def _website(folder: Folder) -> Mapping[str, Any]:
    settings = folder.settings(*_CONFIGS)
    found = settings.get("website") or settings.get("book") or {}
    return found if isinstance(found, dict) else {}


def bibliography(folder: Folder) -> Mapping[str, str]:
    """Return the bibliography of the site, gathered from all that its documents name."""
    works = [folder.read(path) for path in folder.files if path.endswith(".bib")]
    return {"content/references.bib": "\n".join(works)} if works else {}


def shared(folder: Folder, places: Mapping[str, Place]) -> Mapping[str, str]:
    """Return the bibliography, and the chapters of a book as a series."""
    title = str(_website(folder).get("title") or folder.root.resolve().name)
    return {**bibliography(folder), **series_of(title, _chapters(folder), places)}


QUARTO = Dialect(
    "Quarto",
    find,
    write,
    lambda folder: str(_website(folder).get("title") or ""),
    lambda folder: str(_website(folder).get("site-url") or ""),
    shared=shared,
)
