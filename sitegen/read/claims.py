"""Read the argument of a `{claim}` into a `Claim`.

    claim = kernel/name predicate [@ cell, …] [on GPU, …]     softmax/fused >= 1.5x torch @ 8192x8192:float32

A cell or a GPU may be `all`.  The predicates are listed in `FORMS`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from sitegen.diagnostics import near_words
from sitegen.model.figure_table import FIGURES, FIGURES_WITH_NAME, OTHER_NAMES, Unit
from sitegen.model.value import FIRST_CELL, CellName, Claim, Relation
from sitegen.read.values import OPERATOR, ValueMistake, figure_name, parse_cell, parse_subject, parse_value

FORMS = (
    "`>= 1.5x torch`",
    "`>= 0.98 of-copy`",
    "`bandwidth >= 4 TB/s`",
    "`between 1.4 and 1.6 x torch`",
    "`faster than torch`",
    "`slower than torch`",
    "`within 1 % of rows`",
    "`fastest`",
    "`fastest implementation`",
    "`memory-bound`",
    "`compute-bound`",
    "`no spills`",
    "`registers <= 64`",
    "`uses HGMMA`",
    "`uses no LDL`",
    "`softmax/naive time / softmax/fused time >= 1.2`",
)
"""An example of each predicate."""
_CELLS = re.compile(r"\s*@\s*((?:[^\s,@\[]+(?:\[[^\]]*\])?)(?:\s*,\s*[^\s,@\[]+(?:\[[^\]]*\])?)*)")
_ON = re.compile(r"\s+on\s+([\w.-]+(?:\s*,\s*[\w.-]+)*)(?=\s*(?:@|$))")
_COMMA = re.compile(r"\s*,\s*(?![^\[]*\])")
_NUMBER = r"(\d+(?:\.\d+)?)"
_BETWEEN = re.compile(rf"(?:(?P<figure>.+?)\s+)?between\s+{_NUMBER}\s+and\s+(?P<bound>.+)")
_COMPARED = re.compile(r"(?:(?P<figure>[^<>=]+?)\s*)?(?P<sign>>=|<=|>|<)\s*(?P<bound>.+)")
_BOUND = re.compile(rf"{_NUMBER}\s*(?P<unit>.*)")
_TIMES = re.compile(r"[x×]\s+(\S+)")
_SCALES: Mapping[str, tuple[Unit, float]] = {
    "TB/s": (Unit.BYTES_PER_S, 1e12),
    "GB/s": (Unit.BYTES_PER_S, 1e9),
    "PFLOP/s": (Unit.FLOPS_PER_S, 1e15),
    "TFLOP/s": (Unit.FLOPS_PER_S, 1e12),
    "GFLOP/s": (Unit.FLOPS_PER_S, 1e9),
    "µs": (Unit.MICROSECONDS, 1.0),
    "us": (Unit.MICROSECONDS, 1.0),
    "ms": (Unit.MICROSECONDS, 1e3),
    "%": (Unit.SHARE, 0.01),
    "x": (Unit.RATIO, 1.0),
    "×": (Unit.RATIO, 1.0),
    "B": (Unit.BYTES, 1.0),
    "KB": (Unit.BYTES, 1e3),
    "MB": (Unit.BYTES, 1e6),
    "GB": (Unit.BYTES, 1e9),
    "MHz": (Unit.MEGAHERTZ, 1.0),
    "GHz": (Unit.MEGAHERTZ, 1e3),
    "W": (Unit.WATTS, 1.0),
}
_FIGURE_OF_UNIT = {
    Unit.BYTES_PER_S: "bandwidth",
    Unit.FLOPS_PER_S: "operations",
    Unit.MICROSECONDS: "time",
}
"""The figure that a unit alone stands for."""
_ALONE = frozenset({Relation.FASTEST, Relation.FASTEST_IMPLEMENTATION, Relation.MEMORY_BOUND, Relation.COMPUTE_BOUND})
"""The predicates without a bound."""
_WITHOUT_NAMES = frozenset({*_ALONE, "no spills"})
"""The predicates that are the same in every claim; each other form has a name or a number of its claim."""
_FASTER_BY = re.compile(
    r"(?:(?:is|was|runs) )?(?P<number>\d+(?:\.\d+)?) ?(?P<sign>%|x|×|times) faster than (?P<name>\S+)"
)
_VERBS = frozenset({"is", "was", "runs"})
"""Verbs with which a sentence says a predicate, and a claim does not."""
Predicate = tuple[Relation, str, str, tuple[float, ...]]
"""Relation, figure, the name behind the figure, and bounds."""


def parse_claim(text: str) -> Claim:
    """Return the claim.  Raises ValueMistake."""
    rest = text.strip()
    on = _ON.search(rest)
    gpus = tuple(_COMMA.split(on[1])) if on else ()
    rest = rest[: on.start()] + rest[on.end() :] if on else rest
    if (compared := _COMPARED.fullmatch(rest)) and OPERATOR.search(compared["figure"] or ""):
        return _of_arithmetic(text, compared, gpus)
    at = _CELLS.search(rest)
    cells: tuple[CellName, ...] = tuple(map(parse_cell, _COMMA.split(at[1]))) if at else (FIRST_CELL,)
    rest = f"{rest[: at.start()]} {rest[at.end() :]}" if at else rest
    subject, _, predicate = " ".join(rest.split()).partition(" ")
    kernel, name = parse_subject(subject)
    relation, figure, argument, bounds = _predicate(predicate, text)
    return Claim(text.strip(), kernel, name, relation, figure, argument, bounds, cells, gpus=gpus)


def _of_arithmetic(text: str, compared: re.Match[str], gpus: tuple[str, ...]) -> Claim:
    """Return a claim about arithmetic over figures: `softmax/naive time / softmax/fused time >= 1.2`."""
    value = parse_value(compared["figure"])
    match = _BOUND.fullmatch(compared["bound"].strip())
    if not match:
        raise ValueMistake("this is not a number with a unit", compared["bound"], "write `>= 1.2`")
    bound = float(match[1]) * _scale(match["unit"].strip(), value.unit, compared["bound"])
    first = value.references[0]
    return Claim(
        text.strip(), first.kernel, first.name, Relation(compared["sign"]), bounds=(bound,), gpus=gpus, value=value
    )


def _predicate(text: str, whole: str) -> Predicate:
    if found := _known_predicate(text):
        return found
    raise ValueMistake(
        "this is not a claim that a record can decide", text or whole, _as_ratio(text, whole) or _nearest_form(text)
    )


def _known_predicate(text: str) -> Predicate | None:
    if text in _ALONE:
        return Relation(text), "", "", ()
    for pattern, make in _WORDS:
        if match := re.fullmatch(pattern, text):
            return make(match)
    if match := _BETWEEN.fullmatch(text):
        return _between(match)
    if match := _COMPARED.fullmatch(text):
        figure, argument, bound = _bound(match["figure"] or "", match["bound"])
        return Relation(match["sign"]), figure, argument, (bound,)
    return None


def _as_ratio(text: str, whole: str) -> str:
    """Return the hint for a claim in percent or in times, as `10% faster than torch`; empty for another text."""
    if not (match := _FASTER_BY.fullmatch(text)):
        return ""
    subject, number = whole.split()[0], float(match["number"])
    ratio = 1 + number / 100 if match["sign"] == "%" else number
    name = match["name"].removeprefix(f"{subject.partition('/')[0]}/")
    return f"a claim is a ratio: write `{subject} >= {ratio:.4g}x {name}`"


def _nearest_form(text: str) -> str:
    """Return the hint: the text without its verb, if that is a predicate, or the form that is nearest to the text."""
    verb, _, rest = text.partition(" ")
    if verb in _VERBS and _known_predicate(rest):
        return f"leave out `{verb}`: write `{rest}`"
    near = near_words(text, [one.strip("`") for one in FORMS])
    if not near:
        return f"write one of: {', '.join(FORMS)}"
    return f"did you mean `{near[0]}`?" if near[0] in _WITHOUT_NAMES else f"write it in the form of `{near[0]}`"


def _between(match: re.Match[str]) -> Predicate:
    figure, argument, high = _bound(match["figure"] or "", match["bound"])
    unit = _BOUND.match(match["bound"])
    low = _bound(match["figure"] or "", f"{match[2]} {unit['unit'] if unit else ''}".strip())[2]
    if low > high:
        raise ValueMistake("the first bound is larger than the second", match[2], "write the smaller one first")
    return Relation.BETWEEN, figure, argument, (low, high)


def _bound(written: str, text: str) -> tuple[str, str, float]:
    """Return the figure, the name behind it and a bound in the figure's unit.

    `written` is the figure before the sign; when it is empty, the unit says which figure is meant.
    """
    match = _BOUND.fullmatch(text.strip())
    if not match:
        raise ValueMistake(f"`{text}` is not a number with a unit", text, "write `1.5x torch` or `4 TB/s`")
    number, unit = float(match[1]), match["unit"].strip()
    if written:
        figure, argument = _written_figure(written)
        expected = {**FIGURES, **FIGURES_WITH_NAME}[figure]
        return figure, argument, round(number * _scale(unit, expected, text), 12)
    if times := _TIMES.fullmatch(unit):
        return "x", times[1], number
    share, _, name = unit.rpartition(" ")
    if (figure := OTHER_NAMES.get(name, name)) in FIGURES and share in ("", "%"):
        return figure, "", number / (100 if share else 1)
    if unit in _SCALES and (figure := _FIGURE_OF_UNIT.get(_SCALES[unit][0], "")):
        return figure, "", number * _SCALES[unit][1]
    hint = "write `>= 1.5x torch`, `>= 0.98 of-copy`, `registers <= 64` or `bandwidth >= 4 TB/s`"
    raise ValueMistake(f"`{text}` does not say which figure is meant", text, hint)


def _written_figure(words: str) -> tuple[str, str]:
    first, _, argument = words.partition(" ")
    figure = figure_name(first, needs_name=True)
    if bool(argument) is not (figure in FIGURES_WITH_NAME):
        raise ValueMistake(f"`{words}` is not a figure", words, "write `x torch` or `instructions HGMMA`")
    return figure, argument.strip()


def _scale(unit: str, expected: Unit, text: str) -> float:
    """Return the factor from a written unit to that of a figure.  Raises ValueMistake."""
    if unit in _SCALES and _SCALES[unit][0] is expected:
        return _SCALES[unit][1]
    if unit == "" and expected in (Unit.COUNT, Unit.RATIO, Unit.SHARE, Unit.ERROR):
        return 1.0
    units = [f"`{name}`" for name, (kind, _) in _SCALES.items() if kind is expected]
    raise ValueMistake(f"`{text}` has no unit of this figure", text, f"write {' or '.join(units) or 'a plain number'}")


def _compared(sign: Relation) -> Callable[[re.Match[str]], Predicate]:
    return lambda match: (sign, "x", match[1], (1.0,))


def _within(match: re.Match[str]) -> Predicate:
    share = float(match[1]) / 100
    return Relation.BETWEEN, "x", match[2], (1 - share, 1 + share)


def _uses(match: re.Match[str]) -> Predicate:
    relation, bound = (Relation.AT_MOST, 0.0) if match[1] else (Relation.AT_LEAST, 1.0)
    return relation, "instructions", match[2], (bound,)


_WORDS: tuple[tuple[str, Callable[[re.Match[str]], Predicate]], ...] = (
    ("no spills", lambda _: (Relation.AT_MOST, "spills", "", (0.0,))),
    (r"uses (no )?(\S+)", _uses),
    (r"faster than (\S+)", _compared(Relation.ABOVE)),
    (r"slower than (\S+)", _compared(Relation.BELOW)),
    (rf"within {_NUMBER} ?% of (\S+)", _within),
)
"""The predicates made of words, by their patterns."""
