"""Names, private spans, layout, the audit chain: small and pure, or nearly."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bead.wire.store import AuditReport
from bead_store import layout
from bead_store.audit import Audit, first_broken_line, full_files, lines_of
from bead_store.disk import Disk
from bead_store.names import conversation_name, file_name, word
from bead_store.privacy import remove_private


@given(st.text())
def test_file_name_is_safe_and_maps_to_itself(text: str) -> None:
    name = file_name(text)

    assert name and "/" not in name and not name.startswith((".", "-")) and name == name.lower()
    assert len(name) <= 120 and file_name(name) == name
    assert " " not in word(text) and "\n" not in word(text) and word(text)


@given(st.text(max_size=80), st.text(max_size=80))
def test_a_conversation_is_found_by_the_name_of_its_session(session: str, thread: str) -> None:
    name = conversation_name(session, thread)

    assert file_name(name) == name
    assert name.startswith(f"{file_name(session)}-")
    assert conversation_name(session, f"{thread}x") != name


def test_names_that_differ_in_case_only_are_two_files() -> None:
    assert file_name("Session") != file_name("session")


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("plain", "plain"),
        ("a <private>b</private> c", "a [private] c"),
        ("a <PRIVATE>b</ Private > c", "a [private] c"),
        ("a <private>b <private>c</private> d</private> e", "a [private] e"),
        ("a <private>never closed", "a [private]"),
        ("a </private> b", "a </private> b"),
        ("<private>a</private><private>b</private>", "[private][private]"),
        ("a <private>b\nc</private>\nd", "a [private]\nd"),
        ("the <privateer> sails", "the <privateer> sails"),
    ],
)
def test_private_span_is_removed(text: str, kept: str) -> None:
    assert remove_private(text) == kept


@pytest.mark.parametrize(
    "name", ["v0.md", "v01.md", "v1.MD", "v1.md~", "v1 2.md", "v-1.md", "v1.md\n", "v٣.md", "1.md"]
)
def test_name_that_is_not_exactly_a_version_is_none(name: str) -> None:
    assert layout.version_number(name) is None


def test_versions_are_in_order_of_their_numbers(tmp_path: Path) -> None:
    for number in (9, 10, 1):
        (tmp_path / f"v{number}.md").touch()

    assert layout.versions_in(tmp_path) == (1, 9, 10)


def audit(path: Path) -> Audit:
    return Audit(path, Disk(), lambda: datetime(2026, 11, 5, tzinfo=UTC))


def test_audit_lines_are_chained_across_restarts_and_hold_no_key(tmp_path: Path) -> None:
    path = tmp_path / "audit.log"
    audit(path).record("created", "uid-1", version=1)
    audit(path).record("superseded", "uid-1", version=2)

    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert first_broken_line(path.read_text()) is None
    assert [set(line) for line in lines] == [{"at", "verb", "what", "version", "prev"}] * 2


def test_changed_removed_or_added_audit_line_shows(tmp_path: Path) -> None:
    path = tmp_path / "audit.log"
    for version in (1, 2, 3, 4):
        audit(path).record("superseded", "uid", version=version)
    first, second, third, fourth = path.read_text().splitlines(keepends=True)

    assert first_broken_line(first + second.replace("uid", "UID") + third + fourth) == 3
    assert first_broken_line(first + third + fourth) == 2
    assert first_broken_line(second + third) == 1
    assert first_broken_line(first + first + second) == 2
    assert first_broken_line(first + "garbage\n") == 2


def test_a_full_audit_log_goes_on_in_a_new_file_and_the_chain_holds_over_all_of_them(tmp_path: Path) -> None:
    path = tmp_path / "audit.log"

    def small() -> Audit:
        return Audit(path, Disk(), lambda: datetime(2026, 11, 5, tzinfo=UTC), max_bytes=400)

    for version in range(20):  # each a process of its own
        small().record("superseded", "uid", version=version)
    full = full_files(path)
    assert len(full) > 3 and full[0].name == "audit.1.log"
    assert small().verify() == AuditReport(lines=20, first_bad_line=None)
    assert [json.loads(line)["version"] for line in lines_of(path)] == list(range(20))

    full[1].write_text(full[1].read_text().replace("uid", "UID"))
    assert small().verify().first_bad_line is not None


def test_the_oldest_full_audit_files_go_and_what_is_left_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bead_store.audit.MAX_FULL", 2)
    path = tmp_path / "audit.log"
    log = Audit(path, Disk(), lambda: datetime(2026, 11, 5, tzinfo=UTC), max_bytes=400)
    for version in range(20):
        log.record("superseded", "uid", version=version)
    full = full_files(path)
    assert len(full) == 2 and full[0].name != "audit.1.log"
    assert log.verify().first_bad_line is None

    full[0].unlink()
    assert log.verify().first_bad_line is None, "the oldest may always be gone"
    full[1].write_text("\n".join(full[1].read_text().splitlines()[1:-1]) + "\n")
    assert log.verify().first_bad_line is not None


def test_torn_audit_line_is_cut_before_the_next(tmp_path: Path) -> None:
    path = tmp_path / "audit.log"
    audit(path).record("created", "uid", version=1)
    with path.open("a") as log:
        log.write('{"at": "2026')

    audit(path).record("superseded", "uid", version=2)

    assert first_broken_line(path.read_text()) is None
    assert len(path.read_text().splitlines()) == 2
