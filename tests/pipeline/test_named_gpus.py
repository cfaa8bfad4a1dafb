"""A sentence that names one GPU, and shows a figure of another, gets a warning; no other sentence does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sitegen.pipeline.in_memory import check
from sitegen.results import verify
from sitegen.results.store import save_record
from tests.pipeline.test_figures_and_claims import FILES, MACHINE, POST, RUN, measure, write

H100 = "nvidia-h100-80gb-hbm3"
IMPLICIT, OF_H100 = "{value}`softmax/fused time`", f"{{value}}`softmax/fused time on {H100}`"
HEAD = "---\ntitle: A\ndate: 2026-11-20\n---\n"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a site with records of two GPUs, of which the H200 is the first."""
    monkeypatch.setattr(verify, "verify_records", lambda *_: ())  # these records have no samples
    for path, text in FILES.items():
        write(tmp_path, path, text)
    record = measure(tmp_path, 132.0)
    run = replace(RUN, environment=replace(MACHINE, gpu="NVIDIA H100 80GB HBM3"))
    save_record(tmp_path, replace(record, gpu=H100, runs=(run,)), run)
    return tmp_path


def told(root: Path, body: str) -> list[tuple[int, str, str]]:
    write(root, POST, HEAD + body)
    return [(one.span.line, one.message, one.hint) for one in check(root).diagnostics if one.code == "SG310"]


def test_warning_says_which_gpu_the_figure_is_of_and_what_to_write(root: Path) -> None:
    [(line, message, hint)] = told(root, f"First.\n\nOn an H100, it takes {IMPLICIT}.\n")
    assert line == 7
    assert message == "the sentence names the H100, and this figure is about the H200"
    assert hint == f"add `on {H100}` to the figure, or name the H200 in the sentence"


@pytest.mark.parametrize(
    "body",
    [
        f"It takes {IMPLICIT} on two\nH100s.\n",
        f"On the H200 it is fast. On the H100 it takes {IMPLICIT}.\n",
        f"H100에서는 {IMPLICIT}가 걸린다.\n",
        f"- The H100 takes {IMPLICIT}.\n- The H200 is faster.\n",
        f"| GPU | time |\n|---|---|\n| a | {IMPLICIT} on an H100 |\n",
        "On an H100, it is {value}`softmax/naive time / softmax/fused time` as long.\n",
        "```{claim} softmax/fused >= 2x torch\nOn an H100, the fused kernel is twice as fast.\n```\n",
    ],
)
def test_sentence_that_names_another_gpu_has_one_warning(root: Path, body: str) -> None:
    assert len(told(root, body)) == 1


@pytest.mark.parametrize(
    "body",
    [
        f"It takes {IMPLICIT}.\n",
        f"On an H200, it takes {IMPLICIT}.\n",
        f"On an H100, it takes {OF_H100}.\n",
        f"There it takes {OF_H100}, as on no H200.\n",
        f"It takes {IMPLICIT} here, and more on an H100 than on an H200.\n",
        f"Now to the H100. It takes {IMPLICIT}.\n",
        f"It takes {IMPLICIT}. The H100 takes {OF_H100}.\n",
        f"The H100 is old.\n\nIt takes {IMPLICIT}.\n",
        f"On a GH100 or a `H100`, it takes {IMPLICIT} ([more](https://example.org/(H100))).\n",
        f"| H100 | H200 |\n|---|---|\n| {OF_H100} | {IMPLICIT} |\n",
        f"| GPU | time |\n|---|---|\n| H100 | {IMPLICIT} |\n",
        f"On an H100 it takes {{value}}`softmax/fused time on {H100} / softmax/fused time` as long.\n",
        f"```{{claim}} softmax/fused >= 2x torch on {H100}\nOn an H100, the fused kernel is twice as fast.\n```\n",
    ],
)
def test_other_sentences_have_no_warning(root: Path, body: str) -> None:
    assert told(root, body) == []


@pytest.mark.parametrize(
    "body",
    [
        f"On an H200, it takes {OF_H100} less.\n\nThen {IMPLICIT}.\n",
        f"First this. **On the H200** `fused` takes {OF_H100}.\n",
        f"> On H200s it takes {OF_H100}.\n",
        f"It takes {OF_H100} on an\nH200.\n",
        f"```{{claim}} softmax/fused >= 2x torch on {H100}\nOn an H200, the fused kernel is twice as fast.\n```\n",
    ],
)
def test_figure_that_names_its_gpu_has_a_warning_where_the_sentence_is_about_another_one_alone(
    root: Path, body: str
) -> None:
    [(_, message, hint)] = told(root, body)
    assert message.startswith("the sentence names the H200, and this ") and message.endswith(" is about the H100")
    assert hint.startswith("write `on nvidia-h200` in the ")


@pytest.mark.parametrize(
    "body",
    [
        f"On an H200, it takes {IMPLICIT}, and here {OF_H100}.\n",
        f"There it takes {OF_H100}, and on the H200 {IMPLICIT}.\n",
        f"On an H200, it takes {OF_H100}, as an H100 does.\n",
        f"On an H200, it takes less than {OF_H100}.\n",
        f"On an H200, that would be more, from {OF_H100} and the clock.\n",
        f"It takes less than {OF_H100} on an H200.\n",
        f"The H200 has more memory, of which {OF_H100} is a share.\n",
        f"It takes {OF_H100}. On an H200 nothing was measured.\n",
        "On an H200, we predict {predicted}`softmax/fused`.\n",
        "```{claim} softmax/fused >= 2x torch on all\nOn an H200, the fused kernel is twice as fast.\n```\n",
    ],
)
def test_sentence_that_compares_two_gpus_has_no_warning(root: Path, body: str) -> None:
    assert told(root, body) == []


def test_site_with_records_of_one_gpu_has_no_warning(root: Path) -> None:
    (root / f"kernels/softmax/results/{H100}.json").unlink()
    assert told(root, f"On an H100, it takes {IMPLICIT}, and on an H200 more.\n") == []
