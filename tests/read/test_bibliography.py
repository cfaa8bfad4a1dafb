"""A .bib file as authors write it becomes works or mistakes."""

from __future__ import annotations

import pytest

from sitegen.model.bibliography import Author, Work
from sitegen.read.bibliography import decode_latex, parse_bibliography

PATH = "content/references.bib"
ENTRY = "@misc{%s, title = {A title}}\n"


def works(text: str) -> dict[str, Work]:
    bibliography, found = parse_bibliography(text, PATH)
    assert found == ()
    return {work.key: work for work in bibliography.works}


def mistakes(text: str) -> list[tuple[str, int, str, str]]:
    return [(d.code, d.span.line, d.message, d.hint) for d in parse_bibliography(text, PATH)[1]]


def test_names_in_every_form() -> None:
    authors = 'Dao, Tri and Kurt G{\\"o}del and {NVIDIA Corporation} and von Neumann, John and others'
    (work,) = works(f"@article{{a, title = {{T}}, author = {{{authors}}}}}").values()
    assert work.authors == (
        Author("Dao", "Tri"),
        Author("Gödel", "Kurt"),
        Author("NVIDIA Corporation"),
        Author("von Neumann", "John"),
        Author("others"),
    )


def test_strings_months_and_concatenation() -> None:
    text = '@string{acm = "ACM"}\n@article{a, title = {T}, journal = acm # " Queue", month = jan, year = 2020}\n'
    assert works(text)["a"].where == ("ACM Queue",)


@pytest.mark.parametrize("month", ["Sep", "SEP", "sep"])
def test_name_of_a_string_may_have_capital_letters(month: str) -> None:
    text = f'@string{{acm = "ACM"}}\n@article{{a, title = {{T}}, journal = Acm, month = {month}, year = 2020}}\n'
    read, mistakes = parse_bibliography(text, "a.bib")
    assert mistakes == ()
    assert read.works[0].where == ("ACM",)


def test_what_stands_outside_of_entries_is_a_comment() -> None:
    assert list(works("Mail me@example.org\n@comment{x}\n" + ENTRY % "a")) == ["a"]


@pytest.mark.parametrize(
    ("fields", "arxiv"),
    [
        ("eprint = {2205.14135}, archivePrefix = {arXiv}", "2205.14135"),
        ("journal = {arXiv preprint arXiv:1805.02867}", "1805.02867"),
        ("url = {https://arxiv.org/abs/2307.08691}", "2307.08691"),
        ("eprint = {12345}", ""),
    ],
)
def test_number_at_arxiv_is_found_where_authors_write_it(fields: str, arxiv: str) -> None:
    assert works(f"@misc{{a, title = {{T}}, {fields}}}")["a"].arxiv == arxiv


def test_address_that_is_the_doi_is_not_shown_twice() -> None:
    work = works("@misc{a, title = {T}, doi = {https://doi.org/10.1145/1}, url = {https://doi.org/10.1145/1}}")["a"]
    assert (work.doi, work.url) == ("10.1145/1", "")


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (r"\'{\i} {\AA} \c{c} {\ss} Erd\H{o}s", "í Å ç ß Erdős"),
        (r"{FlashAttention}: \emph{Fast} \& exact", "FlashAttention: Fast & exact"),
        (r"50% of $O(n^2)$ -- more", "50% of O(n^2) – more"),
        ("plain", "plain"),
    ],
)
def test_latex_is_decoded(latex: str, text: str) -> None:
    assert decode_latex(latex) == text


def test_missing_comma_is_found_at_its_line_and_the_next_entry_is_read() -> None:
    text = "@misc{a,\n  title = {A}\n  year = 2020\n}\n" + ENTRY % "b"
    assert [work.key for work in parse_bibliography(text, PATH)[0].works] == ["a", "b"]
    message = "this is not BibTeX: a comma is missing behind this field"
    assert mistakes(text) == [("SG025", 2, message, "end the line with a comma")]


def test_comma_that_is_missing_behind_several_lines_is_found_at_the_last_of_them() -> None:
    assert mistakes("@misc{a,\n  title = {A\n  b = c}\n\n  year = 2020\n}\n")[0][:2] == ("SG025", 3)


def test_comma_that_is_missing_within_a_line_names_the_entry() -> None:
    hint = "the entry begins on line 1; is a comma or a brace missing in it?"
    text = "@misc{a,\n  title = {A} year = 2020\n}\n"
    assert mistakes(text) == [("SG025", 2, "this is not BibTeX: '}' expected", hint)]


def test_brace_that_is_never_closed_names_the_entry() -> None:
    assert mistakes("\n@misc{a,\n  title = {A,\n")[0][3].startswith("the entry begins on line 2")


def test_unknown_string() -> None:
    assert mistakes("@misc{a, title = foo}")[0][:3] == ("SG025", 1, "unknown string `foo`")


def test_key_twice() -> None:
    assert mistakes(ENTRY % "a" + ENTRY % "a") == [("SG023", 2, "`a` is named twice", "the first is on line 1")]


def test_strings_that_hold_strings_are_bounded() -> None:
    """Eight lines of ten times the previous one: a title of a gigabyte."""
    tens = (" # ".join([f"x{number}"] * 10) for number in range(8))
    lines = ['@string{x0 = "aaaaaaaaaa"}', *(f"@string{{x{number} = {ten}}}" for number, ten in enumerate(tens, 1))]
    found = mistakes("\n".join([*lines, "@misc{a, title = x8}"]))
    message = "the strings of this file have more than 4,000,000 characters"
    assert found[0] == ("SG025", 7, message, "write these values out")
    assert {code for code, _, _, _ in found} == {"SG025"}


def test_a_string_that_two_thousand_entries_use_is_no_mistake() -> None:
    text = '@string{ieee = "Proceedings of the IEEE"}\n' + "".join(
        f"@article{{a{n}, title = {{T}}, journal = ieee, month = jan}}\n" for n in range(2_000)
    )
    assert len(works(text)) == 2_000
