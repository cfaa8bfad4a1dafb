"""Every column of `{benchmark}` has a title and a figure; a name that no column has is an error."""

from __future__ import annotations

import pytest

from sitegen.markup.directives.benchmark import COLUMNS as AUTHOR_COLUMNS
from sitegen.render.measurements.benchmark_columns import benchmark_column


@pytest.mark.parametrize("name", AUTHOR_COLUMNS)
def test_every_column_that_an_author_may_name_has_an_entry(name: str) -> None:
    assert benchmark_column(name).title


def test_a_name_that_no_column_has_is_no_baseline() -> None:
    with pytest.raises(ValueError, match="no column `latency`"):
        benchmark_column("latency")


def test_what_follows_vs_is_the_baseline() -> None:
    assert benchmark_column("vs: torch.compile").title == "×\u00a0torch.compile"
