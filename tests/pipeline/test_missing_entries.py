"""A figure of a cell whose row or column the stored table does not have is a mistake; any other figure is none."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from sitegen.model.kernel import Status
from sitegen.model.linked import document_key
from sitegen.model.record import CellRecord, Output
from sitegen.pipeline.build import update
from sitegen.pipeline.in_memory import check, load
from sitegen.results.keys import cell_keys
from sitegen.results.store import save_cell
from tests.pipeline.test_figures_and_claims import FILES, MACHINE, RUN, write

FOLDER, H100 = "content/posts/cells", "nvidia-h100-80gb-hbm3"
POST = f"{FOLDER}/index.md"
CELL = "```{code-cell} python\n#| label: levels\nprint(1)\n```\n"
SPEEDS = {"columns": ["level", "latency", "rate"], "units": ["", "ns", ""], "rows": [["L1", 18.2, 1], ["L2", 130, 2]]}
SIZES = {"columns": ["level", "size"], "units": ["", "B"], "rows": [["L1", 262144], ["DRAM", 1]]}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a site with a post of one cell, which put out two tables on an H200."""
    write(tmp_path, "content/site.yaml", FILES["content/site.yaml"])
    write_post(tmp_path, "")
    measure(tmp_path, SPEEDS, SIZES)
    return tmp_path


def write_post(root: Path, text: str, *, cell: str = CELL, front: str = "") -> None:
    write(root, POST, f"---\ntitle: A\ndate: 2026-11-20\n{front}---\n{cell}\n{text}\n")


def measure(root: Path, *tables: object, gpu: str = "nvidia-h200", status: Status = Status.PASSED) -> None:
    """Store tables as the outputs of the cell as it is now."""
    loaded = load(root)
    [post] = loaded.site.posts
    [key] = cell_keys(POST, loaded.documents[document_key(post.body)].cells, loaded.site.files)
    run = replace(RUN, environment=replace(MACHINE, gpu="NVIDIA H100" if gpu == H100 else MACHINE.gpu))
    outputs = (Output("stream", "1\n"), *(Output("data", json.dumps(table)) for table in tables))
    save_cell(root, FOLDER, CellRecord(1, "levels", gpu, key.digest, run, status, outputs, key.parts))


def told(root: Path) -> list[tuple[str, int, str, str]]:
    return [(one.code, one.span.line, one.message, one.hint) for one in check(root).diagnostics]


@pytest.mark.parametrize(
    "text",
    [
        "{output}`levels:L1:latency`",
        "{output}`levels:L2:rate / levels:L1:rate`",
        "{output}`levels:L1:size`, of the second table, as {output}`levels:DRAM:size`",
        "{output}`levels:L1:level`, its own name",
    ],
)
def test_figure_of_any_table_of_the_cell_is_right(root: Path, text: str) -> None:
    write_post(root, text)
    assert told(root) == []


def test_column_that_no_run_has_seen_is_right_until_the_cell_is_measured(root: Path) -> None:
    write_post(root, "{output}`levels:L1:energy`", cell=CELL.replace("print(1)", "print(2)"))
    assert told(root) == [], "the record is of older code"
    measure(root, status=Status.RUNTIME_ERROR)
    assert told(root) == [], "the cell failed and put out no table"
    measure(root, SPEEDS)
    assert [line for _, line, *_ in told(root)] == [10]
    (root / FOLDER / "results/nvidia-h200/levels.json").unlink()
    assert told(root) == [], "there is no record"


def test_only_the_record_that_the_page_shows_is_compared(root: Path) -> None:
    measure(root, {"columns": ["level", "energy"], "units": ["", ""], "rows": [["L1", 1]]}, gpu=H100)
    write_post(root, "{output}`levels:L1:energy`")
    assert len(told(root)) == 1, "site.yaml names the H200 first"
    write(root, "content/site.yaml", FILES["content/site.yaml"].replace("nvidia-h200", f"{H100}, nvidia-h200"))
    assert told(root) == []


def test_column_that_the_tables_do_not_have_is_named_with_those_that_they_have(root: Path) -> None:
    write_post(root, "It takes\n{output}`levels:L1:latencies`.")
    message = "the table of the cell `levels` has no column `latencies`"
    hint = "did you mean `latency`? The table has `level`, `latency`, `rate`, `size`"
    assert told(root) == [("SG217", 11, message, hint)]


@pytest.mark.parametrize(
    ("columns", "name", "hint"),
    [
        (
            ["squared distances", "difference of squares"],
            "squared difference",
            "did you mean `difference of squares` or `squared distances`? "
            "The table has `squared distances`, `difference of squares`",
        ),
        (
            ["time", "bandwidth", "width"],
            "Bandwith",
            "did you mean `bandwidth`? The table has `time`, `bandwidth`, `width`",
        ),
        (["step1", "step2", "step3", "step4"], "step5", "the table has `step1`, `step2`, `step3`, `step4`"),
    ],
)
def test_columns_that_are_about_equally_near_are_all_proposed(
    root: Path, columns: list[str], name: str, hint: str
) -> None:
    names = ["level", *columns]
    measure(root, {"columns": names, "units": [""] * len(names), "rows": [["L1", *range(len(columns))]]})
    write_post(root, f"{{output}}`levels:L1:{name}`")
    assert [one[3].replace("`level`, ", "") for one in told(root)] == [hint]


def test_row_is_looked_for_in_the_tables_that_have_the_column(root: Path) -> None:
    write_post(root, "{output}`levels:L1:size / levels:L2:size`")
    message = "the table of the cell `levels` has no row `L2`"
    assert told(root) == [("SG217", 10, message, "the table has `L1`, `DRAM`")]


def test_translation_is_compared_with_the_record_of_its_original(root: Path) -> None:
    write(root, f"{FOLDER}/index.ko.md", f"---\ntitle: B\ndate: 2026-11-20\n---\n{CELL}\n{{output}}`levels:L3:rate`\n")
    assert [(code, line) for code, line, *_ in told(root)] == [("SG217", 10)]


def test_edited_figure_is_noticed_by_the_next_build(root: Path) -> None:
    write_post(root, "{output}`levels:L1:rate`")
    assert not update(root, root / "public").failed
    write_post(root, "{output}`levels:L1:rates`")
    assert update(root, root / "public").failed
