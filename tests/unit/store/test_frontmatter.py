"""Reading what editors leave, and changing a few fields without touching another byte (B11, B36, B46)."""

import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bead.errors import DamagedFile
from bead.facts import FactType, FactVersion, Sensitivity, Status, TriggerCard, Trust
from bead_store import header
from bead_store.frontmatter import Place, Rewrite, parse_fact, render_fact, rewrite_fact

FIELD = Path(__file__).parents[2] / "vectors" / "field"
NOW = datetime(2026, 11, 5, 9, 12, tzinfo=UTC)
VALUES = [line for line in (FIELD / "B11" / "values.txt").read_text("utf-8").split("\n") if line]
SPELLINGS = sorted(path for path in (FIELD / "B46").iterdir() if path.name != "closing-fence-at-eof.md")


def place(key: str = "user/editor", version: int = 1) -> Place:
    return Place(Path("facts") / key / f"v{version}.md", key, version, "me", NOW)


def written(lines: str, body: str = "I use vim") -> bytes:
    return f"---\nkey: user/editor\ntype: user\n{lines}---\n{body}\n".encode()


def full_fact(text: str) -> FactVersion:
    return FactVersion(
        uid="0123456789abcdef",
        key="user/editor",
        version=1,
        type=FactType.FEEDBACK,
        owner=text,
        status=Status.CURRENT,
        trust=Trust.USER_STATED,
        sensitivity=Sensitivity.PUBLIC,
        valid_from=NOW,
        body=text,
        pinned=True,
        sources=(text, "raw/2026/11/05/3f2a.md#turn-14"),
        harness=text,
        project_id=text,
        when=TriggerCard(say=(text,), unless=(text, "x")),
    )


@pytest.mark.parametrize(
    "value", [*VALUES, "a\u2028b", "nel\x85x", "\ufeffbom", "\x7f", "null", "y", "1_000", "= x", "?"]
)
def test_every_value_reads_back_as_it_was_by_our_reader_and_by_yaml(value: str) -> None:
    fact = full_fact(value)
    data = render_fact(fact, None)

    assert parse_fact(data, place()) == fact
    assert parse_fact(data.replace(b"---\n", b"---\n# a comment: our line reader gives up here\n", 1), place()) == fact


@pytest.mark.parametrize("path", SPELLINGS, ids=lambda path: path.name)
def test_every_spelling_of_a_header_gives_the_same_fact(path: Path) -> None:
    fact = parse_fact(path.read_bytes(), place())

    assert (fact.key, fact.type, fact.owner, fact.status) == ("user/editor", FactType.USER, "dev", Status.CURRENT)
    assert fact.body == "Uses vim keys."


def test_header_without_text_below_is_reported_not_read_as_an_empty_fact() -> None:
    with pytest.raises(DamagedFile, match="no text below"):
        parse_fact((FIELD / "B46" / "closing-fence-at-eof.md").read_bytes(), place())


@pytest.mark.parametrize("path", SPELLINGS, ids=lambda path: path.name)
def test_rewrite_touches_only_its_line_whatever_the_line_ends(path: Path) -> None:
    before = path.read_bytes()

    after = rewrite_fact(before, Rewrite(status=Status.SUPERSEDED), place())

    assert after == before.replace(b"status: current", b"status: superseded")


def test_hand_written_fields_are_read_as_meant() -> None:
    """`owner: no`, `version: 01`, a date and `pinned: yes` are a name, a number, a midnight and a yes."""
    fact = parse_fact((FIELD / "B11" / "hand-edited.md").read_bytes(), place("project/shop-api/country"))

    assert (fact.owner, fact.version, fact.pinned) == ("no", 1, True)
    assert fact.valid_from == datetime(2026, 11, 5, tzinfo=UTC)
    assert fact.sources == ("raw/2026/11/05/aa.md#turn-1",)


def test_silent_header_is_read_with_the_lowest_claims() -> None:
    fact = parse_fact(written(""), place())

    assert (fact.trust, fact.sensitivity, fact.pinned) == (Trust.AGENT_OBSERVED, Sensitivity.PRIVATE, False)
    assert (fact.valid_from, fact.owner, fact.uid) == (NOW, "me", "")


def test_fence_inside_the_text_belongs_to_the_text() -> None:
    assert parse_fact(written("", "above\n---\nkey: user/other\n---\nbelow"), place()).body == (
        "above\n---\nkey: user/other\n---\nbelow"
    )


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b"", 1),
        (b"\n\n", 1),
        (b"just text\n", 1),
        (b"text\n---\nkey: user/editor\n---\n", 1),
        (b"---\nkey: user/editor\n", 1),
        (b"\n\n---\nkey: user/editor\nno fence", 3),
        (b"---\nkey: user/editor\ntype: user\n---\n", 5),
        (b"---\n---\nno fields\n", 1),
        (b"---\n- a\n- list\n---\nx\n", 2),
        (b"---\nkey: user/editor\ntype: user\nkey: user/editor\n---\nx\n", 4),
        (b"---\nkey: user/editor\ntype: user\nwhen:\n  say: [a]\n  say: [b]\n---\nx\n", 6),
        (b"---\nkey: user/editor\ntype: person\n---\nx\n", 3),
        (b"---\nkey: user/editor\ntype: user\nstatus: retired\n---\nx\n", 4),
        (b"---\nkey: user/editor\ntype: user\npinned: maybe\n---\nx\n", 4),
        (b"---\nkey: user/editor\ntype: user\nvalid_from: noon\n---\nx\n", 4),
        (b"---\nkey: user/editor\ntype: user\nversion: 2\n---\nx\n", 4),
        (b"---\nkey: user/other\ntype: user\n---\nx\n", 2),
        (b"---\nkey: user/editor\ntype: user\nwhen: [a]\n---\nx\n", 4),
        (b"---\nkey: user/editor\ntype: user\nwhen:\n  never: [a]\n---\nx\n", 4),
        (b"---\nkey: user/editor\ntype: user\nowner: {a: b}\n---\nx\n", 4),
        (b"---\nkey: user/editor\ntype: user\nowner: *x\n---\nx\n", 4),
        (b"---\nkey: user/editor\ntype: user\nx:\n\t- a\n---\nx\n", 5),
        (b"---\nkey: user/editor\ntype: user\n---\ncaf\xe9\n", 5),
        (b"---\nkey: user/editor\ntype: user\n---\na\0b\n", 5),
    ],
)
def test_damaged_file_is_named_with_its_line(data: bytes, line: int) -> None:
    with pytest.raises(DamagedFile) as damage:
        parse_fact(data, place())

    assert damage.value.facts["line"] == line
    assert damage.value.facts["path"].endswith("user/editor/v1.md")


@pytest.mark.parametrize("missing", ["key", "type"])
def test_header_that_lacks_what_it_needs_is_damaged(missing: str) -> None:
    lines = {"key": "key: user/editor\n", "type": "type: user\n"}
    del lines[missing]

    with pytest.raises(DamagedFile, match=missing):
        parse_fact(f"---\n{''.join(lines.values())}---\nx\n".encode(), place())


@pytest.mark.parametrize(
    "hostile",
    [
        "a: &a [x,x,x]\nb: &b [*a,*a,*a]\nc: &c [*b,*b,*b]\nd: [*c,*c,*c]\n",
        "deep: " + "[" * 20_000 + "\n",
        "deep: " + "{" * 20_000 + "\n",
        "deep: " + "[" * 30 + "]" * 30 + "\n",
        "long: " + "x" * 60_000 + "\n",
        "long: " + "'" + "y " * 25_000 + "'\n",
        "colons: " + "k: " * 10_000 + "\n",
        "long: " + "x" * 200_000 + "\n",
        "tag: !!python/object/apply:os.system [x]\n",
        "? complex\n: key\n",
        "<<: *nothing\n",
    ],
    ids=range(11),
)
def test_hostile_header_is_read_or_named_within_a_second(hostile: str) -> None:
    start = time.perf_counter()
    try:
        parse_fact(written(hostile), place())
    except DamagedFile as damage:
        assert "xxx" not in damage.message
    assert time.perf_counter() - start < 1.0


def test_text_of_200_kb_in_one_line_is_no_problem() -> None:
    assert len(parse_fact(written("", "x" * 200_000), place()).body) == 200_000


def test_rewrite_keeps_unknown_fields_order_comments_and_quotes() -> None:
    before = (
        "\ufeff---  \r\n# about my editor\r\nmood: 'good'  # mine\r\nstatus: current   # for readers\r\n"
        "trust: 'agent_observed'\r\nkey: user/editor\r\nwhen: {say: [old]} # card\r\npinned:\r\ntype: user\r\n"
        "zzz: [1.10, no]\r\n...\r\n\r\n  I use vim  \r\n\r\n"
    ).encode()
    change = Rewrite(
        status=Status.DORMANT, trust=Trust.USER_STATED, pinned=True, sensitivity=Sensitivity.PUBLIC,
        when=TriggerCard(do=("make: all",)),
    )  # fmt: skip

    after = rewrite_fact(before, change, place()).decode()

    assert after == (
        "\ufeff---  \r\n# about my editor\r\nmood: 'good'  # mine\r\nstatus: dormant   # for readers\r\n"
        'trust: user_stated\r\nkey: user/editor\r\nwhen:\r\n  do:\r\n    - "make: all" # card\r\npinned: true\r\n'
        "type: user\r\nzzz: [1.10, no]\r\nsensitivity: public\r\n...\r\n\r\n  I use vim  \r\n\r\n"
    )


def test_rewrite_of_the_last_injection_touches_only_its_line() -> None:
    at = datetime(2026, 11, 30, 9, 12, tzinfo=UTC)
    before = written("pinned: true # mine\nwhen:\n  say: [a]\n# below\n")

    added = rewrite_fact(before, Rewrite(last_injected=at), place())
    moved = rewrite_fact(added, Rewrite(last_injected=at + timedelta(days=1)), place())

    assert added == before.replace(b"# below\n", b"# below\nlast_injected: 2026-11-30T09:12:00Z\n")
    assert moved == added.replace(b"11-30T", b"12-01T")


def test_rewrite_replaces_a_card_of_any_layout_and_leaves_the_comment_below_it() -> None:
    before = written("when: # card\n  say:\n    - a\n    - b: c # not a list\n# below\nmood: good\n")

    with pytest.raises(DamagedFile):
        rewrite_fact(written("when:\n  say:\n    - a\n  say:\n    - b\n"), Rewrite(pinned=True), place())
    after = rewrite_fact(before, Rewrite(when=TriggerCard(see=("x",))), place())

    assert b"when:\n  see:\n    - x" in after and b"\n# below\nmood: good\n" in after


def test_rewrite_that_could_not_keep_the_rest_is_refused() -> None:
    """`*s` would lose its anchor, so the file is left for a person."""
    with pytest.raises(DamagedFile):
        rewrite_fact(written("status: &s current\nmood: *s\n"), Rewrite(status=Status.DORMANT), place())


def test_rewrite_without_a_change_is_the_same_bytes() -> None:
    data = written("status: current\n")

    assert rewrite_fact(data, Rewrite(status=Status.CURRENT, pinned=False), place()) == data


def test_what_we_write_is_read_by_the_line_reader() -> None:
    """The fast way is what makes a large home start quickly; a change of the writer must keep it."""
    for value in VALUES:
        parts = header.split(render_fact(full_fact(value), None), Path("x"))
        assert header._own_fields(parts) is not None
