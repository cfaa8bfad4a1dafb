"""A change of the measuring code needs a decision: may figures move? Then every record becomes stale.

After the decision, `python tests/results/test_measure_version.py` writes the new hashes.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from sitegen.model.measure_version import MEASURE_VERSION

MEASURE = Path(__file__).parents[2] / "sitegen" / "measure"
ACCEPTED = Path(__file__).with_name("accepted_measure.json")
DECISIVE = (
    *("arithmetic_probes.py", "cache_probes.py", "ceilings.py", "clock.py", "compile.py", "correctness.py"),
    *(
        "errors.py",
        "guarded_calls.py",
        "imposters.py",
        "inputs.py",
        "judging.py",
        "memory_probes.py",
        "merging.py",
        "probe.py",
        "rounds.py",
        "runnable.py",
        "statistics.py",
    ),
    "timing.py",
    "empty_kernel.py",
    *(
        "probes/bulk.cu",
        "probes/clock.cu",
        "probes/empty.cu",
        "probes/fma.cu",
        "probes/l2.cu",
        "probes/memory.cu",
        "probes/shared.cu",
    ),
    "probes/wgmma.cu",
)
"""The modules that decide timing, correctness and ceilings, without those that only transport or describe results."""


def hashes() -> dict[str, str]:
    return {name: hashlib.sha256((MEASURE / name).read_bytes()).hexdigest()[:16] for name in DECISIVE}


def test_a_change_of_how_figures_are_made_was_decided_upon():
    accepted = json.loads(ACCEPTED.read_text(encoding="utf-8"))
    changed = [name for name, digest in hashes().items() if accepted["modules"].get(name) != digest]
    assert not changed and accepted["version"] == MEASURE_VERSION, (
        f"{', '.join(changed) or 'MEASURE_VERSION'} changed in sitegen/measure. May a figure or a status move? "
        f"Then raise MEASURE_VERSION (it is {MEASURE_VERSION}). Either way: python {Path(__file__).name} accepts it."
    )


def test_every_probe_is_among_the_decisive_ones():
    assert {f"probes/{path.name}" for path in (MEASURE / "probes").glob("*.cu")} <= set(DECISIVE)
    assert {path.name for path in MEASURE.glob("*_probes.py")} <= set(DECISIVE)


if __name__ == "__main__":
    ACCEPTED.write_text(
        json.dumps({"version": MEASURE_VERSION, "modules": hashes()}, indent=1) + "\n", encoding="utf-8"
    )
