"""Lists of posts on a page in the site's language: those of a kernel and of a term."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

from selectolax.lexbor import LexborHTMLParser

from sitegen.model.site import Post, Ref


def korean(post: Post, title: str, **also: object) -> Post:
    body = replace(post.body, path=f"content/posts/{post.slug}/index.ko.md")
    return replace(post, **{"title": title, "lang": "ko", "body": body, **also})


def links(page: str, selector: str) -> list[tuple[str | None, ...]]:
    found = LexborHTMLParser(page).css(selector)
    return [(a.text(), *map(a.attributes.get, ("href", "lang", "hreflang"))) for a in found]


def test_of_the_translations_of_a_post_one_is_named_in_the_language_of_the_page(make: SimpleNamespace) -> None:
    site = make.site()
    softmax, total, later = site.posts
    text = replace(total.body, text="To [warps](/terms/warp/).", path="content/posts/only/index.ko.md")
    kernels = (Ref("softmax", total.span),)
    only = korean(total, "한국어로만", slug="only", body=text, kernels=kernels)
    told = replace(total, body=replace(total.body, text="To [warps](/terms/warp/)."))
    posts = (korean(softmax, "소프트맥스"), softmax, korean(told, "합"), told, only, later)
    pages = make.rendered(replace(site, posts=posts))
    alone = ("한국어로만", "../../ko/posts/only/", "ko", "ko")
    assert links(str(pages["kernels/softmax/index.html"]), ".eyebrow a") == [
        (softmax.title, "../../posts/softmax/", None, None),
        alone,
    ]
    assert links(str(pages["terms/warp/index.html"]), "#used + ul a") == [
        alone,
        (total.title, "../../posts/sum/", None, None),
    ]
