"""Forty questions to the project's own site, each with the page that must come first; run by Node without a browser."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sitegen.render.outputs.search_terms import file_number, terms, tokens

ROOT = Path(__file__).parents[2]

RIGHT = 36
"""The questions of which the first answer must be right."""
KB = 150
"""The most that one question loads, in 1000 bytes: scripts, parts of the index and what is shown of ten pages."""


@dataclass(frozen=True, slots=True)
class Question:
    words: str
    first: str
    """The address of the page that must come first."""
    language: str = "en"
    """The reader's language."""


QUESTIONS = (
    # Titles.
    Question("softmax", "kernels/softmax/"),
    Question("life of a warp", "posts/life-of-a-warp/"),
    Question("a softmax that reads memory once", "posts/softmax/"),
    Question("finding the bottleneck", "posts/finding-the-bottleneck/"),
    Question("your first kernel", "posts/first-kernel/"),
    Question("rmsnorm backward", "kernels/rmsnorm_backward/"),
    Question("GPU Systems", "series/gpu-systems/"),
    Question("about", "about/"),
    Question("H200 ceilings", "ceilings/nvidia-h200/"),
    Question("set up the environment", "exercises/environment/"),
    # Terms, some by another name.
    Question("roofline", "terms/roofline/"),
    Question("occupancy", "terms/occupancy/"),
    Question("tma", "terms/tma/"),
    Question("SM", "terms/sm/"),
    Question("littles law", "terms/littles-law/"),
    Question("bank conflict", "terms/bank-conflict/"),
    # Slips of the fingers.
    Question("sofmax", "kernels/softmax/"),
    Question("coalesing", "terms/coalescing/"),
    Question("bandwith", "terms/bandwidth/"),
    Question("occupany", "terms/occupancy/"),
    Question("tritton", "posts/triton-from-zero/"),
    Question("shared memroy", "terms/shared-memory/"),
    Question("swizle", "terms/swizzle/"),
    # Symbols.
    Question("__shfl_xor_sync", "posts/reductions/"),
    Question("launch_bounds", "posts/occupancy/"),
    Question("atomicAdd", "terms/atomic/"),
    Question("cudaDeviceSynchronize", "posts/first-kernel/"),
    Question("num_warps", "posts/triton-from-zero/"),
    Question("wgmma", "posts/tensor-cores/"),
    Question("__syncthreads", "terms/barrier/"),
    # Two words that stand in no title together, or in another order.
    Question("warp divergence", "terms/divergence/"),
    Question("transpose padding", "posts/banks/"),
    Question("multiply matrices", "exercises/matmul/"),
    Question("flash attention", "posts/attention/"),
    # Korean.
    Question("소프트맥스", "ko/posts/softmax/", "ko"),
    Question("소프트멕스", "ko/posts/softmax/", "ko"),
    Question("워프", "ko/posts/life-of-a-warp/", "ko"),
    Question("첫 커널", "ko/posts/first-kernel/", "ko"),
    Question("레지스터", "ko/posts/where-a-number-lives/", "ko"),
    Question("softmax", "ko/posts/softmax/", "ko"),
)
UNKNOWN = "zzyzx"
KINDS = ("posts", "worklog", "kernels", "exercises", "terms", "pages")


@pytest.fixture(scope="module")
def answers(own: Any, node: Any) -> list[dict[str, Any]]:
    asks: list[dict[str, str]] = [{"words": one.words, "language": one.language} for one in QUESTIONS]
    asks += [{"words": "softmax", "kind": kind} for kind in KINDS]
    asks += [{"words": UNKNOWN}, {"words": "warp", "language": "fr"}]
    given = {"folder": str(own.folder), "base": own.base, "asks": asks}
    return node("ask.mjs", given)  # type: ignore[no-any-return]


def first_of(answer: dict[str, Any]) -> str:
    return answer["found"][0]["url"] if answer["found"] else ""


def test_there_are_forty_questions_about_pages_that_exist(own: Any) -> None:
    assert len(QUESTIONS) == 40
    assert [one.first for one in QUESTIONS if not Path(own.folder, one.first, "index.html").is_file()] == []


def test_the_first_answer_is_right(answers: list[dict[str, Any]]) -> None:
    pairs = list(zip(QUESTIONS, answers, strict=False))
    wrong = [(one.words, first_of(answer), one.first) for one, answer in pairs if first_of(answer) != one.first]
    assert len(QUESTIONS) - len(wrong) >= RIGHT, wrong


def test_the_browser_looks_for_a_word_under_the_term_of_the_index(node: Any) -> None:
    of_docs = {word for file in (ROOT / "docs/content/posts").glob("*.md") for word in tokens(file.read_text())}
    odd = {
        *tokens("소프트맥스는 線形代数 かな ＧＰＵ Straße İstanbul ﬁne __ldcs wait_group.read ²"),
        "__launch_bounds__",
        "___",
    }
    words = sorted(of_docs | odd)
    answers = node("terms.mjs", {"script": str(ROOT / "templates/assets/finding.js"), "words": words})
    made = [[[term, file_number(term, 256)] for token in tokens(word) for term in terms(token)] for word in words]
    assert [pair for pair in zip(made, answers, strict=True) if pair[0] != pair[1]] == []


def test_a_slip_is_corrected_and_the_reader_is_told_the_word(answers: list[dict[str, Any]]) -> None:
    understood = {answer["words"]: answer["understood"] for answer in answers}
    assert understood["sofmax"] == "softmax"
    assert understood["launch_bounds"] == "__launch_bounds__"
    assert understood["softmax"] == "softmax"
    assert understood[UNKNOWN] == UNKNOWN


@pytest.mark.parametrize("kind", KINDS)
def test_a_question_about_one_kind_finds_only_that_kind(answers: list[dict[str, Any]], kind: str) -> None:
    answer = answers[len(QUESTIONS) + KINDS.index(kind)]
    assert {one["kind"] for one in answer["found"]} == {kind}
    assert set(answer["counts"]) == set(KINDS), "the numbers beside the kinds are of all kinds"


def test_a_reader_of_a_language_without_pages_gets_all_pages_alike(answers: list[dict[str, Any]]) -> None:
    assert first_of(answers[-1]) == "terms/warp/"


def test_sections_show_sentences_and_no_chain_of_numbers(answers: list[dict[str, Any]]) -> None:
    kernel = answers[0]["sections"][0]
    assert len(kernel) > 1 and all(part["title"] for part in kernel)
    assert all(any(asked for _, asked in part["excerpt"]) for part in kernel), "the words asked for are marked"
    texts = [
        "".join(words for words, _ in part["excerpt"])
        for answer in answers
        for sections in answer["sections"]
        for part in sections
    ]
    assert not [text for text in texts if "implementation H200" in text or "you need this firstonline" in text]


def test_a_question_loads_less_than_its_budget(answers: list[dict[str, Any]]) -> None:
    assert max(answer["loaded"] for answer in answers) <= KB * 1000
