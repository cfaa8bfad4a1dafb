"""New evaluations and those of the record → the new ones, with counters that only an earlier run of them has.

A run without ncu times a call again and cannot count it.  What an earlier run counted still holds where both runs had
the same sources, so it stays, with the name of the run that counted.  The same is true of a sanitizer that found
nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sitegen.model.job import Key
from sitegen.model.kernel import Status
from sitegen.model.record import Evaluation, Role
from sitegen.results.records import EvaluationId, evaluation_id
from sitegen.results.same_code import SameCode, is_same_key


def with_kept_tools(new: Sequence[Evaluation], old: Sequence[Evaluation], same: SameCode) -> list[Evaluation]:
    """Return the new evaluations with the counters and the clean findings of the old ones, where they have none."""
    held = {evaluation_id(one): one for one in old}
    unchanged = {evaluation_id(one) for one in new if _has_same_key(one, held.get(evaluation_id(one)), same)}
    return [_kept(one, held[evaluation_id(one)]) if _is_same(one, held, unchanged) else one for one in new]


def _has_same_key(new: Evaluation, old: Evaluation | None, same: SameCode) -> bool:
    return bool(old and new.key and is_same_key(Key(new.key, new.key_parts), old.key, old.key_parts, same))


def _is_same(one: Evaluation, held: Mapping[EvaluationId, Evaluation], unchanged: set[EvaluationId]) -> bool:
    """Tell whether a passed evaluation was made of the sources of the one that is held.

    A baseline has no key.  It is the same when an implementation was timed beside it in both runs and has the same key:
    that key has reference.py, the baselines' files, the tensors and the dims in it.
    """
    before = held.get(evaluation_id(one))
    if before is None or one.status is not Status.PASSED or before.status is not Status.PASSED:
        return False
    if one.role is Role.IMPLEMENTATION:
        return evaluation_id(one) in unchanged
    beside = (id for id in unchanged if id[2:] == evaluation_id(one)[2:])
    return any(held[id].run == before.run for id in beside)


def _kept(new: Evaluation, old: Evaluation) -> Evaluation:
    """Return the new evaluation with what only the tools of an earlier run have said."""
    if new.counters is None and old.counters is not None:
        new = replace(new, counters=replace(old.counters, run=_named(old.counters.run or old.run, new)))
    if not new.sanitizer and old.sanitizer and not any(old.sanitizer.values()):
        new = replace(new, sanitizer=old.sanitizer, sanitizer_run=_named(old.sanitizer_run or old.run, new))
    return new


def _named(run: str, evaluation: Evaluation) -> str:
    """Return the run of the tools; empty when it is that of the evaluation."""
    return "" if run == evaluation.run else run
