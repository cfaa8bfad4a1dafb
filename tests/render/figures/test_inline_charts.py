"""The charts that stand within text say what they show."""

from __future__ import annotations

import datetime as dt

from sitegen.render.figures.inline_charts import heat

LATER = dt.date(2026, 11, 24)


def test_the_days_written_begin_with_the_week_of_the_first_entry() -> None:
    last = dt.date(2026, 11, 24)
    short = heat({dt.date(2026, 11, 21): 2}, last)
    assert short.count("<rect") == 9 and "in the last 2\u00a0weeks: 1 of 9" in short and ">Nov<" not in short
    assert heat({dt.date(2020, 1, 1): 2}, last).count("<rect") == 25 * 7 + 2
    assert heat({dt.date(2026, 12, 24): 2}, last).count("<rect") == 2


def test_the_last_day_of_a_past_year_is_not_marked_as_today() -> None:
    last = dt.date(2025, 12, 31)
    assert ('class="today"' in heat({last: 2}, last), 'class="today"' in heat({last: 2}, last, today=LATER)) == (
        True,
        False,
    )
