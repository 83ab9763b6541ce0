"""Addresses and headers of forwarding; bytes on the wire: tests/contract/proxy/test_transparency.py."""

import pytest

from bead.errors import BadRequest
from bead_proxy.forward import checked_base, request_headers, response_headers


@pytest.mark.parametrize(
    "base", ["https://api.example.com", "http://127.0.0.1:8080", "http://localhost:1/", "http://[::1]:8080/v1"]
)
def test_a_safe_upstream_is_accepted(base: str) -> None:
    assert checked_base(base) == base.rstrip("/")


@pytest.mark.parametrize(
    "base", ["http://api.example.com", "ftp://127.0.0.1", "127.0.0.1:8080", "", "https://", "https://a.example/?x=1"]
)
def test_an_upstream_that_would_show_keys_or_makes_no_sense_is_refused(base: str) -> None:
    with pytest.raises(BadRequest):
        checked_base(base)


def test_order_case_and_repetition_stay() -> None:
    raw = [(b"X-b", b"1"), (b"a", b""), (b"X-B", b"2"), (b"A", b"3")]
    assert list(request_headers(raw, 0)[0].items()) == [("X-b", "1"), ("a", ""), ("X-B", "2"), ("A", "3")]


def test_the_length_is_that_of_the_new_body_in_the_old_place() -> None:
    raw = [(b"a", b"1"), (b"content-LENGTH", b"5"), (b"b", b"2")]
    assert [value for _, value in request_headers(raw, 9)[0].items()] == ["1", "9", "2"]


def test_no_length_is_invented() -> None:
    assert not request_headers([(b"Host", b"x")], 0)[0]


@pytest.mark.parametrize(
    "name", [b"Connection", b"Keep-Alive", b"TE", b"Trailer", b"Upgrade", b"Transfer-Encoding", b"X-Hop", b"X-Bead-New"]
)
def test_headers_of_one_connection_and_ours_stay_here(name: bytes) -> None:
    raw = [(b"connection", b"close , x-hop,"), (name, b"1"), (b"kept", b"1")]
    assert list(request_headers(raw, 0)[0]) == ["kept"] == list(response_headers(raw)[0])
