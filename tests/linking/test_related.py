"""Related posts are few and the same each time, and the search for them takes linear time."""

from __future__ import annotations

import dataclasses
import datetime as dt
import random
import time

from sitegen.diagnostics import Span
from sitegen.linking.related import Related
from sitegen.model.linked import Neighbours
from sitegen.model.site import Markdown, Post, Ref


def post(slug: str, *tags: str) -> Post:
    path = f"content/posts/{slug}.md"
    refs = tuple(Ref(tag, Span(path)) for tag in tags)
    return Post(slug, slug, dt.date(2026, 1, 1), Markdown("", path), Span(path), tags=refs)


def slugs(posts: list[Post], of: str, **known: object) -> list[str]:
    found = Related([posts], known.get("kernels", {}), {}, known.get("beside", {}))  # type: ignore[arg-type]
    return [one.slug for one in found[f"content/posts/{of}.md"]]


def test_posts_that_share_nothing_are_not_related() -> None:
    assert not any(Related([[post("a", "cuda"), post("b", "triton"), post("c")]], {}, {}, {}).values())


def test_two_shared_tags_say_more_than_one_and_a_kernel_as_much() -> None:
    a, one, two, kernel = post("a", "x", "y"), post("one", "x"), post("two", "x", "y"), post("kernel", "x")
    assert slugs([a, one, two], "a") == ["two", "one"]
    assert slugs([a, one, kernel], "a", kernels={"softmax": [a, kernel]}) == ["kernel", "one"]


def test_a_rare_tag_says_more_than_a_common_one() -> None:
    common = [post(f"common-{n}", "cuda") for n in range(20)]
    assert slugs([post("a", "cuda", "rare"), *common, post("b", "rare")], "a")[0] == "b"


def test_of_equals_the_nearest_in_time_come_first_and_three_are_enough() -> None:
    posts = [post(slug, "cuda") for slug in "abcdefg"]
    assert slugs(posts, "d") == ["c", "e", "b"]


def test_the_posts_before_and_after_are_led_to_already() -> None:
    posts = [post(slug, "cuda") for slug in "abcde"]
    beside = {posts[2].body.path: Neighbours(posts[3], posts[1])}
    assert slugs(posts, "c", beside=beside) == ["a", "e"]


def test_spellings_of_a_tag_are_one() -> None:
    assert slugs([post("a", "CUDA"), post("b", "cuda", "Cuda")], "a") == ["b"]


def test_a_translation_is_related_to_those_in_its_own_language() -> None:
    english, korean = [post("a", "cuda"), post("b", "cuda")], [post("a.ko", "cuda"), post("b.ko", "cuda")]
    found = Related([english, korean], {"softmax": [*english, *korean]}, {}, {})
    assert {path: [one.slug for one in near] for path, near in found.items()} == {
        f"content/posts/{of}.md": [near] for of, near in [("a", "b"), ("b", "a"), ("a.ko", "b.ko"), ("b.ko", "a.ko")]
    }


def test_the_work_grows_as_the_number_of_posts_does() -> None:
    """A quadratic search would take sixteen times as long for four times the posts, also if all posts share a tag."""
    random.seed(1)

    def seconds(count: int) -> float:
        posts = [post(f"p{n}", "all", f"t{random.randrange(20)}") for n in range(count)]
        began = time.process_time()
        dict(Related([posts], {}, {}, {}))
        return time.process_time() - began

    assert min(seconds(4000) for _ in range(3)) < 8 * min(seconds(1000) for _ in range(3))


def test_a_new_post_changes_what_few_others_show() -> None:
    posts = [post(f"p{n}", "all", f"t{n % 7}") for n in range(100)]
    before, after = Related([posts], {}, {}, {}), Related([[post("new", "all", "t3"), *posts]], {}, {}, {})
    changed = [path for path, found in before.items() if after[path] != found]
    assert len(changed) <= 8


def test_the_order_of_tags_means_nothing() -> None:
    posts = [post("a", "x", "y"), post("b", "y"), post("c", "x"), post("d", "x", "y")]
    turned = [dataclasses.replace(one, tags=one.tags[::-1]) for one in posts]
    assert slugs(posts, "a") == slugs(turned, "a") == ["d", "b", "c"]
