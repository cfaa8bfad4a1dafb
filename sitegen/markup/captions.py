"""Write the beginning of a caption."""

from __future__ import annotations

from html import escape


def caption(name: str) -> str:
    """Return the HTML with which the caption of `name`, such as `Figure 2`, begins."""
    return f"<b>{escape(name)}.</b> "
