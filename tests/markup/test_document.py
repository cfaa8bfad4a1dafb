"""The documents that texts become, in the words of an author."""

from __future__ import annotations

import subprocess
import sys

import pytest
from selectolax.lexbor import LexborHTMLParser

from sitegen.diagnostics import Diagnostic, Severity
from sitegen.markup.parse import parse_document
from sitegen.model.document import BenchmarkSlot, CellSlot, Document, ImageSlot, LinkSlot, ListingSlot
from sitegen.model.kernel import Launch
from sitegen.model.site import Markdown

POST = "content/posts/times/index.md"


def parsed(text: str, path: str = POST, first_line: int = 1, **options: bool | int | str) -> Document:
    document, diagnostics = parse_document(Markdown(text, path, first_line), **options)  # type: ignore[arg-type]
    assert diagnostics == ()
    return document


def mistakes(text: str, path: str = POST, **options: bool) -> list[Diagnostic]:
    return list(parse_document(Markdown(text, path), **options)[1])


def tree(document: Document) -> LexborHTMLParser:
    return LexborHTMLParser(document.html.replace("\0", "%"))


def test_callout_holds_a_fence_of_its_own_when_it_has_more_ticks() -> None:
    page = tree(parsed("````{warning} Mind\n```python\nx = 1\n```\n\nAfter.\n````\n\nOutside.\n"))
    assert page.css_first("aside.callout figure.code") is not None
    assert [p.text() for p in page.css("aside.callout > p")] == ["After."]
    assert page.css_first("body > p").text() == "Outside."


def test_unclosed_callout_ends_with_its_list_item() -> None:
    document, found = parse_document(Markdown("- ```{note}\n  inside\n\noutside\n", POST))
    page = tree(document)
    assert [mistake.code for mistake in found] == ["SG138"]
    assert page.css_first("li aside p").text() == "inside"
    assert page.css_first("body > p").text() == "outside"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("```{quiz} What does `x` do?\n:answer: Nothing.\n```\n", 1),
        ("Above.\n````{note} About `x`\nText.\n````\n", 2),
        ("- One.\n\n  ```{quiz} What does `x` do?\n  :answer: Nothing.\n  ```\n", 3),
        (":::{note} Outside\n```{benchmark} `softmax`\n```\n:::\n", 2),
    ],
)
def test_a_fence_with_a_backtick_behind_its_name_is_reported(text: str, line: int) -> None:
    _, found = parse_document(Markdown(text, POST))
    [mistake] = [one for one in found if one.code == "SG142"]
    assert mistake.span.line == line
    assert mistake.hint.startswith("open and close the fence with colons: `:::")


@pytest.mark.parametrize(
    "text",
    [
        "```{quiz} x``` is written with a brace.\n",
        "````text\n```{quiz} What does `x` do?\n```\n````\n",
        ":::{quiz} What does `x` do?\n:answer: Nothing.\n:::\n",
        "A line of code: ```{quiz} `x` ```\n",
    ],
)
def test_braces_in_code_are_no_fence(text: str) -> None:
    assert "SG142" not in [one.code for one in parse_document(Markdown(text, POST))[1]]


def test_quote_of_another_kind_stays_a_quote() -> None:
    assert tree(parsed("> [!ABSTRACT]\n> text\n")).css_first("blockquote") is not None


def test_github_alert_is_the_same_callout() -> None:
    page = tree(parsed("> [!WARNING]\n> Text with [a link](#x-y).\n\n## X y\n"))
    assert page.css_first("aside.callout h3").text() == "Warning"
    assert page.css_first("aside.callout p").text() == "Text with a link."


def test_note_in_the_margin_begins_with_its_title() -> None:
    page = tree(parsed("```{margin} Why 4.28\nIt is measured.\n```\n"))
    assert page.css_first("aside.note > p").html == "<p><b>Why 4.28.</b> It is measured.</p>"


def test_plain_fence_is_never_a_cell() -> None:
    document = parsed("```python\nprint(1)\n```\n\n    indented()\n")
    assert document.cells == () and document.slots == ()


@pytest.mark.parametrize("fence", ["{code-cell} cuda", "{cuda}"])
def test_cuda_cell_keeps_its_code_without_the_option_lines(fence: str) -> None:
    text = (
        f'```{fence}\n//| label: fill\n//| launch: {{entry: fill, grid: [132], block: [256]}}\nextern "C" f();\n```\n'
    )
    document = parsed(text)
    assert document.slots == (CellSlot("fill"),)
    assert document.cells[0].source == 'extern "C" f();\n'
    assert document.cells[0].launch == Launch("fill", ("132",), ("256",))


def test_options_over_several_comment_lines_are_one_mapping() -> None:
    text = "```{cuda}\n//| label: fill\n//| launch:\n//|   entry: fill\n//|   grid: [2 * N]\n//|   block: 256\nx\n```\n"
    assert parsed(text).cells[0].launch == Launch("fill", ("2 * N",), ("256",))


def test_option_written_with_colons_means_the_same() -> None:
    cell = parsed("```{triton}\n:label: two-pass\n#| implements: softmax/two_pass\n#| timeout: 5\nx = 1\n```\n").cells[
        0
    ]
    assert (cell.label, cell.implements, cell.timeout_s, cell.source) == (
        "two-pass",
        "softmax/two_pass",
        5.0,
        "x = 1\n",
    )


def test_comment_after_the_options_stays_code() -> None:
    cell = parsed("```{python}\n#| label: a\nx = 1\n#| label: b\n```\n").cells[0]
    assert cell.source == "x = 1\n#| label: b\n"


def test_labels_that_differ_only_in_case_are_one_file_on_some_machines() -> None:
    found = mistakes("```{python}\n#| label: Fill\n```\n\n```{python}\n#| label: fill\n```\n")
    assert [d.code for d in found] == ["SG108"]


def test_benchmark_takes_lists_in_both_forms() -> None:
    text = "```{benchmark} softmax\n:workloads: 8192x8192, 2048x65536\n:columns: [time, vs: torch]\n```\n"
    slot = parsed(text).slots[0]
    assert isinstance(slot, BenchmarkSlot)
    assert slot.workloads == ("8192x8192", "2048x65536") and slot.columns == ("time", "vs: torch")


def test_place_of_a_mistake_counts_the_front_matter() -> None:
    _, diagnostics = parse_document(Markdown("text\n\n> - a {rolle}`x`\n", POST, first_line=8))
    assert [(d.span.line, d.span.col, d.span.length) for d in diagnostics] == [(10, 7, 7)]


@pytest.mark.parametrize(
    ("text", "line", "col"),
    [
        ("see [a](b.md)\n", 1, 9),
        ("one\ntwo [a](b.md)\n", 2, 9),
        ("> quote\n> > deep [a](b.md)\n", 2, 14),
        ("- item\n\n  para [a](b.md)\n", 3, 12),
        ("| x |\n|---|\n| [a](b.md) |\n", 3, 7),
        ("## Head [a](b.md)\n", 1, 13),
        ("[a](b.md) and [a](c.md)\n", 1, 5),
    ],
)
def test_link_knows_its_line_and_column(text: str, line: int, col: int) -> None:
    slot = parsed(text).slots[0]
    assert isinstance(slot, LinkSlot)
    assert (slot.target, slot.span.line, slot.span.col, slot.span.length) == ("b.md", line, col, 4)


def test_name_of_a_file_in_prose_is_no_link() -> None:
    assert parsed("fused.py and naive.cu and README.md\n").slots == ()


def test_bare_address_is_a_link() -> None:
    assert [s.target for s in parsed("https://example.org/a\n").slots if isinstance(s, LinkSlot)] == [
        "https://example.org/a"
    ]


@pytest.mark.parametrize("address", ["https://example.org/a%28", "https://example.org/[a]", "https://example.org"])
def test_the_mark_of_a_footnote_is_no_part_of_the_address_before_it(address: str) -> None:
    document = parsed(f"See {address}[^n].\n\n[^n]: The note.\n")
    assert [s.target for s in document.slots if isinstance(s, LinkSlot)] == [
        address.replace("[", "%5B").replace("]", "%5D")
    ]
    assert "The note." in document.html


def test_address_in_another_script_stays_as_it_was_written() -> None:
    slot = parsed("[a](../합/index.md)\n").slots[0]
    assert isinstance(slot, LinkSlot) and slot.target == "../합/index.md"


def test_heading_in_another_script_has_a_readable_id() -> None:
    document = parsed("## 온라인 softmax, 두 번\n")
    assert [h.id for h in document.headings] == ["온라인-softmax-두-번"]


def test_headings_of_one_name_get_different_ids_and_avoid_those_of_the_page() -> None:
    document = parsed("## Setup\n\n## Setup\n\n## Main\n\n## !!!\n")
    assert [h.id for h in document.headings] == ["setup", "setup-2", "section-main", "section"]


def test_highest_heading_of_a_text_is_a_section_of_its_page() -> None:
    assert [h.level for h in parsed("# One\n\n## Two\n").headings] == [2, 3]
    assert [h.level for h in parsed("### One\n").headings] == [2]


def test_heading_that_is_a_link_has_no_link_around_it() -> None:
    assert len(tree(parsed("## [a](b.md)\n")).css("h2 a")) == 1


def test_ids_of_two_days_on_one_page_do_not_meet() -> None:
    day = parsed("## Read\n\nA note[^1].\n\n[^1]: here\n", id_prefix="2026-11-21-")
    assert set(day.ids) == {"2026-11-21-read", "2026-11-21-ref1", "2026-11-21-fn1"}


def test_footnote_named_twice_leads_back_to_both() -> None:
    page = tree(parsed("a[^n] b[^n]\n\n[^n]: note\n"))
    assert [a.attributes["href"] for a in page.css("aside.note a.back")] == ["#ref1", "#ref1-2"]
    assert [a.attributes["id"] for a in page.css("a.fnref")] == ["ref1", "ref1-2"]


def test_table_scrolls_and_its_cells_are_aligned_by_class() -> None:
    page = tree(parsed("| name | time |\n|---|--:|\n| naive | 331.4 |\n"))
    assert page.css_first("div.tbl > div.scroll[tabindex='0'][role='group'][aria-label] > table.data") is not None
    assert [td.attributes.get("class") for td in page.css("td")] == ["l", None]


def test_tasks_have_three_states() -> None:
    page = tree(parsed("- [x] one\n- [ ] two\n- [~] three\n"))
    assert [s.attributes["class"] for s in page.css("ul.tasks li > .state")] == [
        "state done",
        "state planned",
        "state partial",
    ]


def test_list_with_a_task_among_others_stays_a_list() -> None:
    assert tree(parsed("- [x] one\n- two\n")).css_first("ul.tasks") is None


def test_html_in_a_text_has_slots_like_markdown() -> None:
    document = parsed('<a href="../sum/">x</a> <img src="a.png" alt="">\n')
    assert [type(s) for s in document.slots] == [LinkSlot, ImageSlot]


def test_comment_and_more_mark_are_left_out() -> None:
    assert "more" not in parsed("a\n\n<!-- more -->\n\nb\n").html


def test_details_around_markdown_are_in_balance() -> None:
    document = parsed("<details>\n<summary>More</summary>\n\n- text\n\n</details>\n")
    assert tree(document).css_first("details li").text() == "text"


def test_figure_has_its_caption_in_markdown() -> None:
    document = parsed("```{figure} plot.png\n:alt: Bandwidth over size\n:label: plot\nUp to *4.28* TB/s.\n```\n")
    page = tree(document)
    assert page.css_first("figure#plot > figcaption em").text() == "4.28"
    assert isinstance(document.slots[0], ImageSlot)
    assert document.slots[0].attributes == (("alt", "Bandwidth over size"),)


def test_only_the_first_image_of_a_text_is_loaded_at_once() -> None:
    document = parsed('![a](a.png)\n\n<img src="b.png" alt="">\n\n```{figure} c.png\n:alt: c\n```\n')
    assert [slot.first for slot in document.slots if isinstance(slot, ImageSlot)] == [True, False, False]


@pytest.mark.parametrize("text", ["![](a.png)\n", '<img src="a.png">\n', "```{figure} a.png\n```\n"])
def test_image_without_words_is_a_warning(text: str) -> None:
    assert [(d.code, d.severity) for d in mistakes(text)] == [("SG117", Severity.WARNING)]


def test_listing_of_a_region() -> None:
    slot = parsed("```{kernel} softmax/naive\n:region: kernel\n```\n").slots[0]
    assert isinstance(slot, ListingSlot)
    assert (slot.kernel, slot.implementation, slot.region, slot.span.col) == ("softmax", "naive", "kernel", 13)


def test_mistakes_in_a_worklog_are_warnings() -> None:
    found = mistakes("{rolle}`x`\n", path="content/worklog/2026.md")
    assert [d.severity for d in found] == [Severity.WARNING]


def test_words_of_a_language_without_spaces_are_counted() -> None:
    assert parsed("one two three\n").words == 3
    assert parsed("共有メモリは速い\n").words == 4


def test_page_without_math_does_not_load_the_engine() -> None:
    code = (
        "import sys; from sitegen.markup.parse import parse_document; from sitegen.model.site import Markdown;"
        "parse_document(Markdown('text and `$x$` code', 'content/posts/a.md')); assert 'quickjs' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_note_stands_behind_the_block_that_mentions_it_first() -> None:
    page = tree(parsed("One.[^a]\n\n- two[^b]\n- three\n\nFour.[^a]\n\n[^a]: A *note*.\n[^b]: First.\n\n    Second.\n"))
    assert [node.tag for node in page.css("body > *")] == ["p", "aside", "ul", "aside", "p"]
    assert page.css_first("aside#fn1 > p").text() == "1 A note. ↩ ↩"
    assert [p.text() for p in page.css("aside#fn2 > p")] == ["2 First.", "Second. ↩"]


def test_note_that_only_a_note_mentions_comes_after_the_text() -> None:
    page = tree(parsed("One.[^a]\n\nTwo.\n\n[^a]: See.[^b]\n[^b]: There.\n"))
    assert [node.attributes.get("id") for node in page.css("body > *")] == [None, "fn1", None, "fn2"]


def test_note_of_a_table_stands_under_it() -> None:
    page = tree(parsed("| a[^n] |\n|---|\n| 1 |\n\nAfter.\n\n[^n]: A note.\n"))
    assert [node.tag for node in page.css("body > *")] == ["div", "aside", "p"]
