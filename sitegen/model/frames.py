"""Print the lines of a traceback that lie in the author's files below the message of an exception."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

MOST_FRAMES = 6
"""Number of frames shown of a long traceback: the innermost ones."""


@dataclass(frozen=True, slots=True)
class TracebackFrame:
    """One line of a traceback."""

    path: str
    """Relative to the site's root."""
    line: int
    source: str = ""
    """Text of the line; empty when it is not known."""


def with_frames(message: str, frames: Sequence[TracebackFrame]) -> str:
    """Return `message` and below it each frame, the innermost last, in the form of a diagnostic."""
    return "\n".join(
        [message, *(line for frame in _without_repetition(frames)[-MOST_FRAMES:] for line in _lines(frame))]
    )


def _lines(frame: TracebackFrame) -> list[str]:
    place = f"  {frame.path}:{frame.line}"
    return [place, f"    {frame.line} | {frame.source.strip()}"] if frame.source.strip() else [place]


def _without_repetition(frames: Sequence[TracebackFrame]) -> list[TracebackFrame]:
    """Return the frames with each run of equal ones, which a deep recursion makes, reduced to one."""
    return [frame for before, frame in zip([None, *frames], frames, strict=False) if frame != before]
