"""Which moment of its line a job is due for: pure, over a clock that may jump and a time zone that changes.

One rule for everything: a job is due for the newest moment of its line that is past and newer than the one it ran for.
So what was missed while the machine slept or was off is caught up once, never as often as it was missed; a clock that
is put back repeats nothing; and no job runs twice for one day.
"""

from datetime import UTC, datetime, time, timedelta, tzinfo

FROM_THE_FUTURE = timedelta(days=1)
"""A last run that lies further ahead than this was noted under a wrong clock and holds nobody up."""
_LONGEST_GAP = timedelta(days=2)
_DAYS_AHEAD = 3
"""Some places have left out a whole day."""


def next_moment(at: str, after: datetime, zone: tzinfo) -> datetime:
    """The first moment (UTC) with local time `at` (`HH:MM`) after `after`.

    A time that a change of the clocks leaves out is as far behind the gap; one that comes twice counts the first time.
    """
    today = after.astimezone(zone).date()
    days = (today + timedelta(days=ahead) for ahead in range(_DAYS_AHEAD + 1))
    moments = (datetime.combine(day, time.fromisoformat(at), zone).astimezone(UTC) for day in days)
    return next(moment for moment in moments if moment > after.astimezone(UTC))


def due(at: str, since: datetime, last: datetime | None, now: datetime, zone: tzinfo) -> datetime | None:
    """The moment (UTC) to run for now; None when there is none.

    `since` is when the line was first seen, `last` the moment it ran for last.
    """
    now = now.astimezone(UTC)
    if last is not None and last - now > FROM_THE_FUTURE:
        last = now
    behind = max(since, last or since).astimezone(UTC)
    moment = next_moment(at, max(behind, now - _LONGEST_GAP), zone)
    if moment > now:
        return None
    while (later := next_moment(at, moment, zone)) <= now:
        moment = later
    return moment
