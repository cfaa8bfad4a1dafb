"""What is kept of what a compiler or a failed process printed."""

from __future__ import annotations

from pathlib import Path

import pytest

from sitegen.model.failure_log import LARGEST_LOG, explanation_in, log_of, without_machine_paths

JOB = Path("/tmp/job-1/site")


def test_a_text_that_says_no_more_than_its_explanation_is_not_kept_twice():
    assert log_of("one line", "one line\n\n") == ""
    assert log_of("first\nsecond", "first\n\nsecond") == "first\nsecond"


def test_the_explanation_is_what_comes_before_the_whole_text():
    log = log_of("first\n\nsecond", "much\n\nmore")
    assert explanation_in(log) == "first\nsecond"
    assert log == "first\nsecond\n\nmuch\n\nmore\n"


def test_colours_and_control_characters_are_dropped():
    assert log_of("error", "\x1b[31merror\x1b[0m: no\r\nx\0\n") == "error\n\nerror: no\nx\n"


def test_of_a_text_that_is_too_large_the_middle_is_left_out():
    log = log_of("explained", f"head\n{'é' * LARGEST_LOG}\ntail")
    assert LARGEST_LOG - 200 < len(log.encode()) <= LARGEST_LOG
    assert log.startswith("explained\n\nhead\n") and log.endswith("tail\n") and "characters are left out" in log


@pytest.mark.parametrize(
    ("printed", "kept"),
    [
        ("/tmp/job-1/site/kernels/a/x.cu(4): error", "kernels/a/x.cu(4): error"),
        ('File "/opt/env/lib/python3.12/site-packages/torch/a.py", line 3', 'File "torch/a.py", line 3'),
        ('File "/usr/lib/python3.12/json/decoder.py", line 3', 'File "json/decoder.py", line 3'),
        ("/usr/local/cuda/include/cuda_bf16.h(12): error", "cuda_bf16.h(12): error"),
        ("nvcc -I/home/me/include -o /tmp/x/y.o", "nvcc -Iinclude -o y.o"),
        ("ptxas /tmp/tmpq1.ptx, line 5; error", "ptxas tmpq1.ptx, line 5; error"),
        ("see https://docs.nvidia.com/cuda/index.html", "see https://docs.nvidia.com/cuda/index.html"),
        ("a / b /c, kernels/a/x.cu and // a/b comment", "a / b /c, kernels/a/x.cu and // a/b comment"),
    ],
)
def test_of_a_path_of_the_machine_only_what_belongs_to_the_author_or_the_library_stays(printed, kept):
    assert without_machine_paths(printed, (JOB,)) == kept
