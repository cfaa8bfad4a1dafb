"""The words of predictions in the ledgers of several GPUs of a kernel."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from sitegen.render.measurements.ledger import ledger
from sitegen.results.predictions import PredictionLine

LINE = PredictionLine("nvidia-h200", "fused", "8192x8192", "float32", 0.95, 0.94, "one read, one write", "", "")
OTHER = replace(LINE, gpu="nvidia-h100-80gb-hbm3", measured=0.98)


@pytest.mark.parametrize(
    ("above", "sentences"),
    [([], 1), ([LINE], 0), ([replace(LINE, words="two reads")], 1), ([replace(LINE, name="naive")], 1)],
)
def test_a_sentence_that_another_gpu_s_ledger_has_is_not_repeated(above: list[PredictionLine], sentences: int) -> None:
    kernel: Any = SimpleNamespace(name="softmax")
    [body] = ledger(kernel, OTHER.gpu, "predictions", [OTHER], above).bodies
    assert [len(line.below) for line in body.lines] == [sentences]
