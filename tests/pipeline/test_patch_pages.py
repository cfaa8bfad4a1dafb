"""After an edit of a text of which no other page shows anything new, its page is patched and equals a clean build."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from sitegen.pipeline.build import update
from sitegen.pipeline.request import BuildResult
from sitegen.pipeline.site_templates import shows_texts_unchanged
from sitegen.pipeline.steps import Steps
from sitegen.pipeline.user_cache import cache_of_site
from sitegen.render.shared.theme import load_theme

PATH, PAGE = "content/posts/post-07.md", "posts/post-07/index.html"


@pytest.fixture
def edit(fifty: SimpleNamespace, root: Path) -> Callable[..., tuple[bool, BuildResult]]:
    """Edit a built site; return whether a page was patched, and the result, after a comparison with a clean build."""
    return edited(fifty, root)


@pytest.fixture
def edit_searched(fifty: SimpleNamespace, root: Path) -> Callable[..., tuple[bool, BuildResult]]:
    """Edit a site with search and Markdown twins."""
    with (root / "content/site.yaml").open("a") as config:
        config.write("search: true\ntwins: true\n")
    return edited(fifty, root)


def edited(fifty: SimpleNamespace, root: Path) -> Callable[..., tuple[bool, BuildResult]]:
    update(root, root / "public", processes=1)

    def go(*texts: tuple[str, str]) -> tuple[bool, BuildResult]:
        for path, text in texts:
            fifty.write(root, path, text)
        steps = Steps()
        result = update(root, root / "public", processes=1, steps=steps)
        clean = root.with_name("clean")
        shutil.rmtree(clean, ignore_errors=True)
        shutil.rmtree(cache_of_site(clean))
        shutil.copytree(root, clean, ignore=shutil.ignore_patterns("public"))
        update(clean, clean / "public", processes=1)
        assert fifty.tree(root / "public") == fifty.tree(clean / "public")
        return [step.name for step in steps.all] == ["read", "patch", "publish"], result

    return go


def test_prose_code_and_the_places_of_links_are_mended(edit, fifty) -> None:
    text = fifty.post(7).replace("## A part", "A new beginning.\n\n## A part").replace("x = 7", "x = 8 < 9")
    patched, result = edit((PATH, text))
    assert patched and result.printed == (PAGE,)
    assert result.written.changed == 1


def test_with_a_page_its_twin_and_the_search_index_are_mended(edit_searched, fifty, root: Path) -> None:
    text = fifty.post(7).replace("## A part", "On an mbarrier.\n\n## A part")
    patched, result = edit_searched((PATH, text))
    assert patched and result.printed == (PAGE, "search/pages.json")
    assert "On an mbarrier." in (root / "public/posts/post-07/index.md").read_text()
    files = [file.read_text() for file in (root / "public/search/terms").iterdir()]
    assert sum("mbarrier " in text for text in files) == 1
    assert edit_searched((PATH, fifty.post(7)))[0]
    assert not edit_searched((PATH, fifty.post(7, title="Mbarrier")))[0]
    assert edit_searched(*[(f"content/posts/post-{n:02}.md", fifty.post(n, more="mbarrier")) for n in (3, 4)])[0]


def test_a_file_of_the_index_that_somebody_changed_is_left_to_a_whole_build(edit_searched, fifty, root: Path) -> None:
    (root / "public/search/terms/1.txt").write_text("")
    assert not edit_searched((PATH, fifty.post(7, more="mbarrier")))[0]


def test_several_texts_are_mended_at_once(edit, fifty) -> None:
    patched, result = edit(*[(f"content/posts/post-{n:02}.md", fifty.post(n, more="More.")) for n in (3, 4)])
    assert patched and set(result.printed) == {"posts/post-03/index.html", "posts/post-04/index.html"}


def test_a_text_is_mended_again_and_again_and_back(edit, fifty) -> None:
    for more in ("One.", "Two.", "", "One."):
        assert edit((PATH, fifty.post(7, more=more)))[0]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("title: Post 7", "title:  Post 7"),  # even when it reads the same
        ("## A part", "## Another part"),
        ("post-08.md", "post-09.md"),
        ("Text.", "Text with [one more](post-01.md)."),
        ("Text.", "Text. " + "word " * 300),  # the minutes that lists show
        ("Text.", "Text $x^2$."),
        ("tags: [tag 2, odd]", "tags: [tag 2]"),
    ],
)
def test_whatever_others_could_show_is_left_to_a_whole_build(edit, fifty, old: str, new: str) -> None:
    assert old in fifty.post(7)
    assert not edit((PATH, fifty.post(7).replace(old, new)))[0]


def test_only_the_first_formula_and_the_last_need_a_whole_build(edit, fifty) -> None:
    patched = [edit((PATH, fifty.post(7, more=more)))[0] for more in ("$x$", "$x$ and $y$", "$y$", "")]
    assert patched == [False, True, True, False]  # with them comes and goes the font


def test_a_profile_names_each_step_once(root, fifty) -> None:
    update(root, root / "public", processes=1)
    fifty.write(root, PATH, fifty.post(7).replace("title: Post 7", "title: Post 7, anew"))
    steps = Steps()
    update(root, root / "public", processes=1, steps=steps)
    assert [step.name for step in steps.all] == ["read", "patch", "parse", "link", "plan", "print", "publish"]


def test_a_mistake_is_reported_by_a_whole_build(root, fifty) -> None:
    update(root, root / "public", processes=1)
    fifty.write(root, PATH, fifty.post(7, more="{nothing}`x`"))
    assert f"{PATH}:" in update(root, root / "public", processes=1).report


def test_a_page_that_somebody_changed_is_printed_anew(edit, root, fifty) -> None:
    (root / "public" / PAGE).write_text("mine")
    assert not edit((PATH, fifty.post(7, more="More.")))[0]


def test_the_html_of_a_text_twice_in_its_page_is_not_mended(edit, root, fifty) -> None:
    template = load_theme(root).templates["post.html"].replace("{{ page.body }}", "{{ page.body }}{{ page.body }}")
    edit(("templates/post.html", template))
    assert not edit((PATH, fifty.post(7, more="More.")))[0]


def test_templates_that_show_texts_as_they_are_are_known(root) -> None:
    ours = load_theme(root).templates
    assert shows_texts_unchanged(ours)
    for other in ("{{ page.body|striptags }}", "{% set x = page.body %}", "{{ page|string }}", "{{ page['body'] }}"):
        assert not shows_texts_unchanged({**ours, "post.html": ours["post.html"] + other})
    assert not shows_texts_unchanged({"post.html": "{% filter upper %}{{ page.body }}{% endfilter %}"})


def test_a_text_is_mended_in_its_language(edit, root, fifty) -> None:
    config = (root / "content/site.yaml").read_text(encoding="utf-8")
    text = fifty.post(7, more="> [!TIP]\n> Words.\n")
    edit(("content/site.yaml", f"{config}language: ko\n"), (PATH, text))
    patched, _ = edit((PATH, text.replace("Words", "More words")))
    page = (root / "public" / PAGE).read_text(encoding="utf-8")
    assert patched and ">팁</h3>" in page and 'aria-label="Python 코드"' in page


def test_another_catalogue_of_the_site_is_read_by_every_text(edit, root, fifty) -> None:
    more = "> [!TIP]\n> Words.\n"
    edit((PATH, fifty.post(7, more=more, front="lang: ko\n")), ("content/posts/post-08.md", fifty.post(8, more=more)))
    for word in ("조언", "도움말"):
        catalogue = f'{{"English": "한국어", "Tip": "{word}", "{{language}} listing": "{{language}} {word}"}}'
        edit(("templates/languages/ko.json", catalogue))
        page = (root / "public/ko/posts/post-07/index.html").read_text(encoding="utf-8")
        assert f">{word}</h3>" in page and f'aria-label="Python {word}"' in page
    edit(("templates/languages/en.json", '{"Tip": "Hint"}'))
    assert ">Hint</h3>" in (root / "public/posts/post-08/index.html").read_text(encoding="utf-8")


def test_what_was_read_beside_a_broken_catalogue_is_read_again(edit, root, fifty) -> None:
    edit((PATH, fifty.post(7, more="> [!TIP]\n> Words.\n", front="lang: ko\n")))
    fifty.write(root, "templates/languages/ko.json", '{"Tip": }')
    assert "SG502" in update(root, root / "public", processes=1).report
    edit(("templates/languages/ko.json", '{"Tip": "조언"}'))
    assert ">조언</h3>" in (root / "public/ko/posts/post-07/index.html").read_text(encoding="utf-8")
