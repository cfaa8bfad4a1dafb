import datetime as dt

from sitegen.model.dates import day_of, moment

SEOUL = dt.timezone(dt.timedelta(hours=9))
LATE_IN_LONDON = dt.datetime(2026, 11, 21, 20, 0, tzinfo=dt.UTC)


def test_a_time_elsewhere_is_the_day_that_it_is_at_the_site() -> None:
    assert day_of(LATE_IN_LONDON, SEOUL) == dt.date(2026, 11, 22)


def test_a_time_without_a_zone_is_the_sites_own() -> None:
    assert day_of(dt.datetime(2026, 11, 21, 23, 59), SEOUL) == dt.date(2026, 11, 21)
    assert moment(dt.datetime(2026, 11, 21, 23, 59), SEOUL).utcoffset() == dt.timedelta(hours=9)


def test_a_day_begins_at_midnight_of_the_site() -> None:
    assert day_of(dt.date(2026, 11, 22), SEOUL) == dt.date(2026, 11, 22)
    assert moment(dt.date(2026, 11, 22), SEOUL) == dt.datetime(2026, 11, 21, 15, 0, tzinfo=dt.UTC)
