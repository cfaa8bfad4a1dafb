"""Values that no measurement gives: `accept` refuses them, and a record with them gets a diagnostic."""

from __future__ import annotations

import copy
import json
import random
import runpy
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sitegen.diagnostics import render_report

machine = SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("gpu_machine.py"))))
RECORD = "kernels/double/results/nvidia-h200.json"
HISTORY = "kernels/double/results/nvidia-h200.history.jsonl"
CELL = "content/posts/first/results/nvidia-h200/answer.json"
Steps = tuple[str | int, ...]


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> SimpleNamespace:
    """A site with an honest record, its bundle and its result."""
    folder = tmp_path_factory.mktemp("values")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(folder / "state"))
        site = machine.make_site(folder / "site")
        patch.chdir(site)
        bundle = machine.bundled(folder)
        result = machine.answer(bundle, folder / "result.zip")
        assert machine.sitegen("accept", str(result)).exit_code == 0
        texts = {path: (site / path).read_text(encoding="utf-8") for path in (RECORD, HISTORY, CELL)}
        yield SimpleNamespace(site=site, bundle=bundle, folder=folder, texts=texts)


@pytest.fixture
def site(honest: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The same site for every test, with its records restored."""
    monkeypatch.setenv("XDG_STATE_HOME", str(honest.folder / "state"))
    monkeypatch.chdir(honest.site)
    yield honest.site
    for path, text in honest.texts.items():
        (honest.site / path).write_text(text, encoding="utf-8")


def set_at(data: Any, steps: Steps, value: Any) -> None:
    for step in steps[:-1]:
        data = data[step]
    data[steps[-1]] = value


def reported(site: Path, path: str, text: str) -> str:
    """Return the output of `check` for a record with that text, after a check that it is an error with a place."""
    (site / path).write_text(text, encoding="utf-8")
    done = machine.sitegen("check")
    assert done.exit_code == 1 and f"  {path}:" in done.stderr, done.stderr
    said: str = done.stderr
    return said


def with_value(text: str, steps: Steps, value: Any) -> str:
    data = json.loads(text)
    set_at(data, steps, value)
    return json.dumps(data)


TIMED = ("evaluations", 0, "performance")
OF_RUN = ("runs", 0)
PER_CYCLE = {"way": "fma", "per_cycle": 400.0, "low": 398.0, "high": 402.0, "stretches": [400.0] * 5, "sm_clock_mhz": 1}
MANY = {"per_cycle": 9e9, "low": 9e9, "high": 9e9, "stretches": [9e9] * 5, "sm_clock_mhz": 1900.0}
ODD: list[tuple[str, Steps, Any]] = [
    ("a time of NaN", (*TIMED, "median_us"), float("nan")),
    ("a time of infinity", (*TIMED, "median_us"), float("inf")),
    ("a time of minus infinity", (*TIMED, "p20_us"), float("-inf")),
    ("a time of zero", (*TIMED, "median_us"), 0.0),
    ("a negative time", (*TIMED, "min_us"), -5.0),
    ("a round of zero", (*TIMED, "rounds_us"), [0.0, 1.0]),
    ("NaN among the rounds", (*TIMED, "rounds_us"), [1.0, float("nan")]),
    ("a ceiling that neither reads nor writes", (*OF_RUN, "ceilings", 0, "name"), "memory 0:0"),
    ("a ceiling of words", (*OF_RUN, "ceilings", 0, "name"), "memory a:b"),
    ("a ceiling of three parts", (*OF_RUN, "ceilings", 0, "name"), "memory 1:1:1"),
    ("a ceiling that sitegen does not measure", (*OF_RUN, "ceilings", 0, "name"), "disk"),
    ("a rate of zero", (*OF_RUN, "ceilings", 0, "rate"), 0),
    ("a probe of NaN", (*OF_RUN, "ceilings", 0, "probes"), {"copy": float("nan")}),
    ("a clock of NaN", (*OF_RUN, "ceilings", 0, "clocks_mhz"), {"copy": float("nan")}),
    ("no operations in a cycle", (*OF_RUN, "ceilings", 0, "burst"), {**PER_CYCLE, "per_cycle": 0, "low": 0}),
    ("a rate in cycles outside its interval", (*OF_RUN, "ceilings", 0, "burst"), {**PER_CYCLE, "high": 399.0}),
    ("a rate in cycles above its bursts", (*OF_RUN, "ceilings", 0, "burst"), {**PER_CYCLE, "stretches": [300.0] * 5}),
    ("more operations in a cycle than the GPU has", (*OF_RUN, "ceilings", 1, "burst"), {**PER_CYCLE, **MANY}),
    ("a UUID instead of its hash", (*OF_RUN, "environment", "gpu_hash"), "GPU-3f1c0a52-9d7e-4b8a-8a11-5c2f6f0e7d43"),
    ("times of a GPU that the run does not have", ("evaluations", 0, "gpu_hash"), "ab" * 8),
    ("cycles without the clocks that bear them out", (*TIMED, "cycles"), 5000.0),
    ("a GPU of 300 characters", (*OF_RUN, "environment", "gpu"), "G" * 300),
    ("a GPU without a name", (*OF_RUN, "environment", "gpu"), ""),
    ("a GPU of letters that no id has", (*OF_RUN, "environment", "gpu"), "엔비디아"),
    ("an L2 of nothing", (*OF_RUN, "environment", "l2_bytes"), 0),
    ("a negative L2", (*OF_RUN, "environment", "l2_bytes"), -1),
    ("no SMs", (*OF_RUN, "environment", "sm_count"), 0),
    ("half a character", (*OF_RUN, "environment", "driver"), "\ud800"),
    ("half a character in a message", ("evaluations", 0, "message"), "x\udfff"),
    ("an integer of 4,000 digits", (*OF_RUN, "environment", "memory_bytes"), int("9" * 4000)),
    ("a day that is not in the calendar", (*OF_RUN, "id"), "2026-02-30T00:00:00Z"),
    ("another day than its run", (*OF_RUN, "date"), "2026-01-23"),
    ("a dtype that does not exist", ("evaluations", 0, "dtype"), "float7"),
    ("samples that are a path", ("evaluations", 0, "samples"), "../../../../etc/passwd"),
    ("a schema of words", ("schema",), "one"),
    ("no runs", ("runs",), []),
    ("evaluations that are a text", ("evaluations",), "none"),
    ("an unknown field", ("surprise",), 1),
]


@pytest.mark.parametrize(("what", "steps", "value"), ODD, ids=[what.replace(" ", "-") for what, *_ in ODD])
def test_a_record_with(site: Path, honest: SimpleNamespace, what: str, steps: Steps, value: Any) -> None:
    """A stored record with such a value gets a diagnostic with its file and line."""
    reported(site, RECORD, with_value(honest.texts[RECORD], steps, value))


TEXTS = {
    "an-integer-of-5000-digits": lambda text: text.replace('"sm_count": 132', f'"sm_count": {"9" * 5000}'),
    "deep-nesting": lambda text: "[" * 100_000,
    "less-deep-nesting": lambda text: '{"runs": ' * 900 + "1" + "}" * 900,
    "nothing": lambda text: "",
    "half-of-it": lambda text: text[: len(text) // 2],
    "a-number": lambda text: "1",
    "null": lambda text: "null",
    "a-number-that-overflows": lambda text: text.replace('"power_limit_w": 700', '"power_limit_w": 1e999'),
    "an-escaped-half-character-as-a-key": lambda text: text.replace('"schema"', r'"\ud800": 1, "schema"'),
}


@pytest.mark.parametrize("path", [RECORD, CELL, HISTORY])
@pytest.mark.parametrize("change", TEXTS.values(), ids=TEXTS)
def test_a_text_that_is_hardly_json(
    site: Path, honest: SimpleNamespace, path: str, change: Callable[[str], str]
) -> None:
    """A JSON reader raises an exception other than its own on these texts."""
    text = change(honest.texts[path])
    if text not in (honest.texts[path], "") or (not text and path != HISTORY):
        reported(site, path, text)


def test_an_image_that_is_none(site: Path, honest: SimpleNamespace) -> None:
    """The page decodes an image of a cell and reads its size: it must be a PNG in base64."""
    for text in ("no base64!", "eA==", ""):
        reported(site, CELL, with_value(honest.texts[CELL], ("outputs",), [{"kind": "image", "text": text}]))


def test_an_output_of_another_kind(site: Path, honest: SimpleNamespace) -> None:
    """HTML is dropped where a cell runs; a record that brings it is refused."""
    outputs = [{"kind": "html", "text": "<script>"}]
    reported(site, CELL, with_value(honest.texts[CELL], ("outputs",), outputs))


def leaves(data: Any, steps: Steps = ()) -> Iterator[Steps]:
    """Yield every place in a JSON value."""
    yield steps
    for step, value in data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ():
        yield from leaves(value, (*steps, step))


VALUES: tuple[Any, ...] = (
    *(None, True, 0, -1, 1, 2**63, 10**400, 1e308, -1e308, 5e-324, float("nan"), float("inf"), float("-inf")),
    *("", "x", "nan", "1e999", "\ud800", "\x00\x1b[31m", "한국어", "../../x", "x" * 5000, [], {}, [[]], [0], {"x": 1}),
    *("passed", "incorrect", "memory 0:0", "9999-12-31T23:59:59Z"),
)


def mutated(data: Any, draw: random.Random) -> Any:
    """Return the value with one to three changes: another value, a member less, a member more, or two exchanged."""
    data = copy.deepcopy(data)
    for _ in range(draw.randint(1, 3)):
        steps = draw.choice([found for found in leaves(data) if found])
        holder = data
        for step in steps[:-1]:
            holder = holder[step]
        kind = draw.randrange(4)
        if kind == 0:
            del holder[steps[-1]]
        elif kind == 1 and isinstance(holder, dict):
            holder[draw.choice(("surprise", "\ud800", "x" * 300, ""))] = draw.choice(VALUES)
        elif kind == 2 and isinstance(holder[steps[-1]], (int, float)) and not isinstance(holder[steps[-1]], bool):
            holder[steps[-1]] *= draw.choice((-1, 0, 0.1, 1.01, 10, 1e30))
        else:
            holder[steps[-1]] = draw.choice(VALUES)
    return data


def test_three_hundred_mutated_records_end_no_check_and_no_build_by_a_bug(site: Path, honest: SimpleNamespace) -> None:
    """Of 297 mutated records 12 crashed `build`: each is loaded and checked, and rendered unless it was dropped."""
    from sitegen.pipeline.in_memory import build_in_memory, load

    draw, crashed, refused, rendered = random.Random(20261124), [], 0, 0
    for number in range(300):
        path = draw.choice((RECORD, RECORD, RECORD, HISTORY, CELL))
        lines = honest.texts[path].splitlines() if path == HISTORY else [honest.texts[path]]
        text = "\n".join(json.dumps(mutated(json.loads(line), draw)) for line in lines)
        (site / path).write_text(text, encoding="utf-8")
        try:
            loaded = load(site)
            refused += bool(loaded.diagnostics)
            render_report(loaded.diagnostics, loaded.texts).encode()
            if not any(found.span.path == path and found.code < "SG308" for found in loaded.diagnostics):
                rendered += 1
                build_in_memory(site)  # the pages are made, although the build fails when nothing bears the record out
        except Exception as error:
            crashed.append((number, path, f"{type(error).__name__}: {error}"[:200]))
        (site / path).write_text(honest.texts[path], encoding="utf-8")
    assert crashed == []
    assert refused > 200 and rendered > 10


def test_two_hundred_mutated_results_end_no_accept_by_a_bug(site: Path, honest: SimpleNamespace) -> None:
    """The manifest fits the content, and the values are wrong: `accept` refuses them, or `check` accepts the record."""
    from sitegen.execute import session
    from sitegen.pipeline.in_memory import load

    loaded = load(site, everything=True)
    inventory = session.inventory_of(loaded.site, loaded.documents, loaded.records)
    draw, crashed, refused = random.Random(20261125), [], 0
    for number in range(200):

        def change(head: Any, entries: Any) -> None:
            if draw.random() < 0.1:
                changed = mutated(head, draw)
                head.clear()
                head.update({**changed, "kind": "results"})
            for kind in draw.sample(sorted(entries), 2):
                new = mutated(entries[kind], draw)
                entries[kind].clear()
                entries[kind].update(new)

        try:
            result = machine.answer(honest.bundle, honest.folder / "mutated.zip", change)
        except (UnicodeEncodeError, ValueError):  # what no zip of JSON can hold
            continue
        try:
            outcome = session.accept(site, inventory, result)
            refused += bool(outcome.diagnostics)
        except Exception as error:
            crashed.append((number, f"{type(error).__name__}: {error}"[:200]))
        if not outcome.diagnostics:
            found = load(site).diagnostics
            crashed += [(number, d.message) for d in found]
        for path, text in honest.texts.items():
            (site / path).write_text(text, encoding="utf-8")
    assert crashed == []
    assert refused > 100
