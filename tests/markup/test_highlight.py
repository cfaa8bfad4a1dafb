"""Listings: six classes, one span a line, and nothing lost."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from sitegen.highlight.lines import is_known
from sitegen.markup.code import code_figure, listing
from sitegen.markup.regions import region, shown
from sitegen.model.listing import Look

TRITON = '@triton.jit\ndef f(x_ptr, N, BLOCK: tl.constexpr):\n    x = tl.load(x_ptr, mask=N > 0)  # once\n    "text"\n'
PTX = "$L__BB0_1:\n\t@%p1 bra $L__BB0_3;\n\t@!%p2 ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1+16];\n"
SASS = "    /*0050*/    @!P0 LDG.E.128.CONSTANT R4, desc[UR4][R2.64+0x10] ;\n.L_x_1:\n FFMA R0, R1, 1.5, RZ ;\n"
CUDA = """extern "C" __global__ void f(const float* x) {
    #pragma unroll
    for (int i = 0; i < 4; ++i) y[i] = x[i]; /* a
 b */
}
#define A"""


def html_of(code: str, language: str) -> str:
    return "".join(listing(code, language))


@pytest.mark.parametrize(
    ("language", "code"),
    [("triton", TRITON), ("ptx", PTX), ("nvsass", SASS), ("sass", SASS), ("cuda", CUDA), ("", "a < b & c\n")],
)
def test_listing_keeps_every_character(language: str, code: str) -> None:
    lines = LexborHTMLParser(f"<pre>{html_of(code, language)}</pre>").css("span.ln")
    assert "".join(line.text() for line in lines) == code.rstrip("\n") + "\n"


@given(
    code=st.text(st.characters(exclude_categories=["Cs", "Cc"], include_characters="\n\t"), max_size=60),
    language=st.sampled_from(["triton", "ptx", "nvsass", "cuda", "python", "bash", "diff"]),
)
def test_no_code_breaks_out_of_its_listing(code: str, language: str) -> None:
    html = html_of(code, language)
    assert set(re.findall(r"<[^>]*>", html)) <= {
        "</span>",
        '<span class="ln">',
        *(f'<span class="{name}">' for name in ("k", "kt", "s", "m", "f", "c")),
    }


def test_names_of_triton_are_told_from_those_of_python() -> None:
    html = html_of(TRITON, "triton")
    assert '<span class="f">@triton.jit</span>' in html
    assert '<span class="kt">tl.constexpr</span>' in html and '<span class="f">tl.load</span>' in html
    assert '<span class="c"># once</span>' in html


def test_predicate_of_ptx_is_no_mistake() -> None:
    assert is_known("ptx") and ">bra<" in html_of(PTX, "ptx")


def test_sass_is_nvidias_and_not_a_style_sheet() -> None:
    html = html_of(SASS, "sass")
    assert '<span class="f">LDG.E.128.CONSTANT</span>' in html and '<span class="k">@!P0</span>' in html


def test_comment_over_two_lines_is_closed_in_each() -> None:
    lines = re.findall(r'<span class="ln">(.*?)\n</span>', html_of(CUDA, "cuda"), re.DOTALL)
    assert lines[2].endswith('<span class="c">/* a</span>') and lines[3] == '<span class="c"> b */</span>'


def test_highlighted_lines_are_marked() -> None:
    assert [line[:17] for line in listing("a\nb\nc\n", "", Look(highlighted="2"))] == [
        '<span class="ln">',
        '<span class="ln h',
        '<span class="ln">',
    ]


def test_figure_names_its_source_and_region() -> None:
    html = code_figure(CUDA, "cuda", title="softmax/naive.cu", region="kernel", href="../../kernels/softmax/#naive")
    figure = LexborHTMLParser(html).css_first("figure.code")
    assert figure.css_first("figcaption").text() == "softmax/naive.cu region kernel, CUDA C++"
    assert figure.css_first("figcaption a").attributes["href"] == "../../kernels/softmax/#naive"
    assert figure.css_first("pre[tabindex='0'][role='group']").attributes["aria-label"] == "Source of softmax/naive.cu"


SOURCE = """import a

# region: kernel
    def f():
        # region: inner
        pass
        # endregion
# endregion
end
"""


def test_region_inside_another_keeps_its_lines_and_loses_its_marks() -> None:
    assert region(SOURCE, "kernel") == ("def f():\n    pass", {"inner": range(2, 3)})
    assert region(SOURCE, "inner") == ("pass", {})
    assert region(SOURCE, "outer") is None


def test_whole_file_is_shown_without_marks() -> None:
    code, regions = shown(SOURCE)
    assert "region" not in code and code.startswith("import a")
    assert regions == {"kernel": range(3, 5), "inner": range(4, 5)}
