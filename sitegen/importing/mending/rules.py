"""The mend of each code: what stands in place of the mistake, and what the warning says of it.

A rule takes the text, the offset of the mistake and its diagnostic, and returns a `Mend`, or None where it sees no way.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sitegen.diagnostics import Diagnostic
from sitegen.importing.mending.places import LINK, TAG, around, fence_around, formula_around, line_around
from sitegen.importing.mending.tex import readable
from sitegen.model.urls import is_external

_ID = re.compile(r"(?<![ \t])[ \t]*+\{#[\w:.-]+\}")
_DEFINITION = re.compile(r"^[ \t]*\[[^\]\n]+\]:[ \t]*(?P<target>\S+)[^\n]*(?:\n|\Z)", re.MULTILINE)
_REFERENCE = re.compile(r"!\[(?P<words>[^\[\]\n]*)\](?P<name>\[[^\[\]\n]+\])")
_BY_NAME = re.compile(
    r"(?<![\\!])\[(?P<words>(?:[^\[\]\\`]|\\.|(?P<ticks>`++)(?:(?!(?P=ticks)).)+(?P=ticks)|!?\[[^\[\]]*\])*)\]"
    r"(?:\[(?P<name>(?:[^\[\]\n]|\n(?![ \t]*\n))*+)\])?(?!\[(?!\^)|[(:])",
    re.DOTALL,
)
_BARE = re.compile(r"<(?P<target>[^<>\s]+)>")
_ROLE = re.compile(r"(?P<name>\{[\w:-]+\})(`++)(?:(?!\2).)+\2")
_SRC = re.compile(r"\bsrc\s*=\s*[\"']?([^\"'\s>]+)", re.IGNORECASE)
_ALT = re.compile(r"\balt\s*=\s*(?:\"([^\"]*)\"|'([^']*)')", re.IGNORECASE)
_TEX_OF_ROLE = re.compile(r"^\{[\w:-]+\}")
_AFTER = re.compile(r"(?<=\$\$)[ \t]*(?:\{#[^}\n]*\}|\([\w-]+\))$")
_OPTION = re.compile(r"[ \t>]*(?:#\||//\||%%\||:[\w-]+:|[\w-]+[ \t]*:)")


@dataclass(frozen=True, slots=True)
class Mend:
    """The text that replaces a stretch of the text, and the words of the warning."""

    start: int
    end: int
    new: str
    said: str


Rule = Callable[[str, int, Diagnostic], Mend | None]


def _link(text: str, at: int, mistake: Diagnostic) -> Mend | None:
    """Leave the words of a link that leads nowhere, and the link of a target whose anchor is missing."""
    if tag := around(TAG, text, at):
        return _dead_tag(tag, text, at)
    if (fence := fence_around(text, at)) and fence.start("info") <= at <= fence.end("info"):
        return _dead_figure(fence)
    if reference := around(_REFERENCE, text, at):
        return _dead_reference(reference, text, mistake)
    link = around(LINK, text, at)
    if link and at < link.end("words") and (inner := LINK.search(text, link.start("words"), link.end("words"))):
        said = f"the image `{inner['target']}` within a link stands as words"
        return Mend(*inner.span(), inner["words"] or "image", said)
    if link:
        words, target = link["words"], link["target"].strip("<>")
        if link["image"]:
            return Mend(*link.span(), _no_image(words, target), f"the image `{target}` stands as words")
        path = target.partition("#")[0]
        if mistake.code == "SG202" and path:
            return Mend(*link.span("target"), path, f"`{target}` leads to the top of its page: the anchor is missing")
        return Mend(*link.span(), words or target, f"the link to `{target}` leads nowhere: its words stand alone")
    if (by_name := around(_BY_NAME, text, at)) and (target := _definition(text, by_name)):
        return _dead_link_by_name(by_name, target, mistake)
    if definition := around(_DEFINITION, text, at):
        return Mend(*definition.span(), "", f"the target `{definition['target']}` leads nowhere")
    bare = around(_BARE, text, at)
    return Mend(*bare.span(), f"`{bare['target']}`", "the address leads nowhere: it stands as code") if bare else None


def _definition(text: str, link: re.Match[str]) -> str:
    """Return the target that the definition of a link by reference has: `/x/` for `[words][name]` and `[name]: /x/`."""
    name = " ".join((link["name"] or link["words"]).split())
    pattern = r"\s+".join(re.escape(word) for word in name.split(" "))
    found = re.search(rf"^[ \t>]*\[{pattern}\]:[ \t]*(?P<target>\S+)", text, re.MULTILINE | re.IGNORECASE)
    return found["target"].strip("<>") if found else ""


def _dead_link_by_name(link: re.Match[str], target: str, mistake: Diagnostic) -> Mend:
    """Leave the words of a link by reference that leads nowhere, and the link of one whose anchor is missing."""
    path = target.partition("#")[0]
    if mistake.code == "SG202" and path:
        said = f"`{target}` leads to the top of its page: the anchor is missing"
        return Mend(*link.span(), f"[{link['words']}]({path})", said)
    return Mend(*link.span(), link["words"], f"the link to `{target}` leads nowhere: its words stand alone")


def _dead_figure(fence: re.Match[str]) -> Mend | None:
    """Leave the caption of a figure whose image cannot be shown."""
    name = re.match(r"\{(?:figure|image)\}[ \t]*(?P<target>\S*)", fence["info"])
    if not name:
        return None
    lines = [line for line in fence["code"].split("\n") if not re.match(r"[ \t>]*:[\w-]+:", line)]
    caption = "\n".join(lines).strip("\n") or f"{fence['indent']}*{name['target']}*"
    return Mend(*fence.span(), caption, f"the image `{name['target']}` cannot be shown: its caption stands alone")


def _dead_reference(reference: re.Match[str], text: str, mistake: Diagnostic) -> Mend:
    """Leave the words of an image by reference; a link to it where it is on another host and in no link."""
    words, inside = reference["words"] or "image", text[reference.start() - 1 : reference.start()] == "["
    shown = f"[{words}]{reference['name']}" if "another host" in mistake.message and not inside else words
    return Mend(*reference.span(), shown, f"the image `{words}` stands as {'words' if shown == words else 'a link'}")


def _dead_tag(tag: re.Match[str], text: str, at: int) -> Mend | None:
    if tag["name"].lower() == "img":
        source, words = _SRC.search(tag[0]), _ALT.search(tag[0])
        target, alt = source[1] if source else "", (words[1] or words[2] or "") if words else ""
        shown = f'<a href="{target}">{alt or target}</a>' if is_external(target) else f"<em>{alt or target}</em>"
        return Mend(
            *tag.span(), shown, f"the image `{target}` stands as {'a link' if is_external(target) else 'words'}"
        )
    return _attribute(tag, text, at)


def _no_image(words: str, target: str) -> str:
    return f"[{words or 'an image'}]({target})" if is_external(target) else f"*{words or target}*"


def _attribute(tag: re.Match[str], text: str, at: int) -> Mend | None:
    """Leave out the attribute of a tag that holds the place."""
    pattern = re.compile(r"\s+[^\s\"'<>/=]+(?:\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s\"'=<>`]+))?")
    for match in pattern.finditer(text, tag.start("attributes"), tag.end("attributes")):
        if match.start() <= at < match.end():
            return Mend(*match.span(), "", f"the attribute `{match[0].strip()}` is left out")
    return None


def _html(text: str, at: int, mistake: Diagnostic) -> Mend | None:
    """Leave out an attribute or a tag that cannot stand in a text; a frame becomes a link."""
    tag = around(TAG, text, at)
    if not tag:
        return Mend(at, at + 1, "&lt;", "a sign `<` stands as text") if text[at : at + 1] == "<" else None
    if at > tag.start():
        return _attribute(tag, text, at) or _without_tag(tag)
    return _element(tag, text)


def _element(tag: re.Match[str], text: str) -> Mend:
    """Leave out the tags of an element and keep what it holds; where the closing tag is not clear, the first one."""
    name, source = tag["name"].lower(), _SRC.search(tag[0])
    closing = re.compile(rf"</{name}\s*>", re.IGNORECASE).search(text, tag.end())
    inner = text[tag.end() : closing.start()] if closing else ""
    if closing and name in ("script", "style"):
        return Mend(tag.start(), closing.end(), "", f"`<{name}>` is left out with its content")
    if not closing or re.search(rf"<{name}\b", inner, re.IGNORECASE):
        inner, end = "", tag.end()
    else:
        end = closing.end()
    if name in ("iframe", "embed") and source:
        shown = f'<a href="{source[1]}">{source[1]}</a>'
        return Mend(tag.start(), end, shown + inner, f"`<{name}>` is a link")
    return Mend(tag.start(), end, inner, f"the tag `{tag[0][:40]}` is left out; its text stays")


def _without_tag(tag: re.Match[str]) -> Mend:
    return Mend(*tag.span(), "", f"the tag `{tag[0][:40]}` is left out; its text stays")


def _tag(text: str, at: int, mistake: Diagnostic) -> Mend | None:
    tag = around(TAG, text, at)
    return _without_tag(tag) if tag else _html(text, at, mistake)


def _formula(text: str, at: int, mistake: Diagnostic) -> Mend | None:
    """Write a formula as the engine reads it, or show its TeX as code."""
    fence = fence_around(text, at)
    if fence and fence["info"].startswith("{math}"):
        fixed = readable(fence["code"], display=True)
        if fixed is not None:
            return Mend(*fence.span("code"), fixed.rstrip("\n") + "\n", "the formula is written in TeX that is known")
        return Mend(*fence.span("info"), "latex", "the formula stands as code: it has TeX that is not known")
    found = formula_around(text, at)
    if not found:
        return None
    display = found[0].startswith("$$")
    tex = _TEX_OF_ROLE.sub("", found[0]).strip("`") if found[0].startswith("{") else _AFTER.sub("", found[0]).strip("$")
    fixed = readable(tex, display=display)
    if fixed is not None:
        new = found[0].replace(tex, fixed, 1) if tex in found[0] else f"${fixed}$"
        return Mend(*found.span(), new, "the formula is written in TeX that is known")
    return Mend(
        *found.span(), _tex_as_code(text, found, tex), "the formula stands as code: it has TeX that is not known"
    )


def _tex_as_code(text: str, found: re.Match[str], tex: str) -> str:
    """Return a fence for a formula that stands alone on its lines, else code within the line."""
    start, end = line_around(text, found.start())[0], line_around(text, found.end() - 1)[1]
    before = text[start : found.start()]
    if found[0].startswith("$$") and not before.strip(" >") and not text[found.end() : end].strip():
        lines = [line.strip(" >\t") for line in tex.strip("\n").split("\n")]
        return f"\n{before}".join(["```latex", *lines, "```"])
    return f"`` {' '.join(tex.split())} ``"


def _id(text: str, at: int, mistake: Diagnostic) -> Mend | None:
    """Leave out the second use of an id; a cell gets a number behind its label."""
    if match := around(_ID, text, at):
        return Mend(*match.span(), "", f"the id `{match[0].strip()}` is left out: it stands twice")
    tag = around(TAG, text, at)
    if tag and (mend := _attribute(tag, text, at)):
        return mend
    start, end = line_around(text, at)
    label = text[at : at + mistake.span.length]
    if re.match(r"[ \t>]*(?:#\||//\||%%\||:)[ \t]*label", text[start:end]):
        number = next(n for n in range(2, 9999) if f"{label}-{n}" not in text)
        return Mend(
            at, at + len(label), f"{label}-{number}", f"the label `{label}` stands twice: the second has a number"
        )
    return None


def _second_tab(text: str, at: int, mistake: Diagnostic) -> Mend | None:
    """Give the second of two tabs of a set that have the same name a name of its own; its title stays."""
    if not mistake.message.startswith("two tabs of a set"):
        return None
    name = mistake.message.split("`")[1]
    number = next(n for n in range(2, 9999) if f"{name}-{n}" not in text)
    said = f"two tabs of a set are `{name}`: the second is `{name}-{number}`"
    start, end = line_around(text, at)
    if re.match(r"[ \t>]*:sync:", text[start:end]):
        return Mend(at, at + mistake.span.length, f"{name}-{number}", said)
    return Mend(end, end, f":sync: {name}-{number}\n", said)


def _directive(text: str, at: int, mistake: Diagnostic) -> Mend | None:
    """Show a fence of an unknown directive as its text; a colon fence becomes a note."""
    fence = fence_around(text, at)
    if fence and fence.start("info") <= at <= fence.end("info"):
        new = f"text\n{fence['indent']}{fence['info']}"
        return Mend(*fence.span("info"), new, f"`{fence['info']}` stands as it was written: nothing here does the same")
    start, end = line_around(text, at)
    match = re.compile(r"([ \t>]*:{3,})[ \t]*\{([^}\n]*)\}([^\n]*)").match(text, start, end)
    if not match:
        return None
    title = match[3].strip() or match[2]
    return Mend(*match.span(), f"{match[1]}{{note}} {title}", f"`{{{match[2]}}}` is a note: nothing here does the same")


def _as_plain_fence(text: str, at: int, mistake: Diagnostic) -> Mend | None:
    """Show a cell that cannot be run, or a diagram that cannot be drawn, as code."""
    fence = fence_around(text, at)
    if not fence:
        return None
    language = re.sub(r"^\{?(?:code-cell\}?)?\s*|[{}]", "", fence["info"]).split(" ")[0]
    known = language if language in ("python", "cuda", "r", "julia", "bash", "c") else "text"
    lines = [line for line in fence["code"].split("\n") if not re.match(r"[ \t>]*(?:#|//|%%)\|", line)]
    end = fence.start() + fence[0].rfind("\n") + 1
    new = f"{fence['indent']}{fence['marks']}{known}\n" + "\n".join(lines)
    return Mend(fence.start(), end, new, "the cell stands as code, which is not run")


def _not_annotated(text: str, at: int, mistake: Diagnostic) -> Mend | None:
    """Show the marks `<1>` of a listing without notes as code."""
    fence = fence_around(text, at)
    if not fence or fence["info"].startswith("{") or "annotate=" in fence["info"]:
        return None
    new = f"{fence['info'].strip() or 'text'} annotate=false"
    return Mend(*fence.span("info"), new, "`<1>` in a listing without notes is code")


def _option(text: str, at: int, mistake: Diagnostic) -> Mend | None:
    """Leave out an option: a line at the head of a directive, or a part of the line of a fence."""
    start, end = line_around(text, at)
    line = text[start:end]
    if _OPTION.match(line):
        return Mend(start, end, "", f"the option `{line.strip()}` is left out: nothing here does the same")
    if fence := fence_around(text, at):
        language = fence["info"].split(" ")[0].split("{")[0].strip(" ,")
        directive = re.match(r"\{[\w-]+\}[^{\n]*", fence["info"])
        if directive:
            return None
        return Mend(*fence.span("info"), language, f"the options `{fence['info'].strip()}` of a listing are left out")
    return None


def _cell_label(text: str, at: int, mistake: Diagnostic) -> Mend | None:
    fence = fence_around(text, at)
    if not fence:
        return None
    number = next(n for n in range(1, 9999) if not re.search(rf"label: cell-{n}\b", text))
    comment = "//|" if "cuda" in fence["info"] else "#|"
    return Mend(fence.start("code"), fence.start("code"), f"{comment} label: cell-{number}\n", "the cell got a label")


def _escaped(text: str, at: int, mistake: Diagnostic) -> Mend | None:
    """Show the signs of a reference, a citation or a footnote as text."""
    words = text[at : at + mistake.span.length]
    sign = "[" if words.startswith("[^") else "@"
    where = words.find(sign)
    if where < 0 or (at and text[at - 1] == "\\"):
        return None
    new = re.sub(rf"(?<!\\){re.escape(sign)}", rf"\\{sign}", words)
    return Mend(at, at + len(words), new, f"`{words}` stands as text: it refers to nothing")


def _role(text: str, at: int, mistake: Diagnostic) -> Mend | None:
    role = around(_ROLE, text, at)
    if not role:
        return None
    said = f"the text of `{role['name']}` stands as code: nothing here does the same"
    return Mend(*role.span("name"), "", said)


RULES: Mapping[str, tuple[Rule, ...]] = {
    "SG101": (_directive,),
    "SG102": (_role,),
    "SG103": (_option,),
    "SG104": (_option,),
    "SG105": (_option,),
    "SG106": (_cell_label,),
    "SG107": (_as_plain_fence,),
    "SG108": (_id,),
    "SG109": (_as_plain_fence,),
    "SG110": (_option,),
    "SG111": (_directive,),
    "SG113": (_html,),
    "SG114": (_tag,),
    "SG115": (_formula,),
    "SG118": (_escaped,),
    "SG119": (_option,),
    "SG120": (_escaped,),
    "SG121": (_id, _option),
    "SG122": (_escaped,),
    "SG123": (_not_annotated, _as_plain_fence),
    "SG124": (_second_tab, _directive),
    "SG133": (_as_plain_fence,),
    "SG201": (_link,),
    "SG202": (_link,),
    "SG203": (_link,),
    "SG204": (_directive, _role),
    "SG205": (_directive, _role),
    "SG210": (_escaped,),
    "SG211": (_escaped,),
    "SG212": (_role,),
    "SG213": (_link,),
}
"""The rules of each code, in the order in which they are tried."""
