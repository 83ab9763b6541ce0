"""The list's ninth line: bodies, paths and texts that are made to hurt, while another session goes on."""

import json
import socket
import time
import uuid
from contextlib import ExitStack

from tests.outside.place import REFUSED, Place, send, user

TOGETHER = 150
"""Connections that send nothing more."""
SLOWEST_S = 10.0
"""An answer of the fake provider to a quiet session on a busy machine; one that waits for a slow peer takes longer."""
DEEP = 100_000
BOMB = "\n".join(["a0: &a0 [x]", *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 10))])
REGEX_BAIT = "remember that " + "a" * 50_000 + "!" + "=" * 50_000 + "\\" * 10_000


class Hostile:
    """Each is answered or refused; the next session is served; nothing ends."""

    def test_slow_and_silent_connections_hold_nobody_up(self, place: Place) -> None:
        with ExitStack() as open_ones:
            for number in range(TOGETHER):
                port = place.ports["proxy" if number % 2 else "curate"]
                one = open_ones.enter_context(socket.create_connection(("127.0.0.1", port), 10))
                one.sendall(b"POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\nx:")
            goes_on(place)

    def test_a_gigabyte_is_refused_before_it_is_read(self, place: Place) -> None:
        port = place.ports["curate"]
        with socket.create_connection(("127.0.0.1", port), 10) as connection:
            connection.sendall(
                f"POST /api/store/v1/facts HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
                f"Authorization: Bearer {place.token('admin')}\r\nContent-Length: {2**30}\r\n\r\n{{".encode()
            )
            answer = connection.recv(4_096)
        assert int(answer.split()[1]) == 413
        goes_on(place)

    def test_a_gigabyte_that_breaks_off_on_its_way_to_the_provider_holds_nobody_up(self, place: Place) -> None:
        port = place.ports["proxy"]
        with socket.create_connection(("127.0.0.1", port), 10) as connection:
            connection.sendall(
                f"POST /t/{place.token('proxy')}/v1/messages HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
                f"Content-Type: application/json\r\nContent-Length: {2**30}\r\n\r\n".encode()
            )
            for _ in range(32):
                connection.sendall(b"[" * 2**20)
            goes_on(place)
        goes_on(place)

    def test_documents_that_are_made_to_hurt_are_answered_and_nothing_ends(self, place: Place) -> None:
        url = f"/t/{place.token('proxy')}/v1/messages"
        admin = {"authorization": f"Bearer {place.token('admin')}"}
        json_type = {"content-type": "application/json"}
        deep = b'{"messages": ' + b"[" * DEEP + b"]" * DEEP + b"}"
        for body in (
            deep,
            b'{"messages": "\xff\xfe\xc0"}',
            b"\x00" * 1_000,
            b'{"messages": [' + b"{}," * 5_000 + b"{}]}",
        ):
            code, _ = send(place.ports["proxy"], "POST", url, body, json_type)
            assert code, "an answer of the provider, or a refusal"
            code, _ = send(place.ports["curate"], "POST", "/api/store/v1/facts", body, admin | json_type)
            assert code in REFUSED | {422}
        goes_on(place)

    def test_texts_that_are_made_to_hurt_are_kept_or_refused_and_come_back_as_they_were(self, place: Place) -> None:
        for text in (BOMB, f"---\n{BOMB}\n---\n", REGEX_BAIT, "x\u0000y", "\u202e\u200b" * 2_000):
            began = time.monotonic()
            assert place.ask(user(text))[0] == 200
            assert time.monotonic() - began < SLOWEST_S
        place.json("write", "user/bomb", "-", text=BOMB)
        assert place.facts()["user/bomb"]["body"] == BOMB
        goes_on(place)

    def test_many_sessions_and_facts_are_served(self, place: Place) -> None:
        headers = {"authorization": f"Bearer {place.token('admin')}", "content-type": "application/json"}
        for number in range(150):
            fact = {"key": f"user/tiny-{number}", "body": f"t{number}", "trust": "user_stated"}
            assert (
                send(place.ports["curate"], "POST", "/api/store/v1/facts", json.dumps(fact).encode(), headers)[0] < 300
            )
            assert place.ask(user(f"tiny {number}"), session=str(uuid.uuid4()))[0] == 200
        goes_on(place)


def goes_on(place: Place) -> None:
    """Another session's request is answered, in time."""
    began = time.monotonic()
    assert place.ask(user("hello"))[0] == 200
    assert time.monotonic() - began < SLOWEST_S
