"""The load client and the bench's own servers, as the processes that they are."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from bead_evals.bench import measure
from bead_evals.bench.bodies import conversation
from bead_evals.bench.client import Exchange, Sample, Slice
from bead_evals.bench.failures import BenchFailed
from bead_evals.bench.measure import Nonces, check_bytes, measure_size, prove_injection
from bead_evals.bench.results import Settings
from bead_evals.bench.targets import MESSAGES_PATH, LoadClient, Target, child_server, load_client

EVENTS = 4
QUICK = Settings(rounds=1, warmup=1, turns=2, lanes=1, events=EVENTS, spacing_ms=1.0, facts=0)


@pytest.fixture(scope="module")
def client() -> Iterator[LoadClient]:
    with load_client() as running:
        yield running


@pytest.fixture(scope="module")
def direct() -> Iterator[Target]:
    with child_server("upstream", "--events", str(EVENTS)) as (url, pid):
        yield Target("direct", url + MESSAGES_PATH, pid)


@pytest.fixture(scope="module")
def bare(direct: Target) -> Iterator[Target]:
    upstream = direct.url.removesuffix(MESSAGES_PATH)
    with child_server("passthrough", environment={"BENCH_UPSTREAM": upstream}) as (url, pid):
        yield Target("bare", url + MESSAGES_PATH, pid)


@contextmanager
def one_answer(answer: bytes) -> Iterator[Target]:
    """A server that gives each connection `answer` once a body has come, and closes."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            try:
                while True:
                    connection, _ = listener.accept()
                    with connection:
                        connection.recv(1)
                        connection.sendall(answer)
                        connection.shutdown(socket.SHUT_WR)
                        while connection.recv(1 << 16):
                            pass
            except OSError:
                return

        thread = threading.Thread(target=serve)
        thread.start()
        yield Target("odd", f"http://127.0.0.1:{listener.getsockname()[1]}/v1/messages")
        listener.shutdown(socket.SHUT_RDWR)
    thread.join(5)


def quiet(text: str) -> None:
    assert isinstance(text, str)


def test_direct_receives_every_byte_and_answers_every_event(client: LoadClient, direct: Target) -> None:
    samples = client.run(direct, Slice(direct.url, 300_000, 3, 2, nonce=1))

    assert sorted(sample.turn for sample in samples) == [0, 0, 1, 1, 2, 2]
    assert all(sample.received_bytes == sample.sent_bytes >= 300_000 for sample in samples)
    assert {sample.memory_blocks for sample in samples} == {0}
    assert {len(sample.transit_ms) for sample in samples} == {EVENTS - 1}
    assert all(0 < sample.first_event_ms < 5_000 for sample in samples)
    assert all(0 < transit < 5_000 for sample in samples for transit in sample.transit_ms)


def test_the_bare_passthrough_changes_no_byte_count_and_loses_no_event(client: LoadClient, bare: Target) -> None:
    samples = client.run(bare, Slice(bare.url, 1_500_000, 2, 1, nonce=1))

    check_bytes(bare, samples)
    assert {len(sample.transit_ms) for sample in samples} == {EVENTS - 1}


def test_the_upstream_counts_the_memory_blocks_that_reach_it(direct: Target) -> None:
    body = b'{"system":"<bead-memory a>","messages":["<bead-memory b>"]}'
    host, port = direct.url.split("/")[2].split(":")
    with socket.create_connection((host, int(port)), timeout=5) as connection:
        connection.sendall(b"POST /v1/messages HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % len(body))
        connection.sendall(body)
        answer = b""
        while not answer.endswith(b"\r\n0\r\n\r\n"):
            answer += connection.recv(4096)

    assert b": bench bytes=%d blocks=2\n" % len(body) in answer


def test_a_run_compares_its_targets_and_accounts_for_their_cpu(
    client: LoadClient, direct: Target, bare: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measure, "SETTLE_S", 0.0)

    zero, unit = measure_size(client, [direct, bare], 30_000, QUICK, Nonces(1), quiet).targets

    assert (zero.name, unit.name) == ("direct", "bare")
    assert zero.added_p50 == 0.0
    assert unit.requests == 2
    assert unit.cpu_ms is not None and 0 < unit.cpu_ms < 1_000
    assert unit.inserted_bytes_p50 == 0
    assert unit.memory_blocks == {"0": 2}


def test_a_target_that_should_inject_and_does_not_ends_the_bench(
    client: LoadClient, direct: Target, bare: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measure, "SETTLE_S", 0.0)
    forgetful = replace(bare, name="bead", injects_memory=True)

    with pytest.raises(BenchFailed, match="bead: 2 of 2 requests reached the upstream without memory"):
        measure_size(client, [direct, bare, forgetful], 30_000, QUICK, Nonces(1), quiet)
    with pytest.raises(BenchFailed, match="measures nothing"):
        prove_injection(client, forgetful, 30_000, Nonces(1), limit_s=0.2)


def sample(sent: int, received: int | None, blocks: int | None) -> Sample:
    return Sample(0, 1.0, sent, received, blocks, [])


@pytest.mark.parametrize(
    ("injects", "keeps", "samples", "is_right"),
    [
        (False, True, [sample(10, 10, 0)], True),
        (False, True, [sample(10, 11, 0)], False),
        (False, True, [sample(10, None, None)], False),
        (False, True, [sample(10, 10, 1)], False),
        (False, False, [sample(10, 7, 0), sample(10, None, None)], True),
        (True, True, [sample(10, 90, 1)], True),
        (True, True, [sample(10, 90, 1), sample(10, 10, 0)], False),
        (True, True, [sample(10, 9, 1)], False),
    ],
)
def test_a_target_is_held_to_its_bytes(injects: bool, keeps: bool, samples: list[Sample], is_right: bool) -> None:
    target = Target("t", "http://127.0.0.1:1/", injects_memory=injects, keeps_bytes=keeps)

    if is_right:
        check_bytes(target, samples)
    else:
        with pytest.raises(BenchFailed):
            check_bytes(target, samples)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (b"HTTP/1.1 529 Overloaded\r\nContent-Length: 2\r\n\r\n{}", "answered 529 instead of 200"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", "answered 200 without an event"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nda", "closed the connection before"),
    ],
)
def test_an_odd_answer_ends_the_bench_with_its_reason(client: LoadClient, answer: bytes, reason: str) -> None:
    with one_answer(answer) as odd, pytest.raises(BenchFailed, match=reason):
        client.run(odd, Slice(odd.url, 30_000, 1, 1, nonce=1))


def test_a_target_that_does_not_listen_ends_the_bench(client: LoadClient) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    nobody = Target("nobody", f"http://127.0.0.1:{port}/v1/messages")

    with pytest.raises(BenchFailed, match="nobody: "):
        client.run(nobody, Slice(nobody.url, 30_000, 1, 1, nonce=1))


def cut(answer: bytes, step: int) -> list[bytes]:
    return [answer[at : at + step] for at in range(0, len(answer), step)]


@pytest.mark.parametrize("step", [1, 2, 7, 10_000])
@pytest.mark.parametrize("framing", ["chunked", "length"])
def test_an_answer_is_complete_at_its_last_byte_however_it_is_cut(step: int, framing: str) -> None:
    event = b"data: {}\n\n: bench bytes=7 blocks=1\n\n"
    answer = {
        "chunked": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n0\r\n\r\n" % (len(event), event),
        "length": b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(event), event),
    }[framing]
    exchange = Exchange()

    states = [exchange.add(1_000_000 * number, piece) for number, piece in enumerate(cut(answer, step), start=1)]

    assert states == [False] * (len(states) - 1) + [True]
    first_event_piece = answer.index(b"data:") // step + 1
    assert exchange.sample(0, 0, 7) == Sample(0, float(first_event_piece), 7, 7, 1, [])


def test_the_clock_stops_at_the_first_event_and_not_at_an_early_head() -> None:
    exchange = Exchange()
    exchange.add(1_000_000, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    exchange.add(9_000_000, b"a\r\ndata: {}\n\n\r\n0\r\n\r\n")

    assert exchange.sample(0, 0, 7).first_event_ms == 9.0


def test_both_processes_agree_on_what_a_conversation_is(client: LoadClient, direct: Target) -> None:
    (sent,) = client.run(direct, Slice(direct.url, 30_000, 1, 1, nonce=77))

    assert sent.sent_bytes == len(conversation(30_000, 1, 77).bodies[0])
    assert json.loads(conversation(30_000, 1, 77).bodies[0])["stream"] is True
