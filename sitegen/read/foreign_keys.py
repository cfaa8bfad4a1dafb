"""Hints for an author who brings keys of another generator into content/site.yaml or into a post."""

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

_ADDRESS = (
    "write `permalink: /posts/{value}/` in its place, or remove it: the name of the file or folder is the address"
)
"""`{value}` stands for the value of the key."""
_SENTENCE = "write it as `description`, as in `description: What a launch costs.`"
_PICTURE = "remove this line: show the image in the text, as `![words](file)`; `cards: true` in site.yaml makes cards"
_READ_ANYWAY = "remove this line: every post has it"

KEYS_OF_OTHER_POSTS = {
    "comments": "remove this line; `discuss: https://…` links to the place where readers discuss the post",
    "cover": _PICTURE,
    "excerpt": _SENTENCE,
    "image": _PICTURE,
    "last_modified_at": "write it as `updated`, as in `updated: 2026-11-22`",
    "lastmod": "write it as `updated`, as in `updated: 2026-11-22`",
    "layout": "remove this line: every post has the template `post.html`",
    "math": _READ_ANYWAY,
    "published": "write `draft: true` for a post that is not published, or remove this line",
    "series": "remove this line: a file such as `series/start.yaml` lists the posts of a series",
    "slug": _ADDRESS,
    "summary": _SENTENCE,
    "toc": _READ_ANYWAY,
    "url": _ADDRESS,
    "weight": "remove this line: the order of posts is that of their dates, or of a file such as `series/start.yaml`",
}


def is_plugin_of_jekyll(name: str) -> bool:
    """Tell whether a name under `plugins` is that of a plugin of Jekyll, whose names begin with `jekyll-`."""
    return name.startswith("jekyll-")
