"""A site of Quarto comes over: cells, callouts, tabs, attributes, includes."""

from collections.abc import Callable

import pytest

from sitegen.importing.folders.quarto import QUARTO

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
    ],
)
def test_forms(written: str, wanted: str, folder: Callable) -> None:
    assert folder(QUARTO, site(written)).body("posts/a").strip() == wanted.strip()


def test_cell_gets_a_label_and_keeps_the_options_that_are_known(folder: Callable) -> None:
    imported = folder(QUARTO, site('```{python}\n#| fig-width: 3\n#| fig-cap: "A cap"\nx = 1\n```\n'))
    assert imported.body("posts/a/index") == (
        '```{code-cell} python\n#| label: cell-1\n#| fig-cap: "A cap"\nx = 1\n```'
    )


def test_address_stays_and_a_link_to_a_document_follows(folder: Callable) -> None:
    imported = folder(QUARTO, site("[b](../b.qmd#x-y)", **{"posts/b.qmd": HEAD + "## X y\n"}))
    assert imported.head("posts/a") == "title: A\ndate: 2024-01-05\ntags: [x]\n"
    assert imported.body("posts/a") == "[b](/posts/b.html#x-y)"


def test_included_file_stands_in_the_text(folder: Callable) -> None:
    imported = folder(QUARTO, site("{{< include _b.qmd >}}", **{"posts/a/_b.qmd": "Words.\n"}))
    assert imported.body("posts/a") == "Words."
