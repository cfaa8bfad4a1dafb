"""A date or a time as an author wrote it → the day and the moment of it in the site's time zone."""

from __future__ import annotations

import datetime as dt


def day_of(date: dt.date | dt.datetime, zone: dt.tzinfo) -> dt.date:
    """The day on which it is there, in the site's time zone."""
    if not isinstance(date, dt.datetime):
        return date
    return (date.astimezone(zone) if date.tzinfo else date).date()


def moment(date: dt.date | dt.datetime, zone: dt.tzinfo) -> dt.datetime:
    """A day begins at midnight of the site's time zone."""
    if isinstance(date, dt.datetime):
        return date if date.tzinfo else date.replace(tzinfo=zone)
    return dt.datetime(date.year, date.month, date.day, tzinfo=zone)
