"""Pages of this site as Markdown."""

from __future__ import annotations

import pytest

from sitegen.render.outputs.to_markdown import fenced, table, to_markdown


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<h2>Two <em>walks</em></h2><p>A <b>row</b> of <code>x</code>.</p>", "## Two *walks*\n\nA **row** of `x`."),
        ('<p>See <a href="../sum/#why">the sum</a>.</p>', "See [the sum](https://example.org/sum/#why)."),
        ("<ol><li>One</li><li>Two</li></ol><ul><li>Three</li></ul>", "1. One\n\n2. Two\n\n- Three"),
        ("<pre><code><span>a = 1\n</span><span>b\n</span></code></pre>", "```text\na = 1\nb\n```"),
        ('<pre><code class="language-cuda">a<a class="mk" href="#n">1</a>\n</code></pre>', "```cuda\na\n```"),
        ('<pre class="out"><samp class="language">2\n</samp></pre>', "```text\n2\n```"),
        ('<p>x <span class="vh">unseen</span><svg aria-label="Two bars"><text>1</text></svg></p>', "x [Two bars]"),
        ("<svg><title>Roofline</title><g><title>a point</title></g></svg>", "[Roofline]"),
        ("<p><span>H200</span><span>CUDA 13</span></p>", "H200 · CUDA 13"),
        ('<p><img src="a.png" alt="A plot"></p>', "![A plot](https://example.org/x/a.png)"),
        ("<dl><div><dt>GPU</dt><dd>H200</dd></div><dt>L2</dt><dd>60 MB</dd></dl>", "GPU: H200\n\nL2: 60 MB"),
        ("<p>1 &lt; 2&nbsp;µs</p>", "1 < 2\u00a0µs"),
        ("<p><math><msup><mn>2</mn><mn>10</mn></msup><mo>=</mo><mn>1024</mn></math> bytes</p>", "2^10=1024 bytes"),
        ("<math><msup><mn>10</mn><mrow><mo>−</mo><mn>9</mn></mrow></msup></math>", "10^(−9)"),
        ("<math><mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mn>2</mn></mfrac></math>", "(a+b)/2"),
        ("<math><msubsup><mo>∑</mo><mi>i</mi><mi>n</mi></msubsup><msqrt><mi>x</mi></msqrt></math>", "∑_i^n√x"),
        ("<math><mi>exp</mi><mo>&#x2061;</mo><msub><mi>x</mi><mi>i</mi></msub></math>", "exp x_i"),
        ('<math><mi>a</mi><mspace width="1em"></mspace><mi>b</mi></math>', "a b"),
        ("<math><mtable><mtr><mtd><mi>a</mi></mtd><mtd><mn>1</mn></mtd></mtr></mtable></math>", "a 1"),
        ("<p>&lt;script&gt;f()&lt;/script&gt;</p>", "&#60;script>f()&#60;/script>"),
        ("<p>\\&lt;img onerror=f()&gt;</p>", "\\&#60;img onerror=f()>"),
        ("<p>[x](javascript:f()) [x]: javascript:f()</p>", "[x&#93;(javascript:f()) [x&#93;: javascript:f()"),
        ("<p>[x]<i></i><u>(javascript:f())</u></p>", "[x]**(javascript:f())"),
        ("<p>[x]<u>(javascript:f())</u></p>", "[x]&#40;javascript:f())"),
        ("<p>`<code>&lt;b&gt;</code></p>", "&#96;`<b>`"),
        ("<p><code>a` &lt;b&gt;</code></p>", "``a` <b>``"),
        ("<p><code>`</code></p>", "`` ` ``"),
        ('<p><svg aria-label="&lt;b&gt;"></svg></p>', "[&#60;b>]"),
        ("<table><tr><td>&lt;b&gt;|`</td></tr></table>", "| &#60;b>\\|&#96; |\n| --- |"),
    ],
)
def test_a_page_says_the_same(html: str, markdown: str) -> None:
    assert to_markdown(html, "https://example.org/x/") == f"{markdown}\n"


def test_a_table_keeps_its_rows_and_loses_columns_of_bars() -> None:
    html = (
        "<table><caption>Times</caption><thead><tr><th>name</th><th>µs</th><td></td></tr></thead><tbody>"
        '<tr><th colspan="3">float32</th></tr><tr><th>a|b</th><td>1</td><td><svg></svg></td></tr></tbody></table>'
    )
    assert to_markdown(html, "") == "Times\n\n| name | µs |\n| --- | --- |\n| float32 |  |\n| a\\|b | 1 |\n"


def test_a_table_of_nothing_is_nothing() -> None:
    assert table([]) == table([["", ""]]) == ""


def test_a_fence_is_longer_than_those_in_it() -> None:
    assert fenced("```\nx\n```", "text") == "````text\n```\nx\n```\n````"
