"""Listings of PTX and SASS as HTML."""

from __future__ import annotations

import re
from html import unescape

from sitegen.highlight.assembly import assembly_html


def test_text_of_a_listing_is_escaped_and_stays_as_it_was() -> None:
    sass = "f<int>:\n  LDG.E.128 R32, desc[UR8][R2.64] ;\n  BRA `(.L_x_1) ;\n"
    html = assembly_html(sass, "sass")
    assert "<int>" not in html
    assert unescape(re.sub(r"</?[bui]>", "", html)) == sass.rstrip("\n")


def test_opcodes_labels_and_comments_are_marked() -> None:
    assert assembly_html("f:\n  LDG.E R1 ;\n", "sass") == "<u>f:</u>\n  <b>LDG.E</b> R1 ;"
    assert assembly_html("// x\n\t@%p1 bra L;\n", "ptx") == "<i>// x</i>\n\t@%p1 <b>bra</b> L;"


def test_the_guard_of_an_instruction_stands_in_front_of_it() -> None:
    assert assembly_html("  LDG.E R1 ; @!P2\n  BRA 0x10 ; @UP1\n", "sass").splitlines() == [
        "  @!P2 <b>LDG.E</b> R1 ;",
        "  @UP1 <b>BRA</b> 0x10 ;",
    ]


def test_a_nul_byte_which_html_forbids_is_replaced() -> None:
    assert assembly_html("a\0b", "ptx") == "a\ufffdb"
