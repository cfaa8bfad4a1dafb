"""Remove from an author's HTML everything that the page's security policy or its frame forbids.

Scripts, styles, event handlers and whatever could end the page around the text are refused with a diagnostic;
links and images become slots like those in Markdown; a tag that is never closed is named.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from html.parser import HTMLParser
from typing import Any

from markdown_it.token import Token

from sitegen.diagnostics import did_you_mean
from sitegen.markup.collected import Collected, collected
from sitegen.markup.images import image, warn_without_words
from sitegen.model.document import FileSlot, LinkSlot

VOID = frozenset(["area", "br", "col", "hr", "img", "source", "track", "wbr"])
_INSTEAD = {
    "image": "write `![text](file)` or `<img src=… alt=…>`",
    "script": "remove it: a page has one script, that of the theme",
    "style": "put it into a style sheet below `templates/assets/`",
    "iframe": "write a link",
    "video": "write `![text](film.mp4)`",
}
"""What to do instead of an element that cannot stand in a text."""
_OTHERWISE = "remove the element, or write Markdown"
ALLOWED = VOID | frozenset(
    re.findall(
        r"\w+",
        "a abbr aside audio b bdi bdo blockquote caption circle cite clippath code colgroup data dd defs del desc "
        "details dfn div dl dt ellipse em figcaption figure g h2 h3 h4 h5 h6 i ins kbd li line lineargradient mark "
        "marker ol p path pattern picture polygon polyline pre q rect rp rt ruby s samp section small span stop "
        "strong sub summary sup svg table tbody td text tfoot th thead time tr tspan u ul use var video",
    )
)
_BAD_URL = re.compile(r"(?:javascript|vbscript|data):", re.IGNORECASE)
_DROPPED = frozenset({"ping", "cite", "attributionsrc", "background", "longdesc", "usemap", "itemtype", "itemid"})
"""Attributes with an address that no reader sees: a browser requests it, or a program follows it."""
_IGNORED = re.compile(r"[\s\x00-\x20]+")
"""Characters that browsers leave out of an address, so that `java&#9;script:` is a script."""
_SWALLOWING = frozenset({"script", "style"})


def render_html(tokens: Sequence[Token], idx: int, _options: Any, env: Any) -> str:
    """Render a token of raw HTML, block or inline; markdown-it calls this for both."""
    token, into = tokens[idx], collected(env)
    line = token.map[0] if token.map else int(token.meta.get("line", 0))
    return cleaned(token.content, line, into)


def cleaned(text: str, line: int, into: Collected) -> str:
    parser = _Cleaner(text, line, into)
    parser.feed(text)
    parser.finish()
    return "".join(parser.out)


def never_closed(html: str) -> str:
    """Return the name of the first element that HTML opens and never closes; empty without one."""
    tags = _OpenTags()
    tags.feed(html)
    return tags.names[0] if tags.names else ""


class _Parser(HTMLParser):
    def parse_marked_section(self, i: int, report: bool = True) -> int:
        """Skip `<![…` up to the next `>`, as browsers do; Python 3.11 raises an AssertionError at `<![image]`."""
        end = self.rawdata.find(">", i)
        return end + 1 if end >= 0 else -1


class _OpenTags(_Parser):
    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ALLOWED - VOID:
            self.names.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Nothing: the element is closed."""

    def handle_endtag(self, tag: str) -> None:
        if self.names and self.names[-1] == tag:
            self.names.pop()


def report_open_tags(into: Collected) -> None:
    for name, span in into.open_tags:
        into.error("SG114", f"`<{name}>` is never closed", span, f"add `</{name}>`")


class _Cleaner(_Parser):
    def __init__(self, text: str, line: int, into: Collected) -> None:
        super().__init__(convert_charrefs=False)
        self.text, self.line, self.into = text, line, into
        self.out: list[str] = []
        self.swallow = ""

    def finish(self) -> None:
        rest = self.rawdata
        if rest.startswith("<!--"):
            hint = "write `-->` at its end: everything below is inside of it, and stands on no page"
            self.into.error("SG114", "this comment is never closed", self.place("<!--"), hint)
        elif rest and not self.swallow:
            self.out.append(escape(rest, quote=False))
        self.rawdata = ""

    def place(self, text: str) -> Any:
        number = self.line + self.getpos()[0] - 1
        return self.into.span_of(text, number, number + 2)

    def refuse(self, what: str, text: str, hint: str) -> None:
        self.into.error("SG113", f"{what} cannot stand in a text", self.place(text), hint)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ALLOWED:
            self.refuse(f"`<{tag}>`", f"<{tag}", _INSTEAD.get(tag) or did_you_mean(tag, ALLOWED) or _OTHERWISE)
            self.swallow = tag if tag in _SWALLOWING else ""
            return
        if tag not in VOID:
            self.into.open_tags.append((tag, self.place(f"<{tag}")))
        if tag == "img":
            self.out.append(self.image(attrs))
            return
        self.out.append(f"<{tag}{''.join(self.attribute(tag, name, value) for name, value in attrs)}>")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.swallow = ""
        if tag in ALLOWED - VOID:
            self.handle_endtag(tag)

    def image(self, attrs: list[tuple[str, str | None]]) -> str:
        kept = {name: value or "" for name, value in attrs if self.allows(name, value)}
        if "alt" not in kept:
            warn_without_words(self.place("<img"), 'add `alt="…"`, empty for an ornament', self.into)
        if "id" in kept:
            kept["id"] = self.into.take_id(kept["id"], self.place(kept["id"]))
        target = kept.pop("src", "")
        return image(target, self.place(target or "<img"), kept, self.into)

    def attribute(self, tag: str, name: str, value: str | None) -> str:
        if not self.allows(name, value):
            return ""
        if value is None:
            return f" {name}"
        if name == "id":
            value = self.into.take_id(value, self.place(value))
        return f' {name}="{self.slotted(tag, name, value)}"'

    def allows(self, name: str, value: str | None) -> bool:
        """Return whether an attribute may stand in a page; a refusal is reported."""
        if not re.fullmatch(r"[a-z][\w:-]*", name) or name == "xmlns":
            return False
        if name == "style" or name.startswith("on") or name in ("srcdoc", "formaction"):
            self.refuse(f"the attribute `{name}`", name, "give it a `class`, styled by the theme")
            return False
        if name in _DROPPED:
            return False
        if name in ("href", "src", "poster", "xlink:href") and _BAD_URL.match(_IGNORED.sub("", value or "")):
            self.refuse("such an address", value or "", "link to a page or a file")
            return False
        return True

    def slotted(self, tag: str, name: str, value: str) -> str:
        if tag == "a" and name == "href":
            return self.into.slot(LinkSlot(value, self.place(value)))
        if name in ("src", "poster"):
            return self.into.slot(FileSlot(value, self.place(value)))
        return escape(value.replace("\0", ""))

    def handle_endtag(self, tag: str) -> None:
        if self.swallow:
            self.swallow = ""
            return
        if tag not in ALLOWED or tag in VOID:
            return
        if not self.into.open_tags or self.into.open_tags[-1][0] != tag:
            opened = self.into.open_tags[-1][0] if self.into.open_tags else ""
            hint = f"`<{opened}>` is open here" if opened else "nothing is open here"
            self.into.error("SG114", f"`</{tag}>` closes nothing", self.place(f"</{tag}"), hint)
            return
        self.into.open_tags.pop()
        self.out.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        if not self.swallow:
            self.out.append(escape(data, quote=False))

    def handle_entityref(self, name: str) -> None:
        self.handle_data_raw(f"&{name};")

    def handle_charref(self, name: str) -> None:
        self.handle_data_raw(f"&#{name};")

    def handle_data_raw(self, text: str) -> None:
        if not self.swallow:
            self.out.append(text)
