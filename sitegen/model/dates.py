"""Convert a date or a time, as an author wrote it, to a day or a moment in the site's time zone."""

from __future__ import annotations

import datetime as dt
from typing import TypeVar

T = TypeVar("T", bound=dt.date)

FIRST_YEAR, LAST_YEAR = 1000, 9000
"""Dates of other years are mistakes: weeks and time zones around them leave the calendar of Python, which has the years
1 to 9999."""


class YearError(ValueError):
    """A date of another year; the message says what to write."""


def in_calendar(date: T) -> T:
    """Return a date or a time.  Raises YearError when its year is not one of FIRST_YEAR to LAST_YEAR."""
    if not FIRST_YEAR <= date.year <= LAST_YEAR:
        raise YearError(f"write a year from {FIRST_YEAR} to {LAST_YEAR}")
    return date


def day_of(date: dt.date | dt.datetime, zone: dt.tzinfo) -> dt.date:
    """Return the calendar day of a date or a time in the site's time zone."""
    if not isinstance(date, dt.datetime):
        return date
    return (date.astimezone(zone) if date.tzinfo else date).date()


def periods_of(date: dt.date) -> tuple[str, str, str]:
    """Return the year, the month and the week of ISO 8601 of a day, as addresses name them: `2026`, `2026-11`,
    `2026-w48`.
    """
    week = date.isocalendar()
    return str(date.year), f"{date.year}-{date.month:02}", f"{week.year}-w{week.week:02}"


def moment(date: dt.date | dt.datetime, zone: dt.tzinfo) -> dt.datetime:
    """Return the start of a date or a time; a day begins at midnight in the site's time zone."""
    if isinstance(date, dt.datetime):
        return date if date.tzinfo else date.replace(tzinfo=zone)
    return dt.datetime(date.year, date.month, date.day, tzinfo=zone)
