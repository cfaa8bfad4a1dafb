"""Find the place in a site for a text from which no page is made: `content/post/a.md` → `content/posts/a.md`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import PurePosixPath

from sitegen.diagnostics import near_words
from sitegen.read.pages import POST_FILE

ROOMS = ("posts", "pages", "terms", "worklog", "exercises")
_OF_THE_SITE = re.compile(
    rf"{POST_FILE.pattern}$|content/(pages|terms|worklog)/[^/]+$|content/exercises/[^/]+/index\.md$"
)


def is_stray(path: str, paths: Collection[str]) -> bool:
    """Tell whether a file is Markdown from which no page is made.  What lies below the folder of another text is none,
    because it belongs to that text.
    """
    if not path.endswith(".md") or not path.startswith("content/") or _OF_THE_SITE.match(path):
        return False
    above = [f"{folder}/index.md" for folder in PurePosixPath(path).parents]
    return not any(index != path and index in paths for index in above)


def where_to_move(path: str, paths: Collection[str]) -> str:
    """Return the hint for a stray file: the path to which to move it, or that of a post and that of a page."""
    _, *rest = path.split("/")
    near = near_words(rest[0], ROOMS)[:1] if len(rest) > 1 else []
    found = [place for room in near or ("posts", "pages") for place in _place(room, rest[1:] or rest)]
    if len(found) == 2:
        return f"move it to `{found[0]}` if it is a post, to `{found[1]}` if it is a page"
    if found and found[0] in paths:
        return f"move it to `{found[0].partition('/')[0]}/{near[0]}/` under another name: `{found[0]}` exists"
    return f"move it to `{found[0]}`" if found else "a post is content/posts/<slug>.md or content/posts/<slug>/index.md"


def _place(room: str, parts: Sequence[str]) -> list[str]:
    """Return the path of a text in a room, in a list; an empty list when there is none.  The path keeps as many of the
    folders as the room can have.
    """
    tails = ["/".join(parts[n:]) for n in range(len(parts))]
    paths = (f"content/{room}/{form}" for tail in tails for form in _forms(tail))
    return [path for path in paths if _OF_THE_SITE.match(path)][:1]


def _forms(path: str) -> Iterator[str]:
    """Yield a path, and the same text as a folder or as a file: `a.md` and `a/index.md`."""
    yield from [path] if path != "index.md" else []
    if path.endswith("/index.md"):
        yield f"{path.removesuffix('/index.md')}.md"
    elif path != "index.md":
        yield f"{path.removesuffix('.md')}/index.md"
