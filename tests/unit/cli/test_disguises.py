"""A byte scan finds a value in whatever software makes of it, and nothing where it is not."""

import base64
import bz2
import gzip
import html
import json
import lzma
import quopri
import unicodedata
import urllib.parse
from pathlib import Path

import pytest

from bead_cli import transcripts
from bead_cli.disguises import disguises, places
from bead_cli.verifying import verify
from bead_store.values import holds, needles

VALUE = 'Zebra-lantern "7741" größer als Xylophonquartz & Co'
RAW = VALUE.encode()
FORMS = {
    "plain": RAW,
    "upper": VALUE.upper().encode(),
    "spaces": VALUE.replace(" ", "\n\t ").encode(),
    "json": json.dumps({"a": VALUE}).encode(),
    "json in json": json.dumps(json.dumps(VALUE)).encode(),
    "url": urllib.parse.quote(VALUE).encode(),
    "url form": urllib.parse.quote_plus(VALUE).encode(),
    "html": html.escape(VALUE).encode(),
    "html numbers": "".join(f"&#{ord(sign)};" for sign in VALUE).encode(),
    "base64 0": base64.b64encode(RAW),
    "base64 1": base64.b64encode(b"x" + RAW + b"y"),
    "base64 2": base64.urlsafe_b64encode(b"xy" + RAW + b"zzz"),
    "hex": RAW.hex().encode(),
    "utf-16": VALUE.encode("utf-16"),
    "utf-16-be": VALUE.encode("utf-16-be"),
    "quoted-printable": quopri.encodestring(RAW),
    "nfd": unicodedata.normalize("NFD", VALUE).encode(),
    "gzip": b"head" + gzip.compress(b"before " + RAW),
    "bz2": bz2.compress(RAW),
    "xz": lzma.compress(RAW),
    "gzip of json": gzip.compress(json.dumps(VALUE).encode()),
    "backwards": RAW[::-1],
}


@pytest.mark.parametrize("form", FORMS)
def test_every_disguise_is_found(form: str) -> None:
    assert places(b"before " + FORMS[form] + b" after", disguises(VALUE))[0]


def test_another_text_is_none() -> None:
    other = "Zebra-lantern 7742 is smaller than Xylophonquartz"

    assert places(other.encode(), disguises(VALUE))[0] == set()


def test_scan_of_a_folder_names_files_and_folders_and_writes_nothing(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "plain.md").write_bytes(RAW)
    (tmp_path / "a" / "Xylophonquartz").mkdir()
    (tmp_path / "b.bin").write_bytes(b"\0" * 100)
    before = sorted(tmp_path.rglob("*"))

    whole = verify(tmp_path, VALUE, lambda done, total: None)
    word = verify(tmp_path, "xylophonquartz", lambda done, total: None)

    assert [Path(trace.path).name for trace in whole.traces] == ["plain.md"]
    assert {Path(trace.path).name for trace in word.traces} == {"plain.md", "Xylophonquartz"}
    assert (whole.files, sorted(tmp_path.rglob("*"))) == (2, before)


def test_scan_says_which_files_it_cannot_look_into(tmp_path: Path) -> None:
    (tmp_path / "sealed.age").write_bytes(b"age-encryption.org/v1\n-> X25519 x\n" + bytes(100))
    (tmp_path / "armoured.txt").write_text(
        "-----BEGIN AGE ENCRYPTED FILE-----\nYWdl\n-----END AGE ENCRYPTED FILE-----\n"
    )
    (tmp_path / "both.age").write_bytes(b"age-encryption.org/v1\n" + RAW)
    (tmp_path / "plain.md").write_text("age-encryption.org is a site\n")

    seen = verify(tmp_path, VALUE, lambda done, total: None)

    assert [Path(path).name for path in seen.encrypted] == ["armoured.txt", "both.age", "sealed.age"]
    assert [Path(trace.path).name for trace in seen.traces] == ["both.age"]
    assert seen.unread == ()


def test_transcript_is_blanked_in_place_and_stays_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    path = tmp_path / ".claude" / "projects" / "-repo" / "s.jsonl"
    path.parent.mkdir(parents=True)
    lines = [{"text": f"he said {VALUE}", "n": 1}, {"text": json.dumps({"inner": VALUE})}, {"text": "other"}]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    size, wanted = path.stat().st_size, needles([VALUE])
    elsewhere = tmp_path / "elsewhere.jsonl"
    elsewhere.write_text(json.dumps({"text": VALUE}))
    (path.parent / "link.jsonl").symlink_to(elsewhere)

    found = transcripts.find({}, tmp_path, lambda data: holds(data.decode(), wanted))
    done = [transcripts.redact(each.path, lambda text: holds(text, wanted)) for each in found]

    assert [each.path for each in found] == [path]
    assert done == [True]
    assert path.stat().st_size == size
    told = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["text"].strip() for line in told] == ["[forgotten]", "[forgotten]", "other"]
    assert VALUE in json.loads(elsewhere.read_text())["text"]


@pytest.mark.parametrize(
    ("harness", "place"),
    [
        ("Codex", ".codex/sessions/2026/12/01/rollout-2026-12-01T04-00-00-x.jsonl"),
        ("Codex", ".codex/history.jsonl"),
        ("Codex", ".codex/memories/MEMORY.md"),
        ("Gemini CLI", ".gemini/tmp/3f1c/chats/session-2026-12-01.json"),
        ("Gemini CLI", ".gemini/GEMINI.md"),
        ("Qwen Code", ".qwen/projects/-repo/chats/s.jsonl"),
        ("Qwen Code", ".qwen/QWEN.md"),
        ("Qwen Code", ".qwen/memories/MEMORY.md"),
        ("Claude Code", ".claude/projects/-repo/memory/MEMORY.md"),
    ],
)
def test_files_of_every_agent_are_named_and_can_be_blanked(
    harness: str, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    path = tmp_path / place
    path.parent.mkdir(parents=True)
    if path.suffix == ".md":
        path.write_text(f"# Mine\n- {VALUE}\n- other\n")
    else:
        path.write_text(json.dumps({"messages": [{"content": f"he said {VALUE}"}, {"content": "other"}]}) + "\n")
    size, wanted = path.stat().st_size, needles([VALUE])

    found = transcripts.find({}, tmp_path, lambda data: holds(data.decode(), wanted))

    assert [(each.harness, each.path, each.can_change) for each in found] == [(harness, path, True)]
    assert transcripts.redact(path, lambda text: holds(text, wanted))
    assert path.stat().st_size == size
    assert "other" in path.read_text() and not holds(path.read_text(), wanted)
