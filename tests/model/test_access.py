"""The cost of a warp's access, in cases with a known answer."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sitegen.model.access import Access
from sitegen.model.layout import parse_layout


def access(address: Callable[[int], int], width: int = 4) -> Access:
    return Access(tuple(map(address, range(32))), width)


@pytest.mark.parametrize(
    ("address", "sectors", "efficiency"),
    [
        (lambda lane: 4 * lane, 4, 1),
        (lambda lane: 8 * lane, 8, 0.5),
        (lambda lane: 128 * lane, 32, 0.125),
        (lambda lane: 4 * lane + 4, 5, 0.8),
        (lambda lane: 4 * (31 - lane), 4, 1),
        (lambda lane: 64, 1, 0.125),
    ],
    ids=["in a row", "every second", "stride 32", "misaligned", "backwards", "all the same"],
)
def test_sectors_of_global_memory(address: Callable[[int], int], sectors: int, efficiency: float) -> None:
    found = access(address)
    assert (len(found.sectors), found.efficiency) == (sectors, efficiency)


def test_a_wide_access_is_served_in_phases_of_128_bytes() -> None:
    widths = {width: access(lambda lane, w=width: lane * w, width) for width in (1, 4, 8, 16)}
    assert [[len(phase) for phase in one.phases] for one in widths.values()] == [[32], [32], [16, 16], [8, 8, 8, 8]]
    assert [one.efficiency for one in widths.values()] == [1, 1, 1, 1]
    assert [one.passes for one in widths.values()] == [1, 1, 2, 4]


@pytest.mark.parametrize(
    ("layout", "passes"),
    [("(32,32):(32,1)", 32), ("(32,32):(33,1)", 1), ("Swizzle<5,0,5> o (32,32):(32,1)", 1)],
    ids=["as it is", "padded", "swizzled"],
)
def test_a_column_of_a_tile_of_floats(layout: str, passes: int) -> None:
    tile = parse_layout(layout)
    assert {access(lambda row, c=column: 4 * tile(row, c)).passes for column in range(32)} == {passes}
    assert {access(lambda column, r=row: 4 * tile(r, column)).passes for row in range(32)} == {1}


def test_a_word_for_several_lanes_is_given_once() -> None:
    assert access(lambda lane: 0).passes == 1
    assert access(lambda lane: 2 * lane, 2).passes == 1
    assert access(lambda lane: 128 * (lane % 2)).passes == 2


def test_lanes_of_different_phases_do_not_conflict() -> None:
    assert access(lambda lane: 16 * (lane % 8) + 128 * (lane // 8), 16).passes == 4
    assert access(lambda lane: 128 * lane, 16).passes == 32


def test_rows_of_a_swizzled_tile_of_halves_meet_all_banks() -> None:
    plain, swizzled = parse_layout("(8,64):(64,1)"), parse_layout("Swizzle<3,3,3> o (8,64):(64,1)")
    column = [access(lambda lane, t=tile: 2 * t(lane % 8, 8 * (lane // 8)), 16) for tile in (plain, swizzled)]
    assert [one.passes for one in column] == [32, 4]


def test_a_lane_that_asks_for_two_words_asks_two_banks() -> None:
    found = access(lambda lane: 8 * lane, 8)
    assert found.words(range(2)) == {0: (0,), 1: (0,), 2: (1,), 3: (1,)}
    assert set(found.banks(found.phases[1])) == set(range(32))
