"""Outputs that ignore the inputs → which of them the gates of a shape would let pass.

A gate that accepts zeros, or the right output for other inputs, proves nothing about a result: it is vacuous.  A loose
gate of one input set does no harm where another set at the same shape rejects what it accepts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from sitegen.measure.judging import Case

ZEROS, OTHER_SEED = "zeros", "the output for another seed"


@dataclass(slots=True)
class Imposters:
    """The imposters of one shape; each is offered to every case until a case rejects it."""

    names: Sequence[str]
    """Names of the outputs."""
    dtypes: Sequence[Any]
    """Their torch dtypes."""
    rejects: Callable[[Any, int, Any], bool]
    """Whether a case rejects a tensor as its output of that index."""
    rejected: set[tuple[str, int]] = field(default_factory=set)
    """Imposter and index of the output."""
    passed: dict[tuple[str, int], list[str]] = field(default_factory=dict)
    """Names of the cases that let a wrong imposter pass."""
    first: tuple[Any, ...] | None = None
    """Right outputs of the first case, which are those of another seed for every later case; empty when every case
    that needs them has had them."""

    def offer(self, case: Case) -> None:
        """Offer every imposter that no case has rejected yet."""
        for kind, index, output in list(self._outputs(case)):
            if self.rejects(case, index, output):
                self.rejected.add((kind, index))
            elif not _equal(output, case.expected[index]):
                self.passed.setdefault((kind, index), []).append(case.name)
        if self.first is None:
            self.first = tuple(e.to(d) for e, d in zip(case.expected, self.dtypes, strict=True))
        elif self._is_rejected(OTHER_SEED):
            self.first = ()  # large outputs would take memory that the next case needs

    @property
    def all_rejected(self) -> bool:
        """Whether no later case can change what was found."""
        return self._is_rejected(ZEROS) and self._is_rejected(OTHER_SEED)

    def _is_rejected(self, kind: str) -> bool:
        return all((kind, index) in self.rejected for index in range(len(self.names)))

    def vacuous(self, where: str) -> tuple[str, ...]:
        """Return a sentence for each imposter that was wrong in some case and that no case has rejected."""
        return tuple(
            f"{self.names[index]}: {kind} pass{_s(kind)} {where} ({', '.join(dict.fromkeys(names))} inputs)"
            for (kind, index), names in sorted(self.passed.items())
            if (kind, index) not in self.rejected
        )

    def _outputs(self, case: Case) -> Iterator[tuple[str, int, Any]]:
        for index, (expected, dtype) in enumerate(zip(case.expected, self.dtypes, strict=True)):
            if (ZEROS, index) not in self.rejected:
                yield ZEROS, index, torch.zeros((), dtype=dtype, device=expected.device).expand(expected.shape)
            if self.first and (OTHER_SEED, index) not in self.rejected:
                yield OTHER_SEED, index, self.first[index]


def _equal(output: Any, expected: Any) -> bool:
    """Return whether the imposter is the right output by chance: a loss of one class is always 0."""
    return bool((output == expected.to(output.dtype)).all())


def _s(kind: str) -> str:
    """Return the ending of a verb whose subject is that imposter."""
    return "" if kind == ZEROS else "es"
