"""Fences of colons of other programs: within lists and footnotes, and without an end."""

from time import process_time

import pytest

from sitegen.importing.folders.containers import containers
from sitegen.importing.folders.passages import Kept
from tests.processor_time import within


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "[^1]:\n    a\n\n    :::{note}\n    b\n    :::\n\n    c",
            "[^1]:\n    a\n\n    <note>\n    b\n    </note>\n\n    c",
        ),
        ("- a\n  ::::{tip}\n  :::{note}\n  b\n  :::\n  ::::", "- a\n  <tip>\n  <note>\n  b\n  </note>\n  </tip>"),
        (":::{note} A title\nb\n\nc", "<note A title>\nb\n\nc\n</note>"),
        (":::{tip}\n:::{note}\nb\n:::", "<tip>\n<note>\nb\n</note>\n</tip>"),
        ("a\n:::", "a\n:::"),
    ],
)
def test_each_fence_is_replaced_where_it_stands(text: str, expected: str) -> None:
    def named(info: str, inner: str) -> str:
        name = info.replace("{", "").replace("}", "")
        return f"<{name}>\n{inner}\n</{name.split()[0]}>"

    assert containers(text, named) == expected


def test_fences_of_items_without_an_end_are_read_in_bounded_time() -> None:
    text = "".join(f"- {'`' * (3 + at % 40)}c\nx\n" for at in range(50_000))
    begin = process_time()
    kept = Kept()
    assert kept.restored(kept.fences(text, lambda fence: None)) == text
    assert within(process_time() - begin, 5)
