"""What real Jekyll sites have in their texts comes over: YAML anchors, a baseurl before a tag, diagrams, `<image>`."""

from collections.abc import Callable

import pytest

from sitegen.diagnostics import Severity
from sitegen.importing.counts import Comparison, counted

OTHER = {"_posts/2024-01-06-two.md": "---\ntitle: Two\n---\nText.\n"}


def test_value_of_a_yaml_anchor_stands_in_the_place_of_its_aliases(import_site: Callable) -> None:
    front = "title: &name A post\nimage:\n  path: &img /x.png   \n  thumb: *img\ndescription: *name\n"
    imported = import_site({"_posts/2024-01-05-a.md": f"---\n{front}---\nText.\n"})
    assert "title: A post\n" in imported.front_matter
    assert "description: A post\n" in imported.front_matter
    assert "SG002" not in " ".join(imported.said)


@pytest.mark.parametrize("value", ["*unknown", "a & b", "x *y", "AT&T"])
def test_sign_that_is_no_anchor_stays(value: str, import_site: Callable) -> None:
    quoted = f'"{value}"' if value.startswith("*") else value
    imported = import_site({"_posts/2024-01-05-a.md": f"---\ntitle: &n B\ndescription: {quoted}\n---\nText.\n"})
    assert value in imported.front_matter


@pytest.mark.parametrize(
    ("front", "code"),
    [
        ("title: A post\ntags: [x]\ntags: [y]\n", "SG003"),
        ('title: A post\nquote: "x" y\ndescription: Words\n', "SG002"),
    ],
)
def test_text_with_front_matter_that_has_a_mistake_comes_over_with_a_warning(
    front: str, code: str, import_site: Callable
) -> None:
    imported = import_site({"_posts/2024-01-05-a.md": f"---\n{front}---\nText.\n"})
    assert imported.body == "Text."
    assert "title: A post\n" in imported.front_matter
    assert imported.diagnostics[0].code == code
    assert {one.severity for one in imported.diagnostics} == {Severity.WARNING}


def test_title_and_description_are_plain_words(import_site: Callable) -> None:
    front = 'title: "A <em>new</em> one"\ndescription: "**Bold** of [x](/y/), 2**3 and __init__"\n'
    imported = import_site({"_posts/2024-01-05-a.md": f"---\n{front}---\nText.\n"})
    assert "title: A new one\n" in imported.front_matter
    assert "Bold of x, 2**3 and __init__" in imported.front_matter


@pytest.mark.parametrize("tag", ["{% post_url 2024-01-06-two %}", "{% link _posts/2024-01-06-two.md %}"])
@pytest.mark.parametrize("before", ["", "{{ site.baseurl }}", "{{site.baseurl}}"])
def test_baseurl_before_a_tag_is_not_doubled(before: str, tag: str, import_site: Callable) -> None:
    post = f"---\ntitle: A\n---\n[two]({before}{tag})\n"
    config = "title: Notes\nurl: https://kern.example\nbaseurl: /b\n"
    imported = import_site({"_posts/2024-01-05-a.md": post, **OTHER}, config)
    assert imported.said == []
    (text,) = (str(text) for path, text in imported.files.items() if "posts/a" in path)
    assert text.endswith("[two](/2024/01/06/two/)\n")


def test_mermaid_that_is_drawn_here_stays_a_diagram_and_other_is_shown_as_text(post: Callable) -> None:
    assert post("```mermaid\nflowchart LR\n  A --> B\n```\n").body == "```mermaid\nflowchart LR\n  A --> B\n```"
    assert post("```mermaid\ngantt\n  a: 1\n```\n").body == "```\ngantt\n  a: 1\n```"


def test_image_element_is_an_image(post: Callable) -> None:
    imported = post('<image src="/x.png">\n', **{"x.png": "a picture"})
    assert "&lt;image" not in imported.body
    assert "<img " in imported.body


@pytest.mark.parametrize("scheme", ["https:", "http:", ""])
def test_own_page_and_image_are_found_by_every_scheme(scheme: str, import_site: Callable) -> None:
    text = f"---\ntitle: A\n---\n[two]({scheme}//kern.example/2024/01/06/two.html) ![x]({scheme}//kern.example/x.png)\n"
    config = "title: Notes\nurl: http://kern.example\n"
    imported = import_site({"_posts/2024-01-05-a.md": text, **OTHER, "x.png": "a picture"}, config)
    (post,) = (str(text) for path, text in imported.files.items() if "posts/a/index" in path)
    assert post.endswith("[two](/2024/01/06/two/) ![x](x.png)\n")


def test_host_that_begins_like_the_own_one_is_foreign(import_site: Callable) -> None:
    text = "---\ntitle: A\n---\n[two](https://kern.example.org/2024/01/06/two.html)\n"
    imported = import_site({"_posts/2024-01-05-a.md": text, **OTHER})
    (post,) = (str(text) for path, text in imported.files.items() if "posts/a" in path)
    assert "https://kern.example.org/" in post


def test_text_in_japanese_keeps_its_title_its_words_and_its_address(import_site: Callable) -> None:
    text = "---\ntitle: 日本語の記事\n---\n本文は、GPU の話です。**強調**された文字。\n"
    imported = import_site({"_posts/2024-01-05-日本語.md": text})
    assert imported.body == "本文は、GPU の話です。**強調**された文字。"
    assert "title: 日本語の記事\n" in imported.front_matter
    assert "/2024/01/05/日本語" in imported.front_matter
    assert imported.said == []


def test_comment_of_kramdown_is_nothing_that_the_report_misses() -> None:
    comments = "[//]: # A $x$ and a [link](/y/)\n\n[comment]: <> (of $z$)\n"
    assert counted(comments) == counted("")
    assert counted(f"Of $n$.\n\n{comments}").formulas == 1


def test_adjacent_stretches_of_code_hide_no_formula_from_the_report() -> None:
    assert counted("A `a``b` and $x$, `c`.").formulas == 1


@pytest.mark.parametrize(
    ("old", "new", "lost"),
    [
        ("One two\n\n[^a]: Note words.", "One two", {"note": 1, "words": 1}),
        ("Three three four", "Three", {"three": 1, "four": 1}),
        ("A $x\\text{sum}$\nword", "A $$x\\text{sum}$$ {#eq-a} word", {}),
        ("{% comment %}hidden{% endcomment %}A [b][of\nc]{% x a='} word' %}\n{:toc}", "A b", {}),
        ("Read \\eqref{eq:a}.[^1]\n\n[^1]: Note.", "Read @eq-a.[^note-1]\n\n[^note-1]: Note.", {}),
        ("的[[云天明]]童话", "的云天明童话", {}),
    ],
)
def test_report_counts_the_words_that_stand_nowhere_in_the_new_text(old: str, new: str, lost: dict[str, int]) -> None:
    assert dict(Comparison("a", "b", counted(old), counted(new)).lost) == lost
