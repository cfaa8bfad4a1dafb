"""Turn TeX that MathJax and KaTeX read into TeX that the engine of this site reads."""

from __future__ import annotations

import re
from contextlib import suppress

from sitegen.markup.math import MathError, mathml

_BARE_SCRIPT = re.compile(r"([_^])\s*(\\[A-Za-z]+(?:\s*\{(?:[^{}]|\{[^{}]*\})*\})*)")
_COLUMNS = re.compile(r"(\\begin\{(?:array|tabular)\}\s*\{)((?:[^{}]|\{[^{}]*\})*)(\})")
_WORDS = re.compile(r"(\\(?:text|textrm|textit|textbf|textsf|texttt|mbox)\s*\{)([^{}$]*)(\})")
_NAMES = {
    "bm": "boldsymbol",
    "mathbbm": "mathbb",
    "mathds": "mathbb",
    "argmax": "operatorname*{arg\\,max}",
    "argmin": "operatorname*{arg\\,min}",
    "mbox": "text",
    "hfill": "quad",
}
_NAME = re.compile(r"\\([A-Za-z]+)")
_NEEDLESS = re.compile(
    r"\\(?:label|tag\*?|ref|eqref|hspace\*?|vspace\*?|cline|setlength|require|nonumber|notag)\s*\{[^{}]*\}"
    r"|\\(?:nonumber|notag|displaystyle|limits|nolimits|allowbreak|newline|smash|phantom\{[^{}]*\})(?![A-Za-z])"
)


def readable(tex: str, *, display: bool) -> str | None:
    """Return the formula as the engine reads it, changed as little as possible; None where it cannot be read."""
    for change in (lambda tex: tex, _grouped, _plainer, lambda tex: _NEEDLESS.sub("", _plainer(tex))):
        with suppress(MathError):
            changed = change(tex)
            mathml(changed, display)
            return changed
    return None


def _grouped(tex: str) -> str:
    """Return TeX with braces around the commands in scripts, and `\\_` in words: `t_{\\max}` for `t_\\max`."""
    tex = _BARE_SCRIPT.sub(r"\1{\2}", tex)
    tex = _WORDS.sub(lambda match: match[1] + re.sub(r"(?<!\\)([_#&%])", r"\\\1", match[2]) + match[3], tex)
    return _COLUMNS.sub(lambda match: match[1] + _columns(match[2]) + match[3], tex)


def _columns(written: str) -> str:
    """Return the columns of an array without what LaTeX puts between them: `cc` for `@{}cc@{}`."""
    plain = re.sub(r"[@!><]\{(?:[^{}]|\{[^{}]*\})*\}", "", written)
    return "".join(re.findall(r"[lcr|]", re.sub(r"[pmb]\{[^{}]*\}", "l", plain))) or "c"


def _plainer(tex: str) -> str:
    """Return TeX with the names of other packages replaced."""
    tex = tex.replace("{eqnarray*}", "{align*}").replace("{eqnarray}", "{align}").replace("{split}", "{aligned}")
    return _grouped(_NAME.sub(lambda match: f"\\{_NAMES.get(match[1], match[1])}", tex))
