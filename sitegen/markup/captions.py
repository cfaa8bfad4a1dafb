"""What a caption begins with."""

from __future__ import annotations

from html import escape


def caption(name: str) -> str:
    """`name` is `Figure 2`."""
    return f"<b>{escape(name)}.</b> "
