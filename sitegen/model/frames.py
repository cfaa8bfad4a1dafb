"""The lines of a traceback that stand in the author's files → text below the message of an exception."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

MOST = 6
"""Lines shown of a long traceback: the innermost ones."""


@dataclass(frozen=True, slots=True)
class Frame:
    path: str
    """Relative to the site's root."""
    line: int
    source: str = ""
    """The text of that line; empty when it is not known."""


def with_frames(message: str, frames: Sequence[Frame]) -> str:
    """Return `message` and below it each frame, the innermost last, as the mistakes of a site are shown."""
    return "\n".join([message, *(line for frame in _without_repetition(frames)[-MOST:] for line in _lines(frame))])


def _lines(frame: Frame) -> list[str]:
    place = f"  {frame.path}:{frame.line}"
    return [place, f"    {frame.line} | {frame.source.strip()}"] if frame.source.strip() else [place]


def _without_repetition(frames: Sequence[Frame]) -> list[Frame]:
    """A recursion that never ends shows its line once."""
    return [frame for before, frame in zip([None, *frames], frames, strict=False) if frame != before]
