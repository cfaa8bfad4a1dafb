"""Convert a date or a time, as an author wrote it, to a day or a moment in the site's time zone."""

from __future__ import annotations

import datetime as dt


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
