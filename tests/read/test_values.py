"""The texts of `{value}`, `{predicted}` and `{claim}` become figures and claims, or are refused at the wrong word."""

from __future__ import annotations

import pytest

from sitegen.model.figure_table import FIGURES, Unit
from sitegen.model.value import ALL, CellName, Relation, Source
from sitegen.read.claims import FORMS, parse_claim
from sitegen.read.values import ValueMistake, parse_value


@pytest.mark.parametrize(
    ("text", "wrong", "hint"),
    [
        ("", "", "write `softmax/fused@"),
        ("time", "time", "write `softmax/fused@"),
        ("softmax time", "softmax", "write `softmax/fused@"),
        ("a/b/c time", "a/b/c", "write `softmax/fused@"),
        (
            "softmax/fused",
            "softmax/fused",
            "write a figure behind the name: `softmax/fused time`; or `bandwidth`, `of-ceiling`",
        ),
        ("softmax/fused tiem", "tiem", "did you mean `time`?"),
        ("softmax/fused reg", "reg", "did you mean `regs`?"),
        ("softmax/fused x", "x", "write `x torch`"),
        ("softmax/fused time torch", "torch", "write `x torch`"),
        ("softmax/fused@8x8 @9x9 time", "@9x9", "leave one of the two out"),
        ("softmax/fused@8x8[causal] time", "causal", "write `[causal=True]`"),
        ("softmax/fused@8x8: time", "8x8:", "write `8192x8192:float32`"),
        ("sum/shared time/sum/best time", "time/sum/best", "write `sum/shared time / sum/best time`"),
        ("a/b of-copy- a/c of-copy", "a/b of-copy- a/c of-copy", "write `a/b of-copy - a/c of-copy`"),
        ("a/b time*a/c bandwidth", "time*a/c", "known: `time`"),
        ("ceiling", "ceiling", "known: `read`"),
        ("ceiling raed", "raed", "did you mean `read`?"),
        ("machine drivre on h200", "drivre", "did you mean `driver`?"),
        ("a/b time + a/b bandwidth", "a/b time + a/b bandwidth", "use figures of one unit"),
        ("a/b bandwidth / a/b time", "a/b bandwidth / a/b time", "divide figures of one unit"),
        ("a/b time + 1", "a/b time + 1", "use figures of one unit"),
        ("machine torch / 2", "machine torch / 2", ""),
        ("2 * 3", "2 * 3", "write `softmax/fused@"),
        (" + ".join(["a/b time"] * 7), " + ".join(["a/b time"] * 7), "say it in two sentences"),
    ],
)
def test_a_figure_that_cannot_be_read_is_refused_at_its_word(text: str, wrong: str, hint: str) -> None:
    with pytest.raises(ValueMistake) as mistake:
        parse_value(text)
    assert mistake.value.word == wrong
    assert mistake.value.hint.startswith(hint)


def test_a_figure_has_a_cell_a_name_and_a_gpu_only_where_they_are_written() -> None:
    [short] = parse_value("softmax/fused bandwidth").references
    assert (short.kernel, short.name, short.figure, short.cell, short.gpu) == (
        "softmax",
        "fused",
        "bandwidth",
        CellName(),
        "",
    )
    [whole] = parse_value("attention/best@2x16x8192:bfloat16[causal=True,scale=2] x torch on h200").references
    assert whole.cell == CellName("2x16x8192", "bfloat16", (("causal", "True"), ("scale", "2")))
    assert (whole.name, whole.figure, whole.argument, whole.gpu) == ("best", "x", "torch", "h200")
    assert (
        parse_value("softmax/fused bandwidth @ 8x8").references == parse_value("softmax/fused@8x8 bandwidth").references
    )


def test_names_with_hyphens_dots_and_slashes_are_no_arithmetic() -> None:
    value = parse_value("softmax/torch.compile-max-autotune of-copy")
    assert (value.formula, value.references[0].name) == ("v0", "torch.compile-max-autotune")


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_of_the_table_can_be_written(name: str) -> None:
    assert parse_value(f"softmax/fused {name}").unit is FIGURES[name]


@pytest.mark.parametrize(
    ("text", "formula", "unit"),
    [
        ("a/b time / a/c time", "v0 / v1", Unit.RATIO),
        ("a/b time - a/c time", "v0 - v1", Unit.MICROSECONDS),
        ("1 - a/b of-copy", "1 - v0", Unit.SHARE),
        ("a/b dram-bytes / 2", "v0 / 2", Unit.BYTES),
        ("2 * a/b registers", "2 * v0", Unit.COUNT),
        ("a/b bandwidth / ceiling read", "v0 / v1", Unit.RATIO),
        ("1 / a/b re-read", "1 / v0", Unit.RATIO),
        ("a/b bandwidth * a/b re-read", "v0 * v1", Unit.BYTES_PER_S),
    ],
)
def test_arithmetic_has_the_unit_of_its_result(text: str, formula: str, unit: Unit) -> None:
    value = parse_value(text)
    assert (value.formula, value.unit) == (formula, unit)


def test_facts_of_a_machine_and_its_ceilings_are_figures() -> None:
    assert parse_value("machine driver").references[0].source is Source.MACHINE
    ceiling = parse_value("ceiling bf16 on nvidia-h200")
    assert (ceiling.references[0].source, ceiling.unit) == (Source.CEILING, Unit.FLOPS_PER_S)


def test_a_prediction_is_a_share_of_the_ceiling() -> None:
    assert parse_value("softmax/fused", is_predicted=True).references[0].figure == "of-ceiling"
    with pytest.raises(ValueMistake, match="a prediction is a share of the ceiling"):
        parse_value("softmax/fused time", is_predicted=True)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("", ""),
        ("softmax/fused", "softmax/fused"),
        ("fused >= 2x torch", "fused"),
        ("softmax/fused fastes", "fastes"),
        ("softmax/fused is fast", "is fast"),
        ("softmax/fused >= 64", "64"),
        ("softmax/fused >= 2 y torch", "2 y torch"),
        ("softmax/fused >= many", "many"),
        ("softmax/fused tiem <= 3 µs", "tiem"),
        ("softmax/fused registers <= 64 ms", "64 ms"),
        ("softmax/fused x >= 2", "x"),
        ("softmax/fused of-copy between 95 and 90 %", "95"),
        ("a/b time / a/c time >= 2 µs", "2 µs"),
    ],
)
def test_a_claim_that_no_record_can_decide_is_refused_at_its_word(text: str, wrong: str) -> None:
    with pytest.raises(ValueMistake) as mistake:
        parse_claim(text)
    assert mistake.value.word == wrong


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("is", "write one of: "),
        ("is fast", "write one of: "),
        ("is faster than shared", "leave out `is`: write `faster than shared`"),
        ("is memory-bound", "leave out `is`: write `memory-bound`"),
        ("fastr than shared", "write it in the form of `faster than torch`"),
        ("no spill", "did you mean `no spills`?"),
    ],
)
def test_the_hint_for_a_claim_never_puts_a_name_of_another_in_its_place(text: str, hint: str) -> None:
    with pytest.raises(ValueMistake) as mistake:
        parse_claim(f"sum/vec4 {text}")
    assert mistake.value.hint.startswith(hint)


@pytest.mark.parametrize("form", FORMS)
def test_every_form_that_a_hint_names_is_a_claim(form: str) -> None:
    text = form.strip("`")
    assert parse_claim(text if "/naive" in text else f"softmax/fused {text}").kernel == "softmax"


@pytest.mark.parametrize(
    ("text", "figure", "relation", "bounds"),
    [
        (">= 1.5x torch", "x", Relation.AT_LEAST, (1.5,)),
        (">= 1.5 × torch", "x", Relation.AT_LEAST, (1.5,)),
        ("x torch > 1.5", "x", Relation.ABOVE, (1.5,)),
        (">= 98 % of-copy", "of-copy", Relation.AT_LEAST, (0.98,)),
        ("of-copy between 90 and 95 %", "of-copy", Relation.BETWEEN, (0.9, 0.95)),
        ("<= 0.5 ms", "time", Relation.AT_MOST, (500.0,)),
        (">= 4 TB/s", "bandwidth", Relation.AT_LEAST, (4e12,)),
        ("regs <= 64", "registers", Relation.AT_MOST, (64.0,)),
        ("<= 64 registers", "registers", Relation.AT_MOST, (64.0,)),
        ("no spills", "spills", Relation.AT_MOST, (0.0,)),
        ("uses HGMMA", "instructions", Relation.AT_LEAST, (1.0,)),
        ("uses no LDL", "instructions", Relation.AT_MOST, (0.0,)),
        ("faster than torch", "x", Relation.ABOVE, (1.0,)),
        ("slower than torch", "x", Relation.BELOW, (1.0,)),
        ("within 1 % of rows", "x", Relation.BETWEEN, (0.99, 1.01)),
        ("fastest", "", Relation.FASTEST, ()),
    ],
)
def test_a_claim_has_a_figure_a_relation_and_bounds_in_the_unit_of_the_figure(
    text: str, figure: str, relation: Relation, bounds: tuple[float, ...]
) -> None:
    claim = parse_claim(f"softmax/fused {text}")
    assert (claim.figure, claim.relation, claim.bounds) == (figure, relation, bounds)


def test_a_claim_is_about_cells_and_gpus() -> None:
    claim = parse_claim("softmax/fused >= 1.5x torch @ 8x8:float32, 9x9:all[causal=True] on nvidia-h200, h100")
    assert claim.cells == (CellName("8x8", "float32"), CellName("9x9", ALL, (("causal", "True"),)))
    assert claim.gpus == ("nvidia-h200", "h100")
    assert parse_claim("softmax/fused@8x8 fastest on all").gpus == (ALL,)
    either = (parse_claim("softmax/fused fastest on all @ 8x8"), parse_claim("softmax/fused fastest @ 8x8 on all"))
    assert [(one.cells, one.gpus) for one in either] == [((CellName("8x8"),), (ALL,))] * 2


def test_a_claim_may_compare_arithmetic_with_a_bound() -> None:
    claim = parse_claim("softmax/naive@8x8 time / softmax/fused@9x9 time >= 1.2 on h200")
    assert claim.value is not None
    assert (claim.value.formula, claim.relation, claim.bounds, claim.gpus) == (
        "v0 / v1",
        Relation.AT_LEAST,
        (1.2,),
        ("h200",),
    )
    assert [one.cell.workload for one in claim.value.references] == ["8x8", "9x9"]


@pytest.mark.parametrize(
    ("text", "gpus"),
    [
        ("a/b time / a/c time on h100", ["h100", "h100"]),
        ("a/b time - a/c time on h100 * 2", ["h100", "h100"]),
        ("a/b time on h200 + a/c time - a/d time on h100", ["h200", "h100", "h100"]),
        ("a/b bandwidth / ceiling read on h100", ["h100", "h100"]),
        ("a/b time on h100 / a/c time", ["h100", ""]),
        ("a/b time / a/c time", ["", ""]),
    ],
)
def test_a_gpu_at_the_end_is_that_of_each_figure_that_names_none(text: str, gpus: list[str]) -> None:
    assert [one.gpu for one in parse_value(text).references] == gpus
