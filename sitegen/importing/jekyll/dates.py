"""Read a date as Jekyll reads it.

Jekyll reads YAML by SafeYAML: a time with seconds and without an offset is UTC there; any other goes through Ruby's
Time.parse, where a time without an offset is the site's.
"""

from __future__ import annotations

import datetime as dt
import re

_TIME = re.compile(
    r"(\d{2,4})[-/.](\d{1,2})[-/.](\d{1,2})"
    r"(?:[Tt\s]+(\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d*)?)?\s*(?:([Zz]|UTC|GMT)|([-+]\d{1,2}):?(\d{2})?)?)?\s*"
)
_DAY = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})(?=[Tt\s])")
"""A day with something behind it that is no time, such as `18::48`; Ruby's Time.parse reads the day."""
_IN_WORDS = ("%B %d, %Y", "%b %d, %Y", "%d %B %Y", "%d %b %Y", "%B %d %Y", "%b %d %Y", "%a, %d %b %Y %H:%M:%S %z")


def read_date(text: str, zone: dt.tzinfo) -> dt.date | dt.datetime | None:
    """Return a date, or a time with its offset; None when it is neither.  `zone` is the timezone of the Jekyll site."""
    if match := _TIME.fullmatch(text.strip()):
        return _moment(match, zone)
    for form in _IN_WORDS:
        try:
            moment = dt.datetime.strptime(text.strip(), form)
        except ValueError:
            continue
        return moment if moment.tzinfo else moment.date()
    return _day(text.strip())


def _day(text: str) -> dt.date | None:
    match = _DAY.match(text)
    try:
        return dt.date(*map(int, match.groups())) if match else None
    except ValueError:
        return None


def in_zone(moment: dt.date | dt.datetime, zone: dt.tzinfo) -> dt.datetime:
    """Return the moment in the timezone of the Jekyll site, which its addresses show; a date becomes its midnight."""
    if isinstance(moment, dt.datetime):
        return moment.astimezone(zone)
    return dt.datetime.combine(moment, dt.time(), zone)


def _moment(match: re.Match[str], zone: dt.tzinfo) -> dt.date | dt.datetime | None:
    year, month, day, hour, minute, second, utc, hours, minutes = match.groups()
    try:
        date = dt.date(int(year) + (2000 if len(year) == 2 else 0), int(month), int(day))
        if hour is None:
            return date
        offset: dt.tzinfo = dt.UTC if utc or second is not None else zone
        if hours is not None:
            sign = -1 if hours.startswith("-") else 1
            offset = dt.timezone(dt.timedelta(hours=int(hours), minutes=sign * int(minutes or 0)))
        return dt.datetime(date.year, date.month, date.day, int(hour), int(minute), int(second or 0), tzinfo=offset)
    except ValueError:
        return None
