"""A word of a text is found under its term, and the index of parts is that of the whole."""

from __future__ import annotations

import random

import pytest

from sitegen.render.outputs.search_index import (
    index_of_pages,
    merged,
    number_of_files,
    page_ids,
    terms_of,
    without_pages,
    words_of_headings,
)
from sitegen.render.outputs.search_terms import file_number, stem, terms, tokens
from sitegen.render.outputs.search_text import PageText, Section


@pytest.mark.parametrize(
    "words",
    [
        ("tile", "tiles", "tiled", "tiling"),
        ("memory", "memories"),
        ("pad", "padding", "padded", "pads"),
        ("cache", "cached", "caches", "caching"),
        ("speed", "speeds"),
        ("class", "classes"),
    ],
)
def test_forms_of_a_word_are_one_term(words: tuple[str, ...]) -> None:
    assert len({stem(word) for word in words}) == 1


@pytest.mark.parametrize("word", ["sm", "tma", "ring", "need", "int8", "워프는", "__ldcs"])
def test_short_words_and_symbols_stay_whole(word: str) -> None:
    assert stem(word) == word


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("__shfl_xor_sync", {"__shfl_xor_sync", "shfl", "xor", "sync"}),
        ("FlashAttention", {"flashattention", "flash", "attention"}),
        ("Little's", {"littl"}),
        ("線形代数", {"線形", "形代", "代数"}),
        ("ＧＰＵ", {"gpu"}),
    ],
)
def test_symbols_and_compounds_are_found_whole_and_by_their_parts(text: str, found: set[str]) -> None:
    assert {term for token in tokens(text) for term in terms(token)} == found


def test_a_heading_counts_more_than_the_text_and_less_than_the_title() -> None:
    text = PageText("Banks", (Section("a", "Padding", "A warp reads."),))
    weights = terms_of(text)
    assert weights["bank"] > weights["pad"] > weights["warp"] == 1
    assert words_of_headings(text) == {"banks", "padding"}


def test_all_words_with_the_same_beginning_stand_in_one_file() -> None:
    assert len({file_number(term, 1024) for term in ("launch", "launch_bounds", "__launch_bounds__", "laundry")}) == 1
    assert file_number("워프", 1024) == file_number("워프는", 1024)


def test_ids_are_as_short_as_they_can_be_and_stay_when_a_page_is_new() -> None:
    few = page_ids([f"posts/{n}/" for n in range(100)])
    more = page_ids([f"posts/{n}/" for n in range(10_000)])
    assert len(set(more.values())) == 10_000
    assert all(more[url].startswith(name) for url, name in few.items())
    assert page_ids([]) == {}


def test_there_are_more_files_for_more_pages_but_not_too_many() -> None:
    assert [number_of_files(pages) for pages in (0, 64, 65, 1000, 100_000)] == [16, 16, 32, 256, 1024]


def test_the_index_of_parts_is_that_of_the_whole_and_a_page_can_leave_it() -> None:
    rng, words = random.Random(1), [f"word{n}" for n in range(30)]
    pages = {f"{n:03}": {word: rng.randrange(1, 200) for word in rng.sample(words, 9)} for n in range(40)}
    whole = index_of_pages(pages.items(), 4)
    shuffled = rng.sample(list(pages), 40)
    parts = [index_of_pages([(name, pages[name]) for name in shuffled[at : at + 9]], 4) for at in range(0, 40, 9)]
    assert [merged([part[n] for part in parts], 3) for n in range(4)] == [merged([file], 3) for file in whole] == whole
    fewer = index_of_pages([(name, terms) for name, terms in pages.items() if name not in ("007", "011")], 4)
    assert [without_pages(file, {"007", "011"}, 3) for file in whole] == fewer
