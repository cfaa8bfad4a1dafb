"""Logs of failures: what is accepted as one, and what a terminal shows of it."""

from __future__ import annotations

import base64
import gzip
import hashlib
from dataclasses import replace

import pytest

from sitegen.model.kernel import Status
from sitegen.results.logs import explanation_of, log_text
from sitegen.results.samples import BadSamples

LOG = "naive.cu(4): error: no\n   x[i]\n\nall of it\n"


def packed(content: bytes) -> tuple[bytes, str]:
    return gzip.compress(content, mtime=0), hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize("content", [b"\xff", b"\x1b[31m", b"x" * (256 * 1024 + 1)])
def test_what_is_no_text_of_a_limited_size_is_no_log(content):
    with pytest.raises(BadSamples):
        log_text(*packed(content))


def test_a_log_comes_back_as_it_was_written():
    assert log_text(*packed(LOG.encode())) == LOG


@pytest.mark.parametrize(
    ("artefact", "shown"),
    [
        (base64.b64encode(packed(LOG.encode())[0]).decode(), "naive.cu(4): error: no\n   x[i]"),
        ("damaged", "naive.cu(4): error: no"),
        (None, "naive.cu(4): error: no"),
    ],
)
def test_a_terminal_shows_the_beginning_of_a_log_or_the_sentence_without_one(made, artefact, shown):
    digest = packed(LOG.encode())[1]
    failed = replace(made.timed("naive", 3.0), status=Status.COMPILE_ERROR, performance=None, log=digest)
    failed = replace(failed, message="naive.cu(4): error: no")
    result = replace(made.result, artefacts={f"{digest}.log": artefact} if artefact else {})
    assert explanation_of(result, failed) == shown
