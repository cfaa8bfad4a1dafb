"""A notebook is a post: front matter, text, listings with the outputs that it holds, and the images within it."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from sitegen.diagnostics import has_errors, render_diagnostics
from sitegen.pipeline.build import update
from sitegen.pipeline.in_memory import load
from sitegen.read.notebook import file_bytes, image_names, notebook_text
from sitegen.read.source import decode

PATH = "content/posts/x/index.ipynb"
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
RAW = {"cell_type": "raw", "source": ["---\n", "date: 2026-11-22\n", "---"]}


def code(source: str, *outputs: dict[str, Any], tags: tuple[str, ...] = ()) -> dict[str, Any]:
    return {"cell_type": "code", "source": source, "outputs": list(outputs), "metadata": {"tags": list(tags)}}


def words(source: str, **more: Any) -> dict[str, Any]:
    return {"cell_type": "markdown", "source": source, **more}


def notebook(*cells: dict[str, Any], **metadata: Any) -> str:
    return json.dumps({"cells": list(cells), "metadata": metadata, "nbformat": 4, "nbformat_minor": 5})


def body(*cells: dict[str, Any]) -> str:
    """Return the Markdown of the cells below the front matter."""
    return notebook_text(notebook(RAW, *cells)).split("---\n", 2)[2].strip("\n")


@pytest.mark.parametrize(
    ("cells", "metadata", "front"),
    [
        ([RAW, words("# A *title*\n\nText.")], {}, 'date: 2026-11-22\ntitle: "A *title*"\n'),
        ([words("---\ntitle: B\ndate: 2026-11-22\n---\n# Kept\n")], {}, "title: B\ndate: 2026-11-22\n"),
        ([words("# C")], {"sitegen": {"date": "2026-11-22"}}, 'date: "2026-11-22"\ntitle: "C"\n'),
        ([], {}, ""),
    ],
)
def test_front_matter(cells: list[dict[str, Any]], metadata: dict[str, Any], front: str) -> None:
    assert notebook_text(notebook(*cells, **metadata)).split("---\n")[1] == front


@pytest.mark.parametrize(
    ("cell", "wanted"),
    [
        (code("%matplotlib inline\n!pip install x"), "```python\n%matplotlib inline\n!pip install x\n```"),
        (code("%%cu\nvoid f();"), "```cuda\n%%cu\nvoid f();\n```"),
        (code("#| label: a\n1"), "```{code-cell} python\n#| label: a\n1\n```"),
        (code("#| echo: false\n1"), ""),
        (code("1", tags=("remove-cell",)), ""),
        (code("x = '''\n```\n'''"), "````python\nx = '''\n```\n'''\n````"),
        (code(""), ""),
    ],
)
def test_cell_of_code(cell: dict[str, Any], wanted: str) -> None:
    assert body(cell) == wanted


@pytest.mark.parametrize(
    ("output", "wanted"),
    [
        ({"output_type": "stream", "text": ["a\n", "b\n"]}, "a\nb"),
        ({"output_type": "stream", "text": "10%\r100%\n"}, "100%"),
        ({"output_type": "execute_result", "data": {"text/html": "<b>3</b>", "text/plain": "3"}}, "3"),
        ({"output_type": "error", "traceback": ["\x1b[0;31m--\x1b[0m", "Error: x"]}, "--\nError: x"),
    ],
)
def test_output_that_the_notebook_holds(output: dict[str, Any], wanted: str) -> None:
    assert body(code("#| echo: false\n1", output)) == f'```text filename="output of the notebook"\n{wanted}\n```'


def test_outputs_of_a_cell_with_a_label_are_those_of_a_run() -> None:
    assert "stale" not in body(code("#| label: a\n1", {"output_type": "stream", "text": "stale"}))


def test_images_of_outputs_and_attachments_are_files_beside_the_text(tmp_path: Path) -> None:
    image = {"output_type": "display_data", "data": {"image/png": PNG, "text/plain": "<Figure>"}}
    picture = words("![w](attachment:p q.png)", attachments={"p q.png": {"image/png": PNG}})
    text = notebook(RAW, picture, code("plot()", image))
    assert image_names(text) == ("cell-2-1.png", "cell-3-1.png")
    assert body(picture, code("plot()", image)) == (
        "![w](cell-2-1.png)\n\n```python\nplot()\n```\n\n![Output of cell 3](cell-3-1.png)"
    )
    (tmp_path / PATH).parent.mkdir(parents=True)
    (tmp_path / PATH).write_text(text)
    assert file_bytes(tmp_path, "content/posts/x/cell-3-1.png") == base64.b64decode(PNG)
    with pytest.raises(FileNotFoundError):
        file_bytes(tmp_path, "content/posts/x/cell-9-1.png")


def test_svg_is_an_image_and_a_png_beside_it_is_preferred(tmp_path: Path) -> None:
    svg = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"></svg>'
    both = {"output_type": "display_data", "data": {"image/svg+xml": svg, "image/png": PNG}}
    alone = {"output_type": "display_data", "data": {"image/svg+xml": [svg], "text/plain": "Diagram(…)"}}
    text = notebook(RAW, code("plot()", both, alone))
    assert image_names(text) == ("cell-2-1.png", "cell-2-2.svg")
    (tmp_path / PATH).parent.mkdir(parents=True)
    (tmp_path / PATH).write_text(text)
    assert file_bytes(tmp_path, "content/posts/x/cell-2-2.svg") == svg.encode()


def test_site_with_a_notebook_builds_and_an_edit_is_built(tmp_path: Path) -> None:
    image = {"output_type": "display_data", "data": {"image/png": PNG}}
    (tmp_path / PATH).parent.mkdir(parents=True)
    (tmp_path / "content/site.yaml").write_text("title: A\nbase_url: https://e.example/\n")
    (tmp_path / PATH).write_text(notebook(RAW, words("# Title\n\nFirst."), code("plot()", image)))
    loaded = load(tmp_path)
    assert not has_errors(loaded.diagnostics), render_diagnostics(loaded.diagnostics, loaded.texts)
    out = tmp_path / "public"
    assert not update(tmp_path, out).failed
    assert (out / "posts/x/cell-3-1.png").read_bytes() == base64.b64decode(PNG)
    (tmp_path / PATH).write_text(notebook(RAW, words("# Title\n\nSecond edit.")))
    assert not update(tmp_path, out).failed
    assert "Second edit." in (out / "posts/x/index.html").read_text()
    assert not (out / "posts/x/cell-3-1.png").exists()


@pytest.mark.parametrize("text", ["words", "[]", '{"nbformat": 3, "worksheets": []}', '{"cells": [1]}'])
def test_file_that_is_no_notebook_is_an_error(text: str) -> None:
    assert [mistake.code for mistake in decode(text.encode(), PATH)[1]] == ["SG026"]


def test_the_marks_of_a_merge_are_found_before_the_mistake_in_json() -> None:
    lines = json.dumps(json.loads(notebook(RAW, words("# A\n<<<<<<< of a text"))), indent=1).split("\n")
    assert decode("\n".join(lines).encode(), PATH)[1] == ()
    merged = [*lines[:9], "<<<<<<< HEAD", lines[9], "=======", lines[9], ">>>>>>> second", *lines[10:]]
    [mistake] = decode("\n".join(merged).encode(), PATH)[1]
    assert mistake.message == "this is no notebook: the marks of a merge stand in it, the first on line 10"
    assert mistake.span.line == 10 and "keep one of the two sides" in mistake.hint


@pytest.mark.parametrize(("text", "hint"), [("{", "Jupyter cannot open this file"), ("{}", "save it again in Jupyter")])
def test_only_what_jupyter_can_open_is_to_be_saved_again(text: str, hint: str) -> None:
    [mistake] = decode(text.encode(), PATH)[1]
    assert hint in mistake.hint


def test_notebook_beside_a_text_is_a_file() -> None:
    assert decode(b"words", "content/posts/x/other.ipynb") == ("words", ())
