"""The text of the worklog that stands in lists beside its days."""

from __future__ import annotations

import pytest

from sitegen.render.pages.worklog import plain_line


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("a record of `fixed_shape`, the tenth step", "a record of fixed_shape, the tenth step"),
        ("`a*b*c` and snake_case_name", "a*b*c and snake_case_name"),
        ("**see `b_c`** in [the notes](x) _now_", "see b_c in the notes now"),
        ("2 * 3 * 4", "2 * 3 * 4"),
        ("`open", "`open"),
        ("two processes differ by 0.3 % at 8 × 8", "two processes differ by 0.3\u00a0% at 8\u00a0×\u00a08"),
    ],
)
def test_a_line_loses_its_marks_and_keeps_its_names(line: str, shown: str) -> None:
    assert plain_line(line) == shown
