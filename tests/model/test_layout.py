"""CuTe's layouts: the meaning of their notation, and the place of a mistake in it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitegen.model.layout import Layout, LayoutError, Swizzle, parse_layout


@pytest.mark.parametrize(
    ("text", "message", "col"),
    [
        ("(8,8):(8", "expected `,` or `)`", 9),
        ("(8,8)(8,1)", "expected `:` and a stride, found `(`", 6),
        ("(8,(2,4)):(8,1)", "the shape `(2,4)` has 2 modes and its stride `1` is one number", 14),
        ("(8,8):(8,(1,2))", "the shape `8` is one number and its stride `(1,2)` has 2 modes", 10),
        ("(8,0):(1,8)", "`0` is no extent", 4),
        ("8x8", "unexpected `x`", 2),
        ("(8,8):(8,1))", "expected the end, found `)`", 12),
        ("(8,8):(8,99999999999999)", "`99999999999999` is too large", 10),
        ("(", "expected a number", 2),
        ("", "expected a number", 1),
        ("((((((((((8))))))))))", "nested too deeply", 9),
        ("Swizzle<3,3,2> o (8,8)", "`Swizzle<3,3,2>`: a shift is at least the number of bits", 1),
        ("Swizzle<3,3> o (8,8)", "expected `,`, found `>`", 12),
        ("Swizzle<3,3,3>", "expected `o` and a layout", 15),
        ("(65536,65536)", "this layout is larger than any memory", 1),
    ],
)
def test_a_mistake_is_found_at_its_column(text: str, message: str, col: int) -> None:
    with pytest.raises(LayoutError) as caught:
        parse_layout(text)
    assert (caught.value.message, caught.value.col) == (message, col)


@pytest.mark.parametrize(
    ("text", "example"),
    [
        ("Swizzle<3,3,3> o ((2,4),(_8)):(1,2)", "Swizzle<3,3,3> o ((2,4),(8)):((32,8),(1))"),
        ("8:(1)", "8:1"),
        ("(8,8):8", "(8,8):(8,1)"),
        ("(4,8):(8)", "(4,8):(8,1)"),
    ],
)
def test_a_stride_of_other_modes_than_the_shape_has_an_example_with_this_shape(text: str, example: str) -> None:
    with pytest.raises(LayoutError) as caught:
        parse_layout(text)
    assert caught.value.hint.endswith(f"such as `{example}`")
    parse_layout(example)


def test_a_layout_without_a_stride_is_compact_from_the_left() -> None:
    assert parse_layout("((2,4),8)") == Layout(((2, 4), 8), ((1, 2), 8))


def test_a_nested_mode_is_counted_from_its_left() -> None:
    layout = parse_layout("((2,4),(4,2)):((1,16),(2,8))")
    assert layout.sizes == (8, 8)
    assert layout(3, 5) == (1 + 16) + (2 + 8)
    assert layout(3 + 8 * 5) == layout(3, 5)


def test_static_numbers_are_read_as_cutlass_prints_them() -> None:
    assert parse_layout("(_8,_8):(_8,_1)") == parse_layout("(8,8):(8,1)")


def test_one_number_is_a_layout_of_one_mode() -> None:
    assert [parse_layout("4:2")(n) for n in range(4)] == [0, 2, 4, 6]


@pytest.mark.parametrize("ring", ["o", "∘"])
def test_a_swizzle_takes_its_bits_from_above(ring: str) -> None:
    layout = parse_layout(f"Swizzle<3,3,3> {ring} (8,64):(64,1)")
    assert layout.swizzle == Swizzle(3, 3, 3)
    assert [layout(row, 0) for row in range(8)] == [row * 64 + row * 8 for row in range(8)]
    assert layout(1, 8) == 64


def test_a_tile_of_fewer_elements_than_the_swizzle_looks_at_stays_as_it_is() -> None:
    assert [parse_layout("Swizzle<3,3,3> o (8,8):(8,1)")(n, 0) for n in range(8)] == list(range(0, 64, 8))


@given(st.integers(0, 4), st.integers(0, 4), st.integers(0, 4))
def test_a_swizzle_puts_each_element_somewhere_and_is_its_own_inverse(bits: int, base: int, more: int) -> None:
    swizzle = Swizzle(bits, base, bits + more)
    size = 1 << (base + bits + more + bits)
    assert sorted(swizzle(n) for n in range(min(size, 4096))) == list(range(min(size, 4096)))
    assert all(swizzle(swizzle(n)) == n for n in range(min(size, 256)))


def test_the_accumulator_of_an_mma_gives_each_element_one_owner() -> None:
    owner = parse_layout("((4,8),(2,2)):((32,1),(16,8))")
    assert sorted(owner(thread, value) for thread in range(32) for value in range(4)) == list(range(16 * 8))
    assert owner(5, 3) == (5 // 4 + 8) + 16 * (5 % 4 * 2 + 1)
