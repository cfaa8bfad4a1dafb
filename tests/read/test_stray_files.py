"""Texts of which no page is made → where to move them."""

from __future__ import annotations

import pytest

from sitegen.read.stray_files import is_stray, where_to_move

EITHER = "move it to `content/posts/smem.md` if it is a post, to `content/pages/smem.md` if it is a page"
PLACES = {
    "content/post/shared-memory.md": "move it to `content/posts/shared-memory.md`",
    "content/Posts/smem/index.md": "move it to `content/posts/smem/index.md`",
    "content/_posts/2025/smem.md": "move it to `content/posts/smem.md`",
    "content/posts/cuda/smem/index.md": "move it to `content/posts/smem/index.md`",
    "content/term/warp/index.md": "move it to `content/terms/warp.md`",
    "content/terms/gpu/warp.md": "move it to `content/terms/warp.md`",
    "content/exercises/a-sum.md": "move it to `content/exercises/a-sum/index.md`",
    "content/blog/smem.md": EITHER,
    "content/smem.md": EITHER,
    "content/post/taken.md": "move it to `content/posts/` under another name: `content/posts/taken.md` exists",
}
"""The hint for each stray file."""


@pytest.mark.parametrize("path", PLACES)
def test_the_hint_has_the_path_to_which_to_move_a_stray_file(path: str) -> None:
    there = {path, "content/posts/taken.md"}
    assert is_stray(path, there)
    assert where_to_move(path, there) == PLACES[path]


@pytest.mark.parametrize("path", ["content/index.md", "content/post/index.md"])
def test_a_file_without_a_name_of_its_own_gets_the_form_of_a_post(path: str) -> None:
    assert where_to_move(path, {path}).startswith("a post is content/posts/<slug>.md")


@pytest.mark.parametrize(
    "path",
    ["content/posts/smem.md", "content/posts/smem/data/notes.md", "content/pages/about.md", "kernels/axpy/notes.md"],
)
def test_a_text_of_the_site_and_what_lies_in_its_folder_are_no_strays(path: str) -> None:
    assert not is_stray(path, {path, "content/posts/smem/index.md"})
