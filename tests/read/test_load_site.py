"""A folder becomes a Site."""

import os
import re
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitegen.diagnostics import Severity, has_errors
from sitegen.model import urls
from sitegen.read.addresses import address_clashes, normalised_address
from sitegen.read.load import load_site, parse_site
from sitegen.read.root import find_root

SITE = {"content/site.yaml": "title: Notes\nbase_url: https://example.org/\n"}
POST = "---\ntitle: {}\ndate: 2026-11-22\n---\nText.\n"
LIST_URLS = [url for name, url in vars(urls).items() if name.isupper() and re.fullmatch("[^/]+/", str(url))]
"""The addresses of lists that a file in content/pages/ could have, which are those of one part."""


def written(root: Path, files: dict[str, str | bytes]) -> Path:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(text.encode() if isinstance(text, str) else text)
    return root


def codes(files: dict[str, str]) -> list[tuple[str, str]]:
    return [(d.code, d.span.path) for d in parse_site(SITE | files)[1]]


def test_the_root_is_found_from_any_folder_below(tmp_path: Path) -> None:
    written(tmp_path, {**SITE, "content/posts/first/index.md": POST.format("a")})
    assert find_root(tmp_path / "content" / "posts" / "first") == tmp_path.resolve()
    assert find_root(tmp_path.parent) is None


def test_images_records_and_hidden_files_are_not_read(tmp_path: Path) -> None:
    written(
        tmp_path,
        {
            **SITE,
            "content/posts/first/index.md": POST.format("a"),
            "content/posts/first/plot.png": b"\x89PNG\xff",
            "content/posts/first/results/nvidia-h200/cell.json": "{}",
            "content/posts/.#first.md": "lock",
            "content/references.bib": "@misc{a}",
            "kernels/sum/__pycache__/tile.py": "no",
            "kernels/sum/.ipynb_checkpoints/tile.py": "no",
            "kernels/sum/__init__.py": "",
            "public/index.md": "no",
        },
    )
    site, found = load_site(tmp_path)
    assert not found
    assert list(site.files) == [
        "content/references.bib",
        "content/site.yaml",
        "content/posts/first/index.md",
        "kernels/sum/__init__.py",
    ]


def test_a_file_that_vanished_is_a_mistake_of_that_file_alone(tmp_path: Path) -> None:
    written(tmp_path, {**SITE, "content/posts/first.md": POST.format("a")})
    (tmp_path / "content/posts/second.md").symlink_to(tmp_path / "nowhere.md")
    site, found = load_site(tmp_path)
    assert [post.slug for post in site.posts] == ["first"]
    assert [(d.code, d.span.path) for d in found] == [("SG022", "content/posts/second.md")]


def test_an_undecodable_worklog_is_a_warning(tmp_path: Path) -> None:
    site, found = load_site(written(tmp_path, {**SITE, "content/worklog/2026-11-21.md": b"caf\xe9 \xff"}))
    assert [(d.code, d.severity) for d in found] == [("SG001", Severity.WARNING)]
    assert [entry.date.day for entry in site.worklog] == [21]


def test_the_order_of_files_on_the_disk_does_not_matter(tmp_path: Path) -> None:
    files = {f"content/posts/{name}.md": POST.format(name) for name in "cab"}
    site, _ = load_site(written(tmp_path, {**SITE, **files}))
    assert [post.slug for post in site.posts] == ["a", "b", "c"]
    assert all(os.sep == "/" or os.sep not in path for path in site.files)


def test_the_translation_of_a_post_is_no_second_slug() -> None:
    files = {"content/posts/a/index.md": POST.format("a"), "content/posts/a/index.ko.md": POST.format("가")}
    site, found = parse_site(SITE | files)
    assert ([(p.slug, p.lang) for p in site.posts], found) == ([("a", ""), ("a", "ko")], ())


def test_a_post_and_an_alias_with_and_without_slashes_are_one_address() -> None:
    assert normalised_address("old") == normalised_address("/old/") == "/old/"
    assert normalised_address("/2025/old.html") == "/2025/old.html"
    assert normalised_address("/notes/v1.2/") == "/notes/v1.2/"
    aliased = POST.format("b").replace("---\nText", "aliases: [posts/a]\n---\nText")
    assert codes({"content/posts/a.md": POST.format("a"), "content/posts/b.md": aliased}) == [
        ("SG021", "content/posts/b.md")
    ]


@pytest.mark.parametrize(
    "alias",
    [
        *("/categories/", "/categories/foundations/", "/categories/other/page/2/"),
        "/worklog/tasks/",
        "/worklog/tasks/page/2/",
    ],
)
def test_no_alias_takes_the_address_of_a_category_or_of_a_list_of_tasks(alias: str) -> None:
    taken = POST.format("a").replace("---\nText", f"category: Foundations\naliases: [{alias}]\n---\nText")
    assert codes({"content/posts/a.md": taken}) == [("SG021", "content/posts/a.md")]


def test_a_permalink_that_is_taken_is_shown_at_its_place() -> None:
    moved = POST.format("b").replace("---\nText", "permalink: /posts/a/\n---\nText")
    files = SITE | {"content/posts/a.md": POST.format("a"), "content/posts/b.md": moved}
    [mistake] = parse_site(files)[1]
    assert (mistake.code, mistake.span.path, mistake.span.line) == ("SG021", "content/posts/b.md", 4)


def test_no_file_is_read_again_for_a_permalink_without_a_mistake() -> None:
    """A site of two thousand permalinks was read twice, the second time by one process."""
    moved = POST.format("a").replace("---\nText", "permalink: /a/\n---\nText")
    site = parse_site(SITE | {"content/posts/a.md": moved})[0]
    with patch("sitegen.read.addresses.front_matter_span", side_effect=AssertionError):
        assert address_clashes(site) == ()


@pytest.mark.parametrize("url", LIST_URLS)
def test_no_page_takes_the_address_of_a_list(url: str) -> None:
    page = f"content/pages/{url.rstrip('/')}.md"
    searching = SITE["content/site.yaml"] + "search: true\n"
    found = codes({page: "---\ntitle: A page\n---\nText.\n", "content/site.yaml": searching})
    assert found == [("SG021", page)]


def test_a_space_in_a_file_name_is_no_address() -> None:
    assert codes({"content/posts/My post.md": POST.format("a")}) == [("SG024", "content/posts/My post.md")]


@pytest.mark.parametrize("alias", ["/deep dives/what's new, then/", "/2024/größe.html"])
def test_an_alias_may_have_what_old_addresses_had(alias: str) -> None:
    assert (
        codes({"content/posts/a.md": POST.format("a").replace("---\nText", f'aliases: ["{alias}"]\n---\nText')}) == []
    )


@pytest.mark.parametrize("alias", ["/../up/", "/a?b=1", "/a#b", "/a%20b/", "/a//b/", "/ a/"])
def test_an_alias_that_no_file_can_have_is_named(alias: str) -> None:
    aliased = POST.format("a").replace("---\nText", f'aliases: ["{alias}"]\n---\nText')
    assert codes({"content/posts/a.md": aliased}) == [("SG024", "content/posts/a.md")]


def test_a_file_in_a_folder_too_deep_is_named_and_nothing_fails() -> None:
    site, found = parse_site(SITE | {"content/posts/2026/first.md": POST.format("a"), "series/basics.yml": "title: a"})
    assert [(d.code, d.span.path) for d in found] == [
        ("SG016", "content/posts/2026/first.md"),
        ("SG016", "series/basics.yml"),
    ]
    assert not has_errors(found) and not site.posts


def test_a_kernel_whose_yaml_has_another_name_is_named() -> None:
    _, found = parse_site(SITE | {"kernels/axpy/kernal.yaml": "kernel: axpy\n", "kernels/axpy/tile.py": ""})
    assert [(d.code, d.span.path, d.hint) for d in found] == [
        ("SG016", "kernels/axpy/kernal.yaml", "did you mean `kernel.yaml`?")
    ]
    assert not has_errors(found)


def test_an_exercise_is_a_folder_with_a_statement_above_its_hints() -> None:
    text = (
        "---\ntitle: Add\nkernel: add\nsolution: tile\ncounted_at: {N: 8}\n---\nAdd.\n\n## Hints\n\n:::{dropdown} a\n"
    )
    files = {"content/exercises/vector-add/index.md": text, "content/exercises/vector-add/starter.py": ""}
    [exercise] = parse_site(SITE | files)[0].exercises
    assert (exercise.id, exercise.title, exercise.kernel.name) == ("vector-add", "Add", "add")
    assert exercise.body.text.strip() == "Add."
    assert exercise.hints and exercise.hints.text.strip() == ":::{dropdown} a" and exercise.hints.first_line == 10


def test_an_exercise_without_the_heading_has_no_hints() -> None:
    files = {"content/exercises/vector-add/index.md": "---\ntitle: Add\n---\nAdd. ## Hints\n"}
    assert parse_site(SITE | files)[0].exercises[0].hints is None


EXERCISE = "---\ntitle: Add\nkernel: add\nsolution: tile\ncounted_at: {N: 8}\n---\nAdd.\n\n"


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("##hints:\n", ["##hints:"]),
        ("  ### Hint 1 ### {#sec-hint}\n\nMask.\n\n### Hint 2\n", ["### Hint 1"]),
        ("## Hnits", ["## Hnits"]),
        ("# HINTS\r\n", ["# HINTS"]),
        ("## Hints", []),
        ("## Hints \n\n### Hint\n", []),
        ("## Points\n\n## Inputs\n\n## Hints and traps\n", []),
        ("```python\n# hint: a mask\n# Hint\n```\n", []),
    ],
)
def test_a_heading_that_is_nearly_the_one_of_the_hints_is_marked(text: str, marked: list[str]) -> None:
    files = {"content/exercises/add/index.md": EXERCISE + text, "content/exercises/add/starter.py": ""}
    found = [one for one in parse_site(SITE | files)[1] if one.code == "SG017"]
    lines = (EXERCISE + text).split("\n")
    assert [lines[d.span.line - 1][d.span.col - 1 :][: d.span.length] for d in found] == marked
    assert all(d.hint == "write `## Hints`" for d in found)


PATHS = (
    "content/site.yaml",
    "content/posts/a.md",
    "content/posts/a/index.md",
    "content/pages/a.md",
    "content/terms/a.md",
    "content/worklog/2026-11-21.md",
    "content/worklog/log.md",
    "series/a.yaml",
    "kernels/a/kernel.yaml",
)
WORDS = """
    title date tags aliases permalink lang phases posts kernel dims inputs outputs x M N shape dtype params dtypes flops
    reads writes tolerance checks workloads name baselines goals implementations wrong file launch entry grid block args
    constants fails predicts base_url timezone gpus gpu_aliases feeds entry_points countdown targets float32 2026-11-22
    sweeps implementation workload title 1e400 -1 0 M*N// tile.py true ~
"""
word = st.sampled_from(WORDS.split())
flow = st.recursive(
    word | st.text(max_size=8).map(repr),
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(items)}]")
        | st.lists(st.tuples(word, inner), max_size=3).map(
            lambda pairs: "{" + ", ".join(f"{k}: {v}" for k, v in pairs) + "}"
        )
    ),
    max_leaves=6,
)
yaml_text = st.lists(st.tuples(word, flow), max_size=12).map(lambda pairs: "".join(f"{k}: {v}\n" for k, v in pairs))
any_text = yaml_text | yaml_text.map(lambda text: f"---\n{text}---\nText.\n") | st.text()


@given(st.dictionaries(st.sampled_from(PATHS), any_text))
def test_no_text_in_any_file_makes_reading_raise(files: dict[str, str]) -> None:
    site, found = parse_site(files)
    assert {d.span.path for d in found} <= {*files, "content/site.yaml"}
    assert len({post.slug for post in site.posts}) == len({p for p in files if p.startswith("content/posts")} and {"a"})


EVERY_FORM = Path(__file__).parents[1] / "sites" / "every_form"


def test_a_site_that_uses_every_form_has_no_mistake() -> None:
    site, found = load_site(EVERY_FORM)
    assert not found
    assert [(post.slug, post.lang) for post in site.posts] == [
        ("draft", ""),
        ("in-a-file", ""),
        ("in-a-folder", "ko"),
        ("in-a-folder", ""),
    ]
    assert [entry.date.isoformat() for entry in site.worklog] == [f"2026-11-{day}" for day in (21, 20, 19, 18)]
    assert [series.id for series in site.series] == ["in-phases", "in-short"]
    assert [len(kernel.implementations) for kernel in site.kernels] == [4]


def test_our_own_site_has_no_mistake() -> None:
    _, found = load_site(Path(__file__).parents[2])
    assert not has_errors(found)
