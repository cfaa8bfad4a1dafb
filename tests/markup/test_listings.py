"""The options of a listing, and the listing as a reader sees and copies it."""

from __future__ import annotations

import pytest
from selectolax.lexbor import LexborHTMLParser, LexborNode

from sitegen.diagnostics import Diagnostic
from sitegen.highlight.lines import KEPT, highlighted_lines
from sitegen.markup.code import code_figure
from sitegen.markup.differences import kernel_listing
from sitegen.markup.parse import document_of, highlight_ahead, parse_document, read_text
from sitegen.markup.pieces import Pieces
from sitegen.model.document import Document, ListingSlot
from sitegen.model.listing import Look, Note
from sitegen.model.markdown import Markdown

POST = "content/posts/times/index.md"


def parsed(text: str) -> Document:
    document, diagnostics = parse_document(Markdown(text, POST))
    assert diagnostics == ()
    return document


def page(text: str) -> LexborHTMLParser:
    return LexborHTMLParser(parsed(text).html)


def mistakes(text: str) -> list[Diagnostic]:
    return list(parse_document(Markdown(text, POST))[1])


def classes(tree: LexborHTMLParser) -> list[str | None]:
    return [line.attributes["class"] for line in tree.css(".ln")]


def copied(tree: LexborHTMLParser) -> str:
    """Return the text that the page's script copies."""
    code = tree.css_first("pre")
    for extra in code.css("del, .mk"):
        extra.decompose()
    return code.text()


def links(nodes: list[LexborNode]) -> list[str | None]:
    return [node.attributes["href"] for node in nodes]


def test_lines_are_named_by_number_range_and_region() -> None:
    text = "```python hl=1,inner\na\n# region: inner\nb\nc\n# endregion\nd\n```\n"
    assert classes(page(text)) == ["ln hl", "ln hl", "ln hl", "ln"]
    assert copied(page(text)) == "a\nb\nc\nd\n"


def test_comment_that_looks_like_a_region_stays_when_nobody_names_it() -> None:
    assert copied(page("```python hl=2\n# region: a\nb\n```\n")) == "# region: a\nb\n"


def test_lines_out_of_focus_are_those_that_are_not_named() -> None:
    tree = page("```cuda focus=2\na;\nb;\n```\n")
    assert tree.css_first("figure.focus") is not None and classes(tree) == ["ln", "ln fo"]


def test_numbers_are_shown_when_asked_for_or_when_they_begin_elsewhere() -> None:
    assert page("```python\na\n```\n").css_first("figure.nums") is None
    assert page("```python code-line-numbers\na\n```\n").css_first("figure.nums") is not None
    lines = page("```python lineno-start=40\na\nb\n```\n").css(".nums .ln")
    assert [line.attributes["data-n"] for line in lines] == ["40", "41"]


def test_what_is_deleted_has_no_number_and_is_not_copied() -> None:
    tree = page('```cuda diff lineno-start=7\n int x;\n-char* y = "a\n+char* y = "b";\n int z;\n```\n')
    assert [(line.tag, line.attributes.get("data-n")) for line in tree.css(".ln")] == [
        ("span", "7"),
        ("del", None),
        ("ins", "8"),
        ("span", "9"),
    ]
    assert copied(tree) == 'int x;\nchar* y = "b";\nint z;\n'


def test_string_that_a_deleted_line_leaves_open_ends_with_it() -> None:
    tree = page('```cuda diff\n-x = """a\n+x = 1;\n y = 2;\n```\n')
    last = tree.css(".ln")[-1]
    assert last.css_first(".m") is not None and last.css_first(".s") is None


def test_difference_whose_other_lines_are_not_indented() -> None:
    tree = page("```python diff\ndef f():\n-    return 1\n+    return 2\n```\n")
    assert copied(tree) == "def f():\n    return 2\n"


def test_deleted_line_at_the_end_may_be_empty() -> None:
    tree = page("```python del=2-3 ins=1\na\n\n\nb\n```\n")
    assert [line.tag for line in tree.css(".ln")] == ["ins", "del", "del", "span"]


def test_listing_may_be_gone_as_a_whole() -> None:
    tree = page("```python del=1\na\n```\n")
    assert [line.tag for line in tree.css(".ln")] == ["del"] and copied(tree) == ""


def test_difference_of_two_sources_keeps_the_regions_of_the_new_one() -> None:
    old = "int n;\nfor (a)\n  x;\nend\n"
    new = "int n;\nlong m;\n// region: loop\nfor (b)\n  x;\n// endregion\nend\n"
    code, look, regions = kernel_listing(new, "", Look(highlighted="loop"), old)
    assert code.split("\n") == ["int n;", "for (a)", "long m;", "for (b)", "  x;", "end"]
    assert (look.deleted, look.inserted, regions) == ("2", "3,4", {"loop": range(4, 6)})


def test_difference_of_a_source_and_itself_has_no_sign() -> None:
    code, look, _ = kernel_listing("a\nb\n", "", Look(), "a\nb\n")
    assert (code, look) == ("a\nb", Look())


ANNOTATED = (
    "```triton filename=a.py\nx = 1  # <1>\ny = 2  # why # <2>\nz = 3  # <1>\n```\n\n1. One *text*.\n2. Other.\n"
)


def test_note_and_its_line_lead_to_each_other() -> None:
    tree = page(ANNOTATED)
    marks, notes = tree.css("figure .mk"), tree.css(".annotated > ol.annotations > li")
    assert links(marks) == ["#listing-1-1", "#listing-1-2", "#listing-1-1"]
    assert [note.attributes["id"] for note in notes] == ["listing-1-1", "listing-1-2"]
    assert links(tree.css(".annotations .mk")) == ["#listing-1-1-line", "#listing-1-2-line"]
    assert [mark.attributes.get("id") for mark in marks] == ["listing-1-1-line", "listing-1-2-line", None]
    assert tree.css_first(".annotations em").text() == "text"


def test_number_in_the_code_is_not_copied_and_the_comment_before_it_is() -> None:
    assert copied(page(ANNOTATED)) == "x = 1\ny = 2  # why\nz = 3\n"


def test_list_below_code_without_numbers_stays_a_list() -> None:
    assert page("```python\nx = 1\n```\n\n1. One.\n").css_first(".annotated") is None


def test_number_that_is_code_stays() -> None:
    tree = page("```python annotate=false\nx = 1  # <1>\n```\n\n1. One.\n")
    assert copied(tree) == "x = 1  # <1>\n" and tree.css_first(".annotated") is None


def test_code_that_must_stay_as_it_is_has_its_notes_named_by_lines() -> None:
    text = "```{kernel} softmax/naive\n:annotate: 3, 8-9\n:hl: inner\n```\n\n1. One.\n2. Two.\n"
    slot = parsed(text).slots[0]
    assert isinstance(slot, ListingSlot) and slot.look.highlighted == "inner"
    assert slot.look.notes == (Note(1, "listing-1-1", ("3",)), Note(2, "listing-1-2", ("8-9",)))


def test_cell_is_run_without_the_marks_of_its_notes() -> None:
    document = parsed("```{cuda}\n//| label: fill\n//| hl: 1\nint x;  // <1>\n```\n\n1. One.\n")
    assert document.cells[0].source == "int x;\n"
    assert document.cells[0].look.notes == (Note(1, "listing-1-1", ("1",)),) and document.cells[0].look.numbered


def test_notes_of_a_listing_within_a_list() -> None:
    tree = page("- item\n\n  ```python\n  x = 1  # <1>\n  ```\n  1. One.\n\n- [x] done\n")
    assert tree.css_first("li > .annotated > ol.annotations > li > div").text() == "One."
    assert tree.css_first("li > .state.done") is not None


FENCES = """\
```python
x = 1
```

- ~~~ Triton filename=a.py
  y = 2
  ~~~

``` nosuch
z
```
"""


def test_listing_that_is_highlighted_ahead_is_not_highlighted_again() -> None:
    texts = [read_text(Markdown(FENCES, "a.md")), read_text(Markdown("```python\nw\n```\n", "b.md"))]
    highlighted_lines.cache_clear()
    highlight_ahead(texts)
    assert highlighted_lines.cache_info().misses == 3
    assert "nosuch" in document_of(texts[0])[1][0].message
    assert highlighted_lines.cache_info().misses == 4, "what nobody knows is plain text"


def test_nothing_is_highlighted_ahead_of_a_text_of_which_something_is_known() -> None:
    highlighted_lines.cache_clear()
    highlight_ahead([read_text(Markdown(FENCES, "a.md"), pieces=Pieces({b"key": "html"}))])
    assert highlighted_lines.cache_info().misses == 0


def test_no_more_is_highlighted_ahead_than_is_remembered() -> None:
    text = read_text(Markdown("".join(f"```python\nx{n}\n```\n\n" for n in range(KEPT + 1)), "a.md"))
    highlighted_lines.cache_clear()
    highlight_ahead([text])
    document_of(text)
    assert highlighted_lines.cache_info().misses == KEPT + 1


def test_edited_text_keeps_the_listings_that_are_as_they_were() -> None:
    first = Pieces()
    before, _ = parse_document(Markdown(ANNOTATED, POST), pieces=first)
    again = Pieces(first.used)
    after, _ = parse_document(Markdown("Words.\n\n" + ANNOTATED, POST), pieces=again)
    assert after.html.endswith(before.html) and again.used.keys() == first.used.keys() != set()


def test_long_code_stands_behind_a_summary_that_says_how_long() -> None:
    tree = page("```python code-fold filename=a.py\na\nb\n```\n")
    assert tree.css_first("details.fold:not([open]) > summary").text() == "a.py, 2 lines"
    shown = page('```python code-fold=show code-summary="All of it"\na\n```\n')
    assert shown.css_first("details[open] > summary").text() == "All of it"


def test_scroller_has_a_name_and_is_reached_by_keyboard() -> None:
    pre = page("```sass\nEXIT ;\n```\n").css_first("pre[tabindex='0'][role='group']")
    assert pre.attributes["aria-label"] == "SASS listing"


def test_options_on_lines_of_their_own_mean_the_same() -> None:
    block = page("```{code-block} python\n:hl: 2\n:filename: a b.py\na\nb\n```\n")
    fence = page('```python hl=2 filename="a b.py"\na\nb\n```\n')
    assert block.html == fence.html


@pytest.mark.parametrize(
    ("text", "code", "line", "message", "hint"),
    [
        ("```python hl=2-9\na\nb\n```\n", "SG105", 1, "`2-9` names no lines of this listing of 2 lines", "`2`"),
        ("```python focus=2-1\na\nb\n```\n", "SG105", 1, "`2-1` names no lines", "`1-2`"),
        ("```python hl=0\na\n```\n", "SG105", 1, "`0` names no lines of this listing of 1 line", "count from 1"),
        (
            "```python hl=iner\n# region: inner\na\n# endregion\n```\n",
            "SG105",
            1,
            "unknown region `iner`",
            "did you mean `inner`?",
        ),
        ("```python hl=inner\na\n```\n", "SG105", 1, "unknown region `inner`", "# region: NAME"),
        ("```python ins=1 del=1\na\n```\n", "SG105", 1, "line 1 is both inserted and deleted", "choose one"),
        ("```python hl=1..2\na\n```\n", "SG105", 1, "`1..2` names no lines", "`5-7`"),
        ("```c\nx <1>\n// <1>\n```\n1. a\n", "SG123", 3, "`// <1>` marks no line of the code", "on a line of code"),
        ("```c diff\n a\n+\n```\n", "SG123", 3, "`+` marks no line of the code", "on a line of code"),
        ("```python\na  # <1>\n```\n", "SG123", 2, "`<1>` has no list of notes below the code", "right below"),
        (
            "```python\n\na  # <2>\nb # <1>\n```\n1. x\n",
            "SG123",
            3,
            "`<2>` has no point 2 in the list",
            "`2. …` as the last",
        ),
        (
            "```python\na  # <4>\nb # <1>\n```\n1. x\n",
            "SG123",
            2,
            "`<4>` has no point 4 in the list below the code",
            "the list has only the point 1: write one of its numbers here, or the points up to 4 there, or",
        ),
        (
            "```python\na  # <1>\nb # <2>\nc # <3>\n```\n2. x\n3. y\n",
            "SG123",
            2,
            "`<1>` has no point 1 in the list below the code",
            "the list has the points 2 to 3: write one of its numbers here, or `annotate`",
        ),
        ("```python\na  # <1>\n```\n1. x\n2. y\n", "SG123", 5, "note 2 has no place in the code", "`# <2>`"),
        ("```python annotate=1,2\na\nb\n```\n1. x\n", "SG123", 1, "`2` has no note below the code", "in order"),
        ("```{kernel} a/b\n:annotate: 1\n```\n1. x\n2. y\n", "SG123", 5, "note 2 has no place", "in order"),
        ("```{cuda}\n//| label: a\n//| del: 1\nx\n```\n", "SG103", 3, "unknown option of a cell `del`", ""),
        ("```python hl=1 hl=1\na\n```\n", "SG104", 1, "option `hl` is given twice", ""),
    ],
)
def test_mistake_is_named_with_its_line_and_what_was_meant(
    text: str, code: str, line: int, message: str, hint: str
) -> None:
    (found,) = mistakes(text)
    assert (found.code, found.span.line) == (code, line)
    assert message in found.message and hint in found.hint


def test_lines_that_are_not_there_mark_nothing() -> None:
    look = Look(highlighted="9,none", notes=(Note(1, "n", ("7",)),))
    assert code_figure("a\nb\n", "", look) == code_figure("a\nb\n", "")
