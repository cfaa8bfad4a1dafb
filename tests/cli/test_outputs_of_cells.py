"""What cells print, as a run without a GPU shows it."""

from __future__ import annotations

from sitegen.cli.verdicts import outputs_of_cells
from sitegen.model.job import JOB_SCHEMA, CellResult, JobResult, Key
from sitegen.model.record import Output


def shown(*outputs: Output) -> list[str]:
    cell = CellResult("first", "passed", outputs, Key(""))
    return list(outputs_of_cells([JobResult(JOB_SCHEMA, "posts/x", "notebook", cells=(cell,))]))


def test_a_cell_without_text_has_no_entry() -> None:
    assert shown() == shown(Output("image", "iVBO"), Output("data", "{}")) == []


def test_printed_lines_and_the_value_stand_below_the_name_of_the_cell() -> None:
    assert shown(Output("stream", "forty 42\n\nend\n"), Output("text", "7")) == [
        "posts/x#first prints:\n  forty 42\n\n  end\n  7"
    ]


def test_a_long_output_is_cut_and_says_so() -> None:
    (entry,) = shown(Output("stream", "line\n" * 23))
    assert entry.splitlines()[1:] == [*["  line"] * 20, "  … 3 more lines"]
