"""Two checks of one implementation → the worst of both; standard library only, because parent and child import it."""

from __future__ import annotations

from dataclasses import replace

from sitegen.model.record import Correctness


def merge(a: Correctness, b: Correctness) -> Correctness:
    """Return the worst errors of both, with the shapes and input sets of both."""
    return replace(
        a,
        relative_error=max(a.relative_error, b.relative_error),
        row_error=max(a.row_error, b.row_error),
        max_abs_error=max(a.max_abs_error, b.max_abs_error),
        baseline_max_abs_error=max(a.baseline_max_abs_error, b.baseline_max_abs_error),
        shapes=a.shapes + b.shapes,
        input_sets=tuple(dict.fromkeys(a.input_sets + b.input_sets)),
        vacuous=tuple(dict.fromkeys(a.vacuous + b.vacuous)),
        deterministic=a.deterministic and b.deterministic,
    )
