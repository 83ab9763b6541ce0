"""Which moment of its line a job is due for: pure, over a clock that may jump and a time zone that changes.

One rule for everything: a job is due for the newest moment of its line that is past and newer than the one it ran for.
So what was missed while the machine slept or was off is caught up once, never as often as it was missed; a clock that
is put back repeats nothing; and no job runs twice for one day.
"""

from datetime import datetime, timedelta, tzinfo

from apscheduler.triggers.cron import CronTrigger

FROM_THE_FUTURE = timedelta(days=1)
"""A last run that lies further ahead than this was noted under a wrong clock and holds nobody up."""
_LONGEST_GAP = timedelta(days=2)


def next_moment(at: str, after: datetime, zone: tzinfo) -> datetime:
    """The first moment with local time `at` (`HH:MM`) after `after`; a time that a change of the clocks leaves out is
    the first one behind the gap."""
    hour, minute = at.split(":")
    trigger = CronTrigger(hour=int(hour), minute=int(minute), timezone=zone)
    found = trigger.get_next_fire_time(None, after.astimezone(zone) + timedelta(microseconds=1))
    assert found is not None  # a daily line has no end
    return datetime.fromtimestamp(found.timestamp(), zone)


def due(at: str, since: datetime, last: datetime | None, now: datetime, zone: tzinfo) -> datetime | None:
    """The moment to run for now; None when there is none.

    `since` is when the line was first seen, `last` the moment it ran for last.
    """
    if last is not None and last - now > FROM_THE_FUTURE:
        last = now
    behind = max(since, last or since)
    moment = next_moment(at, max(behind, now - _LONGEST_GAP), zone)
    if moment > now or behind > now:
        return None
    while (later := next_moment(at, moment, zone)) <= now:
        moment = later
    return moment
