"""A book of MyST comes over: its contents as a series, directives, roles, labels, citations, notebooks."""

import json
from collections.abc import Callable
from time import process_time

import pytest

from sitegen.importing.folders.myst import MYST
from tests.processor_time import within

TOC = "format: jb-book\nroot: intro\nparts:\n  - caption: One\n    chapters:\n      - file: a\n      - file: b\n"


def book(body: str, **more: str) -> dict[str, str]:
    return {
        "_config.yml": "title: The Book\n",
        "_toc.yml": TOC,
        "intro.md": "# Welcome\n\nWords.\n",
        "a.md": f"# Chapter A\n\n{body}\n",
        "b.md": "(b-label)=\n# Chapter B\n\n(sec_two)=\n## Two\n\n$$ y $$ (eq:y)\n",
        "refs.bib": "@book{k, author={A B}, title={T}, year={2020}, publisher={P}}\n",
        **more,
    }


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        (
            "{ref}`b-label` {ref}`x <sec_two>` {doc}`b`",
            "[Chapter B](/b.html) [x](/b.html#sec-two) [Chapter B](/b.html)",
        ),
        ("{eq}`eq:y`", "[eq:y](/b.html#eq-y)"),
        ("```{math}\n:label: e1\nx\n```\n\nBy {eq}`e1`.", "$$\nx\n$$ {#eq-e1}\n\nBy @eq-e1."),
        (r"`\label{x}` and `y`", r"`\label{x}` and `y`"),
        ("It is:\n$$\nx\n$$\n\n- a\n  $$\n  y\n  $$", "It is:\n\n$$\nx\n$$\n\n- a\n  \n  $$\n  y\n  $$"),
        ("> It is:\n> $$\n> x\n> $$", "> It is:\n> \n> $$\n> x\n> $$"),
        ("[![a](https://e.example/a.png)](https://e.example/b)", "[a](https://e.example/b)"),
        ("{cite}`k` and {cite:t}`k`", "[@k] and @k"),
        ("{cite}`gone`", "[\\@gone]"),
        ("```{tip} Use it\n:class: dropdown\nWords.\n```", ":::{dropdown} Use it\nWords.\n:::"),
        ("```{admonition} A title\n:class: tip\nWords.\n```", ":::{tip} A title\nWords.\n:::"),
        ("````{seealso}\n```{math}\nx\n```\n````", ":::{note} Seealso\n$$\nx\n$$\n:::"),
        (":::{prf:theorem} Name\nWords.\n:::", ":::{note} Theorem: Name\nWords.\n:::"),
        (
            "````md\n:::{code} md\n````\n\n::::{code} md\n+++ part\n% $5 ``\n:::{note}\nb\n:::\n::::",
            "````md\n:::{code} md\n````\n\n```md\n+++ part\n% $5 ``\n:::{note}\nb\n:::\n```",
        ),
        (
            ':::{strange}\n{.c attribution="Ada, [b](https://b.example)"}\n> Words.\n> More.\n:::\n'
            '{attribution="x"}\nText.',
            '> Words.\n> More.\n>\n> — Ada, [b](https://b.example)\n\n{attribution="x"}\nText.',
        ),
        (
            "- ```c\n  x\n  ```\n- {index}`a`\n\n```{note} T\nWords.\n```\n",
            "- ```c\n  x\n  ```\n- a\n\n:::{note} T\nWords.\n:::",
        ),
        ("```{index} single: x\n```\n{index}`The x <single: x>` and {index}`!y`.", "\nThe x and y."),
        ("% a comment\nWords.\n\n+++\n\nMore.", "Words.\n\n\nMore."),
        ("{unknown}`x` and `{ref}`", "`x` and `{ref}`"),
        ("````{figure}\n:label: f\n```py\nx\n```\nWords.\n````", "```py\nx\n```\nWords."),
        ("```{strange} Arg\nWords.\n```", "**Arg**\n\nWords."),
        ('{.c attribution="{A}"}\n> Words.\n\n{.c}\n> Words.', "> Words.\n>\n> — {A}\n\n{.c}\n> Words."),
    ],
)
def test_forms(written: str, wanted: str, folder: Callable) -> None:
    assert folder(MYST, book(written)).body("posts/a").strip() == wanted.strip()


def test_attributes_without_an_end_are_read_in_time_that_grows_with_the_text(folder: Callable) -> None:
    begin = process_time()
    line = "{" + 'attribution="a" ' * 25_000
    assert folder(MYST, book(line)).body("posts/a").strip() == line.strip()
    assert within(process_time() - begin, 5)


def test_trees_of_a_site_of_sphinx_are_its_contents(folder: Callable) -> None:
    tree = "# Home\n\n```{toctree}\n:caption: Using\nsub/one\nTwo <two.md>\ngone\n```\n\n:::{toctree}\nthree\n:::\n"
    texts = {
        "index.md": tree,
        "sub/one.md": "# One\n\n```{toctree}\nunder\n```\n",
        "sub/under.md": "(a/b)=\n# Under\n\n<project:#a/b> [](#a/b) [x](project:#a/b)\n",
        "two.md": "# Two\n\n```{include} part.txt\n```\n\n```{include} part.md\n```\n",
        "three.md": "# Three\n\n```{button-ref} a/b\nPress\n```\n",
        "part.txt": "Text *as it is*.\n",
        "part.md": "Words.\n\n```{include} part.md\n```\n",
    }
    imported = folder(MYST, texts)
    (series,) = (text for path, text in imported.files.items() if path.startswith("series/"))
    assert str(series).endswith(
        "phases:\n  - title: Using\n    posts: [one, under, two]\n  - title: Chapters\n    posts: [three]\n"
    )
    link = "/sub/under.html"
    assert imported.body("posts/under") == f"[Under]({link}) [Under]({link}) [x]({link})"
    assert imported.body("posts/two") == "````text\nText *as it is*.\n````\n\nWords.\n\n`part.md`"
    assert imported.body("posts/three") == f"[Press]({link})"
    assert imported.compared["sub/one.md"].lost.total() == 0


def test_contents_become_a_series_and_the_root_a_page(folder: Callable) -> None:
    imported = folder(MYST, book("Words.", **{"left.md": "# Out\n"}))
    series = "title: The Book\nphases:\n  - title: One\n    posts: [a, b]\n"
    assert imported.files["series/the-book.yaml"] == series
    assert imported.head("pages/intro") == "title: Welcome\naliases: [/intro.html]\n"
    assert imported.codes == ["SG606", "SG608"]


def test_notebook_of_a_book_becomes_a_text_with_cells(folder: Callable) -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Title\n", "See {ref}`b-label`."], "metadata": {}},
        {"cell_type": "code", "source": "x = 1", "metadata": {}, "outputs": [], "execution_count": None},
    ]
    notebook = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    files = {path: text for path, text in book("x").items() if path != "a.md"}
    imported = folder(MYST, {**files, "a.ipynb": notebook})
    assert imported.body("posts/a/index").strip() == (
        "See [Chapter B](/b.html).\n\n```{code-cell} python\n#| label: cell-1\nx = 1\n```"
    )


@pytest.mark.parametrize("marks", ["```", ":::"])
@pytest.mark.parametrize("name", ["figure", "image"])
def test_figure_without_words_shows_its_file(marks: str, name: str, folder: Callable) -> None:
    text = f"# A\n\n{marks}{{{name}}} /_static/x.svg\n{marks}\n"
    files = {"resources/a.md": text, "_static/x.svg": '<svg xmlns="http://www.w3.org/2000/svg"/>'}
    imported = folder(MYST, files)
    assert imported.body("posts/a/index").strip() == "![](x.svg)"
    assert "SG605" not in imported.codes


def test_the_first_page_of_a_sphinx_book_answers_at_its_old_address(folder: Callable) -> None:
    index = "# Welcome\n\nWords.\n\n```{toctree}\na\n```\n"
    imported = folder(MYST, {"conf.py": "project = 'The Book'\n", "index.md": index, "a.md": "# A\n\nWords.\n"})
    assert imported.codes == ["SG608"]
