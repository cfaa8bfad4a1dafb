"""The check accepts the right solution of each exercise, and names the cause of each wrong and slow one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("triton")

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(Path(__file__).parent))
from solutions import REJECTED  # noqa: E402

pytestmark = pytest.mark.torch
SLOW = (
    "vector_add",
    "sum",
    "softmax",
    "layernorm",
    "cross_entropy",
    "attention",
    "matmul",
    "transpose",
    "tiled_matmul",
    "rmsnorm_backward",
    "transformer_block",
)
"""The exercises whose solutions take the interpreter more than a few seconds."""


@pytest.mark.parametrize("exercise", ["environment", *(pytest.param(name, marks=pytest.mark.soak) for name in SLOW)])
def test_the_cause_of_each_mistake_is_named(exercise: str) -> None:
    expected = {"right": "right"} | {
        one.mistake: one.cause for one in REJECTED if one.exercise == exercise and not one.needs_gpu
    }
    environment = {**os.environ, "TRITON_INTERPRET": "1", "CUDA_VISIBLE_DEVICES": "", "PYTHONPATH": str(ROOT)}
    words = [sys.executable, str(Path(__file__).parent / "solutions.py"), exercise]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == expected
