"""An example of a plugin for sitegen: a directive, a check, a file of the output, and an importer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import escape
from pathlib import Path

from sitegen.diagnostics import Diagnostic, Severity
from sitegen.markup.collected import Collected
from sitegen.markup.directive import Directive, Fence
from sitegen.model.site import Site
from sitegen.pipeline.plugins import Plugin


def shout(fence: Fence, into: Collected) -> str:
    """Return the argument of the fence in capital letters."""
    if not fence.argument:
        into.error("EX001", "the directive `{shout}` needs words", fence.span)
    return f"<p><strong>{escape(fence.argument.upper())}</strong></p>\n"


def undescribed(site: Site) -> Iterator[Diagnostic]:
    """Yield a warning for each post without a description."""
    for post in site.posts:
        if not post.description:
            yield Diagnostic("EX002", "the post has no description", post.span, "add one", Severity.WARNING)


def titles(site: Site) -> dict[str, str]:
    """Return a file with the title of each post."""
    return {"titles.json": json.dumps({post.slug: post.title for post in site.posts}, sort_keys=True)}


def notes(source: Path) -> dict[str, str]:
    """Turn a text into a page whose title is its first line."""
    title, _, body = source.read_text("utf-8").partition("\n")
    return {f"content/pages/{source.stem}.md": f"---\ntitle: {json.dumps(title)}\n---\n{body}"}


PLUGIN = Plugin(
    directives=[Directive(("shout",), "Words in capital letters.", show=shout)],
    checks=[undescribed],
    outputs=[titles],
    importers={"notes": notes},
)
