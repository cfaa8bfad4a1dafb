"""Write a site with a worklog of a given number of days, the same each time, on which sitegen is timed.

Each day has about 1.5 KB of Markdown, as a real diary has: a heading with a countdown, two links with notes below them,
nested bullets, a paragraph, a question with its answer, a task for the next day, what became of the task of the day
before, and the name of a term.  One task in eight is never mentioned again.  No day is left out.  The words mean
nothing.
"""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from corpus import BASE, THEME, paragraph, phrase, sentence

FIRST = dt.date(2012, 1, 1)
COUNTED_FOR = 400
"""Days until a countdown ends and the next one begins."""
_TERMS = ("warp", "tile", "barrier", "occupancy", "sector", "spill")


@dataclass(frozen=True, slots=True)
class Diary:
    """A site with a worklog of `days` days, numbered from 0, in the folder `root`."""

    root: Path
    days: int
    one_file: bool
    """Whether all days stand in one file; else each has a file of its own."""

    @property
    def texts(self) -> int:
        return self.days

    def source(self, number: int) -> Path:
        return self.root / "content" / "worklog" / ("diary.md" if self.one_file else f"{_date(number)}.md")

    def url(self, number: int) -> str:
        """Return the URL of a day from the root of the site."""
        return f"worklog/{_date(number)}/"

    def write(self) -> None:
        for path, text in self._files():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def edit(self, number: int, marker: str) -> None:
        """Add a line with the marker to a day."""
        edited = f"{_day(number)}\nSaved: {marker}.\n"
        others = [edited if at == number else _day(at) for at in range(self.days)] if self.one_file else [edited]
        self.source(number).write_text("\n".join(others), encoding="utf-8")

    def edit_template(self, marker: str) -> None:
        """Change what every page has: the marker is a comment in its HTML."""
        text = (THEME / BASE).read_text(encoding="utf-8")
        (self.root / "templates" / BASE).write_text(text.replace("</body>", f"<!-- {marker} -->\n</body>"))

    def _files(self) -> Iterator[tuple[Path, str]]:
        yield self.root / "content" / "site.yaml", "title: A worklog to time\nbase_url: https://example.org/\n"
        yield self.root / "templates" / BASE, (THEME / BASE).read_text(encoding="utf-8")
        for term in _TERMS:
            yield self.root / "content" / "terms" / f"{term}.md", f"---\ntitle: {term.title()}\n---\nA {term}.\n"
        if self.one_file:
            yield self.source(0), "\n".join(map(_day, range(self.days)))
        else:
            yield from ((self.source(number), _day(number)) for number in range(self.days))


def _date(number: int) -> dt.date:
    return FIRST + dt.timedelta(days=number)


def _day(number: int) -> str:
    rng = random.Random(f"day {number}")
    left = COUNTED_FOR - number % COUNTED_FOR
    return "\n".join([f"{_date(number):%m/%d/%Y} (T - {left})", "", *_lines(rng, number), ""])


def _task(number: int) -> str:
    """Return the task of a day for the next day."""
    return f"plot the {phrase(random.Random(f'task {number}'))} of run {number}"


def _lines(rng: random.Random, number: int) -> Iterator[str]:
    """Yield the lines of a day below its heading."""
    for _ in range(2):
        page = f"https://example.org/{phrase(rng).replace(' ', '-')}/{rng.randrange(900)}"
        yield f"[Notes on the {phrase(rng)}]({page}); Read till page {rng.randrange(2, 90)};\n"
        yield from (f"- {sentence(rng)}" for _ in range(2))
        yield f"  - {sentence(rng)}\n"
    yield f"{paragraph(rng)}\n"
    yield f"- **Q: Why does the {phrase(rng)} wait?**"
    yield f"- A: {sentence(rng)}\n"
    if number % 8:
        yield f"{_task(number - 1).capitalize()}; - Done;\n"
    yield f"Will {_task(number)} tmr;\n"
    yield f"The {rng.choice(_TERMS)} again. {sentence(rng)}"
