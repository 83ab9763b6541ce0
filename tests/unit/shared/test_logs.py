"""What libraries log: JSON, no content, and bounded whatever they are sent."""

import asyncio
import json
import logging

import pytest
from starlette.types import Receive, Scope, Send

from bead.bus.serve import listen, serving
from bead.logs import EVERY_S, LibraryLines


@pytest.fixture
def lines() -> LibraryLines:
    return LibraryLines()


def said(lines: LibraryLines, text: str, *args: object, error: BaseException | None = None) -> None:
    info = (type(error), error, error.__traceback__) if error else None
    lines.handle(logging.LogRecord("library", logging.WARNING, "file", 1, text, args, info))


def printed(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    return [json.loads(line) for line in capsys.readouterr().err.splitlines()]


def test_a_line_has_the_wording_and_nothing_that_was_put_into_it(
    lines: LibraryLines, capsys: pytest.CaptureFixture[str]
) -> None:
    said(lines, "cannot read %s\nsecond line of the person", "what a person wrote", error=ValueError("the person's"))
    line, *others = printed(capsys)
    assert (line["event"], line["logger"], line["error"]) == ("cannot read %s", "library", "ValueError")
    assert not others and "person" not in json.dumps(line)


def test_the_same_again_is_counted_and_told_a_minute_later(
    lines: LibraryLines, capsys: pytest.CaptureFixture[str]
) -> None:
    now = [0.0]
    lines.clock = lambda: now[0]
    for _ in range(1_000):
        said(lines, "again")
    now[0] = EVERY_S
    said(lines, "again")
    assert [line.get("left_out") for line in printed(capsys)] == [None, 999]


def test_texts_that_all_differ_are_bounded_too(lines: LibraryLines, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(5_000):
        said(lines, f"complaint {number}")
    assert len(printed(capsys)) < 300


async def test_a_listener_that_is_sent_nonsense_prints_one_line_of_json(capsys: pytest.CaptureFixture[str]) -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        raise AssertionError("nothing that is no HTTP gets here")

    root, handler = logging.getLogger(), LibraryLines()
    root.addHandler(handler)
    try:
        listener = listen("127.0.0.1", 0)
        port = listener.getsockname()[1]
        async with serving(app, listener, "test"):
            for _ in range(20):
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(b"\x16\x03\x01 no http\r\n\r\n")
                async with asyncio.timeout(5):
                    assert b"400" in await reader.readline()
                writer.close()
                await writer.wait_closed()
    finally:
        root.removeHandler(handler)
    assert [line["event"] for line in printed(capsys)] == ["Invalid HTTP request received."]
