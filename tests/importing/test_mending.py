"""What is imported builds: each mistake of a source is mended by its code, or its block is shown as code."""

from collections.abc import Callable
from pathlib import Path

import pytest

from sitegen.diagnostics import Severity
from sitegen.importing.plan import ImportPlan
from sitegen.pipeline.in_memory import load
from sitegen.pipeline.mend_import import mend_plan

HEAD = "---\ntitle: A\ndate: 2026-01-01\n---\n"
PATH = "content/posts/a.md"


@pytest.fixture
def mend(tmp_path: Path) -> Callable[[str], tuple[str, list[str]]]:
    """Mend a post with this body; return its body and the codes of the warnings."""

    def mended(body: str, head: str = HEAD) -> tuple[str, list[str]]:
        plan = mend_plan(ImportPlan({PATH: f"{head}{body}\n"}), tmp_path)
        for path, content in plan.files.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(str(content))
        (tmp_path / "content/site.yaml").write_text("title: A\nbase_url: https://e.example/\n")
        left = [d for d in load(tmp_path, everything=True).diagnostics if d.severity is Severity.ERROR]
        assert left == []
        return str(plan.files[PATH]).split("---\n", 2)[2].removesuffix("\n"), [d.code for d in plan.diagnostics]

    return mended


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        ("A <p>word.", "A word."),
        ("A </a>word.", "A word."),
        ('<b style="x" class="y">w</b>', '<b class="y">w</b>'),
        ("<font color=red>w</font>", "w"),
        (
            '<iframe src="https://e.example/v"></iframe>',
            '<a href="https://e.example/v">https://e.example/v</a>',
        ),
        ("[words][r x][^n]\n\n[^n]: N\n\n[r x]: /gone/", "words[^n]\n\n[^n]: N\n\n[r x]: /gone/"),
        ("[words](/gone/)", "words"),
        ('<a href="/gone/">w</a>', "<a>w</a>"),
        ("[w](/posts/a/#gone)", "[w](/posts/a/)"),
        ("[w](#gone)", "w"),
        ("![w](gone.png)", "*w*"),
        ("![w](https://e.example/x.png)", "[w](https://e.example/x.png)"),
        ("## B {#x}\n\n## C {#x}", "## B {#x}\n\n## C"),
        (r"$t_\max$ $\text{a_b}$ $^\vec{\mu}$", r"$t_{\max}$ $\text{a\_b}$ $^{\vec{\mu}}$"),
        (r"$\begin{array}{@{}c@{}}x\end{array}$", r"$\begin{array}{c}x\end{array}$"),
        (r"$\nothing x$ and $y$", r"`` \nothing x `` and $y$"),
        ("$$\n\\nothing\n$$", "```latex\n\\nothing\n```"),
        ("[@key] and @fig-none", r"[\@key] and \@fig-none"),
        ("w[^1]", r"w\[^1]"),
        ("{unknown}`x`", "`x`"),
        ("```{unknown} y\nx\n```", "```text\n{unknown} y\nx\n```"),
        ("```yaml {.x}\na: 1\n```", "```yaml\na: 1\n```"),
        ("```{figure} gone.png\n:alt: w\n\nWords.\n```", "Words."),
        ("[![w](gone.png)](https://e.example/)", "[w](https://e.example/)"),
        ("![w][r]\n\n[r]: https://e.example/x.png", "[w][r]\n\n[r]: https://e.example/x.png"),
        ("[![w][r]](/posts/a/)\n\n[r]: https://e.example/x.png", "[w](/posts/a/)\n\n[r]: https://e.example/x.png"),
        ("A [w `]`][R  x] b\n\n[r x]: /gone/", "A w `]` b\n\n[r x]: /gone/"),
        ("> A [`w`][] b, [`w`]\n\n[`w`]: /gone/", "> A `w` b, `w`\n\n[`w`]: /gone/"),
        ("A [w][r\ns] b\n\n[r s]: /gone/", "A w b\n\n[r s]: /gone/"),
        ("A [w][r\ns] b\n\n[r s]: /posts/a/#gone", "A [w](/posts/a/) b\n\n[r s]: /posts/a/#gone"),
        ("A [w][] b\n\n[w]: /posts/a/#gone", "A [w](/posts/a/) b\n\n[w]: /posts/a/#gone"),
        ("A [w] b\n\n[w]: #gone", "A w b\n\n[w]: #gone"),
        ("```{kernel} gone/naive\n```", "```text\n{kernel} gone/naive\n```"),
        ("{term}`gone`", "`gone`"),
        (
            "::::{tab-set}\n:::{tab-item} ■ box\na\n:::\n:::{tab-item} ⬢ box\nb\n:::\n::::",
            "::::{tab-set}\n:::{tab-item} ■ box\na\n:::\n:::{tab-item} ⬢ box\n:sync: box-2\nb\n:::\n::::",
        ),
        (
            "::::{tab-set}\n:::{tab-item} A\na\n:::\n:::{tab-item} B\n:sync: a\nb\n:::\n::::",
            "::::{tab-set}\n:::{tab-item} A\na\n:::\n:::{tab-item} B\n:sync: a-2\nb\n:::\n::::",
        ),
        ("```r\nx  # <1>\n```", "```r annotate=false\nx  # <1>\n```"),
        (
            "````{nothing}\n```r\nx  # <1>\n```\n````",
            "````text annotate=false\n{nothing}\n```r\nx  # <1>\n```\n````",
        ),
    ],
)
def test_mistake_is_mended_with_a_warning(written: str, wanted: str, mend: Callable) -> None:
    body, codes = mend(written)
    assert body == wanted
    assert codes
    assert set(codes) == {"SG610"}


def test_text_without_a_mistake_stays_as_it_is(mend: Callable) -> None:
    assert mend("A *word* and $x_1$.") == ("A *word* and $x_1$.", [])


def test_text_is_mended_for_the_settings_that_the_site_has(tmp_path: Path) -> None:
    (tmp_path / "content").mkdir()
    (tmp_path / "content/site.yaml").write_text("title: A\nbase_url: https://e.example/\n")
    text = HEAD.replace("---\n", "---\nauthors: [ada]\n", 1) + "Words.\n"
    site = "title: B\nbase_url: https://e.example/\nauthors: {ada: {name: Ada}}\n"
    plan = mend_plan(ImportPlan({PATH: text, "content/site.yaml": site}), tmp_path)
    assert str(plan.files[PATH]).startswith("---\n# authors: [ada]\n")


def test_link_to_a_draft_is_mended(tmp_path: Path) -> None:
    draft = HEAD.replace("---\n", "---\ndraft: true\n", 1) + "Words.\n"
    files = {PATH: f"{HEAD}[w](/posts/b/)\n", "content/posts/b.md": draft}
    plan = mend_plan(ImportPlan(files), tmp_path)
    assert plan.files == {**files, PATH: f"{HEAD}w\n"}


def test_unknown_key_of_front_matter_becomes_a_comment(mend: Callable, tmp_path: Path) -> None:
    mend("Words.", HEAD.replace("---\n", "---\nodd: 1\n", 1))
    assert (tmp_path / PATH).read_text().startswith("---\n# odd: 1\ntitle: A\n")


def test_work_that_stands_twice_in_a_copied_bibliography_is_left_out(tmp_path: Path) -> None:
    work = "@article{a1, author={A}, title={T}, year={2020}, journal={J}}\n"
    (tmp_path / "b.bib").write_text(work * 2)
    files = {"content/posts/a/index.md": HEAD.replace("---\n", "---\nbibliography: b.bib\n", 1) + "By [@a1].\n"}
    plan = mend_plan(ImportPlan({**files, "content/posts/a/b.bib": tmp_path / "b.bib"}), tmp_path / "site")
    assert plan.files == {**files, "content/posts/a/b.bib": work}
    assert [one.code for one in plan.diagnostics] == ["SG610"]


def test_address_of_a_page_of_the_site_is_left_to_that_page(tmp_path: Path) -> None:
    (tmp_path / "content/pages").mkdir(parents=True)
    (tmp_path / "content/pages/about.md").write_text("---\ntitle: A\n---\nWords.\n")
    plan = mend_plan(ImportPlan({PATH: f"{HEAD[:-4]}permalink: /about/\n---\nWords.\n"}), tmp_path)
    assert "\n# permalink: /about/\n" in str(plan.files[PATH])
    assert list(plan.files) == [PATH]
    assert [one.code for one in plan.diagnostics] == ["SG610"]
