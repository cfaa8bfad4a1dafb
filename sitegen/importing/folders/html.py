"""Write HTML that cannot stand in a text in a form that can: the words stay, a frame becomes a link."""

from __future__ import annotations

import re

from sitegen.importing.closed import COMMENT, element
from sitegen.importing.mending.places import TAG
from sitegen.markup.rawhtml import ALLOWED

_HIDDEN = tuple(map(element, ("script", "style", "noscript")))
_ATTRIBUTE = re.compile(
    r"\s+(?P<name>[^\s\"'<>/=]+)(?:\s*=\s*(?:\"(?P<a>[^\"]*)\"|'(?P<b>[^']*)'|(?P<c>[^\s\"'=<>`]+)))?"
)
_REFUSED = re.compile(r"style|on\w+|srcdoc|formaction|xmlns.*|srcset|sizes")
_LEFT_OUT = frozenset(
    re.findall(
        r"\w+",
        "applet area article base basefont body button canvas dialog embed fieldset font footer form frame frameset "
        "head header hgroup html iframe input label legend link main map meta meter nav noframes noscript object "
        "option output param progress script select style template textarea title",
    )
)
"""Elements that cannot stand in a text; a name that is no element is text, such as `<int>`."""
_RENAMED = {"h1": "h2", "center": "div", "strike": "del", "tt": "code", "image": "img"}


def plain_html(text: str) -> tuple[str, list[str]]:
    """Return the text and what was left out: names of elements, each once for each place."""
    left_out: list[str] = []

    def hidden(match: re.Match[str]) -> str:
        left_out.append(match[1].lower())
        return ""

    def tag(match: re.Match[str]) -> str:
        name = _RENAMED.get(match["name"].lower(), match["name"].lower())
        if name not in ALLOWED | _LEFT_OUT:
            return f"&lt;{match[0][1:]}"
        if match["slash"]:
            return f"</{name}>" if name in ALLOWED else ""
        values = {m["name"].lower(): m["a"] or m["b"] or m["c"] or "" for m in _ATTRIBUTE.finditer(match["attributes"])}
        if name in ("iframe", "embed") and (source := values.get("src", "")):
            address = f"https:{source}" if source.startswith("//") else source
            left_out.append(name)
            return f"[{address}]({address})"
        if name not in ALLOWED:
            left_out.append(name)
            return ""
        kept = "".join(_written(key, value) for key, value in values.items() if not _REFUSED.fullmatch(key))
        return f"<{name}{kept}>"

    text = COMMENT.replaced(text, lambda match: "" if "\n" in match[0] else match[0])
    for stretch in _HIDDEN:
        text = stretch.replaced(text, hidden)
    return TAG.sub(tag, text), left_out


def _written(name: str, value: str) -> str:
    quoted = value.replace('"', "&quot;")
    return f' {name}="{quoted}"' if value else f" {name}"
