"""A picture is drawn once."""

from __future__ import annotations

import os
from pathlib import Path

from sitegen.write.drawings import Drawings


def test_a_drawing_is_made_once_and_another_one_again(tmp_path: Path) -> None:
    made: list[str] = []

    def draw(source: str) -> bytes:
        made.append(source)
        return source.encode()

    for _ in range(2):
        drawings = Drawings(tmp_path / "cards", b"1")
        assert [drawings(source, draw) for source in ("a", "b")] == [b"a", b"b"]
    assert made == ["a", "b"]


def test_another_version_of_the_program_draws_again(tmp_path: Path) -> None:
    Drawings(tmp_path, b"1")("a", lambda source: b"of version 1")
    assert Drawings(tmp_path, b"2")("a", lambda source: b"of version 2") == b"of version 2"


def test_two_processes_may_draw_the_same_picture(tmp_path: Path) -> None:
    drawings = Drawings(tmp_path, b"1")

    def draw(source: str) -> bytes:
        if not os.fork():
            os._exit(drawings(source, str.encode) != b"a")
        assert os.wait()[1] == 0
        return source.encode()

    assert drawings("a", draw) == b"a"
    assert [path.suffix for path in tmp_path.iterdir()] == [".cache"]


def test_a_damaged_drawing_is_made_again(tmp_path: Path) -> None:
    drawings = Drawings(tmp_path, b"1")
    drawings("a", str.encode)
    for path in tmp_path.iterdir():
        path.write_bytes(path.read_bytes()[:-1])
    assert drawings("a", str.encode) == b"a"


def test_what_nobody_asks_for_any_more_goes(tmp_path: Path) -> None:
    drawings = Drawings(tmp_path / "cards", b"1")
    drawings.prune(0)
    for source in "abcdef":
        drawings(source, str.encode)
    drawings.prune(2)
    assert len(list((tmp_path / "cards").iterdir())) == 2
