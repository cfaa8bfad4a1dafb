"""A task is followed over days and gaps, until a line says that it ended; each inference is marked."""

import datetime as dt
import itertools

import pytest

from sitegen.model.site import Markdown
from sitegen.read.worklog import parse_worklog
from sitegen.read.worklog_notes import tasks_in
from sitegen.read.worklog_tasks import forgotten_tasks, task_history

LOG = "content/worklog/log.md"


def left_open(text: str) -> dict[int, list[tuple[str, str, int]]]:
    """Return (text, state, days open) of the tasks that are open at the end of each day of the month."""
    days = task_history(parse_worklog({LOG: text})[0]).open_by_day
    return {day.day: [(t.text, t.state.value, t.days_open(day)) for t in threads] for day, threads in days.items()}


@pytest.mark.parametrize(
    ("line", "seen"),
    [
        ("- [-] sweep the shapes", [("dropped", [], False)]),
        ("- [>] sweep the shapes", [("open", [], False)]),
        ("Sweep the shapes; - Next; - Done;", [("done", ["open"], True)]),
        ("Sweep the shapes - Dropped", [("dropped", [], True)]),
        ("Next, sweep the shapes.", [("open", [], True)]),
        ("TODO: sweep the shapes", [("open", [], True)]),
        ("Will sweep the shapes tmr;", [("open", [], True)]),
        ("Sweep the shapes {task}`open`", [("open", [], False)]),
        ("Sweep the shapes; - Done {task}`partial`", [("partial", ["done"], False)]),
        ("Sweep the shapes; - Done {task}`none`", []),
        ("- next, the kernel is launched.", []),
        ("Tomorrow is the talk", []),
    ],
)
def test_how_a_line_is_read_and_whether_it_was_inferred(line: str, seen: list[tuple[str, list[str], bool]]) -> None:
    tasks = tasks_in(Markdown(line, LOG))
    assert [(t.state.value, [state.value for state in t.history], t.inferred) for t in tasks] == seen


def test_lines_below_next_are_open_until_a_blank_line() -> None:
    tasks = tasks_in(Markdown("Next:\nPlot the tail;\nRead on - Done\n\nA note\n", LOG))
    assert [(t.text, t.state.value) for t in tasks] == [("Plot the tail", "open"), ("Read on", "done")]


def test_a_task_is_carried_over_a_gap_until_it_is_done() -> None:
    text = "2026-03-02\n\nPlot the tail; -> Tmr;\n\n2026-03-08\n\nRest.\n\n2026-03-09\n\n- [x] plot the tail\n"
    assert left_open(text) == {
        2: [("Plot the tail", "open", 0)],
        8: [("Plot the tail", "open", 6)],
        9: [],
    }


def test_a_sentence_that_names_every_word_closes_a_task_and_another_does_not() -> None:
    text = "2026-03-02\n\nWill code the warp scan tmr;\n\n2026-03-03\n\n{}\n"
    assert left_open(text.format("Coded the warp scan, and a test."))[3] == []
    assert left_open(text.format("Coded the scan."))[3] != []
    assert left_open(text.format("The warp scan should be coded."))[3] != []


def test_a_task_keeps_its_first_day_through_partial_states() -> None:
    text = "2026-03-02\n\n- [ ] plot the tail\n\n2026-03-04\n\nPlot the tail (Done, labels pending)\n"
    assert left_open(text)[4] == [("plot the tail", "partial", 2)]


def test_a_task_without_a_word_for_a_week_is_forgotten() -> None:
    text = "2026-03-02\n\n- [ ] plot the tail\n\n2026-03-{:02d}\n\nRest.\n"
    assert [d.span.line for d in forgotten_tasks(parse_worklog({LOG: text.format(9)})[0])] == [3]
    assert list(forgotten_tasks(parse_worklog({LOG: text.format(8)})[0])) == []


def test_the_history_has_the_tasks_of_every_day_once() -> None:
    first = "2026-11-01\n\n- [ ] scan the rows\n- [x] read the manual\n"
    text = f"{first}\n2026-11-03\n\n- [x] scan the rows\n- [ ] sum them\n"
    history = task_history(parse_worklog({LOG: text})[0])
    assert [thread.text for thread in history.ended] == ["read the manual", "scan the rows"]
    assert [len(thread.events) for thread in history.ended] == [1, 2]
    assert [thread.text for thread in history.open_now] == ["sum them"]
    assert task_history(()).open_now == ()


def test_of_thousands_of_open_tasks_the_right_one_ends() -> None:
    """Each task stands beside others with the same words, so that only its rare word tells which it is."""
    words = ["".join(letters) for letters in itertools.product("abcdefgh", repeat=4)]
    days = [f"{dt.date(2012, 1, 1) + dt.timedelta(n)}\n\n- [ ] plot the tail of {one}\n" for n, one in enumerate(words)]
    last = "2026-11-22\n\n- [x] plot the tail of bead\nPlotted the tail of cafe.\n"
    history = task_history(parse_worklog({LOG: "\n".join([*days, last])})[0])
    assert [thread.text[-4:] for thread in history.ended] == ["bead", "cafe"]
    assert len(history.open_now) == len(words) - 2
    assert [len(threads) for threads in history.open_by_day.values()][-2:] == [32, 0]
