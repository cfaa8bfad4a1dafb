"""Misspelt words in prose: each at its place, none in code, and none that the site allows."""

import resource

from sitegen.pipeline.spelling import misspellings

TEXT = (
    "---\ntitle: Teh loop\n---\nIt recieves `teh` word, $teh$ and [a](https://e.org/teh).\n\n```python\nteh = 1\n```\n"
)


def test_misspelt_word_has_its_place_and_its_correction() -> None:
    first, second = misspellings({"content/posts/a.md": TEXT, "kernels/a/a.py": "teh\n"})
    assert (first.message, first.span.line, first.span.col) == ("`Teh` is misspelt", 2, 8)
    assert (second.message, second.span.line, second.span.col) == ("`recieves` is misspelt", 4, 4)
    assert second.hint == "did you mean `receives`?"


def test_word_of_the_site_is_allowed() -> None:
    assert [one.message for one in misspellings({"content/posts/a.md": TEXT}, "teh\n")] == ["`recieves` is misspelt"]


def test_british_words_and_terms_of_gpus_are_no_mistakes() -> None:
    text = "The colour of a warp: occupancy, behaviour, coalesced, licence, rasterisation, Triton, cuBLAS, mbarrier.\n"
    assert list(misspellings({"content/pages/a.md": text})) == []


def test_a_line_of_many_mistakes_is_said_once_to_codespell() -> None:
    """codespell prints the whole line of each mistake: 20,000 in a line took 4.75 GB."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = list(misspellings({"content/posts/a.md": "teh " * 20_000}))
    assert len(found) == 20_000 and len({one.span.col for one in found}) == 20_000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # KiB
