"""A file of results and its attestation → the run on GitHub that measured and signed them, as `gh` verifies it.

GitHub's action `attest-build-provenance` signs the SHA-256 of the file by Sigstore, in the name of a run of a workflow.
`gh attestation verify` checks signature, certificate and hash; nothing here computes with keys.
"""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

WORKFLOW = ".github/workflows/kernels.yml"
"""The only workflow whose signature counts."""
REPOSITORY = re.compile(r"[A-Za-z0-9-]{1,39}/[A-Za-z0-9_.-]{1,100}")
VERIFY_S = 120.0
_RUN = re.compile(r"https://github\.com/(?P<run>(?P<repository>[^/]+/[^/]+)/actions/runs/\d{1,20})(/attempts/\d+)?")


class NotAttested(ValueError):
    """The message says why the signature was not accepted."""


def signed_run(results: Path, attestation: Path, repository: str, commit: str) -> str:
    """Return the run that signed the results, such as `OWNER/NAME/actions/runs/4711`.

    `repository` is `OWNER/NAME`, `commit` the one that the results name.  Raises NotAttested.
    """
    certificate = _certificate(_verified(results, attestation, repository))
    run = _RUN.fullmatch(str(certificate.get("runInvocationURI", "")))
    if run is None or run["repository"].lower() != repository.lower():
        raise NotAttested(f"its attestation names no run of a workflow of {repository}")
    signed = str(certificate.get("sourceRepositoryDigest", ""))
    if not commit or not signed.startswith(commit):
        raise NotAttested(
            f"its attestation is of commit {signed[:12] or 'none'}, and the results are of {commit or 'none'}"
        )
    return run["run"]


def _verified(results: Path, attestation: Path, repository: str) -> Any:
    """Return what `gh` prints about an attestation that is valid."""
    workflow = ["--repo", repository, "--signer-workflow", f"{repository}/{WORKFLOW}"]
    words = ["gh", "attestation", "verify", str(results), "--bundle", str(attestation), *workflow, "--format", "json"]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=VERIFY_S, check=False)
    except FileNotFoundError as error:
        raise NotAttested("`gh`, the program that verifies attestations, is not installed") from error
    except subprocess.TimeoutExpired as error:
        raise NotAttested(f"`gh attestation verify` took more than {VERIFY_S:.0f} s") from error
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise NotAttested(f"`gh attestation verify` refuses it: {last}")
    try:
        return json.loads(done.stdout)
    except ValueError as error:
        raise NotAttested("`gh attestation verify` printed no JSON") from error


def _certificate(verified: Any) -> dict[str, Any]:
    try:
        found = verified[0]["verificationResult"]["signature"]["certificate"]
    except (LookupError, TypeError) as error:
        raise NotAttested("`gh attestation verify` names no certificate") from error
    return found if isinstance(found, dict) else {}
