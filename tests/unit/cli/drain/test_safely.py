"""No trick with paths leads the drain out of a store, and no file is emptied that is not what was read."""

import os
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from bead_cli.drain.safely import MAX_FILE_BYTES, Changed, NotSafe, Tree, opened

UID = os.getuid()
LIMIT_S = 30.0
OUTSIDE = b"OUTSIDE"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    folder = tmp_path / "store"
    (folder / "sub").mkdir(parents=True, mode=0o700)
    folder.chmod(0o700)
    (folder / "ok.md").write_text("fine")
    (folder / "sub" / "ok.md").write_text("fine")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "ok.md").write_bytes(OUTSIDE)
    return folder


@pytest.fixture
def tree(store: Path) -> Iterator[Tree]:
    with opened(str(store), UID) as found:
        assert found is not None
        yield found


def outside(store: Path) -> Path:
    return store.parent / "outside" / "ok.md"


def huge(store: Path) -> None:
    with (store / "trick").open("wb") as file:
        file.truncate(MAX_FILE_BYTES + 1)


TRICKS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "a link to a file outside": ("trick", lambda store: (store / "trick").symlink_to(outside(store))),
    "a link to a file inside": ("trick", lambda store: (store / "trick").symlink_to("ok.md")),
    "a link to a folder outside": ("trick/ok.md", lambda store: (store / "trick").symlink_to(outside(store).parent)),
    "a link to a folder inside": ("trick/ok.md", lambda store: (store / "trick").symlink_to("sub")),
    "a hard link": ("trick", lambda store: os.link(outside(store), store / "trick")),
    "a pipe": ("trick", lambda store: os.mkfifo(store / "trick")),
    "a folder": ("trick", lambda store: (store / "trick").mkdir()),
    "a file too large": ("trick", huge),
    "a way up": ("../outside/ok.md", lambda store: None),
    "a way up from below": ("sub/../../outside/ok.md", lambda store: None),
    "a whole path": ("/etc/passwd", lambda store: None),
    "a dot": ("./ok.md", lambda store: None),
    "two slashes": ("sub//ok.md", lambda store: None),
    "a NUL": ("ok\0.md", lambda store: None),
    "nothing": ("", lambda store: None),
    "a file as a folder": ("ok.md/x", lambda store: None),
    "a folder where others write": ("sub/ok.md", lambda store: (store / "sub").chmod(0o777)),
    "what is not there": ("trick", lambda store: None),
    "a broken link": ("trick", lambda store: (store / "trick").symlink_to("nowhere")),
}  # fmt: skip


@pytest.mark.parametrize("name", TRICKS)
@pytest.mark.parametrize("to_empty", [False, True])
def test_no_trick_is_read_or_emptied(store: Path, tree: Tree, name: str, to_empty: bool) -> None:
    path, prepare = TRICKS[name]
    prepare(store)

    with pytest.raises(NotSafe):
        tree.hold(path, to_empty=to_empty)
    assert tree.head(path, 100).strip(b"\0") == b""
    assert outside(store).read_bytes() == OUTSIDE
    assert (store / "ok.md").read_text() == "fine"


def test_what_is_in_order_is_read(tree: Tree) -> None:
    for path in ("ok.md", "sub/ok.md"):
        with tree.hold(path) as held:
            assert held.data == b"fine"
    assert (tree.folders(), tree.files()) == (["sub"], ["ok.md"])


def test_a_store_where_others_write_is_not_opened(store: Path) -> None:
    store.chmod(0o777)
    with pytest.raises(NotSafe), opened(str(store), UID):
        pass


def test_a_store_of_somebody_else_is_not_opened(store: Path) -> None:
    with pytest.raises(NotSafe), opened(str(store), UID + 1):
        pass


def test_a_store_that_is_a_link_is_the_persons_say(store: Path) -> None:
    (store.parent / "link").symlink_to(store)
    with opened(str(store.parent / "link"), UID) as tree:
        assert tree is not None and tree.files() == ["ok.md"]


def test_emptied_is_empty_and_removed_is_gone(store: Path, tree: Tree) -> None:
    with tree.hold("ok.md", to_empty=True) as held:
        held.empty()
    with tree.hold("sub/ok.md", to_empty=True) as held:
        held.remove()
    assert (store / "ok.md").read_bytes() == b""
    assert os.listdir(store / "sub") == []


def test_replaced_keeps_its_mode_and_leaves_nothing_beside_it(store: Path, tree: Tree) -> None:
    (store / "ok.md").chmod(0o640)
    with tree.hold("ok.md", to_empty=True) as held:
        held.replace(b"rest")
    assert (store / "ok.md").read_bytes() == b"rest"
    assert stat.S_IMODE((store / "ok.md").stat().st_mode) == 0o640
    assert sorted(os.listdir(store)) == ["ok.md", "sub"]


def appended(path: Path) -> None:
    with path.open("a") as file:
        file.write("!")


def same_size_same_time(path: Path) -> None:
    before = path.stat()
    path.write_text("FINE")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def swapped(path: Path) -> None:
    path.rename(path.with_name("old"))
    path.write_text("fine")


def linked_away(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.parent.parent / "outside" / "ok.md")


CHANGES: list[Callable[[Path], object]] = [
    appended, same_size_same_time, swapped, linked_away, Path.unlink, lambda path: os.link(path, path.with_name("x")),
]  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("action", ["empty", "remove", "replace"])
def test_a_file_that_changed_since_it_was_read_stays(
    store: Path, tree: Tree, change: Callable[[Path], object], action: str
) -> None:
    with tree.hold("ok.md", to_empty=True) as held:
        change(store / "ok.md")
        before = {path.name: path.read_bytes() for path in store.iterdir() if path.is_file()}
        with pytest.raises(Changed):
            held.replace(b"rest") if action == "replace" else getattr(held, action)()
    assert {path.name: path.read_bytes() for path in store.iterdir() if path.is_file()} == before
    assert outside(store).read_bytes() == OUTSIDE


def test_a_swap_between_look_and_opening_never_leads_outside(store: Path, tree: Tree) -> None:
    stop, read, tries, away = threading.Event(), 0, 0, store / "sub.real"
    until = time.monotonic() + LIMIT_S

    def flip() -> None:
        while not stop.is_set():
            (store / "sub").rename(away)
            (store / "sub").symlink_to(outside(store).parent)
            (store / "sub").unlink()
            away.rename(store / "sub")
            for _ in range(50):  # long enough for a reader to come by
                os.stat(store)

    flipping = threading.Thread(target=flip)
    flipping.start()
    try:
        # A busy machine may show the reader nothing but swaps for a while.
        while tries < 1_000 or (read == 0 and time.monotonic() < until):
            tries += 1
            try:
                with tree.hold("sub/ok.md", to_empty=True) as held:
                    assert held.data == b"fine"
                    read += 1
            except NotSafe:
                continue
    finally:
        stop.set()
        flipping.join()
    assert read > 0
    assert outside(store).read_bytes() == OUTSIDE


WRITER = """
import os, select, sys
number = 0
while not select.select([0], [], [], 0)[0]:
    file = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(file, b"line %d\\n" % number)
    os.close(file)
    number += 1
print(number)
"""
ROUNDS = 30


@pytest.mark.parametrize("action", ["empty", "remove"])
def test_nothing_that_an_agent_adds_meanwhile_is_lost(store: Path, tree: Tree, action: str) -> None:
    """The agent adds lines as fast as it can while the file is read and emptied again and again."""
    path, taken, emptied, until = store / "ok.md", b"", 0, time.monotonic() + LIMIT_S
    path.write_bytes(b"")
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as writer:
        while emptied < ROUNDS and time.monotonic() < until:
            with suppress(NotSafe), tree.hold("ok.md", to_empty=True) as held:
                getattr(held, action)()
                taken, emptied = taken + held.data, emptied + bool(held.data)
        written = int(writer.communicate(b".")[0])
    rest = b"".join(each.read_bytes() for each in store.iterdir() if each.is_file())
    assert sorted((taken + rest).splitlines()) == sorted(b"line %d" % number for number in range(written))
    assert emptied == ROUNDS
    assert [name for name in os.listdir(store) if name.startswith(".bead")] == []


@pytest.mark.parametrize("action", ["empty", "remove", "replace"])
def test_a_file_that_another_program_has_open_stays(store: Path, tree: Tree, action: str) -> None:
    program = "import sys; file = open(sys.argv[1], 'a'); print('open', flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", program, str(store / "ok.md")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None and other.stdout.readline() == b"open\n"
        with tree.hold("ok.md", to_empty=True) as held, pytest.raises(Changed, match="another program"):
            held.replace(b"rest") if action == "replace" else getattr(held, action)()
        other.communicate()
    assert (store / "ok.md").read_bytes() == b"fine"
