"""A site of Quarto comes over: cells, callouts, tabs, attributes, includes."""

import base64
import re
from collections.abc import Callable

import pytest

from sitegen.importing.folders.quarto import QUARTO

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
HEAD = "---\ntitle: A\ndate: 1/5/2024\ncategories: [x]\n---\n"


def site(body: str, **more: str) -> dict[str, str]:
    config = "website:\n  title: Old\n  site-url: https://old.example\n"
    return {"_quarto.yml": config, "posts/a/index.qmd": HEAD + body, **more}


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        ("::: {.callout-tip}\n## A title\nWords.\n:::", ":::{tip} A title\nWords.\n:::"),
        (':::{.callout-note title="T"}\n::: {.x}\nWords.\n:::\n:::', ":::{note} T\nWords.\n:::"),
        (
            "::: {.panel-tabset}\n## One\na\n## Two\nb\n:::",
            "::::{tab-set}\n:::{tab-item} One\na\n:::\n:::{tab-item} Two\nb\n:::\n::::",
        ),
        ("## A section {#sec-a .unnumbered}\n\n@sec-a", "## A section {#sec-a}\n\n@sec-a"),
        ('[x](https://e.example){target="_blank"}', "[x](https://e.example)"),
        ("```{r}\nx <- 1\n```", "```r\nx <- 1\n```"),
        ("```{python}\n#| eval: false\nx\n```", "```python\nx\n```"),
        ("```{python}\n!pip install x\n```", "```python\n!pip install x\n```"),
        ('```{.yaml filename="a.yml"}\na: 1\n```', '```yaml filename="a.yml"\na: 1\n```'),
        ("A {{< fa star >}} {{< video https://e.example/v >}}", "A  [https://e.example/v](https://e.example/v)"),
        ("1 `r x` 2", "1 `x` 2"),
        ("A\n\n```{comment}\n> Not for readers.\n```\n\nB", "A\n\n\n\nB"),
        (
            "```{r}\n#| label: fig-x\n#| fig-cap: |\n#|   A cap\n#|   of two.\n"
            "knitr::include_graphics('a.png')\n```\n\n@fig-x",
            "```{figure} a.png\n:label: fig-x\n\nA cap of two.\n```\n\n@fig-x",
        ),
        (
            "```{r}\n#| fig-cap: A cap\ninclude_graphics('a.png')\n```",
            "![A cap](a.png)\n\n*A cap*",
        ),
        (
            '![A *cap* of [it](https://e.example/x)](a.png){#fig-x .lightbox fig-alt="A red dot."}\n\nBy @fig-x.',
            "```{figure} a.png\n:alt: A red dot.\n:label: fig-x\n\n"
            "A *cap* of [it](https://e.example/x)\n```\n\nBy @fig-x.",
        ),
        ("![A *cap*](a.png)", "```{figure} a.png\n:alt: A cap\n\nA *cap*\n```"),
        ("![](a.png){fig-alt='A red dot.'}", "![A red dot.](a.png)"),
        ('See ![x](a.png){width=9 fig-alt="A [red] dot."}.', "See ![A red dot.](a.png)."),
        ("![A cap](https://e.example/a.png)", "[A cap](https://e.example/a.png)"),
        ("```{r}\n#| fig-cap: 'A: cap'\nplot(1)\n```", "```r\nplot(1)\n```\n\n*A: cap*"),
    ],
)
def test_forms(written: str, wanted: str, folder: Callable) -> None:
    files = folder(QUARTO, {**site(written), "posts/a/a.png": PNG}).files
    (text,) = (text for path, text in files.items() if re.fullmatch(r"content/posts/a(/index)?\.md", path))
    assert str(text).split("---\n", 2)[2].strip() == wanted.strip()


def test_cell_gets_a_label_and_keeps_the_options_that_are_known(folder: Callable) -> None:
    imported = folder(QUARTO, site('```{python}\n#| fig-width: 3\n#| fig-cap: "A cap"\nx = 1\n```\n'))
    assert imported.body("posts/a/index") == (
        '```{code-cell} python\n#| label: cell-1\n#| fig-cap: "A cap"\nx = 1\n```'
    )


def test_address_stays_and_a_link_to_a_document_follows(folder: Callable) -> None:
    imported = folder(QUARTO, site("[b](../b.qmd#x-y)", **{"posts/b.qmd": HEAD + "## X y\n"}))
    assert imported.head("posts/a") == "title: A\ndate: 2024-01-05\ntags: [x]\n"
    assert imported.body("posts/a") == "[b](/posts/b.html#x-y)"


@pytest.mark.parametrize(
    ("name", "kept", "codes"),
    [
        ("7% & more", "", ["SG607"]),
        ("07- Helm Upgrade & Rollbacks", "aliases: [/posts/07- Helm Upgrade & Rollbacks.html]", []),
        ("v1.2", "permalink: /posts/v1.2.html", []),
    ],
)
def test_address_with_spaces_leads_to_the_text_and_a_lost_one_is_reported(
    name: str, kept: str, codes: list[str], folder: Callable
) -> None:
    imported = folder(QUARTO, site("a", **{f"posts/{name}.qmd": HEAD.replace("title: A", "title: Second")}))
    (head,) = (str(text) for text in imported.files.values() if "title: Second" in str(text))
    addresses = [line for line in head.split("\n") if line.startswith(("aliases", "permalink"))]
    assert (addresses, imported.codes) == ([kept] if kept else [], codes)


def test_included_file_stands_in_the_text(folder: Callable) -> None:
    imported = folder(QUARTO, site("{{< include _b.qmd >}}", **{"posts/a/_b.qmd": "Words.\n"}))
    assert imported.body("posts/a") == "Words."


def test_only_documents_that_the_project_renders_come_over(folder: Callable) -> None:
    rendered = '["*.qmd", "extra/", "!drafts/", "!posts/no.qmd"]'
    texts = {
        "_quarto.yml": f"project:\n  type: website\n  render: {rendered}\n",
        "posts/yes.qmd": HEAD,
        "posts/no.qmd": HEAD,
        "notes.md": HEAD,
        "drafts/x.qmd": HEAD,
        "extra/e.md": HEAD,
    }
    assert sorted(folder(QUARTO, texts).files) == ["content/posts/e.md", "content/posts/yes.md", "content/site.yaml"]


def test_markdown_that_quarto_kept_beside_a_document_stays_out(folder: Callable) -> None:
    imported = folder(QUARTO, {"posts/a.qmd": HEAD, "posts/a.html.md": HEAD, "posts/v1.2.md": HEAD})
    assert sorted(imported.files) == ["content/posts/a.md", "content/posts/v1-2.md", "content/site.yaml"]


def test_report_counts_no_comment_and_no_name_of_a_language_as_lost(folder: Callable) -> None:
    imported = folder(QUARTO, site("1 `r x` 2 `{python} y`\n\n```{comment}\nNot for readers.\n```\n"))
    (one,) = imported.compared.values()
    assert not one.lost


BOOK = (
    "project: {type: book}\nbook:\n  title: A book\n  chapters:\n  - index.qmd\n  - a.qmd\n"
    "  - part: two.qmd\n    chapters: [b.qmd]\n  appendices: [c.qmd]\n"
)


def test_book_is_a_series_and_references_lead_to_other_chapters(folder: Callable) -> None:
    texts = {
        "_quarto.yml": BOOK,
        "index.qmd": "# Welcome\n\nIn @sec-b.\n",
        "a.qmd": "# Chapter A {#sec-a}\n\nIn @sec-b, [@sec-part] and @sec-a; `@sec-b`.\n",
        "two.qmd": "# Part *two*\n\nWords.\n",
        "b.qmd": "# Chapter B {#sec-b}\n\n## Part of B {#sec-part}\n",
        "c.qmd": "# C\n",
        "left.qmd": "# Left\n",
    }
    imported = folder(QUARTO, texts)
    assert imported.files["series/a-book.yaml"] == (
        "title: A book\nphases:\n  - title: Chapters\n    posts: [a]\n  - title: Part two\n    posts: [two, b]\n"
        "  - title: Appendices\n    posts: [c]\n"
    )
    assert imported.head("posts/a") == "title: Chapter A\ndate: 2026-11-25\npermalink: /a.html\n"
    assert imported.body("posts/a") == (
        "In [Chapter B](/b.html), [Part of B](/b.html#sec-part) and [Chapter A](/a.html); `@sec-b`."
    )
    assert imported.body("pages/index") == "In [Chapter B](/b.html)."
    assert not any("left" in path for path in imported.files)


def test_page_that_lists_others_is_left_out_unless_it_has_words(folder: Callable) -> None:
    listed = "---\ntitle: All\nlisting:\n  contents: posts\n---\n"
    frame = '::: {#all .column-screen style="max-width: 850px;"}\n:::\n'
    texts = {"few.qmd": f"{listed}{'word ' * 20}\n\n{frame}", "more.qmd": f"{listed}{'word ' * 21}\n\n{frame}"}
    imported = folder(QUARTO, texts)
    assert [path for path in imported.files if path.endswith(".md")] == ["content/pages/more.md"]
    assert "SG606" in imported.codes
