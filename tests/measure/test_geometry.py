"""The launch block of kernel.yaml at given dims: constants, grid, block, cluster."""

from __future__ import annotations

import pytest

from sitegen.measure.geometry import Geometry, constants_of, geometry_of, names_of
from sitegen.model.formula import FormulaError
from sitegen.model.kernel import Launch


def test_a_grid_that_is_not_made_of_whole_clusters_is_refused():
    launch = Launch("f", ("10",), ("32",), ("4",))
    with pytest.raises(FormulaError, match="whole clusters"):
        geometry_of(launch, {})


def test_a_constant_may_use_the_constants_before_it():
    assert constants_of({"A": "N // 2", "B": "A + 1"}, {"N": 10}) == {"A": 5, "B": 6}


def test_words_among_the_params_are_no_numbers():
    assert names_of({"N": 4}, {"eps": 0.5, "causal": True, "mode": "max"}, 2) == {
        "itemsize": 2,
        "eps": 0.5,
        "causal": True,
        "N": 4,
    }


def test_what_is_not_written_is_one():
    launch = Launch("f", ("cdiv(N, 256)", "2"), ("256",), shared="4 * N")
    found = geometry_of(launch, {"N": 1000})
    assert found == Geometry((4, 2, 1), (256, 1, 1), (1, 1, 1), 4000)
    assert found.threads == 256
