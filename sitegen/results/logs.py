"""Read the log of a failure from an artefact: plain text of a limited size, whose hash is its name."""

from __future__ import annotations

import base64
import hashlib
import re

from sitegen.model.failure_log import LARGEST_LOG, explanation_in
from sitegen.model.job import JobResult
from sitegen.model.record import Evaluation, Rejection
from sitegen.results.samples import BadSamples, unpacked

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def log_mistake(content: bytes) -> str:
    """Return why the content of an artefact is no log; empty when it is one."""
    if len(content) > LARGEST_LOG:
        return f"a log has at most {LARGEST_LOG // 1024} KB"
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return "a log is UTF-8"
    return "a log has no control characters" if _CONTROL.search(text) else ""


def log_text(packed: bytes, digest: str) -> str:
    """Return the log in the gzip of an artefact.  Raises BadSamples when it is another log, or none."""
    content = unpacked(packed)
    if hashlib.sha256(content).hexdigest() != digest:
        raise BadSamples("the log has another hash than its name")
    if mistake := log_mistake(content):
        raise BadSamples(mistake)
    return content.decode()


def explanation_of(result: JobResult, failed: Evaluation | Rejection) -> str:
    """Return the reason of a failure in a few lines, from the log that came with it, or its sentence."""
    packed = result.artefacts.get(f"{failed.log}.log")
    if packed is None:
        return failed.message
    try:
        return explanation_in(log_text(base64.b64decode(packed, validate=True), failed.log)) or failed.message
    except ValueError:  # also BadSamples, and binascii.Error
        return failed.message
