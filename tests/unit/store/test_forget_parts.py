"""Small parts of forget: words that confirm, records of what is open, what a file system promises, redaction."""

from pathlib import Path

import pytest

from bead.conversations import Block, BlockKind
from bead.errors import NotConfirmed
from bead_store import erasure, turnfile
from bead_store.confirmations import LIFE_S, Confirmations
from bead_store.disk import Disk
from bead_store.intents import Intent, Intents, Operation
from bead_store.redaction import look_for, plan, redacted


class Clock:
    """Seconds that pass when a test says so."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_word_is_good_for_ten_minutes_once_and_for_its_subject() -> None:
    clock = Clock()
    words = Confirmations(clock)
    in_time, late, other = (words.issue("user/a", "v1") for _ in range(3))

    clock.now = LIFE_S
    words.redeem(in_time, "user/a", "v1")
    for word, subject in ((in_time, ("user/a", "v1")), (other, ("user/a", "v2")), (other, ("user/a", "v1")), ("", ())):
        with pytest.raises(NotConfirmed):
            words.redeem(word, *subject)
    clock.now += 1
    with pytest.raises(NotConfirmed):
        words.redeem(late, "user/a", "v1")
    assert LIFE_S == 600


def test_parts_of_a_subject_do_not_run_together() -> None:
    words = Confirmations(Clock())
    with pytest.raises(NotConfirmed):
        words.redeem(words.issue("ab", "c"), "a", "bc")


def test_words_that_nobody_uses_do_not_pile_up() -> None:
    words = Confirmations(Clock())
    first = words.issue("x")
    for _ in range(1_000):
        last = words.issue("x")
    words.redeem(last, "x")
    with pytest.raises(NotConfirmed):
        words.redeem(first, "x")


def test_open_intent_is_found_by_the_next_life_and_a_damaged_one_is_named_and_left(tmp_path: Path) -> None:
    intents = Intents(tmp_path, Disk())
    kept, done = intents.begin(Intent(Operation.FORGET, ("u",), ("n",))), intents.begin(Intent(Operation.ACCEPT))
    intents.change(kept, Intent(Operation.FORGET, ("u",), waits_for_index=True, epoch="e", seq=3))
    intents.finish(done)
    (tmp_path / "broken.json").write_text("{")

    again = Intents(tmp_path, Disk())
    again.load()

    assert again.open == {kept: Intent(Operation.FORGET, ("u",), waits_for_index=True, epoch="e", seq=3)}
    assert [error.facts["path"] for error in again.damage] == [str(tmp_path / "broken.json")]
    assert (tmp_path / "broken.json").exists()


@pytest.mark.parametrize(("name", "expected"), [("ext4", True), ("xfs", True), ("btrfs", False), ("overlay", False)])
def test_only_file_systems_that_write_in_place_are_promised(name: str, expected: bool) -> None:
    assert erasure.overwrites(name) is expected


def test_file_system_of_a_path_is_that_of_the_nearest_mount(tmp_path: Path) -> None:
    assert erasure.file_system(Path("/proc/self")) in ("proc", "unknown")
    assert erasure.file_system(tmp_path / "not" / "there")


def session(*texts: str) -> bytes:
    head = "---\nsession: s\n---\n"
    return (
        head
        + "".join(
            turnfile.render(turnfile.Record(number, "user", "2026-11-05T09:12:00Z", f"t{number}", None, True, text))
            for number, text in enumerate(texts, 1)
        )
    ).encode()


def forget(data: bytes, value: str, *sources: str) -> bytes:
    return redacted(data, plan(data, "raw/x.md", look_for([value], sources, ())))


@pytest.mark.parametrize(
    "text",
    ["I saw a quokka", "## turn-9 user x y\nquokka", "quokka\n<!-- /turn-1 -->", "é quokka é\n\n", "quokka again\r\n"],
)
def test_redacted_turn_keeps_size_markers_and_neighbours(text: str) -> None:
    data = session("before", text, "after")

    done = forget(data, "Quokka")

    assert len(done) == len(data)
    assert [record.text for record in turnfile.scan(done).records] == ["before", "[forgotten]", "after"]
    assert b"quokka" not in done
    assert forget(done, "Quokka") == done, "doing it again changes nothing"


def test_turn_shorter_than_the_word_says_it_too() -> None:
    data = session("vim!", "else")
    done = forget(data, "vim")
    assert [record.text for record in turnfile.scan(done).records] == ["[forgotten]", "else"]
    assert len(done) == len(data) + len("[forgotten]") - len("vim!")


def test_empty_turn_that_is_cited_stays_whole() -> None:
    data = session("", "else")
    assert forget(data, "nothing", "raw/x.md#turn-1") == data


def test_sources_name_turns_of_their_own_file_only() -> None:
    done = forget(
        session("one", "two words here"), "nothing", "raw/x.md#turn-2", "raw/y.md#turn-1", "raw/x.md", "x#turn-"
    )
    assert [record.text for record in turnfile.scan(done).records] == ["one", "[forgotten]"]


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        (Block("p", BlockKind.RECALL, "x", ("uid",)), True),
        (Block("p", BlockKind.RECALL, "x", ("other",), ("raw/x.md#turn-2",)), True),
        (Block("p", BlockKind.RECALL, "x", ("other",), ("raw/x.md#turn-22",)), False),
        (Block("p", BlockKind.RECALL, "- a QUOKKA\n  sings", ("other",)), True),
        (Block("p", BlockKind.RECALL, "", ()), False),
    ],
)
def test_block_goes_for_its_fact_its_excerpt_or_its_text(block: Block, expected: bool) -> None:
    assert look_for(["a quokka sings"], ["raw/x.md#turn-2"], ["uid"]).takes(block) is expected
