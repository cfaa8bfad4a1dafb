"""Source code → the figure in which a page shows it."""

from __future__ import annotations

from collections.abc import Collection
from html import escape

from sitegen.markup.highlight import highlight, language_name


def code_figure(
    code: str,
    language: str,
    *,
    title: str = "",
    region: str = "",
    label: str = "",
    highlighted: Collection[int] = (),
    href: str = "",
    id: str = "",
    wide: bool = False,
) -> str:
    """`title` is a path or a name, linked to `href`; `label` names the scroller for those who do not see it.

    `highlighted` are line numbers from 1.
    """
    name = label or f"Source of {title}" if label or title else f"{language_name(language) or 'Plain text'} listing"
    anchor = f' id="{escape(id)}"' if id else ""
    return (
        f'<figure class="code{" wide" if wide else ""}"{anchor}>\n'
        f"<figcaption>{_caption(title, region, language, href)}</figcaption>\n"
        f'<pre tabindex="0" role="group" aria-label="{escape(name)}"><code>'
        f"{highlight(code, language, highlighted)}</code></pre>\n</figure>\n"
    )


def _caption(title: str, region: str, language: str, href: str) -> str:
    shown = f"<code>{escape(title)}</code>" if title else ""
    if shown and href:
        shown = f'<a href="{escape(href)}">{shown}</a>'
    facts = [f"region <b>{escape(region)}</b>"] if region else []
    facts += [escape(language_name(language) or "text")]
    return f"{shown} <span>{', '.join(facts)}</span>".strip()
