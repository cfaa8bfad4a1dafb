"""Hints for an author who brings keys and plugins of Jekyll into content/site.yaml."""

from __future__ import annotations

_MARKDOWN = "remove this line: every text is Markdown with directives, which no key changes"
_LISTS = "remove this line: a list of posts has all of them on one page"
_FOLDERS = "remove this line: texts stand in `content/`, and no other folder is searched for them"

KEYS_OF_JEKYLL = {
    "author": "write `authors:`, and below it a line such as `  ada: {name: Ada Lovelace}`",
    "baseurl": "remove this line: the path belongs to the address in `base_url`, as in `https://example.org/blog/`",
    "collections": _FOLDERS,
    "defaults": "remove this line: each text has its own keys in its front matter",
    "exclude": _FOLDERS,
    "gems": "remove this line: plugins of Jekyll do not run here",
    "highlighter": "remove this line: listings are coloured without a setting",
    "include": _FOLDERS,
    "kramdown": _MARKDOWN,
    "locale": "write it as `language`, as in `language: en`",
    "markdown": _MARKDOWN,
    "paginate": _LISTS,
    "paginate_path": _LISTS,
    "permalink": "remove this line: a post is at `/posts/<its name>/`, or at the `permalink` of its own front matter",
    "remote_theme": "remove this line: themes of Jekyll do not work here; `theme` has colours, fonts and widths",
    "url": "remove this line: the whole address of the site is `base_url`, as in `https://example.org/blog/`",
}


def is_plugin_of_jekyll(name: str) -> bool:
    """Tell whether a name under `plugins` is that of a plugin of Jekyll, whose names begin with `jekyll-`."""
    return name.startswith("jekyll-")
