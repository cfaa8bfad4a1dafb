"""Outputs of a wrong kernel in several experiments → the cause, in words for a beginner.

The text of the kernel is not read: which elements are wrong, and in which experiments, tells the cause.  Nothing here
calls the kernel.  Rules stand in the order in which one mistake explains another.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from sitegen.measure.known_mistakes import Alternative
from sitegen.model.exercise import Diagnosis

CLOSE = 1e-4
"""Largest error, relative to the largest expected value, of an element that counts as right in float32."""
CLOSE_IN_BFLOAT16 = 1e-2
"""The same for an output in bfloat16, which keeps 8 bits: one rounding changes an element by up to 2e-3."""

NEARLY = 2e-2
"""Largest error, relative to a typical value, of a result that too few digits on the way explain."""
EXACT = 1e-5
"""The same for an output that a known mistake explains."""
ADVICE = {
    "first_block_only": " Start a program for each block, or loop over the blocks.",
    "too_few_programs": " Round the number of blocks up with `triton.cdiv`.",
    "programs_overwrite": " All programs store into the same place, and the last one wins: give each sum a place of "
    "its own, and add these sums in a second launch.",
    "unused_input": " The kernel leaves this input out of a sum or a product.",
    "overwritten_sum": " Each turn of the loop replaces the sum of the turns before: add to it.",
    "skipped_part": " The step of the loop is longer than the block that a turn loads: give both the same length.",
    "skipped_tail": " Round the number of turns of the loop up, and mask the loads of the last turn.",
    "wrong_sign": " Check which input is added and which is subtracted.",
    "counted_twice": " The step of the loop is shorter than the block that a turn loads: give both the same length.",
}
"""What to do about the cause of an alternative whose words do not say it."""
LONG_SUM = 1024
"""A sum of that many numbers, or of more, is never right with too few digits."""
LEAST_BLOCK = 16
"""Sizes that are no multiple of it are no sizes of whole blocks."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One call of the kernel."""

    dims: Mapping[str, int]
    expected: Any
    """Float64 tensor."""
    got: Any
    """Tensor of the same shape."""
    unwritten: Any
    """Bool tensor: the elements that the call did not write."""
    past_end: int = 0
    """Elements behind the end of the output up to the last one that the call changed."""
    alternatives: Iterable[Alternative] = ()
    """The outputs of known mistakes.  They may be computed while they are read, which happens once at most."""
    scale: float = 0.0
    """The size of a typical value, to which errors are compared; 0 for the largest expected value."""
    changing: int = 0
    """Elements that depend on what the output held before the call; an element that was not written is one of them."""

    @property
    def wrong(self) -> Any:
        """Bool tensor: the elements that are not the expected ones."""
        return ~_close(self.got, self.expected, self.size, self.close)

    @property
    def close(self) -> float:
        """The largest error of an element that counts as right, relative to `size`."""
        return CLOSE_IN_BFLOAT16 if self.got.dtype is torch.bfloat16 else CLOSE

    @property
    def size(self) -> float:
        """The value to which errors are compared."""
        return self.scale or _scale(self.expected)

    @property
    def error(self) -> float:
        """The largest error, relative to `size`."""
        return float((self.got.double() - self.expected).abs().max()) / self.size

    @property
    def right(self) -> bool:
        return self.past_end == 0 and not bool(self.wrong.any())

    @property
    def place(self) -> str:
        """The shape as text: `M=3, N=127`."""
        return ", ".join(f"{name}={value}" for name, value in self.dims.items())


@dataclass(frozen=True, slots=True)
class Evidence:
    """All experiments on one kernel."""

    plain: tuple[Trial, ...]
    """Normal inputs at ragged shapes and at shapes of powers of two."""
    shifted: tuple[Trial, ...] = ()
    """Normal inputs plus 1000: first at a shape of powers of two, then at a ragged shape."""
    cleared: tuple[Trial, ...] = ()
    """Normal inputs, with an output that is 0 before the call."""
    summed: str = ""
    """The last dim, when it is no dim of the output: results are sums over it.  Empty otherwise."""

    @property
    def right(self) -> bool:
        """Whether the output is right for normal inputs."""
        return all(trial.right for trial in self.plain)


def diagnose_outputs(evidence: Mapping[str, Evidence]) -> Diagnosis:
    """Return the cause of the first wrong output, by the names of all outputs, in their order."""
    wrong = [name for name, one in evidence.items() if not one.right]
    shifted = [name for name, one in evidence.items() if not all(trial.right for trial in one.shifted)]
    name = [*wrong, *shifted, *evidence][0]
    found = diagnose(evidence[name])
    if len(evidence) == 1 or not wrong:
        return found
    right = [f"`{other}`" for other in evidence if other not in wrong]
    others = f"{' and '.join(right)} {'is' if len(right) == 1 else 'are'} right, and " if right else ""
    return replace(found, sentence=f"Of the outputs, {others}`{name}` is wrong. {found.sentence}")


def diagnose(evidence: Evidence) -> Diagnosis:
    """Return the first cause that the experiments support; `unknown` says which elements are wrong."""
    failing = [trial for trial in evidence.plain if not trial.right]
    right = [trial for trial in evidence.plain if trial.right]
    for rule in (_past_the_end, _unwritten, _added_to, _alternative, _overflow, _cancels, _imprecise, *_BY_SIZE):
        if found := rule(evidence, failing, right):
            return found
    return _unknown(failing)


def _past_the_end(evidence: Evidence, failing: Sequence[Trial], right: Sequence[Trial]) -> Diagnosis | None:
    over = [trial for trial in failing if trial.past_end]
    if not over:
        return None
    if mixed := [trial for trial in over if bool(trial.unwritten.any())]:
        return _first_rows(failing, right) or _wrong_places(mixed[0], right)
    trial = over[-1]
    size = trial.got.numel()
    last = size - 1 + trial.past_end
    what = f"The output at {trial.place} ends with element {size - 1}, and the kernel also wrote"
    if all(one.past_end == 1 for one in over):
        sentence = (
            f"{what} element {last}: either the tail of the last block is not masked in `tl.store`, or its mask is "
            "true for one place too many (`<=` instead of `<`)."
        )
    else:
        sentence = (
            f"{what} behind its end, up to element {last}: the tail of the last block is not masked in `tl.store`."
        )
    return Diagnosis("unmasked_store", sentence, _right_at(right))


def _wrong_places(trial: Trial, right: Sequence[Trial]) -> Diagnosis:
    """The kernel left out elements of the output, and wrote behind its end."""
    advice = (
        "Check that the mask of `tl.store` is true for the elements that exist, as in `i < N`, and that the block of "
        "program 0 begins at element 0."
        if trial.got.dim() < 2
        else "Its places or its mask are those of another shape: check that both have rows and columns in the same "
        "order, and how long a row of the output is."
    )
    sentence = (
        f"At {trial.place}, {int(trial.unwritten.sum())} of {trial.got.numel()} elements of the output were not "
        f"written, and the kernel wrote behind its end instead. {advice}"
    )
    return Diagnosis("wrong_places", sentence, _right_at(right))


def _first_rows(failing: Sequence[Trial], right: Sequence[Trial]) -> Diagnosis | None:
    """The rows at the beginning are those that no program wrote, where no program wrote behind the end."""
    for trial in failing:
        rows = _missing_rows(trial)
        if rows is not None and not trial.past_end and bool(rows[0]) and not bool(rows[-1]):
            return _unwritten_rows(trial, right)
    return None


def _unwritten(evidence: Evidence, failing: Sequence[Trial], right: Sequence[Trial]) -> Diagnosis | None:
    trials = [trial for trial in failing if bool(trial.unwritten.any())]
    if not trials:
        return None
    trial = max(trials, key=lambda one: one.got.numel())
    if bool(trial.unwritten.all()):
        sentence = "The kernel wrote nothing into the output: store the result into `out`, and launch the kernel."
        return Diagnosis("nothing_written", sentence)
    if evidence.summed and (found := _last_row_or_column(trials, right) or _unwritten_tiles(trial, right)):
        return found
    return _unwritten_rows(trial, right) or _unwritten_columns(trial, right) or _unwritten_tail(trial, trials, right)


def _last_row_or_column(trials: Sequence[Trial], right: Sequence[Trial]) -> Diagnosis | None:
    """The last row of a matrix, or its last column, at every shape and alone: no grid leaves out one row each time."""
    trial = max(trials, key=lambda one: one.got.numel())
    for axis, name in enumerate(("row", "column") if trial.got.dim() == 2 and len(trials) > 1 else ()):
        if all(_only_the_last(one.unwritten.transpose(0, axis)) for one in trials):
            last = trial.got.shape[axis] - 1
            sentence = (
                f"At every shape that fails, only the last {name} of the output was never written ({name} {last} at "
                f"{trial.place}): the mask of `tl.store` leaves it out. Compare with the number of {name}s, and not "
                "with one less."
            )
            return Diagnosis("last_masked", sentence, _right_at(right))
    return None


def _only_the_last(unwritten: Any) -> bool:
    """Return whether the last place of the first axis is missing as a whole, and nothing else is."""
    return bool(unwritten[-1].all()) and not bool(unwritten[:-1].any())


def _unwritten_tiles(trial: Trial, right: Sequence[Trial]) -> Diagnosis | None:
    """The last rows, the last columns, or both, of a matrix whose tiles are separate programs."""
    if trial.got.dim() != 2:
        return None
    rows, columns = trial.unwritten.all(dim=1), trial.unwritten.all(dim=0)
    if not bool((trial.unwritten == (rows[:, None] | columns[None, :])).all()):
        return None
    sides = [("row", rows), ("column", columns)]
    missing = " and ".join(f"{_places(name, side)}" for name, side in sides if bool(side.any()))
    was = "was" if int(rows.sum()) + int(columns.sum()) == 1 else "were"
    sentence = (
        f"At {trial.place}, {missing} of the output {was} never written: the grid has too few tiles. Round the number "
        "of tiles in each direction up (`triton.cdiv`), so that the last tile reaches beyond the edge. Also check the "
        "order of the two numbers of the grid, and that the mask compares rows with the rows and columns with the "
        "columns of the output."
    )
    return Diagnosis("missing_tiles", sentence, _right_at(right))


def _unwritten_rows(trial: Trial, right: Sequence[Trial]) -> Diagnosis | None:
    """Whole rows that no program wrote."""
    rows = _missing_rows(trial)
    if rows is None:
        return None
    count, total = int(rows.sum()), rows.numel()
    cause = (
        "The grid has too few programs: it must cover every row, so round its size up (`triton.cdiv`). If the grid has "
        "two numbers, also check their order."
    )
    if bool(rows[0]) and not bool(rows[-1]):
        cause = (
            "The numbers of programs begin at 0, so program 0 must write row 0: check the row that a program writes."
        )
    sentence = (
        f"At {trial.place}, {_rows_words(rows)} of {total} {'was' if count == 1 else 'were'} never written; the other "
        f"rows were. {cause}"
    )
    return Diagnosis("missing_rows", sentence, _right_at(right))


def _missing_rows(trial: Trial) -> Any:
    """Return which rows were not written, as a bool tensor; None unless whole rows alone are missing."""
    if trial.got.dim() < 2:
        return None
    rows = trial.unwritten.all(dim=-1).reshape(-1)
    some = trial.unwritten.any(dim=-1).reshape(-1)
    return rows if bool(rows.any()) and bool((rows == some).all()) else None


def _unwritten_columns(trial: Trial, right: Sequence[Trial]) -> Diagnosis | None:
    """The same columns in every row."""
    if trial.got.dim() < 2:
        return None
    columns = trial.unwritten.reshape(-1, trial.unwritten.shape[-1])
    if not bool((columns == columns[0]).all()):
        return None
    first = int(columns[0].nonzero()[0])
    sentence = (
        f"Rows longer than one block are not written from column {first} on (at {trial.place}): each program handles "
        f"only the first {first} columns of its row. Loop over the blocks of a row, or start programs for all of them."
    )
    return Diagnosis("first_block_of_a_row", sentence, _right_at(right))


def _unwritten_tail(trial: Trial, trials: Sequence[Trial], right: Sequence[Trial]) -> Diagnosis:
    """Elements that no program wrote: gaps, the last one, all but the first block, or a rest."""
    unwritten = trial.unwritten.reshape(-1)
    first, size, count = int(unwritten.nonzero()[0]), unwritten.numel(), int(unwritten.sum())
    firsts = {int(one.unwritten.reshape(-1).nonzero()[0]) for one in trials}
    missing = f"At {trial.place}, {count} element{'' if count == 1 else 's'} from element {first} on"
    vector = trial.got.dim() == 1  # in a matrix, the elements of a tile are not neighbours
    if vector and count < size - first:
        sentence = (
            f"At {trial.place}, {count} of {_elements(size)} {_was(count)} never written, the first of them element "
            f"{first}, and elements behind it were: the programs leave gaps. A block must begin where the one before "
            "it ends, at `tl.program_id(0) * BLOCK`."
        )
        return Diagnosis("gaps", sentence, _right_at(right))
    if vector and len(trials) > 1 and all(_only_the_last(one.unwritten) for one in trials):
        sentence = (
            f"At every shape the last element of the output was never written (element {first} at {trial.place}): the "
            "mask of `tl.store` leaves it out. Compare with N, and not with N - 1."
        )
        return Diagnosis("last_masked", sentence, _right_at(right))
    if len(trials) > 1 and firsts == {first} and size - first > first:
        sentence = (
            f"Only elements 0 to {first - 1} are written, however long the output is (at {trial.place} it has {size}): "
            "all programs work on the first block. Add `tl.program_id(0) * BLOCK` to the positions."
        )
        return Diagnosis("first_block_only", sentence, _right_at(right))
    if vector and (count > first or any(one.got.numel() % LEAST_BLOCK == 0 for one in trials)):  # no mere rest
        sentence = (
            f"{missing} {_was(count)} never written: the blocks of all programs together end there. The block of a "
            "program must begin at `tl.program_id(0) * BLOCK`, and there must be `triton.cdiv(N, BLOCK)` programs, "
            "with the same BLOCK."
        )
        return Diagnosis("short_blocks", sentence, _right_at(right))
    sentence = (
        f"{missing} {_was(count)} never written: the number of programs is rounded down, so no program has the rest. "
        "Round it up with `triton.cdiv`."
    )
    return Diagnosis("too_few_programs", sentence, _right_at(right))


def _was(count: int) -> str:
    return "was" if count == 1 else "were"


def _added_to(evidence: Evidence, failing: Sequence[Trial], right: Sequence[Trial]) -> Diagnosis | None:
    """Right where the output was 0 before the call, wrong where it held something else."""
    wrong_before = [one for one in failing if any(one.dims == cleared.dims for cleared in evidence.cleared)]
    if not wrong_before or not all(one.right for one in evidence.cleared):
        return None
    sentence = (
        f"At {wrong_before[0].place}, the result is right only if `out` holds 0 before the call: the kernel adds to "
        "what is there. Set `out` to 0 first (`out.zero_()`), or store instead of adding."
    )
    return Diagnosis("adds_to_out", sentence, (f"right at {evidence.cleared[0].place} with an `out` of zeros",))


def _alternative(evidence: Evidence, failing: Sequence[Trial], right: Sequence[Trial]) -> Diagnosis | None:
    """The output of a failing trial is that of a known mistake; the largest output says most."""
    for trial in sorted(failing, key=lambda one: -one.got.numel()):
        for one in trial.alternatives:
            known = torch.isfinite(one.output)
            scale = trial.size
            differs = ~_close(one.output, trial.expected, scale, trial.close) & known
            matches = _close(trial.got, one.output, scale, EXACT if trial.close == CLOSE else trial.close) | ~known
            if bool(matches.all()) and int(differs.sum()) * 4 >= known.numel():
                words = f"At {trial.place}, the output is exactly what {one.words} gives.{ADVICE.get(one.cause, '')}"
                return Diagnosis(one.cause, words, _right_at(right))
    return None


def _overflow(evidence: Evidence, failing: Sequence[Trial], right: Sequence[Trial]) -> Diagnosis | None:
    """Right for small inputs, not finite for large ones."""
    bad = [one for one in evidence.shifted if not bool(torch.isfinite(one.got.double()).all())]
    if failing or not bad:
        return None
    advice = "Subtract the row's maximum before `tl.exp`."
    if evidence.summed:
        advice = "Add in float32, and before `tl.exp` subtract the row's maximum."
    sentence = (
        "Results are right for inputs near 0, and NaN or infinite when 1000 is added to every input: a value on the "
        f"way becomes too large for its dtype (exp(89) overflows float32, and float16 ends at 65504). {advice}"
    )
    return Diagnosis("overflow", sentence, (f"inputs + 1000 at {bad[0].place} give {_odd_values(bad[0].got)}",))


def _cancels(evidence: Evidence, failing: Sequence[Trial], right: Sequence[Trial]) -> Diagnosis | None:
    """Right for small inputs, and without most digits for large ones, which bfloat16 never keeps."""
    if failing or not evidence.shifted or evidence.shifted[0].right or evidence.shifted[0].close != CLOSE:
        return None
    sentence = (
        "Results are right for inputs near 0, and lose digits when 1000 is added to every input: two large numbers are "
        "subtracted whose difference is small. Subtract the mean of the row before you square."
    )
    return Diagnosis("cancellation", sentence, (f"wrong with inputs + 1000 at {evidence.shifted[0].place}",))


def _shifted_tail(evidence: Evidence, right: Sequence[Trial]) -> Diagnosis | None:
    """Large inputs make the small errors of ragged shapes large, and leave whole blocks right."""
    if len(evidence.shifted) < 2 or not evidence.shifted[0].right or evidence.shifted[1].error <= NEARLY:
        return None
    whole, ragged = evidence.shifted
    sentence = (
        f"With 1000 added to every input, the results are right at {whole.place} and wrong at {ragged.place}: the "
        "places behind the end of the row count in a sum. Also set to 0, with `tl.where`, what is computed from these "
        "places before it is added."
    )
    return Diagnosis("tail_counts", sentence, _right_at(right))


def _imprecise(evidence: Evidence, failing: Sequence[Trial], right: Sequence[Trial]) -> Diagnosis | None:
    """Every result is nearly right, and no long sum is quite right.  If all results count as right, the gate wants more
    digits than some of them have.
    """
    if evidence.summed and any(_last_size(one) >= LONG_SUM for one in right):
        return None
    suspects = failing or [one for one in right if one.close == CLOSE and one.error > EXACT]
    errors = [one.error for one in suspects]
    if not errors or not all(error <= NEARLY for error in errors):  # NaN is no small error
        return None
    if found := _shifted_tail(evidence, right):
        return found
    trial = suspects[errors.index(max(errors))]
    dot = ', and give `tl.dot` `input_precision="ieee"`' if evidence.summed and trial.got.dim() == 2 else ""
    sentence = (
        f"Every result is nearly right: at {trial.place} the largest error is {max(errors):.2g} of a typical value. A "
        f"value on the way has fewer digits than float32. Convert what you load with `.to(tl.float32)`, add in "
        f"float32{dot}."
    )
    return Diagnosis("low_precision", sentence, _right_at(right))


def _tail(evidence: Evidence, failing: Sequence[Trial], right: Sequence[Trial]) -> Diagnosis | None:
    """Right where the last size is a multiple of some block, wrong where it is not."""
    wholes = [trial for trial in right if _last_size(trial) % LEAST_BLOCK == 0]
    ragged = [trial for trial in right if _last_size(trial) > LEAST_BLOCK and _last_size(trial) % LEAST_BLOCK]
    if evidence.summed and ragged:  # a sum that is right there does not count what lies behind its end
        return None
    blocks = [1 << power for power in range(4, 14)]
    if not failing or not any(_explains(block, wholes, failing) for block in blocks):
        return None
    name = list(failing[-1].dims)[-1]
    sizes = f"Right at {name} = {_sizes(wholes)}, wrong at {name} = {_sizes(failing)}"
    for trial in reversed(failing):  # a long block may also read memory behind the guard bytes, with any numbers
        if not (factor := _row_factor(trial)):
            continue
        sentence = (
            f"{sizes}, and at {trial.place} every element of a row is {factor} × the expected value: the places behind "
            "the end of the row count in the sum. Give `tl.load` a mask and an `other` that adds nothing."
        )
        return Diagnosis("tail_counts", sentence, _right_at(right))
    behind = (
        f"the last block of {name} reads what lies behind its end, and adds it"
        if evidence.summed
        else (f"the last block reads what lies behind the end of {name}")
    )
    sentence = (
        f"{sizes}: sizes that fill no whole block are wrong, so the tail is not masked in `tl.load`, and {behind}."
    )
    return Diagnosis("unmasked_load", sentence, _right_at(right))


def _explains(block: int, wholes: Sequence[Trial], failing: Sequence[Trial]) -> bool:
    """Return whether some multiple of the block is right and none is wrong."""
    return any(_last_size(one) % block == 0 for one in wholes) and all(_last_size(one) % block for one in failing)


def _last_size(trial: Trial) -> int:
    return trial.dims[list(trial.dims)[-1]]


def _sizes(trials: Sequence[Trial]) -> str:
    return ", ".join(map(str, sorted({_last_size(trial) for trial in trials})))


def _first_block(evidence: Evidence, failing: Sequence[Trial], right: Sequence[Trial]) -> Diagnosis | None:
    """Rows are right up to a length of at least the least block, and wrong beyond it."""
    if not failing or not right:
        return None
    lengths = [(trial.dims[name], trial) for trial in failing for name in list(trial.dims)[-1:]]
    longest = max(trial.dims[list(trial.dims)[-1]] for trial in right)
    shortest, trial = min(lengths, key=lambda pair: pair[0])
    if longest >= shortest or longest < LEAST_BLOCK:
        return None
    name = list(trial.dims)[-1]
    if evidence.summed:
        what = (
            f"only the first block of {name} counts as it should. Loop over the blocks of {name}, and check how the "
            "result so far and the next block are combined."
        )
    else:
        what = (
            "the kernel handles one block of limited length, or combines blocks wrongly. Loop over the further blocks, "
            "or make the block as long as the row."
        )
    sentence = f"Right up to {name}={longest}, wrong from {name}={shortest} on: {what}"
    return Diagnosis("first_block_of_a_row", sentence, _right_at(right))


def _tiles(evidence: Evidence, failing: Sequence[Trial], right: Sequence[Trial]) -> Diagnosis | None:
    """One rectangle of a matrix whose tiles are separate programs is wrong, and the rest right."""
    for trial in failing if evidence.summed else ():
        if trial.got.dim() != 2:
            continue
        rows, columns = trial.wrong.any(dim=1), trial.wrong.any(dim=0)
        share = int(rows.sum()) * int(columns.sum()) / trial.wrong.numel()
        if share <= 0.5 and int(trial.wrong.sum()) >= 0.5 * share * trial.wrong.numel():
            sentence = (
                f"At {trial.place}, the tile of {_places('row', rows)} and {_places('column', columns)} is wrong, and "
                "every other element is right: check the rows and columns that its program computes."
            )
            return Diagnosis("wrong_tile", sentence, _right_at(right))
    return None


def _rows(evidence: Evidence, failing: Sequence[Trial], right: Sequence[Trial]) -> Diagnosis | None:
    """Whole rows are wrong, and the others right."""
    for trial in failing:
        if trial.got.dim() < 2:
            continue
        rows = trial.wrong.any(dim=-1).reshape(-1)
        if 0 < int(rows.sum()) < rows.numel() / 2:
            sentence = (
                f"At {trial.place}, {_rows_words(rows)} of {rows.numel()} is wrong, and every other row is right: "
                "check which row each program computes, and that the grid has a program for every row."
            )
            return Diagnosis("missing_rows", sentence, _right_at(right))
    return None


def _factor(evidence: Evidence, failing: Sequence[Trial], right: Sequence[Trial]) -> Diagnosis | None:
    """All results are wrong by one factor, or those of each row are."""
    if not right and (common := _common_factor(failing)):
        what = "a sum is counted more than once, or scaled" if evidence.summed else "it is scaled"
        sentence = f"At every shape every result is {common} × the expected value: {what}."
        return Diagnosis("wrong_factor", sentence, _right_at(right))
    for trial in failing:
        if factor := _row_factor(trial):
            sentence = (
                f"At {trial.place}, every element of a row is {factor} × the expected value: what the row is divided "
                "or multiplied by is wrong."
            )
            return Diagnosis("wrong_factor", sentence, _right_at(right))
    return None


def _depends_on_out(evidence: Evidence, failing: Sequence[Trial], right: Sequence[Trial]) -> Diagnosis | None:
    """Two calls with the same inputs differ, and the output held something else before."""
    for trial in failing:
        if trial.changing:
            sentence = (
                f"At {trial.place}, {trial.changing} of {trial.got.numel()} elements depend on what `out` held before "
                "the call: the kernel uses a place that it has not written yet, such as one that an earlier launch "
                "leaves out."
            )
            return Diagnosis("depends_on_out", sentence, _right_at(right))
    return None


_BY_SIZE = (_tiles, _tail, _first_block, _rows, _factor, _depends_on_out)
"""The rules that compare shapes and places, after those that compare values."""


def _unknown(failing: Sequence[Trial]) -> Diagnosis:
    if not failing:
        sentence = (
            "The results are right or nearly right for normal inputs, and the gate asks for more digits, or for "
            "special inputs: its sentence below names both. If it names an error, add in float32."
        )
        return Diagnosis("unknown", sentence)
    trial = failing[0]
    wrong = trial.wrong.nonzero()
    first = tuple(int(one) for one in wrong[0])
    index = ", ".join(map(str, first))
    sentence = (
        f"At {trial.place}, {len(wrong)} of {_elements(trial.got.numel())} {'is' if len(wrong) == 1 else 'are'} wrong. "
        f"Element [{index}] should be {float(trial.expected[first]):.6g} and is {float(trial.got[first]):.6g}."
    )
    return Diagnosis("unknown", sentence)


def _elements(count: int) -> str:
    return f"{count} element{'' if count == 1 else 's'}"


def _close(got: Any, expected: Any, scale: float, share: float = CLOSE) -> Any:
    """Return where two tensors are equal but for a small share of the scale."""
    return (got.double() - expected.double()).abs() <= share * scale


def _scale(expected: Any) -> float:
    finite = expected[torch.isfinite(expected)]
    return max(float(finite.abs().max()), 1e-30) if finite.numel() else 1.0


def _common_factor(failing: Sequence[Trial]) -> str:
    """Return the factor by which every result of every trial is wrong: `2`; empty when there is none."""
    if sum(one.got.numel() for one in failing) < 3:  # any one result is wrong by some factor
        return ""
    ratios = torch.cat([(one.got.double() / one.expected).reshape(-1) for one in failing])
    middle = ratios.median()
    near = (ratios - middle).abs() <= 1e-3 * middle.abs()
    return f"{float(middle):.3g}" if bool((near & torch.isfinite(ratios)).all()) else ""


def _row_factor(trial: Trial) -> str:
    """Return the factor by which whole rows are wrong: `0.97` or `0.91 to 0.97`; empty when no factor explains them."""
    if trial.got.dim() < 2 or trial.got.shape[-1] < 3:
        return ""
    ratio = trial.got.double() / trial.expected
    middle = ratio.median(dim=-1, keepdim=True).values
    if not bool(torch.isfinite(ratio).all()) or not bool(((ratio - middle).abs() <= 1e-3 * middle.abs()).all()):
        return ""
    low, high = f"{float(middle.min()):.3g}", f"{float(middle.max()):.3g}"
    return low if low == high else f"{low} to {high}"


def _rows_words(rows: Any) -> str:
    places = [int(one) for one in rows.nonzero().reshape(-1)]
    if len(places) == 1:
        return f"row {places[0]}{' (the last)' if places[0] == rows.numel() - 1 else ''}"
    return f"rows {places[0]} to {places[-1]}"


def _places(name: str, side: Any) -> str:
    """Return the places of a side that are true: `row 3`, or `columns 64 to 127`."""
    places = [int(one) for one in side.nonzero().reshape(-1)]
    return f"{name} {places[0]}" if len(places) == 1 else f"{name}s {places[0]} to {places[-1]}"


def _odd_values(got: Any) -> str:
    return "NaN" if bool(torch.isnan(got.double()).any()) else "infinity"


def _right_at(right: Sequence[Trial]) -> tuple[str, ...]:
    return (f"right at {'; '.join(trial.place for trial in right)}",) if right else ("right at no shape",)
