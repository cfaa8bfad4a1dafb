"""Turn a plain sentence of an author, with names between backticks, into HTML with the names as code."""

from __future__ import annotations

import re

from markupsafe import Markup

_BETWEEN_BACKTICKS = re.compile(r"`([^`\n]+)`")


def code_spans(text: str) -> Markup:
    """Return the escaped sentence; a backtick without a second one stays as it is."""
    plain, *rest = _BETWEEN_BACKTICKS.split(text)
    pairs = zip(rest[::2], rest[1::2], strict=True)
    return Markup().join(
        [Markup.escape(plain), *(Markup("<code>{}</code>{}").format(code, after) for code, after in pairs)]
    )
