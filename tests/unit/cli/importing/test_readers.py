"""What each reader finds in a store that the program itself wrote, and in one that is damaged, huge, or a trap."""

import json
import os
import sqlite3
from pathlib import Path

import pytest

from bead.errors import BadRequest
from bead_cli.importing import files
from bead_cli.importing.readers import PROGRAMS
from bead_cli.importing.records import Kept, Record, Said, Wrong, source_of

STORES = Path(__file__).parents[3] / "fixtures" / "stores"


def read(program: str, path: Path) -> list[Record]:
    return list(PROGRAMS[program].load()(str(path)))


def texts(program: str, path: Path) -> list[str]:
    return [each.text for each in read(program, path) if isinstance(each, Kept)]


def wrong(program: str, path: Path) -> list[str]:
    return [each.place for each in read(program, path) if isinstance(each, Wrong)]


def test_the_graph_of_the_mcp_memory_server() -> None:
    assert texts("mcp-memory", STORES / "mcp-memory" / "memory.jsonl") == [
        "Ada Example: Works on the shop's checkout",
        "Ada Example: Prefers small commits",
        "shop: Deploys go out on Tuesdays",
        "Ada Example maintains shop",
    ]


@pytest.mark.parametrize("indent", [None, 2])
def test_the_graph_as_one_document(tmp_path: Path, indent: int | None) -> None:
    lines = (STORES / "mcp-memory" / "memory.jsonl").read_text().splitlines()
    items = [json.loads(line) for line in lines]
    graph = {"entities": items[:2], "relations": items[2:]}
    (tmp_path / "memory.json").write_text(json.dumps(graph, indent=indent))
    assert len(texts("mcp-memory", tmp_path / "memory.json")) == 4


def test_notes_of_basic_memory() -> None:
    records = read("basic-memory", STORES / "basic-memory")
    assert [(each.text, each.type, each.place) for each in records if isinstance(each, Kept)] == [
        ("Deploys go out on Tuesdays", None, "Deploys.md line 11"),
        ("Deploys: Small commits please", "feedback", "Deploys.md line 12"),
    ]


def test_a_note_without_observations_is_one_memory(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("---\ntitle: Tea\n---\n\nTea at four,\nalways.\n\n- likes [[Cake]]\n")
    assert texts("basic-memory", tmp_path) == ["Tea at four,\nalways."]


def test_an_export_of_mem0() -> None:
    path = STORES / "mem0" / "export.json"
    assert texts("mem0", path) == ["Prefers tea to coffee", "Works from Lisbon on Fridays"]
    assert wrong("mem0", path) == ["memory 3"]


def test_memories_of_beads_and_not_its_issues() -> None:
    path = STORES / "beads" / "export.jsonl"
    assert texts("beads", path) == ["auth module uses JWT not sessions"]
    assert wrong("beads", path) == ["line 3"]


def test_an_instructions_file_falls_into_what_it_says() -> None:
    records = read("claude-md", STORES / "instructions" / "CLAUDE.md")
    assert [(each.text, each.place) for each in records if isinstance(each, Kept)] == [
        ("We deploy on Tuesdays,\nnever on Fridays.", "line 3"),
        ("Package manager: pnpm", "line 8"),
        ("Run the tests with `make check`\n  before each commit", "line 9"),
        ("```sh\nmake ship\n```", "line 15"),
    ]


def claude_mem(path: Path) -> sqlite3.Connection:
    """The tables as claude-mem creates them and later adds to them."""
    database = sqlite3.connect(path)
    database.executescript(
        "CREATE TABLE observations (id INTEGER PRIMARY KEY AUTOINCREMENT, memory_session_id TEXT NOT NULL,"
        " project TEXT NOT NULL, text TEXT NOT NULL, type TEXT NOT NULL, created_at TEXT NOT NULL,"
        " created_at_epoch INTEGER NOT NULL);"
        "ALTER TABLE observations ADD COLUMN title TEXT; ALTER TABLE observations ADD COLUMN narrative TEXT;"
        "CREATE TABLE session_summaries (id INTEGER PRIMARY KEY AUTOINCREMENT, memory_session_id TEXT UNIQUE NOT NULL,"
        " project TEXT NOT NULL, request TEXT, investigated TEXT, learned TEXT, completed TEXT, next_steps TEXT,"
        " created_at TEXT NOT NULL, created_at_epoch INTEGER NOT NULL);"
    )
    return database


def fill(path: Path, rows: int = 1) -> None:
    database = claude_mem(path)
    for number in range(rows):
        database.execute(
            "INSERT INTO observations (memory_session_id, project, text, type, created_at, created_at_epoch, title)"
            " VALUES ('s', 'My Shop', ?, 'discovery', '2026-01-01', 1, ?)",
            (f"the queue drains slowly {number} " + "x" * 500, f"Queue {number}"),
        )
    database.execute(
        "INSERT INTO session_summaries (memory_session_id, project, learned, created_at, created_at_epoch)"
        " VALUES ('s', 'shop', 'retries need a limit', '2026-01-01', 1)"
    )
    database.commit()
    database.close()


def test_claude_mems_database(tmp_path: Path) -> None:
    fill(tmp_path / "c.db")
    before = (tmp_path / "c.db").read_bytes()
    kept = [each for each in read("claude-mem", tmp_path / "c.db") if isinstance(each, Kept)]

    assert kept[0].text.startswith("Queue 0\nthe queue drains slowly 0") and kept[0].project == "my-shop"
    assert (kept[1].text, kept[1].project) == ("retries need a limit", "shop")
    assert [path.name for path in tmp_path.iterdir()] == ["c.db"]
    assert (tmp_path / "c.db").read_bytes() == before


def test_a_damaged_database_gives_what_can_be_read_and_says_where_it_ends(tmp_path: Path) -> None:
    fill(tmp_path / "c.db", rows=200)
    data = bytearray((tmp_path / "c.db").read_bytes())
    middle = len(data) // 2 // 4096 * 4096
    data[middle : middle + 8192] = b"\xff" * 8192
    (tmp_path / "c.db").write_bytes(data)
    records = read("claude-mem", tmp_path / "c.db")
    assert [each for each in records if isinstance(each, Kept)]
    assert [each for each in records if isinstance(each, Wrong)]


CLAUDE: list[dict[str, object]] = [
    {"type": "summary", "summary": "x"},
    {"type": "user", "message": {"role": "user", "content": "<system-reminder>a</system-reminder>"}},
    {"type": "user", "message": {"role": "user", "content": "how do we ship?"}},
    {
        "type": "assistant",
        "message": {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "With make."},
            {"type": "tool_use", "name": "Bash", "input": {"command": "make ship"}},
        ]},
    },
    {"type": "user", "message": {"role": "user", "content": [{"type": "tool_result", "content": "done"}]}},
    {"type": "user", "isSidechain": True, "message": {"role": "user", "content": "a subagent's"}},
]  # fmt: skip


def claude_lines() -> str:
    more = {"sessionId": "S-1", "timestamp": "2026-05-01T10:00:00.000Z", "cwd": "/nowhere"}
    return "".join(json.dumps(line | more | {"uuid": f"u{number}"}) + "\n" for number, line in enumerate(CLAUDE))


def test_a_session_of_claude_code(tmp_path: Path) -> None:
    (tmp_path / "-shop").mkdir()
    (tmp_path / "-shop" / "S-1.jsonl").write_text(claude_lines() + '{"type": "user", "mess')
    records = read("claude-transcripts", tmp_path)
    said = [each for each in records if isinstance(each, Said)]

    assert [(each.role, each.id, each.text) for each in said] == [
        ("user", "u2", "how do we ship?"),
        ("assistant", "u3", 'With make.\n\n[tool use: Bash]\n{"command": "make ship"}\n[end of tool text]'),
        ("user", "u4", "[tool result]\ndone\n[end of tool text]"),
    ]
    assert [each for each in records if isinstance(each, Wrong)] == [
        Wrong("S-1.jsonl line 7", "it is not a JSON object; it may have been cut off")
    ]


def test_a_session_of_codex(tmp_path: Path) -> None:
    at = "2026-05-01T10:00:00.000Z"
    payloads = [
        ("session_meta", {"id": "c-1", "cwd": "/nowhere"}),
        ("response_item", {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "no"}]}),
        ("response_item", {"type": "message", "role": "user", "content": [
            {"type": "input_text", "text": "<environment_context>x</environment_context>"}]}),
        ("response_item", {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "ship?"}]}),
        ("response_item", {"type": "function_call", "name": "exec_command", "arguments": '{"cmd":"make"}'}),
        ("response_item", {"type": "function_call_output", "output": "ok"}),
        ("response_item", {"type": "message", "role": "assistant", "content": [
            {"type": "output_text", "text": "Shipped."}]}),
        ("event_msg", {"type": "agent_message", "message": "Shipped."}),
    ]  # fmt: skip
    lines = [json.dumps({"timestamp": at, "type": kind, "payload": said}) for kind, said in payloads]
    (tmp_path / "rollout-1.jsonl").write_text("\n".join(lines))
    said = [each for each in read("codex-transcripts", tmp_path / "rollout-1.jsonl") if isinstance(each, Said)]

    assert [(each.session, each.id) for each in said] == [("c-1", f"c-1-{number}") for number in (1, 2, 3, 4)]
    assert [each.role for each in said] == ["user", "assistant", "user", "assistant"]
    assert [each.text for each in said][::3] == ["ship?", "Shipped."]


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_link_a_device_and_what_is_not_there_are_named(tmp_path: Path, program: str) -> None:
    (tmp_path / "real").write_text("{}")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", "pipe", "missing"):
        with pytest.raises(BadRequest) as caught:
            read(program, tmp_path / name)
        assert name in caught.value.message


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize(
    "data",
    [b"", b"\0" * 4096, b"\xff\xfe\xfd", b"[" * 200_000, b'{"a": ' * 50_000, b"SQLite format 3\0" + b"x" * 5_000],
)
def test_no_content_breaks_a_reader(tmp_path: Path, program: str, data: bytes) -> None:
    """It is refused with a reason, named as wrong, or read as something harmless; never another error."""
    (tmp_path / "store").write_bytes(data)
    try:
        records = read(program, tmp_path / "store")
    except BadRequest as error:
        assert "store" in error.message
    else:
        assert all("\0" not in each.text for each in records if isinstance(each, Kept))


def test_what_is_larger_than_any_such_file_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (tmp_path / "CLAUDE.md").open("wb") as file:
        file.truncate(files.MAX_TEXT_BYTES + 1)
    with pytest.raises(BadRequest, match="larger than 4 MB"):
        read("claude-md", tmp_path / "CLAUDE.md")


def test_one_line_too_long_costs_that_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_LINE_BYTES", 1_000)
    good = json.dumps({"_type": "memory", "key": "tea", "value": "at four"})
    (tmp_path / "a.jsonl").write_text(f"{'x' * 5_000}\n{good}\n")
    assert list(files.lines_of(str(tmp_path / "a.jsonl"))) == [(1, b""), (2, good.encode() + b"\n")]


def test_provenance_names_program_file_and_place_without_folders() -> None:
    assert source_of("mem0", "/home/ada/my export.json", "memory 3") == "import/mem0/my-export.json#memory-3"
