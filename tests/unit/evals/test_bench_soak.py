"""What the soak calls a failure, and the conversations that it sends."""

import json
from itertools import count

import msgspec

from bead_evals.bench import results
from bead_evals.bench.soak import TURNS, Soak, Talk

GOOD = Soak(
    at="",
    commit=None,
    is_dirty=False,
    machine=results.machine(0.0),
    seconds=60,
    rate=50,
    conversations=20,
    requests=3_000,
    errors=[],
    direct_p50_ms=1,
    direct_p99_ms=2,
    bead_p50_ms=5,
    bead_p99_ms=20,
    added_p99_ms=18,
    rss_first_mb=100,
    rss_last_mb=104,
    growth=0.04,
    peaks={"6000000": 160.0},
)


def test_each_target_that_is_missed_is_said() -> None:
    assert GOOD.failures() == []
    missed = msgspec.structs.replace(
        GOOD, errors=["status 502"], growth=0.06, added_p99_ms=51, peaks={"6000000": 169.0, "30000000": 239.0}
    )
    assert len(missed.failures()) == 4


def test_a_conversation_grows_and_begins_anew() -> None:
    talk = Talk(3, count())
    first = talk.session
    bodies = [json.loads(talk.next_body()) for _ in range(TURNS)]
    earlier, later = bodies[0]["messages"], bodies[1]["messages"]

    assert later[: len(earlier)] == earlier and len(later) == len(earlier) + 2
    talk.next_body()
    assert talk.session != first
