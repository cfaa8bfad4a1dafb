"""Places of words on a chart: their outlines, overlaps, and the first free place."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitegen.render.figures.labels import (
    SIZE,
    Spot,
    Taken,
    box,
    drawn,
    outline,
    spread,
    stroke,
    take_first_free,
    text_width,
    touch,
)

SQUARE = box(0, 0, 10, 10)


def test_a_turned_box_that_only_passes_by_a_corner_does_not_touch_it() -> None:
    diamond = ((18.0, 4.0), (32.0, 18.0), (18.0, 32.0), (4.0, 18.0))
    assert not touch(SQUARE, diamond)  # their upright boxes do
    assert touch(SQUARE, tuple((x - 3, y - 3) for x, y in diamond))


def test_a_line_through_a_box_touches_it_though_no_corner_lies_within() -> None:
    assert touch(SQUARE, stroke((-5, 5), (15, 6), 1))
    assert not touch(SQUARE, stroke((-5, 12), (15, 13), 1))


def test_a_line_of_one_point_is_a_small_square() -> None:
    assert touch(SQUARE, stroke((10.4, 5), (10.4, 5), 1))
    assert not touch(SQUARE, stroke((10.6, 5), (10.6, 5), 1))


def test_a_box_within_another_touches_it() -> None:
    assert touch(SQUARE, box(4, 4, 5, 5))
    assert touch(box(4, 4, 5, 5), SQUARE)


def test_letters_of_other_scripts_take_more_room_and_bold_takes_more_than_plain() -> None:
    assert text_width("커널") > text_width("ab")
    assert text_width("fused", bold=True) > text_width("fused")
    assert text_width("") == 0
    assert text_width("mm") > text_width("ll")


def test_a_text_that_ends_at_a_point_lies_to_its_left() -> None:
    left, middle, right = (outline("fused", Spot(100, 50, align)) for align in ("e", "mid", ""))
    assert max(x for x, _ in left) < 103
    assert min(x for x, _ in right) > 97
    assert min(x for x, _ in middle) + max(x for x, _ in middle) == pytest.approx(200)


def test_a_text_turned_upwards_rises_from_its_point() -> None:
    turned = outline("fused", Spot(100, 50, turn=-math.pi / 2))
    assert min(y for _, y in turned) < 50 - text_width("fused")
    assert max(x for x, _ in turned) - min(x for x, _ in turned) < 1.5 * SIZE


def test_the_first_free_place_is_taken_from_then_on() -> None:
    taken, spots = Taken(), [Spot(0, 0), Spot(0, 40)]
    assert take_first_free("fused", spots, taken) == spots[0]
    assert take_first_free("fused", spots, taken) == spots[1]
    assert take_first_free("fused", spots, taken) is None


def test_a_leader_may_cross_a_line_but_no_word_and_no_point() -> None:
    spot = Spot(0, 100, leader=((5, 0), (5, 88)))
    taken = Taken()
    taken.add_line([(-50, 40), (50, 40)])
    assert take_first_free("fused", [spot], taken) == spot
    blocked = Taken(marks=[box(0, 30, 10, 50)])
    assert take_first_free("fused", [spot], blocked) is None


def test_no_word_comes_to_lie_on_the_leader_of_another() -> None:
    taken = Taken()
    take_first_free("fused", [Spot(0, 100, leader=((5, 0), (5, 88)))], taken)
    assert take_first_free("naive", [Spot(0, 50)], taken) is None


def test_places_that_are_free_stay_where_they_are() -> None:
    assert spread([10, 40, 90], 16, 0, 200) == [10, 40, 90]
    assert spread([], 16, 0, 200) == []


@given(st.lists(st.floats(-50, 400), max_size=12), st.floats(0, 100))
def test_places_are_spread_in_their_order_and_within_the_bounds(wanted: list[float], low: float) -> None:
    wanted.sort()
    high = low + 300
    found = spread(wanted, 16, low, high)
    assert len(found) == len(wanted)
    assert all(b - a >= 16 - 1e-6 for a, b in itertools.pairwise(found))
    assert all(low - 1e-6 <= place <= high + 1e-6 for place in found)


def test_a_text_is_drawn_where_its_outline_was() -> None:
    assert drawn("a", Spot(3, 4, "e"), "b") == '<text class="b halo e" x="3" y="4">a</text>'
    assert 'transform="translate(3 4) rotate(-90)"' in drawn("a", Spot(3, 4, turn=-math.pi / 2), "")
