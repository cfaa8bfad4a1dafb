"""Read a book of MyST or Jupyter Book: its table of contents, directives, roles and labels."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from sitegen.importing.folders.authors import author_names
from sitegen.importing.folders.cells import cell, cell_options, figure_label, notebook_text
from sitegen.importing.folders.containers import callout, code_in_backquotes, container, containers
from sitegen.importing.folders.convert import Dialect, TextConversion
from sitegen.importing.folders.passages import Fence, Kept
from sitegen.importing.folders.placing import Found, Place
from sitegen.importing.folders.quarto import bibliography
from sitegen.importing.folders.series import series_of
from sitegen.importing.folders.source import Folder, as_date, as_words, with_first_heading
from sitegen.markup.collected import slug
from sitegen.model.urls import is_external

_TEXTS = (".md", ".ipynb")
_TARGET = re.compile(r"^[ \t]*\((?P<label>[^()\n]+)\)=[ \t]*\n+", re.MULTILINE)
_HEADING = re.compile(r"#{1,6}[ \t]+(?P<title>[^\n]+)")
_DISPLAYED = re.compile(r"\$\$(?P<tex>(?:(?!\$\$).)+)\$\$[ \t]*\((?P<label>[\w:.-]+)\)", re.DOTALL)
_ROLE = re.compile(
    r"(?:(?<![\w\\`])\{(?P<role>[\w:+.-]+)\})?(?<!`)(?P<ticks>`++)"
    r"(?P<text>(?:[^`\n]|\n(?![ \t]*\n)|(?!(?<!`)(?P=ticks)(?!`))`)+?)(?<!`)(?P=ticks)(?!`)"
)
"""A stretch of code, with the role before it if there is one."""
_NAMED = re.compile(r"(?P<words>.*?)\s*<(?P<target>[^<>]+)>$", re.DOTALL)
_QUOTE_OF = re.compile(
    r"^[ \t]*\{(?P<attributes>(?:[^{}\n\"]|\"[^\"\n]*+\")*+)\}[ \t]*+\n(?P<quote>(?:[ \t]*>[^\n]*(?:\n|\Z))+)",
    re.MULTILINE,
)
"""A quote with attributes before it."""
_QUOTED_PERSON = re.compile(r"\battribution=\"([^\"\n]+)\"")
"""The name of a quote's author, which readers see below the quote."""
_ASIDE = re.compile(r"^%[^\n]*\n?|^\+\+\+[^\n]*\n?", re.MULTILINE)
_EMPTY_LINK = re.compile(r"(?<!!)\[\]\((?P<target>[^()\s]+)\)")
_CELL_FIGURE = re.compile(
    r"^[ \t>]*`{3,}\{code-cell\}[^\n]*\n---[ \t]*\n(?:(?!---)[^\n]*\n)*?[ \t]+name:[ \t]*(?P<label>[\w:.-]+)",
    re.MULTILINE,
)
_LABEL_LINK = re.compile(r"(?<!!)\[(?P<words>[^\[\]\n]+)\]\((?:project:)?#?(?P<label>[\w:./-]+)\)")
_BARE_LABEL = re.compile(r"<project:#?(?P<label>[\w:./-]+)>")
_TOCTREE = re.compile(
    r"^[ \t]*(?P<marks>`{3,}|:{3,})\{toctree\}[^\n]*\n(?P<inner>.*?)^[ \t]*(?P=marks)", re.DOTALL | re.MULTILINE
)
_ENTRY = re.compile(r"^(?!:)(?:[^<>\n]*<(?P<named>[^<>\n]+)>|(?P<plain>[^\s<>]+))[ \t]*$", re.MULTILINE)
_LABEL_OPTION = re.compile(r"^[ \t]*(?:#\|[ \t]*|:)(?:name|label):[ \t]*(?P<label>[\w:.-]+)", re.MULTILINE)
_SUBSTITUTION = re.compile(r"\{\{\s*([\w-]+)\s*\}\}")
_CITES = re.compile(r"(?:cite|footcite)(?::?\w*)")
_KEPT_ROLES = frozenset({"kbd", "sub", "sup"})
_MADE = frozenset(
    re.findall(
        r"[\w-]+",
        "index tableofcontents toctree contents bibliography nb-exec-table meta tags footbibliography exercise-end "
        "solution-end only sectionauthor genindex",
    )
)
"""Directives that stand for what is made anyhow, or for nothing that a reader sees."""
_ASIDES = frozenset({"margin", "sidebar", "aside"})
_CALLOUTS = frozenset(
    re.findall(r"\w+", "note tip hint important warning caution danger attention error seealso admonition todo")
)
_PLAIN = frozenset(
    {"div", "grid", "grid-item", "card-carousel", "glossary", "table", "container", "grid-item-card", "card"}
)
_ADDRESSES = frozenset({"iframe", "video", "youtube"})


def find(folder: Folder) -> Sequence[Found]:
    """Return the texts of the table of contents in its order, or all texts where there is none."""
    base, chapters = _contents(folder)
    listed = [path for chapter in chapters for path in chapter[1]]
    texts = [path for path in folder.files if path.endswith(_TEXTS)]
    if listed and (others := [path for path in texts if path not in listed]):
        said = f"{len(others)} texts that are not in the table of contents are left out"
        folder.warn("SG606", said, others[0], 1, "add them to it, and import again")
    found = [_found(folder, path, base, path in listed[:1]) for path in listed or texts if _is_text(path)]
    for one in found:
        _note_labels(folder, one)
    return found


def _is_text(path: str) -> bool:
    return not posixpath.basename(path).lower().startswith("readme.")


def _contents(folder: Folder) -> tuple[str, list[tuple[str, list[str]]]]:
    """Return the folder of the book, and the title and the paths of each part of its table of contents."""
    path = next((path for path in folder.files if posixpath.basename(path) in ("_toc.yml", "myst.yml")), "")
    base, settings = posixpath.dirname(path), folder.settings(path) if path else {}
    if path.endswith("myst.yml"):
        project = settings.get("project")
        settings = {"chapters": project.get("toc") if isinstance(project, dict) else None}
    chapters = [("", list(_files(folder, base, {"file": settings.get("root")})))]
    parts = settings.get("parts")
    if isinstance(parts, list):
        chapters += [(str(part.get("caption") or ""), list(_files(folder, base, part))) for part in parts]
    chapters.append(("", list(_files(folder, base, {key: settings.get(key) for key in ("chapters", "sections")}))))
    if not path and (root := next((one for one in ("index.md", "index.ipynb") if one in folder.files), "")):
        chapters = [("", [root]), *_toctrees(folder, root, {root})]
    return base, [(title, paths) for title, paths in chapters if paths]


def _toctrees(folder: Folder, path: str, seen: set[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield the title and the paths of each `{toctree}` of a text of Sphinx, with those below."""
    for tree in _TOCTREE.finditer(folder.read(path) if path.endswith(".md") else ""):
        options, entries = cell_options(tree["inner"])
        paths: list[str] = []
        for entry in _ENTRY.finditer(entries):
            name = (entry["named"] or entry["plain"]).strip()
            inner = posixpath.normpath(posixpath.join(posixpath.dirname(path), name)).lstrip("/")
            found = next((one for one in (inner, *(f"{inner}{end}" for end in _TEXTS)) if one in folder.files), "")
            if found and found.endswith(_TEXTS) and found not in seen:
                seen.add(found)
                paths += [found, *(one for _, below in _toctrees(folder, found, seen) for one in below)]
        yield str(options.get("caption") or ""), paths


def _files(folder: Folder, base: str, entry: Mapping[str, Any]) -> Iterator[str]:
    """Yield the path of an entry of the table of contents, and those below it."""
    if isinstance(name := entry.get("file"), str):
        path = posixpath.normpath(posixpath.join(base, name.strip()))
        found = next((one for one in (path, *(f"{path}{end}" for end in _TEXTS)) if one in folder.files), "")
        if found:
            yield found
        else:
            folder.warn("SG606", f"the table of contents names `{name}`, which is no text here", base or ".", 1)
    for key in ("chapters", "sections", "children"):
        for child in entry.get(key) or ():
            yield from _files(folder, base, child) if isinstance(child, dict) else ()


def _found(folder: Folder, path: str, base: str, is_root: bool) -> Found:
    text = notebook_text(folder, path) if path.endswith(".ipynb") else folder.text(path)
    text = with_first_heading(text)
    stem = path.rpartition(".")[0]
    if not text.title:
        text = type(text)(path, {**text.front, "title": posixpath.basename(stem)}, text.head, text.body, text.line)
    inner = stem.removeprefix(f"{base}/") if base else stem
    tags = as_words(text.front.get("tags") or text.front.get("keywords"))
    return Found(
        text,
        f"/{inner}.html",
        as_date(text.front.get("date")),
        "pages" if is_root else "posts",
        posixpath.basename(stem),
        tags=tuple(tags),
        more={"authors": author_names(text.front), "description": text.front.get("description")},
    )


def _note_labels(folder: Folder, one: Found) -> None:
    """Note where each label of a text leads, and the words of a link to it."""
    path, body = one.text.path, one.text.body
    whole = folder.texts[path]
    folder.words[path] = one.text.title
    for match in _TARGET.finditer(whole):
        heading = _HEADING.match(whole, match.end())
        is_title = heading is not None and heading["title"].strip() == one.text.title
        folder.names[match["label"]] = path if is_title or not heading else f"{path}#{slug(match['label'])}"
        folder.words[match["label"]] = heading["title"].strip() if heading else one.text.title
    for match in _DISPLAYED.finditer(body):
        folder.names[match["label"]] = f"{path}#{_numbered('eq', match['label'])}"
    for match in _CELL_FIGURE.finditer(body):
        folder.names[match["label"]] = f"{path}#{figure_label(match['label'])}"
        folder.words[match["label"]] = one.text.title
    for fence in re.finditer(
        r"^[ \t>]*(?:`{3,}|:{3,})\{(?P<name>[\w:-]+)\}[^\n]*\n(?P<head>(?:[ \t]*(?::|#\|)[^\n]*\n)+)", body, re.M
    ):
        if label := _LABEL_OPTION.search(fence["head"]):
            kind = {"math": "eq", "figure": "fig"}.get(fence["name"], "")
            anchor = f"#{_numbered(kind, label['label'])}" if kind else ""
            folder.names[label["label"]] = f"{path}{anchor}"
            folder.words[label["label"]] = one.text.title


def _numbered(kind: str, label: str) -> str:
    """Return the label of a figure or a formula as it is here: `eq-bound` for `eq:bound`."""
    name = re.sub(r"[^\w-]+", "-", label).strip("-").removeprefix(f"{kind}-").removeprefix(f"{kind}_")
    return f"{kind}-{name or 'label'}"


def write(conversion: TextConversion, body: str) -> str:
    """Return a text in the Markdown of sitegen."""
    kept = Kept()
    text = kept.fences(code_in_backquotes(body), partial(_fence, conversion, kept))
    text = _DISPLAYED.sub(lambda m: kept.keep(f"$${m['tex']}$$ {{#{_numbered('eq', m['label'])}}}"), text)
    text = _ROLE.sub(partial(_role, conversion, kept), text)
    text = kept.spans(text)
    text = kept.formulas(text)
    text = _TARGET.sub("", re.sub(_TARGET.pattern + r"(#{1,6}[^\n]*)", _labelled, text, flags=re.MULTILINE))
    text = _ASIDE.sub("", text)
    text = _QUOTE_OF.sub(_attributed, text)
    text = _SUBSTITUTION.sub(partial(_substituted, conversion), text)
    text = _EMPTY_LINK.sub(partial(_filled, conversion), text)
    text = _LABEL_LINK.sub(partial(_by_label, conversion), text)
    text = _BARE_LABEL.sub(lambda match: _link(conversion, match["label"], ""), text)
    text = containers(text, partial(_container, conversion, kept))
    return conversion.finished(text, kept)


def _attributed(match: re.Match[str]) -> str:
    """Return a quote with the name of its author; the text as it is where the attributes have no name."""
    who = _QUOTED_PERSON.search(match["attributes"])
    return f"{match['quote'].rstrip()}\n>\n> — {who[1]}\n" if who else match[0]


def _labelled(match: re.Match[str]) -> str:
    return match[2] if "{#" in match[2] else f"{match[2].rstrip()} {{#{slug(match['label'])}}}"


def _substituted(conversion: TextConversion, match: re.Match[str]) -> str:
    front = conversion.found.text.front
    inner = front.get("myst") if isinstance(front.get("myst"), dict) else front
    values = inner.get("substitutions") if isinstance(inner, dict) else None
    return str(values[match[1]]) if isinstance(values, dict) and match[1] in values else match[0]


def _filled(conversion: TextConversion, match: re.Match[str]) -> str:
    """Return a link with the words of its target, where the author left them to the program."""
    target = match["target"].removeprefix("project:")
    name, names, here = target.lstrip("#"), conversion.folder.names, posixpath.dirname(conversion.found.text.path)
    path = posixpath.normpath(posixpath.join(here, target.partition("#")[0]))
    if name in names and path not in conversion.folder.words:
        return _link(conversion, name, "")
    return f"[{conversion.folder.words.get(path, target)}]({target})"


def _by_label(conversion: TextConversion, match: re.Match[str]) -> str:
    """Return a link whose target is a label; every other link stays as it was."""
    known = match["label"] in conversion.folder.names
    return _link(conversion, match["label"], match["words"]) if known else match[0]


def _link(conversion: TextConversion, label: str, words: str) -> str:
    """Return a link to a label; one that no text has stands as words."""
    target = conversion.folder.names.get(label, "")
    shown = words or conversion.folder.words.get(label, "") or label
    if not target:
        conversion.note(f"a reference to `{label}`, which no text has")
        return shown
    path, _, anchor = target.partition("#")
    if path == conversion.found.text.path and anchor:
        numbered = anchor.startswith(("eq-", "fig-")) and not words
        return f"@{anchor}" if numbered else f"[{shown}](#{anchor})"
    return f"[{shown}](/{path}{f'#{anchor}' if anchor else ''})"


def _role(conversion: TextConversion, kept: Kept, match: re.Match[str]) -> str:
    """Return what stands here for a role; code without a role stays."""
    if not match["role"]:
        return kept.keep(match[0])
    role, text = match["role"].lower(), " ".join(match["text"].split())
    named = _NAMED.fullmatch(text)
    words, target = (named["words"], named["target"]) if named else ("", text)
    if role in ("ref", "numref", "eq", "prf:ref", "external"):
        link = _link(conversion, target, re.sub(r"%s|\{(?:number|name)\}", "", words).strip())
        glued = link.startswith("@") and re.match(r"\w", match.string[match.end() : match.end() + 1])
        return f"{link} " if glued else link
    if role == "doc":
        here = "" if target.startswith("/") else posixpath.dirname(conversion.found.text.path)
        path = posixpath.normpath(posixpath.join(here, target.lstrip("/")))
        base = _contents(conversion.folder)[0] if target.startswith("/") else ""
        names = [posixpath.join(base, path) + end for end in ("", *_TEXTS)]
        found = next((one for one in names if one in conversion.folder.words), "")
        if not found and ":" in target:
            conversion.note(f"a link to another book, `{target}`")
            return words or target
        return f"[{words or conversion.folder.words.get(found, target)}](/{found or path})"
    if _CITES.fullmatch(role):
        keys = [f"@{key.strip()}" for key in target.split(",")]
        return keys[0] if role.endswith((":t", "cite:ts")) and len(keys) == 1 else f"[{'; '.join(keys)}]"
    if role == "math":
        return kept.keep(f"${text}$")
    if role == "download":
        return f"[{words or posixpath.basename(target)}]({target})"
    if role == "index":  # the entry of the index is of no use here; its words are a part of the sentence
        return words or text.lstrip("!")
    if role in _KEPT_ROLES:
        return kept.keep(match[0])
    return words or text if role in ("term", "abbr", "sc", "span") else kept.keep(f"`{words or text}`")


def _fence(conversion: TextConversion, kept: Kept, fence: Fence) -> str | None:
    name = re.match(r"\{(?P<name>[\w:+-]+)\}[ \t]*(?P<argument>[^\n]*)", fence.info)
    if not name:
        return str(Fence(re.sub(r"[\s{].*", "", fence.info), fence.code, fence.marks))
    return _directive(conversion, kept, name["name"].lower(), name["argument"].strip(), fence.code)


def _container(conversion: TextConversion, kept: Kept, info: str, inner: str) -> str:
    name = re.match(r"\{?(?P<name>[\w:+-]+)\}?[ \t]*(?P<argument>[^\n]*)", info)
    if not name:
        return inner
    return f"\n{_directive(conversion, kept, name['name'].lower(), name['argument'].strip(), inner, is_read=True)}\n"


def _directive(
    conversion: TextConversion, kept: Kept, name: str, argument: str, code: str, *, is_read: bool = False
) -> str:
    """Return what stands here for a directive; the text of one that `is_read` was converted already."""
    if name in ("myst", "markdown"):
        return str(Fence("markdown", code.strip("\n") + "\n", "`" * (3 + len(max(re.findall("`+", code), default="")))))
    if name in ("code-cell", "code-block", "code", "sourcecode", "ipython", "literalinclude", "mermaid"):
        return _code(conversion, name, argument, code)
    options, inner = cell_options(code)
    options = {str(key): str(value) for key, value in options.items()}
    if name == "include":
        return _included(conversion, kept, argument, options)
    if name == "math":
        label = options.get("label") or options.get("name")
        tex = f"{argument}\n{inner}".strip()
        return kept.keep(f"$$\n{tex}\n$$" + (f" {{#{_numbered('eq', label)}}}" if label else ""))
    if name in _MADE or (name == "raw" and argument != "html"):
        return ""
    text = inner if is_read else conversion.inner(inner, write)
    if name in ("figure", "image"):
        return _figure(conversion, kept, name, argument, options, text)
    if name in ("button-ref", "button-link"):
        return _button(conversion, argument, text)
    if name in _ADDRESSES:
        return f"[{argument}]({argument})\n\n{text}".strip()
    return _framed(conversion, kept, name, argument, options, text)


def _framed(
    conversion: TextConversion, kept: Kept, name: str, argument: str, options: Mapping[str, str], text: str
) -> str:
    """Return a directive that frames a text: a callout, a tab, a note in the margin, a theorem."""
    classes = options.get("class", "").split()
    if name in _CALLOUTS:
        kind = next((one for one in classes if one in _CALLOUTS), "note") if name == "admonition" else name
        title = argument if name in ("admonition", "note") or not argument else ""
        if "dropdown" in classes:
            return container(kept, "dropdown", argument or name.capitalize(), text or " ")
        return callout(kept, kind, title, f"{'' if title else argument}\n{text}".strip())
    if name in _ASIDES:
        return container(kept, "margin", "", f"**{argument}** {text}" if argument else text)
    if name in ("dropdown", "tab-set", "tab-item", "solution"):
        title = {"solution": "Solution", "tab-set": ""}.get(name, argument or "Details")
        return container(kept, "dropdown" if name == "solution" else name, title, text or " ")
    if name in ("exercise-start", "solution-start"):
        return f"**{name.partition('-')[0].capitalize()}.** {text}".strip()
    if name == "exercise" or name.startswith("prf:"):
        kind = name.removeprefix("prf:").capitalize()
        return callout(kept, "note", f"{kind}: {argument}" if argument else kind, text)
    if name in ("epigraph", "pull-quote", "blockquote", "highlights"):
        return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))
    if name not in _PLAIN and name != "raw":
        conversion.note(f"the directive `{name}`")
    return f"**{argument}**\n\n{text}".strip() if argument and name != "raw" else text


def _included(conversion: TextConversion, kept: Kept, argument: str, options: Mapping[str, str]) -> str:
    """Return the text of an included file; a file that is no Markdown is a listing."""
    here = "" if argument.startswith("/") else posixpath.dirname(conversion.found.text.path)
    path = posixpath.normpath(posixpath.join(here, argument.lstrip("/")))
    if path not in conversion.folder.files or path in conversion.included:
        conversion.note(f"the file `{argument}` that is included")
        return kept.keep(f"`{argument}`")
    if not conversion.may_include(conversion.folder.read(path)):
        return kept.keep(f"`{argument}`")
    if not path.endswith(".md") or "literal" in options:
        return str(Fence("text", conversion.folder.read(path).strip("\n") + "\n", "````"))
    with conversion.within(path):
        return conversion.inner(conversion.folder.text(path).body, write)


def _button(conversion: TextConversion, target: str, words: str) -> str:
    known = target in conversion.folder.names
    link = _link(conversion, target, words.strip()) if known else f"[{words.strip() or target}]({target})"
    return conversion.links.followed(link)


def _figure(
    conversion: TextConversion, kept: Kept, name: str, argument: str, options: Mapping[str, str], text: str
) -> str:
    if not argument:
        return text
    words, label = options.get("alt", ""), options.get("name") or options.get("label")
    plain = re.sub(r"[\[\]]|\([^\s()]++\)", "", words or " ".join(text.split())[:120])
    if is_external(argument):
        conversion.links.remote_images += 1
        return f"[{plain or 'an image'}]({argument})\n\n{text}".strip()
    if name == "image" or not (text.strip() or label):
        return kept.keep(f"![{plain}]({conversion.links.target(argument)})")
    marks = "`" * max(3, 1 + len(max(re.findall(r"^`{3,}", text, re.MULTILINE), default="")))
    lines = [f"{marks}{{figure}} {conversion.links.target(argument)}", *([f":alt: {words}"] if words else [])]
    lines += [f":label: {_numbered('fig', label)}"] if label else []
    return "\n".join([*lines, "", text.strip(), marks])


def _code(conversion: TextConversion, name: str, argument: str, code: str) -> str:
    if name == "code-cell":
        return cell(conversion, (argument or "python").split(" ")[0], code)
    options, inner = cell_options(code)
    if name == "literalinclude":
        here = posixpath.dirname(conversion.found.text.path)
        path = posixpath.normpath(posixpath.join(here, argument))
        if path not in conversion.folder.files:
            conversion.note(f"the file `{argument}` that is included")
            return f"`{argument}`"
        if not conversion.may_include(conversion.folder.read(path)):
            return f"`{argument}`"
        argument, inner = str(options.get("language") or path.rpartition(".")[2]), conversion.folder.read(path)
    language = "mermaid" if name == "mermaid" else argument.split(" ")[0] or "text"
    return str(Fence(language, inner.strip("\n") + "\n", "````" if "```" in inner else "```"))


def shared(folder: Folder, places: Mapping[str, Place]) -> Mapping[str, str]:
    """Return the bibliography, and a series of the posts in the order of the table of contents."""
    title = _title(folder) or folder.root.resolve().name
    return {**bibliography(folder), **series_of(title, _contents(folder)[1], places)}


def _title(folder: Folder) -> str:
    path = next((path for path in folder.files if posixpath.basename(path) in ("_config.yml", "myst.yml")), "")
    settings = folder.settings(path) if path else {}
    project = settings.get("project")
    return str(settings.get("title") or (project.get("title") if isinstance(project, dict) else "") or "")


def _roots(folder: Folder) -> Sequence[str]:
    base = _contents(folder)[0]
    return ("", f"{base}/") if base else ("",)


MYST = Dialect("MyST", find, write, _title, roots=_roots, shared=shared)
