"""Where a page stands and how another is reached from it: URLs of the site are relative to its root, without a slash
before them (`posts/softmax/`); the home page is the empty one.
"""

from __future__ import annotations

from sitegen.model.site import Post


def post_url(post: Post) -> str:
    return f"{post.permalink.strip('/')}/" if post.permalink.strip("/") else f"posts/{post.slug}/"


def output_path(url: str) -> str:
    """`posts/softmax/` is the file `posts/softmax/index.html`; `404.html` is itself."""
    return f"{url}index.html" if not url or url.endswith("/") else url


def relative(url: str, here: str) -> str:
    """The href of `url` on the page `here`: up to the root and down again, so that the site works below any folder
    and from a disk.  What carries a scheme, or only an anchor, stays.
    """
    if is_outside(url) or url.startswith("#"):
        return url
    path, sign, anchor = url.partition("#")
    if sign and path == here:
        return f"#{anchor}"
    return f"{'../' * here.count('/')}{url}" if here.count("/") or url else "./"


def is_outside(url: str) -> bool:
    return url.startswith(("mailto:", "data:", "//")) or "://" in url


def absolute(url: str, base_url: str) -> str:
    """For canonical links, feeds and the sitemap.  `base_url` ends with a slash."""
    return url if is_outside(url) else f"{base_url}{url}"
