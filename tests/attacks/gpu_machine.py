"""Make a site with one kernel and one post, and a GPU machine that answers its bundles, honestly or not."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from sitegen.cli import main
from sitegen.execute import archive

Entries = dict[str, Any]
Change = Callable[[dict[str, Any], Entries], object]

N = 268435456
FILES = {
    "content/site.yaml": "title: Bytes\nbase_url: https://example.org/\ngpus: [nvidia-h200]\n",
    "content/posts/first/index.md": """---
title: A first post
date: 2026-01-21
---
```{code-cell} python
#| label: answer
print(40 + 2)
```

```{benchmark} double
```
""",
    "kernels/double/kernel.yaml": f"""kernel: double
summary: Twice each element.
dims: [N]
inputs: {{x: {{shape: [N]}}}}
outputs: {{y: {{shape: [N]}}}}
dtypes: [float32]
flops: N
reads: N * itemsize
writes: N * itemsize
tolerance: {{float32: 1e-6}}
checks: [{{N: 3}}, {{N: 127}}]
workloads: [{{N: {N}}}]
baselines: [torch]
implementations:
  - {{name: right, file: right.py}}
wrong:
  - {{name: off, file: wrong/off.py, fails: incorrect}}
""",
    "kernels/double/reference.py": "BASELINES = {}\n",
    "kernels/double/right.py": "def double(x, *, out=None): ...\n",
    "kernels/double/wrong/off.py": "def double(x, *, out=None): ...\n",
}
ENVIRONMENT = {
    "gpu": "NVIDIA H200",
    "arch": "sm_90",
    "sm_count": 132,
    "l2_bytes": 60_000_000,
    "memory_bytes": 140_000_000_000,
    "driver": "580.1",
    "cuda": "13.0",
    "torch": "2.11.0",
    "triton": "3.6.0",
    "python": "3.12",
    "sm_clock_max_mhz": 1980.0,
    "power_limit_w": 700.0,
    "ecc": True,
}
RUN = "2026-01-22T06:00:00Z"
TIMES = {"right": 540.0, "torch": 600.0, "copy": 530.0}
ROLES = {"right": "implementation", "torch": "baseline", "copy": "probe"}


def make_site(root: Path) -> Path:
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    author = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    for words in (("init", "-q"), ("add", "."), (*author, "commit", "-q", "-m", "first")):
        subprocess.run(["git", "-C", str(root), *words], check=True)
    return root


def sitegen(*words: str) -> Result:
    """Run a command in the working folder; an exception that sitegen does not handle fails the test."""
    done = CliRunner().invoke(main, words)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


def samples(us: float) -> bytes:
    rounds = [[us * 0.99, us, us, us * 1.01]] * 4
    return json.dumps({"generations": [2, 2], "rounds_us": rounds}).encode()


def artefact(content: bytes, kind: str = "samples") -> dict[str, str]:
    name = f"{hashlib.sha256(content).hexdigest()}.{kind}"
    return {name: base64.b64encode(gzip.compress(content, mtime=0)).decode()}


def performance(us: float, torch_us: float) -> dict[str, Any]:
    ratio = torch_us / us
    return {
        "median_us": us,
        "p20_us": us,
        "p80_us": us,
        "min_us": us * 0.99,
        "low_us": us,
        "high_us": us,
        "samples": 16,
        "rounds_us": [us] * 4,
        "by_process_us": [us, us],
        "ratios": []
        if us == torch_us
        else [{"baseline": "torch", "value": ratio, "low": ratio, "high": ratio, "by_process": [ratio, ratio]}],
    }


def evaluation(name: str, spec: dict[str, Any], times: dict[str, float]) -> dict[str, Any]:
    key = spec["keys"].get(name, {"digest": "", "parts": {}})
    shapes = 3 if ROLES[name] == "implementation" else 1
    errors = dict.fromkeys(("relative_error", "row_error", "max_abs_error", "baseline_max_abs_error"), 1e-8)
    checked = {**errors, "tolerance": 1e-6, "shapes": shapes, "seeds": 3, "input_sets": ["normal"]}
    return {
        "role": ROLES[name],
        "name": name,
        "workload": str(N),
        "dtype": "float32",
        "run": "",
        "status": "passed",
        "key": key["digest"],
        "key_parts": key["parts"],
        "correctness": None if name == "copy" else {**checked, "deterministic": True},
        "performance": performance(times[name], times["torch"]),
        "samples": hashlib.sha256(samples(times[name])).hexdigest(),
    }


def answered(spec: dict[str, Any], times: dict[str, float]) -> dict[str, Any]:
    """Return the result of a job from an honest machine."""
    result = {"schema": 1, "id": spec["id"], "kind": spec["kind"], "environment": ENVIRONMENT}
    if spec["kind"] == "ceilings":
        result["ceilings"] = [
            {"name": "memory 1:1", "rate": 4.2e12, "probes": {"copy": 4.2e12}},
            {"name": "fp32", "rate": 6e13, "probes": {"fma": 6e13}},
        ]
    if spec["kind"] == "kernel":
        result["evaluations"] = [evaluation(name, spec, times) for name in times]
        result["artefacts"] = {k: v for us in times.values() for k, v in artefact(samples(us)).items()}
    if spec["kind"] == "reject":
        key = spec["keys"]["off"]
        parts = {"key": key["digest"], "key_parts": key["parts"]}
        result["rejections"] = [{"name": "off", "expected": "incorrect", "status": "incorrect", "run": "", **parts}]
    if spec["kind"] == "notebook":
        outputs = [{"kind": "stream", "text": "42\n"}]
        result["cells"] = [
            {"label": cell["label"], "status": "passed", "outputs": outputs, "key": cell["key"]}
            for cell in spec["cells"]
        ]
        result["environment"] = None
    return result


def specs_of(bundle: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the manifest and the jobs of a bundle."""
    with zipfile.ZipFile(bundle) as opened:
        entries = {name: json.loads(opened.read(name)) for name in sorted(opened.namelist())}
    return entries.pop("manifest.json"), entries


def answer(
    bundle: Path,
    out: Path,
    change: Change = lambda head, entries: None,
    times: dict[str, float] = TIMES,
    run: str = RUN,
) -> Path:
    """Write the results of a bundle after `change`, with a manifest that fits them."""
    manifest, jobs = specs_of(bundle)
    answers = {"nonce": manifest.get("nonce", ""), "sha256": hashlib.sha256(bundle.read_bytes()).hexdigest()}
    head = {"kind": "results", "commit": manifest["commit"], "sitegen": manifest["sitegen"], "run": run}
    head |= {"complete": True, "bundle": answers}
    entries = {name.replace("jobs/", "results/"): answered(spec, times) for name, spec in jobs.items()}
    by_kind = {entry["kind"]: entry for entry in entries.values()}
    change(head, by_kind)
    out.write_bytes(archive.pack(head, entries))
    return out


def bundled(folder: Path) -> Path:
    bundle = folder / "bundle.zip"
    bundle.unlink(missing_ok=True)
    assert sitegen("bundle", "--all", "-o", str(bundle)).exit_code == 0
    return bundle


def files_below(root: Path) -> dict[str, bytes]:
    """Return every file below a folder, without those of git and of the caches."""
    found = (path for path in sorted(root.rglob("*")) if path.is_file())
    kept = (path for path in found if not {".git", ".sitegen", "state"}.intersection(path.relative_to(root).parts))
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in kept}
