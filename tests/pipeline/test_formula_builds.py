"""What formulas cost a build: each is typeset once, in a time that is compared with that of loading Temml."""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from sitegen.markup import math
from sitegen.pipeline.build import update

COUNT = 60
POST = "content/posts/sums.md"


def formula(number: int, name: str = "x") -> str:
    return rf"\sum_{{i=0}}^{{{number}}} \frac{{{name}_i^2 + \alpha y_i}}{{\sqrt{{N_{{{number}}}}}}}"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A site with a post of COUNT formulas, half of them within sentences."""
    inline = [f"The sum ${formula(n)}$ has {n} terms.\n" for n in range(COUNT // 2)]
    blocks = [f"$$\n{formula(n)}\n$$\n" for n in range(COUNT // 2, COUNT)]
    for path, text in {
        "content/site.yaml": "title: Notes\nbase_url: https://example.org/\n",
        POST: "---\ntitle: Sums\ndate: 2026-11-20\n---\n" + "\n".join([*inline, *blocks]),
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    return tmp_path


@pytest.fixture
def typeset(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The formulas that Temml was asked for."""
    asked: list[str] = []
    convert = math.mathml

    def noted(source: str, display: bool) -> str:
        asked.append(source.strip())
        return convert(source, display)

    monkeypatch.setattr(math, "mathml", noted)
    return asked


def build(root: Path) -> str:
    result = update(root, root / "public", as_of=dt.date(2026, 11, 21), processes=1)
    assert not result.failed
    return (root / "public/posts/sums/index.html").read_text(encoding="utf-8")


def test_a_formula_is_typeset_once_and_an_edit_typesets_the_new_one(site: Path, typeset: list[str]) -> None:
    assert build(site).count("<math") == len(typeset) == COUNT
    typeset.clear()
    build(site)
    assert typeset == []
    post = site / POST
    post.write_text(post.read_text(encoding="utf-8").replace(formula(7), formula(7, "z")), encoding="utf-8")
    assert build(site).count("<math") == COUNT
    assert typeset == [formula(7, "z")]


def cpu_seconds(work: Callable[[], object]) -> float:
    began = time.thread_time()
    work()
    return time.thread_time() - began


def least(times: int, work: Callable[[int], object]) -> float:
    """Return the least processor time of several tries, so that other programs of the machine do not count."""
    return min(cpu_seconds(partial(work, number)) for number in range(times))


def load(_: int) -> None:
    vars(math._engines).clear()
    math._engine()


def many(count: int, name: str) -> Callable[[int], None]:
    """Return the work of typesetting so many formulas, which are others at each try."""

    def work(number: int) -> None:
        for n in range(count):
            math.mathml(formula(n, rf"\mathrm{{{name}{number}}}"), True)

    return work


def test_a_formula_costs_a_small_part_of_loading_temml_and_many_cost_as_much_each() -> None:
    """Measured: 100 formulas take 4 to 5 times as long as a load, and 400 take 3 to 5 times as long as 100."""
    loading, hundred, four_hundred = least(3, load), least(3, many(100, "a")), least(2, many(400, "b"))
    assert hundred < 15 * loading
    assert four_hundred < 8 * hundred
