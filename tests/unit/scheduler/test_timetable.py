"""When a job is due: missed moments are caught up once, and no clock makes it run twice for one day."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bead_scheduler.timetable import due, next_moment

BERLIN = ZoneInfo("Europe/Berlin")
APIA = ZoneInfo("Pacific/Apia")
INSTALLED = datetime(2026, 11, 1, 9, tzinfo=UTC)


def berlin(day: int, hour: int, minute: int = 0, month: int = 11) -> datetime:
    return datetime(2026, month, day, hour, minute, tzinfo=BERLIN)


def test_a_new_line_waits_for_its_first_moment() -> None:
    assert due("03:30", berlin(30, 10), None, berlin(30, 23), BERLIN) is None


def test_it_is_due_from_its_moment_on() -> None:
    assert due("03:30", INSTALLED, berlin(29, 3, 30), berlin(30, 3, 29), BERLIN) is None
    assert due("03:30", INSTALLED, berlin(29, 3, 30), berlin(30, 3, 30), BERLIN) == berlin(30, 3, 30)


def test_a_night_that_was_slept_through_is_caught_up_in_the_morning() -> None:
    assert due("03:30", INSTALLED, berlin(29, 3, 30), berlin(30, 9), BERLIN) == berlin(30, 3, 30)


def test_a_machine_that_is_off_every_night_runs_it_every_day() -> None:
    moment = due("03:30", berlin(29, 9), None, berlin(30, 9), BERLIN)
    assert moment == berlin(30, 3, 30)
    assert due("03:30", berlin(29, 9), moment, berlin(30, 17), BERLIN) is None


def test_a_month_away_is_caught_up_once() -> None:
    moment = due("03:30", INSTALLED, berlin(2, 3, 30), berlin(30, 9), BERLIN)
    assert moment == berlin(30, 3, 30)
    assert due("03:30", INSTALLED, moment, berlin(30, 9, 1), BERLIN) is None


def test_a_clock_that_is_put_back_repeats_nothing() -> None:
    ran = berlin(30, 3, 30)
    for hour in range(24):
        assert due("03:30", INSTALLED, ran, berlin(29, hour), BERLIN) is None
        assert due("03:30", INSTALLED, ran, berlin(30, hour), BERLIN) is None


def test_a_run_under_a_clock_that_was_a_year_ahead_holds_nobody_up() -> None:
    ran = datetime(2027, 11, 30, 3, 30, tzinfo=BERLIN)
    assert due("03:30", INSTALLED, ran, berlin(30, 9), BERLIN) is None
    assert next_moment("03:30", berlin(30, 9), BERLIN) == berlin(1, 3, 30, month=12)


def test_a_time_that_summer_time_leaves_out_comes_behind_the_gap() -> None:
    before = datetime(2026, 3, 28, 12, tzinfo=BERLIN)
    moment = next_moment("02:30", before, BERLIN)
    assert moment.astimezone(UTC) == datetime(2026, 3, 29, 1, 30, tzinfo=UTC)
    assert f"{moment.astimezone(BERLIN):%H:%M}" == "03:30"


def test_a_time_that_comes_twice_in_autumn_runs_once() -> None:
    ran = due("02:30", INSTALLED - timedelta(days=30), None, datetime(2026, 10, 25, 0, 31, tzinfo=UTC), BERLIN)
    assert ran is not None
    for minute in range(0, 180):
        now = datetime(2026, 10, 25, 0, 31, tzinfo=UTC) + timedelta(minutes=minute)
        assert due("02:30", INSTALLED - timedelta(days=30), ran, now, BERLIN) is None


@pytest.mark.parametrize("zone", [BERLIN, APIA, ZoneInfo("America/St_Johns"), UTC])
def test_a_whole_year_of_looking_every_half_hour_runs_once_a_local_day(zone: ZoneInfo) -> None:
    now = datetime(2026, 1, 1, 12, tzinfo=UTC)
    last: datetime | None = None
    days: list[str] = []
    while now.year == 2026:
        if moment := due("03:30", datetime(2026, 1, 1, tzinfo=UTC), last, now, zone):
            days.append(f"{moment.astimezone(zone):%Y-%m-%d}")
            last = moment
        now += timedelta(minutes=30)
    assert len(days) == len(set(days))
    assert len(days) >= 364


def test_a_traveller_gets_one_run_for_each_night_of_the_place() -> None:
    moment = due("03:30", INSTALLED, berlin(29, 3, 30), berlin(30, 9), BERLIN)
    assert moment is not None
    tokyo = ZoneInfo("Asia/Tokyo")
    assert due("03:30", INSTALLED, moment, moment + timedelta(hours=2), tokyo) is None
    assert due("03:30", INSTALLED, moment, moment + timedelta(hours=17), tokyo) is not None


@given(st.lists(st.integers(-23 * 60, 23 * 60), max_size=60), st.sampled_from([BERLIN, APIA, ZoneInfo("UTC")]))
def test_no_clock_that_jumps_less_than_a_day_repeats_a_night_or_takes_them_out_of_order(
    jumps: list[int], zone: ZoneInfo
) -> None:
    now, last, days = INSTALLED, None, []
    for minutes in jumps:
        now += timedelta(minutes=minutes)
        moment = due("03:30", INSTALLED, last, now, zone)
        if moment is not None:
            assert last is None or moment > last
            last = moment
            days.append(moment.astimezone(zone).date())
    assert len(days) == len(set(days))
