"""The digest of measurements changes with everything that they depend on, and with nothing else."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

from sitegen.diagnostics import Span
from sitegen.model.document import Cell, CellSlot, Document
from sitegen.model.linked import Linked, document_key
from sitegen.model.site import Markdown, Post, Site, SiteConfig
from sitegen.render.inputs.measured_digest import digest_of_measured

BODY = Markdown("", "content/posts/a/index.md", 1)
CELL = Cell("sum", "python", "1 + 1", Span(BODY.path, 9), 12)


def digest(cell: Cell = CELL, files: dict[str, bytes] | None = None, **of_post: object) -> bytes:
    post = replace(Post("a", "A", dt.date(2026, 11, 20), BODY, Span(BODY.path), folder="content/posts/a"), **of_post)
    key, document = document_key(BODY), Document("", slots=(CellSlot("sum"),), cells=(cell,))
    linked = Linked(Site(SiteConfig("t", "https://x/"), posts=(post,)), rich=(key,))
    return digest_of_measured(linked, {key: document}, files or {})


def test_a_line_that_moves_a_cell_changes_no_measurement() -> None:
    assert digest(replace(CELL, span=Span(BODY.path, 10), line=13)) == digest()


def test_code_place_and_language_of_a_cell_change_its_measurement() -> None:
    others = [digest(replace(CELL, source="2 + 2")), digest(slug="b"), digest(lang="ko"), digest(folder="content/b")]
    assert len({digest(), *others}) == 5


def test_files_of_kernels_and_records_change_measurements_and_prose_does_not() -> None:
    assert digest(files={"content/posts/b.md": b"1"}) == digest()
    paths = ("kernels/sum/kernel.yaml", "content/posts/a/results/h200/sum.json", "content/posts/a/tools.py")
    assert len({digest(), *(digest(files={path: b"1"}) for path in paths)}) == 4
