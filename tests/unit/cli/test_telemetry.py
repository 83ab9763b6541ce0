"""Spans reach a collector with numbers and no names of anybody's; without an endpoint nothing is imported."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from queue import Queue

import msgspec
import pytest

from bead.settings import TelemetrySettings
from bead.wire.traces import Chosen, TurnTrace
from bead_cli import telemetry

TRACE = TurnTrace(
    turn="session-of-somebody/turn-3",
    at="2026-11-30T09:00:00.000+00:00",
    session="session-of-somebody",
    project="project-of-somebody",
    model="claude-opus-5-5",
    selected=(Chosen("uid-of-a-fact", 1, 0.9, "say", 12),),
    added_ms={"all": 2.5, "recall": 1.0},
    input_tokens=1234,
    status=200,
)


@pytest.fixture
def collector() -> Iterator[tuple[str, "Queue[bytes]"]]:
    """Where OTLP over HTTP may be sent, and what came."""
    came: Queue[bytes] = Queue()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            came.put(self.rfile.read(int(self.headers["content-length"])))
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *args: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1/traces", came
    server.shutdown()
    thread.join()
    server.server_close()


SEND = """
import sys, msgspec
from bead.settings import TelemetrySettings
from bead.wire.traces import TurnTrace
from bead_cli.telemetry import following
seen = []
follow = following(TelemetrySettings(endpoint=sys.argv[1]), seen.append)
follow(msgspec.json.decode(sys.argv[2], type=TurnTrace))
assert len(seen) == 1
"""


def test_a_span_tells_numbers_and_no_session_project_or_fact(collector: tuple[str, "Queue[bytes]"]) -> None:
    endpoint, came = collector
    text = msgspec.json.encode(TRACE).decode()
    done = subprocess.run([sys.executable, "-c", SEND, endpoint, text], capture_output=True, text=True, timeout=30)
    assert done.returncode == 0, done.stderr

    sent = came.get(timeout=10)

    assert b"model request" in sent
    assert b"claude-opus-5-5" in sent
    assert b"bead.added_ms.recall" in sent
    assert b"somebody" not in sent
    assert b"uid-of-a-fact" not in sent


def test_what_a_span_says_is_counts_and_milliseconds() -> None:
    told = telemetry.attributes_of(TRACE)
    assert (told["bead.selected"], told["bead.input_tokens"], told["bead.added_ms.all"]) == (1, 1234, 2.5)


def test_without_an_endpoint_nothing_is_imported_or_followed() -> None:
    script = (
        "import sys, bead_cli.single; print([name for name in sys.modules if name.startswith('opentelemetry.sdk')])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=30)
    assert done.stdout.strip() == "[]"
    assert telemetry.following(TelemetrySettings(), None) is None
