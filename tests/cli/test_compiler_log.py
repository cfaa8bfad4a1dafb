"""Logs of compilers → what an author of CUDA reads."""

from __future__ import annotations

from sitegen.cli.compiler_log import author_log

LOG = """naive.cu(3): error: expected a ";"
      if (i < N) z[i] = x[i];
      ^
naive.cu(2): warning #177-D: variable "i" was declared but never referenced
      const long long i = threadIdx.x
                      ^
Remark: The warnings can be suppressed with "-diag-suppress <warning-number>"
1 error detected in the compilation of "naive.cu"."""
SOURCE = "void naive() {\n    const long long i = threadIdx.x\n    if (i < N) z[i] = x[i];\n}\n"
FILE = "kernels/axpy/naive.cu"


def test_a_missing_semicolon_is_on_the_line_before_and_the_warnings_are_left_out() -> None:
    lines = author_log(LOG, FILE, SOURCE).splitlines()
    assert lines[:3] == [
        f"a `;` is missing at the end of {FILE}:2",
        "    2 | const long long i = threadIdx.x",
        f'{FILE}:3: error: expected a ";"',
    ]
    assert [line.strip() for line in lines[3:]] == ["if (i < N) z[i] = x[i];", "^"]


def test_a_semicolon_that_is_missing_within_a_line_leaves_the_line_before_alone() -> None:
    assert "is missing" not in author_log(LOG.replace("      ^\nnaive", "          ^\nnaive"), FILE, SOURCE)
    assert "is missing" not in author_log(LOG, FILE, SOURCE.replace("threadIdx.x\n", "threadIdx.x;\n"))


def test_a_message_that_is_no_log_stays() -> None:
    assert author_log("no entry `axpy`: warning", FILE, "") == "no entry `axpy`: warning"
