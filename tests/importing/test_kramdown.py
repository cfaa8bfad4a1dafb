"""Liquid and kramdown of one post become Markdown of a post of sitegen."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from sitegen.diagnostics import has_errors, render_diagnostics
from sitegen.markup.parse import parse_document
from sitegen.model.site import Markdown

MATH = "title: Notes\nurl: https://kern.example\nbaseurl: /blog\nenable_math: true\n"
Post = Callable[..., Any]
BIBLIOGRAPHY = {"_bibliography/references.bib": "---\n---\n@article{a, title={A}}\n@book{b, title={B}}\n"}
CASES = {
    "formula in a line": ("It is $$ E = mc^2 $$ then.", "It is $E = mc^2$ then."),
    "formula beside a digit": ("2$$x$$ and $$y$$3", "2{math}`x` and {math}`y`3"),
    "formula in code": ("`$$x$$` stays", "`$$x$$` stays"),
    "formula in an item": (
        "- $$\n  \\begin{align*}\n  x\n  \\end{align*}\n  $$\n- b",
        "- $$\n  \\begin{align*}\n  x\n  \\end{align*}\n  $$\n\n- b",
    ),
    "bold before a letter": (
        "**A [b](https://e.example)。**C and **d** e, **f (**g",
        "<strong>A [b](https://e.example)。</strong>C and **d** e, <strong>f (</strong>g",
    ),
    "formula of its own": ("a\n\n$$ x = 1 $$\n\nb", "a\n\n$$\nx = 1\n$$\n\nb"),
    "formula of lines right below text": ("a\n$$\nx\n$$\nb", "a\n\n$$\nx\n$$\n\nb"),
    "formula in a list": ("1. a\n\n   $$\n   x\n   $$\n", "1. a\n\n   $$\n   x\n   $$"),
    "money": ("It costs $5, or US$6.", "It costs \\$5, or US\\$6."),
    "line break": ("one\\\\\ntwo", "one\\\ntwo"),
    "heading id": ("## A title {#own}", "## A title {#own}"),
    "heading with a sign": ("## C++ & CUDA", "## C++ & CUDA {#c--cuda}"),
    "heading underlined": ("Title\n=====\n\ntext", "# Title\n\ntext"),
    "same heading twice": ("## A\n\n## A", "## A\n\n## A {#a-1}"),
    "contents": ("* TOC\n{:toc}\n\ntext", "text"),
    "contents, numbered": ("1. contents\n{: toc}\n\ntext", "text"),
    "attributes of a paragraph": ("text\n{: #here .wide}", "{#here .wide}\ntext"),
    "attributes before a paragraph": ("a\n\n{: #here}\ntext", "a\n\n{#here}\ntext"),
    "attributes by name": ("{:mine: #here .wide}\n\ntext\n{: mine}", "{#here .wide}\ntext"),
    "attributes by a name of itself": ("{:mine: #here mine .wide}\n\ntext\n{: mine mine}", "{#here .wide}\ntext"),
    "language of tildes": ("~~~\nx\n~~~\n{: .language-python}", "~~~python\nx\n~~~"),
    "language of an indented listing": ("a\n\n    x = 1\n{: .language-python}", "a\n\n```python\nx = 1\n```"),
    "directive": ("```{python}\nx\n```", "```python\nx\n```"),
    "tip": ("> ##### TIP\n>\n> Read once.\n{: .block-tip }", "> [!TIP]\n> Read once."),
    "prompt": ("> Careful.\n{: .prompt-warning }", "> [!WARNING]\n> Careful."),
    "quote that goes on": ("> a\nb", "> a\n> b"),
    "table without names": ("| a | b |\n| c | d |", "|  |  |\n| --- | --- |\n| a | b |\n| c | d |"),
    "table with bodies": (
        "|---+---|\n| n | m |\n|:--+--:|\n| a | b |\n|---+---|\n| c | d |\n|===+===|\n| e | f |",
        "| n | m |\n| :--- | ---: |\n| a | b |\n| c | d |\n| e | f |",
    ),
    "pipe in code": ("| a | b |\n|---|---|\n| `x|y` | z |", "| a | b |\n| --- | --- |\n| `x|y` | z |"),
    "no table": ("P(a|b) is text", "P(a|b) is text"),
    "comment": ("{::comment}\nhidden\n{:/comment}\n\na", "<!--\nhidden\n-->\n\na"),
    "line of a comment": ("a\n\n[//]: # b $x$\n[//]: # $$\n[//]: # c_1\n[//]: # $$\n\nd", "a\n\nd"),
    "line of a comment by its name": ("a\n\n[comment]: # (b $x$)\n[Comment]: <> (c)\n[AG]: # d e\n\nf", "a\n\nf"),
    "line of a comment in quotes, below text": ('a\n[//]: # "b"\nc', "a\nc"),
    "line of a comment in an item": ("- a\n\n  [//]: # b\n- c", "- a\n\n- c"),
    "line of a comment in a listing": (
        "```md\n[//]: # b\n```\n\n    [//]: # c",
        "```md\n[//]: # b\n```\n\n    [//]: # c",
    ),
    "link to the top of the page by name": ('[a][b]\n\n[b]: # "c"', '[a][b]\n\n[b]: # "c"'),
    "blank lines of a listing": ("a\n\n\n\n```c\na\n\n\n\nb\n```", "a\n\n```c\na\n\n\n\nb\n```"),
    "end of a block": ("- a\n\n^\n- b", "- a\n\n- b"),
    "footnote": ("a[^1]\n\n[^1]: note", "a[^1]\n\n[^1]: note"),
    "footnote of two paragraphs": ("a[^1]\n\n[^1]: n\n\n    $$x$$ too", "a[^1]\n\n[^1]: n\n\n    $x$ too"),
    "footnote that is not there": ("a[^1]", "a\\[^1]"),
    "citation that is none": ("ask [@ada] or @ada, not a@b.c", "ask [\\@ada] or \\@ada, not a@b.c"),
    "role that is none": ("a {word}`x`", "a \\{word}`x`"),
    "colons": (":::note", "\\:::note"),
    "html block below text": ("a\n<div>*x*\n\ny</div>\nb", "a\n\n<div>*x*\ny</div>\n\nb"),
    "markdown in html": ('<div markdown="1">\n*x*\n</div>', "<div>\n\n*x*\n\n</div>"),
    "markdown switched off in html": ('<div markdown="0">\n    *x*\n</div>', "<div>\n    *x*\n</div>"),
    "old element": ("<center>x</center>", "<div>x</div>"),
    "anchor by name": ('<a name="old"></a>text', '<a id="old"></a>text'),
    "highlight": ("{% highlight python linenos %}\nx = 1\n{% endhighlight %}", "```python\nx = 1\n```"),
    "highlight with lines": (
        '{% highlight c mark_lines="1 3" %}\na\nb\nc\n{% endhighlight %}',
        "```c hl=1,3\na\nb\nc\n```",
    ),
    "highlight that holds fences": ("{% highlight md %}\n```\n{% endhighlight %}", "````md\n```\n````"),
    "highlight in a list": ("- a\n\n  {% highlight c %}\n  x\n  {% endhighlight %}", "- a\n\n  ```c\n  x\n  ```"),
    "raw": ("{% raw %}{{ x }} {% y %}{% endraw %}", "{{ x }} {% y %}"),
    "liquid comment": ("a{% comment %} b {% endcomment %}", "a<!-- b -->"),
    "variable": ("{{ site.title }}, {{ page.title | upcase }}", "Notes, A"),
    "assigned": ('{% assign x = "one" %}{{ x | append: " two" }}', "one two"),
    "white space taken away": ('a {%- assign x = "b" -%} \n {{ x }}', "ab"),
    "relative_url": ('[x]({{ "/" | relative_url }})', "[x](/)"),
    "cite": ("{% cite a b --locator 3 -L figure %}", "[@a, fig. 3; @b]"),
    "cite without the author": ("{% cite a -A %}", "[-@a]"),
    "distill": ('x <d-cite key="a, b"></d-cite>', "x [@a; @b]"),
    "distill footnote": ("x<d-footnote>y</d-footnote>", "x[^note-1]\n\n[^note-1]: y"),
    "list of what is cited": ("{% cite a %}\n\n## References\n\n{% bibliography --cited %}", "[@a]"),
    "address with a sign": ("https://a.example/@b.", "<https://a.example/@b>."),
    "gist": ("{% gist ada/1 %}", "<https://gist.github.com/ada/1>"),
    "details": ("{% details More %}\n*x*\n{% enddetails %}", "<details>\n<summary>More</summary>\n\n*x*\n\n</details>"),
    "mermaid": ("{% mermaid %}\ngraph LR\n{% endmermaid %}", "```mermaid\ngraph LR\n```"),
    "youtube": (
        '{% include youtube.html id="abc" %}',
        "[https://www.youtube.com/watch?v=abc](https://www.youtube.com/watch?v=abc)",
    ),
    "callout": ('{% include note.html content="x" %}', ":::{note}\nx\n:::"),
}


def test_unknown_one_of_two_works_stands_as_text(post: Post) -> None:
    imported = post('x <d-cite key="a,b_2"></d-cite>', **BIBLIOGRAPHY)
    assert imported.body == "x [@a]\\[b\\_2\\]"
    assert imported.said == ["SG604 _posts/2024-01-05-a.md:5"]


@pytest.mark.parametrize("case", CASES)
def test_understood(post: Post, case: str) -> None:
    source, expected = CASES[case]
    imported = post(source, **BIBLIOGRAPHY)
    assert imported.body == expected
    assert [said for said in imported.said if "SG605" not in said or case != "directive"] == []


@pytest.mark.parametrize("case", CASES)
def test_what_was_understood_is_a_text_without_errors(post: Post, case: str) -> None:
    body = post(CASES[case][0], **BIBLIOGRAPHY).body
    _, mistakes = parse_document(Markdown(body, "a.md"))
    assert not has_errors(mistakes), render_diagnostics(mistakes, {"a.md": body})


WITH_MATH = {
    "single dollars": ("$x_1$ and $5", "$x_1$ and \\$5"),
    "round brackets": (r"\\(x\\)", "$x$"),
    "equation": (
        "\\begin{equation}\n\\label{eq:a}\nx\n\\end{equation}\n\nBy \\eqref{eq:a}.",
        "$$\nx\n$$ (eq-a)\n\nBy ([-@eq-a]).",
    ),
    "reference to a formula in a line": ("$$x \\label{eq:a}$$ and \\eqref{eq:a}", "$x$ and (1)"),
    "eqnarray": ("$$\n\\begin{eqnarray}\na &=& b\n\\end{eqnarray}\n$$", "$$\n\\begin{align}\na &= b\n\\end{align}\n$$"),
    "operator that needs another macro": (
        "\\\\(\\DeclareMathOperator*{\\low}{arg\\,min}\\newcommand{\\best}{\\low_x}\\\\)\n\n$\\best f$",
        "$\\def\\low{\\operatorname*{arg\\,min}}\\def\\best{\\low_x}\\best f$",
    ),
    "star that kramdown would have taken": (
        "\\begin{equation}\na\\_b \\*\n\\end{equation}",
        "$$\na_b *\n$$",
    ),
    "macros": (
        "$$\\newcommand{\\E}[1]{\\mathbb{E}[#1]}$$\n\n$$\\E{x}$$, $$y$$",
        "$\\def\\E#1{\\mathbb{E}[#1]}\\E{x}$, $y$",
    ),
}


@pytest.mark.parametrize("case", WITH_MATH)
def test_formulas_where_mathjax_is_loaded(post: Post, case: str) -> None:
    source, expected = WITH_MATH[case]
    body = post(source, MATH).body
    assert body == expected
    _, mistakes = parse_document(Markdown(body, "a.md"))
    assert not has_errors(mistakes), render_diagnostics(mistakes, {"a.md": body})


LOST = {
    "tag": ('a\n{% unknown x="1" %}', 'a\n`{% unknown x="1" %}`', ["SG601:6"]),
    "output": ("{{ site.data.x | where: 1 }}", "`{{ site.data.x | where: 1 }}`", ["SG601:5"]),
    "loop": (
        "{% for a in b %}\n- {{ a }}\n{% endfor %}",
        "```liquid\n{% for a in b %}\n- {{ a }}\n{% endfor %}\n```",
        ["SG601:5"],
    ),
    "in a listing": ("```c\n{{ x.y }}\n```", "```c\n{{ x.y }}\n```", ["SG601:6"]),
    "in code": ("a `{{ x.y }}`", "a `{{ x.y }}`", ["SG601:5"]),
    "in html": ("<div>{{ x.y }}</div>", "<div><code>{{ x.y }}</code></div>", ["SG601:5"]),
    "block that is not closed": ("{% highlight c %}\nx", "`{% highlight c %}`\nx", ["SG601:5"]),
    "script": ("a\n<script>\nf();\n\ng();\n</script>\nb", "a\n\nb", ["SG604:6"]),
    "styles": ("<style>\n.a { x: y }\n</style>\n\n<STYLE>z</STYLE> b", "b", ["SG604:5", "SG604:9"]),
    "style in a line": ("a <style>.b { c: d }</style>e", "a e", ["SG604:5"]),
    "script that is never closed": ("<script> begins\n\na", "```html\n<script> begins\n```\n\na", ["SG604:5"]),
    "script of a gist": (
        '<script src="https://gist.github.com/ada/1f.js"></script>',
        '<a href="https://gist.github.com/ada/1f">https://gist.github.com/ada/1f</a>',
        ["SG604:5"],
    ),
    "label": (
        '<div>\n<input type="checkbox" id="x">\n<label for="x" class="y">\n  &oacute;\n</label>\n</div>',
        "<div>\n<span>\n  &oacute;\n</span>\n</div>",
        ["SG604:6", "SG604:7"],
    ),
    "meta": (
        '<meta name="twitter:title" content="A">\n<link rel="x" href="/y"><meta name="z">\nWords.\n\nMore.',
        "Words.\n\nMore.",
        ["SG604:5", "SG604:6", "SG604:6"],
    ),
    "form": ("<form>a</form>", "```html\n<form>a</form>\n```", ["SG604:5"]),
    "script in html": (
        "<div>\n<script>f()</script>\n</div>",
        "<div>\n</div>",
        ["SG604:6"],
    ),
    "frame": (
        '<iframe src="https://a.example/"></iframe>',
        '<a href="https://a.example/">https://a.example/</a>',
        ["SG604:5"],
    ),
    "style": ('<b style="x">a</b>', "<b>a</b>", ["SG604:5"]),
    "no element": ("vector<int> a", "vector&lt;int&gt; a", ["SG604:5"]),
    "abbreviation": ("*[GPU]: unit", "\\*[GPU]: unit", ["SG605:5"]),
    "image elsewhere": ("![a](https://b.example/c.png)", "[a](https://b.example/c.png)", ["SG603:5"]),
    "image elsewhere within a link": (
        "[![a](https://b.example/c.png)](https://d.example)",
        "[a](https://d.example)",
        ["SG603:5"],
    ),
    "image that is missing": ("![a](/c.png)", "[a](https://kern.example/c.png)", ["SG603:5"]),
    "figure that is missing": (
        '{% include figure.html path="c.png" alt="a" %}',
        "[a](https://kern.example/c.png)",
        ["SG603:5"],
    ),
    "image by name": ("![a][b]\n\n[b]: https://b.example/c.png", "[a][b]\n\n[b]: https://b.example/c.png", []),
    "link to nothing": ("[a](/b/#c)", "[a](https://kern.example/b/#c)", ["SG603:5"]),
    "attributes of bold": ("**a**{: .b}", "**a**", ["SG605:5"]),
    "size of an image": ('a\n{: width="3"}', "a", ["SG605:6"]),
    "option of kramdown": ('{::options toc_levels="1" /}\n\na', '`{::options toc_levels="1" /}`\n\na', ["SG605:5"]),
    "work that no bibliography has": ("{% cite nothing %}", "`{% cite nothing %}`", ["SG601:5"]),
    "work that no bibliography of distill has": (
        '<d-cite key="c"></d-cite>',
        "\\[c\\]",
        ["SG604:5"],
    ),
    "whole bibliography": ("{% bibliography --query @book %}", "`{% bibliography --query @book %}`", ["SG601:5"]),
}


@pytest.mark.parametrize("case", LOST)
def test_what_is_not_understood_stays_visible_and_is_reported_with_its_line(post: Post, case: str) -> None:
    source, expected, said = LOST[case]
    imported = post(source)
    assert imported.body == expected
    assert [words.replace(" _posts/2024-01-05-a.md", "") for words in imported.said] == said
    _, mistakes = parse_document(Markdown(imported.body, "a.md"))
    assert not has_errors(mistakes), render_diagnostics(mistakes, {"a.md": imported.body})


@pytest.mark.parametrize(("name", "content"), [("d.html", "a"), ("x.xml", "a"), ("list", " <html>a")])
def test_file_that_a_browser_would_show_as_a_page_is_not_copied_and_its_old_address_is_linked(
    post: Post, name: str, content: str
) -> None:
    imported = post(f"[a](/c/{name}) [b](/c/t.txt)", **{f"c/{name}": content, "c/t.txt": "<b>"})
    assert imported.body == f"[a](https://kern.example/c/{name}) [b](t.txt)"
    assert [path for path in imported.files if path.startswith("content/posts/a/")] == [
        "content/posts/a/index.md",
        "content/posts/a/t.txt",
    ]
    assert imported.said == ["SG603 _posts/2024-01-05-a.md:5"]


def test_image_of_svg_is_copied_although_it_begins_as_a_page_does(post: Post) -> None:
    imported = post("[![a](/c/p.svg)](/c/p.svg)", **{"c/p.svg": "<svg/>"})
    assert imported.body == "[![a](p.svg)](p.svg)"
    assert "content/posts/a/p.svg" in imported.files


def test_line_of_a_mistake_is_that_of_the_file_after_liquid_of_several_lines(post: Post) -> None:
    imported = post("{% highlight c %}\na\nb\n{% endhighlight %}\n\n{% comment %}\n\n{% endcomment %}\n\n**a**{: .b}")
    assert imported.said == ["SG605 _posts/2024-01-05-a.md:14"]


PIECES = st.sampled_from(
    [
        *(
            "\n",
            "\n\n",
            "    ",
            "- ",
            "1. ",
            "> ",
            "# ",
            "a",
            "b ",
            "`",
            "```",
            "~~~",
            "$",
            "$$",
            "|",
            "|-|",
            "---",
            "\\\\",
            "\\",
        ),
        *("{:", "{: .a}", "{::", "}", "{% ", " %}", "{{ ", " }}", "{% raw %}", "{% endraw %}", "{% highlight c %}"),
        *("{% endhighlight %}", "{% for a in b %}", "{% endfor %}", "<div>", "</div>", "<p", "<!--", "-->", "<b>", "^"),
        *(
            "[",
            "](",
            ")",
            "![",
            "[^1]",
            "[^1]: ",
            ":::",
            "\\begin{equation}",
            "\\end{equation}",
            "\\label{x}",
            "\\def\\x",
        ),
    ]
)


@example("[{% raw %}[^1]: - ")
@given(st.lists(PIECES, max_size=40).map("".join))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_no_text_of_an_author_ends_the_import(post: Post, text: str) -> None:
    imported = post(text)
    lines = text.count("\n") + 5
    assert all(4 <= d.span.line <= lines for d in imported.diagnostics if d.span.path.endswith("a.md"))
    assert not set("\ufdd0\ufdd1") & set(imported.body)


def test_liquid_that_is_switched_off_is_text(import_site: Post) -> None:
    text = "---\ntitle: A\nrender_with_liquid: false\n---\n{{ x }} stays"
    imported = import_site({"_posts/2024-01-05-a.md": text})
    assert (imported.body, imported.said) == ("{{ x }} stays", [])


def test_included_file_without_liquid_stands_in_the_text(post: Post) -> None:
    imported = post("a\n\n{% include_relative part.md %}", **{"_posts/part.md": "*part*"})
    assert imported.body == "a\n\n*part*"


def test_post_that_is_html_is_not_read_as_markdown(import_site: Post) -> None:
    imported = import_site({"_posts/2024-01-05-a.html": "---\ntitle: A\n---\n<p>*a*</p>\n\n    <p>b</p>\n"})
    assert imported.body == "<p>*a*</p>\n    <p>b</p>"


def test_formula_between_spaces_is_no_money_where_the_site_has_formulas(post: Post) -> None:
    assert post("$5 for $ x_1 $, $6 to $ 7", MATH).body == "\\$5 for $x_1$, \\$6 to \\$ 7"


def test_element_of_html_goes_on_below_a_blank_line(post: Post) -> None:
    imported = post("<div>\n    <hr />\n    \n\n    <ul>\n      <li>*a*</li>\n    </ul>\n</div>\n")
    assert imported.body == "<div>\n    <hr>\n    <ul>\n      <li>*a*</li>\n    </ul>\n</div>"
