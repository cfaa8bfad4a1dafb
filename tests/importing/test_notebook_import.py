"""A notebook becomes a draft with executable cells."""

import base64
import datetime as dt
from pathlib import Path
from typing import Any

import nbformat
import pytest
from click.testing import CliRunner
from nbformat import v4

from sitegen.cli import main
from sitegen.diagnostics import has_errors, render_diagnostics
from sitegen.importing.notebook import import_notebook
from sitegen.importing.plan import ImportPlan, write_missing
from sitegen.markup.parse import parse_document
from sitegen.read.pages import parse_post

DAY = dt.date(2026, 11, 22)


def imported(tmp_path: Path, *cells: Any, language: str = "python") -> ImportPlan:
    notebook = v4.new_notebook(cells=list(cells), metadata={"language_info": {"name": language}})
    nbformat.write(notebook, tmp_path / "First look.ipynb")
    return import_notebook(tmp_path / "First look.ipynb", DAY)


def text_of(plan: ImportPlan) -> str:
    return str(plan.files["content/posts/first-look/index.md"])


def test_cells_become_text_and_executable_cells_without_outputs(tmp_path: Path) -> None:
    run = v4.new_code_cell("1 + 1", outputs=[v4.new_output("stream", text="two")])
    text = text_of(imported(tmp_path, v4.new_markdown_cell("# A *first* look\n\nWith $x$."), run, v4.new_code_cell("")))
    assert text == (
        '---\ntitle: "A *first* look"\ndate: 2026-11-22\ndraft: true\n---\n'
        "With $x$.\n\n```{code-cell} python\n#| label: cell-1\n1 + 1\n```\n"
    )


def test_heading_in_html_is_the_title(tmp_path: Path) -> None:
    text = text_of(imported(tmp_path, v4.new_markdown_cell('<h1 align="center">Puzzles</h1>\n\nText.')))
    assert text == '---\ntitle: "Puzzles"\ndate: 2026-11-22\ndraft: true\n---\nText.\n'


def test_post_is_read_without_a_mistake_and_has_its_cells(tmp_path: Path) -> None:
    named = v4.new_code_cell("#| label: cell-1\nx = '''\n```\n'''")
    plan = imported(tmp_path, v4.new_code_cell("y = 1"), named, v4.new_raw_cell("raw"))
    text, path = text_of(plan), "content/posts/first-look/index.md"
    post, mistakes = parse_post(text, path)
    document, more = parse_document(post.body)
    assert not has_errors((*mistakes, *more)), render_diagnostics((*mistakes, *more), {path: text})
    assert [cell.label for cell in document.cells] == ["cell-2", "cell-1"]
    assert document.cells[1].source == "x = '''\n```\n'''\n"


def test_images_of_the_notebook_and_beside_it_come_along(tmp_path: Path) -> None:
    (tmp_path / "plot.png").write_bytes(b"plot")
    cell = v4.new_markdown_cell("![a](attachment:b.png) ![c](plot.png) ![d](https://e.example/f.png)")
    cell["attachments"] = {"b.png": {"image/png": base64.b64encode(b"inside").decode()}}
    plan = imported(tmp_path, cell)
    assert "![a](cell-1-b.png) ![c](plot.png)" in text_of(plan)
    write_missing(tmp_path / "site", plan.files)
    folder = tmp_path / "site/content/posts/first-look"
    assert ((folder / "cell-1-b.png").read_bytes(), (folder / "plot.png").read_bytes()) == (b"inside", b"plot")
    assert [d.code for d in plan.diagnostics] == ["SG603"]


@pytest.mark.parametrize("source", ["!pip install x", "x = 1\n  !wget y", "%%bash\nls", "%%cu\nvoid f();"])
def test_cell_with_a_shell_command_is_shown_and_not_run(source: str, tmp_path: Path) -> None:
    plan = imported(tmp_path, v4.new_code_cell(source))
    assert text_of(plan).endswith(f"```python\n{source}\n```\n")
    assert [d.code for d in plan.diagnostics] == ["SG603"]


def test_magic_of_the_kernel_is_run(tmp_path: Path) -> None:
    plan = imported(tmp_path, v4.new_code_cell("%matplotlib inline\nx != 1"))
    assert "{code-cell} python" in text_of(plan)
    assert plan.diagnostics == ()


def test_image_within_the_text_and_a_linked_source_come_along(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text("void f();")
    data = base64.b64encode(b"inside").decode()
    cell = v4.new_markdown_cell(f"![w](data:image/png;base64,{data}) [source](k.cu) [gone](gone.cu)")
    plan = imported(tmp_path, cell)
    assert "![w](cell-1-image-2.png) [source](k.cu)" in text_of(plan)
    assert plan.files["content/posts/first-look/cell-1-image-2.png"] == b"inside"
    assert "content/posts/first-look/k.cu" in plan.files


def test_linked_file_of_a_folder_below_the_notebook_comes_along_and_none_from_outside(tmp_path: Path) -> None:
    folder = tmp_path / "own"
    (folder / "sub/.hidden").mkdir(parents=True)
    outside = tmp_path / "out.cu"
    for path in (outside, folder / "sub/two.cu", folder / "sub/a b.cu", folder / "sub/.hidden/k.cu"):
        path.write_text("void f();")
    (folder / "link.cu").symlink_to(outside)
    (folder / "sub/link").symlink_to(tmp_path)
    links = ("sub/../sub/two.cu", "sub/a%20b.cu", "../out.cu", str(outside), "link.cu", "sub/link/out.cu")
    text = " ".join(f"[x]({target})" for target in (*links, "sub/.hidden/k.cu", "sub", "sub/.."))
    plan = imported(folder, v4.new_markdown_cell(text))
    copied = [path.removeprefix("content/posts/first-look/") for path in plan.files]
    assert copied == ["index.md", "sub/two.cu", "sub/a b.cu"]


def test_linked_file_to_which_no_text_may_link_is_not_copied(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("words")
    (tmp_path / "page.html").write_text("words")
    plan = imported(tmp_path, v4.new_markdown_cell("[a](notes.md) [b](page.html)"))
    assert list(plan.files) == ["content/posts/first-look/index.md"]


def test_command_ends_with_the_outputs_that_it_left_out_and_how_to_keep_them(tmp_path: Path) -> None:
    shown = v4.new_output("stream", text="two")
    imported(tmp_path, v4.new_code_cell("2", outputs=[shown]), v4.new_code_cell("3", outputs=[shown, shown]))
    command = ["import", "notebook", str(tmp_path / "First look.ipynb"), "--into", str(tmp_path / "site")]
    *_, last = CliRunner().invoke(main, command, catch_exceptions=False).stderr.splitlines()
    assert last == (
        "the outputs of 2 cells are left out, because a page shows what `sitegen run` made; "
        "to keep them, put the notebook itself at content/posts/first-look/index.ipynb, in place of index.md"
    )


def test_nothing_is_said_of_outputs_where_there_are_none(tmp_path: Path) -> None:
    assert imported(tmp_path, v4.new_code_cell("2", outputs=[])).notes == ()


def test_notebook_of_another_language_is_shown_and_said_to_be_not_run(tmp_path: Path) -> None:
    plan = imported(tmp_path, v4.new_code_cell("println(1)"), language="julia")
    assert text_of(plan).endswith("```julia\nprintln(1)\n```\n")
    assert [d.message for d in plan.diagnostics] == ["cell 1 is julia: it is shown, and not run"]


def test_file_that_is_no_notebook_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.ipynb").write_text("words")
    plan = import_notebook(tmp_path / "a.ipynb", DAY)
    assert (dict(plan.files), [d.code for d in plan.diagnostics]) == ({}, ["SG606"])
