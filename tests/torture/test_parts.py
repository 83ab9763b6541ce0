"""The pure parts of the kit: reading a trace, building disk states, knowing a whole text."""

import random
from pathlib import Path

from tests.torture import script
from tests.torture.blockdev import Operation
from tests.torture.check import Claims
from tests.torture.events import Event, from_lines, to_line
from tests.torture.inject import Run, Task, after_failed_sync, sample
from tests.torture.powercut import Recording, State, build, states
from tests.torture.syscalls import Call, Fault, read_calls

_TRACE = r"""
write(9<pipe:[4]>, "{\"kind\":\"begin\",\"round\":1,\"step\":3}\n", 37) = 37
openat(AT_FDCWD</x>, "/h/store/.tmp-0123456789abcdef", O_WRONLY|O_CREAT|O_EXCL, 0600) = 5</h/store>
write(5</h/store/.tmp-0123456789abcdef>, "---"..., 12) = 12
fsync(5</h/store/.tmp-0123456789abcdef>) = -1 EIO (Input/output error) (INJECTED)
openat(AT_FDCWD</x>, "/usr/lib/python3/re.py", O_RDONLY|O_CLOEXEC) = 6</usr/lib/python3/re.py>
close(6</usr/lib/python3/re.py>) = 0
openat(AT_FDCWD</x>, "/h/store", O_RDONLY|O_CLOEXEC) = 6</h/store>
close(6</h/store>) = 0
link("/h/store/.tmp-0123456789abcdef", "/h/store/v1.md") = 0
fsync(5</h/store>) = ?
+++ killed by SIGKILL +++
"""


def test_a_trace_is_read_with_numbers_targets_and_the_step_they_belong_to(tmp_path: Path) -> None:
    (tmp_path / "trace").write_text(_TRACE)

    calls = read_calls(tmp_path / "trace", Path("/h"))

    assert [(call.name, call.number, call.target) for call in calls] == [
        ("write", 1, ""),
        ("openat", 1, "store/.tmp-*"),
        ("write", 2, "store/.tmp-*"),
        ("fsync", 1, "store/.tmp-*"),
        ("openat", 2, ""),
        ("close", 1, ""),
        ("openat", 3, "store"),
        ("close", 2, "store"),
        ("link", 1, "store/v1.md"),
        ("fsync", 2, "store"),
    ]
    assert [call.is_told for call in calls] == [True] + [False] * 9
    assert {call.at for call in calls[1:]} == {"begin 3"}
    assert (calls[2].length, calls[3].failed) == (12, True)
    assert [call.number for call in calls if call.is_mutating and call.name in ("openat", "close")] == [1]


def test_an_acknowledgement_of_a_failed_fsync_is_found() -> None:
    struck = _call("fsync", 1, "store/facts/user/a/.tmp-*", failed=True)
    events = (Event("begin", 1, 0), Event("done", 1, 0), Event("health", 1, ready=False, degraded=("stopped",)))

    assert after_failed_sync(Run(events, [struck], 0, True), struck) == [
        "ACKNOWLEDGED although the fsync of store/facts/user/a/.tmp-* failed"
    ]


def test_a_second_fsync_and_a_later_write_are_found() -> None:
    struck = _call("fsync", 1, "audit.log", failed=True)
    calls = [struck, _call("fsync", 2, "audit.log"), _call("write", 1, "audit.log"), _call("close", 1, "audit.log")]

    assert len(after_failed_sync(Run((), calls, 0, True), struck)) == 2


def test_a_cut_keeps_what_was_flushed_and_only_the_chosen_rest(tmp_path: Path) -> None:
    recording = _recording(tmp_path)

    build(recording, State(4, (4,), "some"), tmp_path / "cut")

    assert (tmp_path / "cut").read_bytes() == b"a" + b"\0" + b"\0" + b"d"


def test_states_keep_nothing_that_was_not_sent_yet(tmp_path: Path) -> None:
    recording = _recording(tmp_path)

    found = states(recording, 20, seed=1)

    assert {state.kind for state in found} == {"flushed", "ordered", "some"}
    for state in found:
        assert all(at <= state.at for at in state.kept)
        assert state.at < 2 or all(at > 1 for at in state.kept), "before the flush everything is kept anyway"


def test_a_text_that_lost_its_last_byte_or_its_middle_is_not_whole() -> None:
    text = script.text("anything", 400)

    assert script.is_whole(text)
    assert not script.is_whole(text[:-1])
    assert not script.is_whole(text[:100] + text[101:])


def test_a_line_that_was_told_by_half_is_not_heard() -> None:
    line = to_line(Event("done", 1, 3, key="user/a"))

    assert from_lines(line + line[:-4]) == [Event("done", 1, 3, key="user/a")]


def test_after_a_power_cut_turns_count_only_up_to_the_last_group_fsync() -> None:
    steps = script.steps(1)
    settled = next(at for at, step in enumerate(steps) if isinstance(step, script.Settle))
    appends = [at for at, step in enumerate(steps) if isinstance(step, script.Append)]
    early, late = appends[0], appends[-1]
    told = [Event("done", 1, early), Event("done", 1, settled), Event("done", 1, late), Event("done", 1, 0)]

    counted = [event.step for _, event in Claims.after_power_cut(told).acknowledged()]

    assert counted == [early, settled, 0]


def test_a_sample_has_every_kind_of_fault() -> None:
    kinds = ("KILL", "EIO", "ENOSPC")
    found = [Task("fresh", Fault("write", at, kind), "", "start") for kind in kinds for at in range(100)]

    chosen = sample(found, 9, seed=random.Random(3).randint(0, 99))

    assert sorted(task.kind for task in chosen) == sorted(kinds * 3)


def _call(name: str, number: int, target: str, *, failed: bool = False) -> Call:
    return Call(name, number, target, True, 0, False, "begin 0", failed)


def _recording(folder: Path) -> Recording:
    """Four blocks of one byte: a, then a flush, then b, c and d."""
    (folder / "base").write_bytes(b"\0" * 4)
    writes = [Operation(at, False, at, bytes([97 + at])) for at in range(4)]
    operations = [writes[0], Operation(1, True, 0, b""), *writes[1:]]
    return Recording(folder / "base", operations, [], 0)
