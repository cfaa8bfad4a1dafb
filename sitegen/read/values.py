"""Read the text of a role `{value}` or `{predicted}` into a `ValueExpression`.

    value     = reference (operator reference)*         an operator is + - * / between spaces
    reference = kernel/name[@cell] figure [on GPU]      softmax/fused@8192x8192:float32 bandwidth
              | ceiling NAME [on GPU]                   ceiling read
              | machine FACT [on GPU]                   machine driver
    cell      = workload[:dtype][[param=value,…]]       the kernel's first workload and dtype without it

A number may stand in the place of a reference.  A GPU at the last reference is that of each that names none.  The
names of kernels, implementations, workloads, dtypes and GPUs are checked when the site is linked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from difflib import get_close_matches

from sitegen.diagnostics import did_you_mean
from sitegen.model.figure_table import (
    CEILING_NAMES,
    FIGURES,
    FIGURES_WITH_NAME,
    MACHINE,
    OTHER_NAMES,
    Unit,
)
from sitegen.model.value import FIRST_CELL, CellName, FigureReference, Source, ValueExpression

MOST_REFERENCES = 6
OPERATOR = re.compile(r"\s+([-+*/])\s+")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_CELL = re.compile(r"(?P<workload>[^\s:\[\]]+)(?::(?P<dtype>[^\s:\[\]]+))?(?:\[(?P<params>[^\[\]]*)\])?")
_ON = re.compile(r"\s+on\s+(\S+)$")
_PLAIN = frozenset({Unit.SHARE, Unit.RATIO, Unit.COUNT})
"""Units without a dimension, to which a number can be added."""
_COMMON = ("bandwidth", "of-ceiling", "of-copy")
"""The figures that texts show most often, beside the time."""
_FORM = "write `softmax/fused@8192x8192:float32 bandwidth`, `ceiling read` or `machine driver`"


class ValueMistake(ValueError):
    """A mistake in the text of a value or a claim; `word` is the part of the text that is wrong."""

    def __init__(self, message: str, word: str, hint: str = "") -> None:
        super().__init__(message)
        self.message, self.word, self.hint = message, word, hint


class NoFigure(ValueMistake):
    """The text names an implementation, and no figure of it."""


def split_given(text: str) -> tuple[str, str]:
    """Return the figure and the source of `{given}`: `2.4 TB/s; arithmetic`.  A source may have semicolons."""
    figure, _, source = text.partition(";")
    return figure.strip(), source.strip()


def parse_value(text: str, *, is_predicted: bool = False) -> ValueExpression:
    """Return the expression of a role.  Raises ValueMistake.

    For a prediction the figure may be left out: an author predicts a share of the ceiling.
    """
    try:
        return _expression(text, is_predicted)
    except ValueMistake as mistake:
        if not (found := _with_spaces(text.strip(), is_predicted)):
            raise
        sign, spaced = found
        message = f"`{sign}` needs a space on either side"
        raise ValueMistake(message, mistake.word, f"write `{spaced}`") from mistake


def _with_spaces(text: str, is_predicted: bool) -> tuple[str, str] | None:
    """Return the sign that lacks spaces and the text with them, when that one change makes the text an expression."""
    for sign in re.finditer(r"[-+*/]", text):
        spaced = f"{text[: sign.start()].rstrip()} {sign[0]} {text[sign.end() :].lstrip()}"
        with suppress(ValueMistake):
            _expression(spaced, is_predicted)
            return sign[0], spaced
    return None


def _expression(text: str, is_predicted: bool) -> ValueExpression:
    """Return the expression of a text whose operators stand between spaces.  Raises ValueMistake."""
    parts = OPERATOR.split(text.strip())
    operands, signs = parts[::2], parts[1::2]
    default = "of-ceiling" if is_predicted else ""
    references = [None if _NUMBER.fullmatch(one) else _reference(one, default) for one in operands]
    units = [one.unit if one else None for one in references]
    named = _on_last_gpu([one for one in references if one])
    if not named:
        raise ValueMistake("this names no figure of a record", text, _FORM)
    if len(named) > MOST_REFERENCES:
        raise ValueMistake(f"more than {MOST_REFERENCES} figures", text, "say it in two sentences")
    if is_predicted and any(one.figure != "of-ceiling" for one in named):
        raise ValueMistake(
            "a prediction is a share of the ceiling", text, "leave the figure out, or write `of-ceiling`"
        )
    unit = _unit_of_sum(units, signs, text)
    formula = _formula(operands, [one is not None for one in references], signs)
    return ValueExpression(text.strip(), formula, named, unit, is_predicted)


def parse_cell(text: str) -> CellName:
    """Return the cell of `8192x8192:float32[causal=True]`.  Raises ValueMistake."""
    match = _CELL.fullmatch(text)
    if not match:
        raise ValueMistake(f"`{text}` is not a workload and a dtype", text, "write `8192x8192:float32`")
    pairs = [pair.partition("=") for pair in (match["params"] or "").split(",") if pair.strip()]
    for name, sign, value in pairs:
        if not (name.strip() and sign and value.strip()):
            raise ValueMistake(f"`{name}` is not a parameter with its value", name, "write `[causal=True]`")
    params = tuple((name.strip(), value.strip()) for name, _, value in pairs)
    return CellName(match["workload"], match["dtype"] or "", params)


def parse_subject(word: str) -> tuple[str, str]:
    """Return kernel and implementation of `softmax/fused`.  Raises ValueMistake."""
    kernel, slash, name = word.partition("/")
    if not (kernel and slash and name) or "/" in name:
        raise ValueMistake(f"`{word}` is not a kernel and an implementation", word, _FORM)
    return kernel, name


def figure_name(word: str, *, needs_name: bool = False) -> str:
    """Return the figure of a word, which may be another name of it.  Raises ValueMistake."""
    name = OTHER_NAMES.get(word, word)
    if name in FIGURES or (needs_name and name in FIGURES_WITH_NAME):
        return name
    known = [*FIGURES, *(f"{one} …" for one in FIGURES_WITH_NAME)]
    near = get_close_matches(word, [*FIGURES, *OTHER_NAMES], n=1, cutoff=0.75)  # `speed` is not `spilled`
    hint = f"did you mean `{near[0]}`?" if near else f"known: {', '.join(f'`{one}`' for one in known)}"
    raise ValueMistake(f"unknown figure `{word}`", word, hint)


def _reference(text: str, default: str) -> FigureReference:
    on = _ON.search(text)
    gpu, words = on[1] if on else "", (text[: on.start()] if on else text).split()
    if words and words[0] in ("ceiling", "machine"):
        return _fact(words, gpu, text)
    return _figure_of_evaluation(re.sub(r"\s*@\s*", " @", " ".join(words)).split(), gpu, text, default)


def _on_last_gpu(references: Sequence[FigureReference]) -> tuple[FigureReference, ...]:
    """Return the references, those that name no GPU with the GPU of the last one."""
    return tuple(one if one.gpu else replace(one, gpu=references[-1].gpu) for one in references)


def _fact(words: list[str], gpu: str, text: str) -> FigureReference:
    kind, *names = words
    known = CEILING_NAMES if kind == "ceiling" else MACHINE
    if len(names) != 1:
        raise ValueMistake(f"`{kind}` needs one name behind it", text, f"known: {_listed(known)}")
    if names[0] not in known:
        hint = did_you_mean(names[0], known) or f"known: {_listed(known)}"
        raise ValueMistake(f"unknown {'ceiling' if kind == 'ceiling' else 'fact'} `{names[0]}`", names[0], hint)
    return FigureReference(Source(kind), names[0], gpu=gpu)


def _figure_of_evaluation(words: list[str], gpu: str, text: str, default: str) -> FigureReference:
    cells = [word for word in words if word.startswith("@")]
    subject, *figure = [word for word in words if not word.startswith("@")] or [text]
    if len(cells) > 1:
        raise ValueMistake("a figure belongs to one workload", cells[1], "leave one of the two out")
    kernel, name = parse_subject(subject)
    cell = parse_cell(cells[0].removeprefix("@")) if cells else FIRST_CELL
    if not figure and default:
        figure = [default]
    if not figure or len(figure) > 2:
        raise NoFigure("this names no figure", text, _with_a_figure(subject, cells, gpu))
    found, argument = figure_name(figure[0], needs_name=True), " ".join(figure[1:])
    if bool(argument) is not (found in FIGURES_WITH_NAME):
        wrong = f"`{found}` needs a name behind it" if not argument else f"`{found}` has no name behind it"
        raise ValueMistake(wrong, argument or found, "write `x torch` or `instructions HGMMA`")
    return FigureReference(Source.EVALUATION, found, kernel, name, cell, argument, gpu)


def _with_a_figure(subject: str, cells: Sequence[str], gpu: str) -> str:
    """Return the hint for a text without a figure: the text with `time`, and the other figures, common ones first."""
    example = f"{subject}{''.join(cells)} time{f' on {gpu}' if gpu else ''}"
    others = [one for one in FIGURES if one not in ("time", *_COMMON)]
    return f"write a figure behind the name: `{example}`; or {_listed(_COMMON)}, `x torch`; also {_listed(others)}"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _formula(operands: list[str], are_named: list[bool], signs: list[str]) -> str:
    words, at = [], 0
    for operand, named in zip(operands, are_named, strict=True):
        words.append(f"v{at}" if named else operand)
        at += named
    return " ".join(word for pair in zip(words, [*signs, ""], strict=True) for word in pair).strip()


def _unit_of_sum(units: list[Unit | None], signs: list[str], text: str) -> Unit:
    """Return the unit of a formula without brackets; None is that of a number.  Raises ValueMistake."""
    terms: list[Unit | None] = [units[0]]
    for sign, unit in zip(signs, units[1:], strict=True):
        if sign in "+-":
            terms.append(unit)
        else:
            terms[-1] = _unit_of_product(terms[-1], sign, unit, text)
    known = dict.fromkeys(unit for unit in terms if unit)
    if len(known) > 1 or (None in terms and not known.keys() <= _PLAIN):
        raise ValueMistake("figures with different units are added or subtracted", text, "use figures of one unit")
    return next(iter(known), Unit.RATIO)


def _unit_of_product(left: Unit | None, sign: str, right: Unit | None, text: str) -> Unit | None:
    if Unit.TEXT in (left, right) or Unit.ERROR in (left, right):
        raise ValueMistake("there is no arithmetic with a name or an error", text)
    if right is None:
        return left
    if sign == "/" and left is right:
        return Unit.RATIO
    if sign == "/" and (left is None or left in _PLAIN) and right in _PLAIN:
        return Unit.RATIO
    if right in _PLAIN and left is not None:
        return left
    if sign == "*" and (left is None or left in _PLAIN):
        return right
    raise ValueMistake("the quotient or product of these units has no name", text, "divide figures of one unit")
