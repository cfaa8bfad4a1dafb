"""Turn PTX and SASS into HTML in which only opcodes, labels and comments are marked.

A site may have hundreds of such listings with a thousand lines each.  A few substitutions over the whole text take a
fraction of the time that a lexer takes.  `b`, `i` and `u` without a class keep the HTML small.
"""

from __future__ import annotations

import re
from html import escape

_SASS = re.compile(r"^  ((?:@!?U?P\w+ )?)([A-Z][\w.]*)", re.M)
_GUARD_BEHIND = re.compile(r"^  (.* ;) (@!?U?P\w+)$", re.M)
"""How a listing is stored: each line begins with its opcode.  Readers expect the guard in front, as nvdisasm prints."""
_PTX = re.compile(r"^(\t(?:@!?%\w+ )?)([a-z][\w.]*)", re.M)
_COMMENT = re.compile(r"(//[^\n]*)")
_LABEL = re.compile(r"^(\S+:)$", re.M)


def assembly_html(code: str, kind: str) -> str:
    """Return the HTML of a listing: `b` around opcodes, `u` around labels, `i` around comments.

    `kind` is `ptx`, or `sass` for a listing in which each instruction is indented by two spaces.
    """
    text = _LABEL.sub(r"<u>\1</u>", escape(code.rstrip("\n").replace("\0", "\ufffd"), quote=False))
    if kind == "sass":
        return _SASS.sub(r"  \1<b>\2</b>", _GUARD_BEHIND.sub(r"  \2 \1", text))
    return _COMMENT.sub(r"<i>\1</i>", _PTX.sub(r"\1<b>\2</b>", text))
