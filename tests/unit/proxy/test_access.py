"""The capability and the rules around it, as pure functions; over sockets: tests/contract/proxy/test_guard.py."""

import pytest

from bead.bus.guard import Unauthorized
from bead.errors import BadRequest
from bead_proxy.access import Rules, admit

TOKEN = "t" * 43
RULES = Rules(TOKEN, 7077, bare_url=True)
HEADERS = ((b"Host", b"127.0.0.1:7077"),)


def never() -> bool:
    raise AssertionError("nobody asks whose process it is")


@pytest.mark.parametrize(
    ("target", "rest"),
    [
        (f"/t/{TOKEN}/v1/messages?beta=true", "/v1/messages?beta=true"),
        (f"/t/{TOKEN}", "/"),
        (f"/t/{TOKEN}/", "/"),
        (f"/t/{TOKEN}?a=b", "/?a=b"),
        (f"/t/{TOKEN}//v1/x", "//v1/x"),
        (f"/t/{TOKEN}/t/{TOKEN}/x", f"/t/{TOKEN}/x"),
    ],
)
def test_the_capability_is_taken_off_and_the_rest_stays(target: str, rest: str) -> None:
    assert admit(target, HEADERS, RULES, never) == rest


@pytest.mark.parametrize("target", [f"/t/{TOKEN}x/v1", f"/t/{TOKEN[1:]}/v1", "/t//v1", "/t/\udce9/v1"])
def test_a_wrong_capability_is_refused_even_for_the_same_user(target: str) -> None:
    with pytest.raises(Unauthorized):
        admit(target, HEADERS, RULES, lambda: True)


def test_a_path_that_only_begins_like_one_is_a_path() -> None:
    assert admit("/tokens", HEADERS, RULES, lambda: True) == "/tokens"


def test_a_bare_url_is_for_the_same_user_only() -> None:
    assert admit("/v1/messages", HEADERS, RULES, lambda: True) == "/v1/messages"
    with pytest.raises(Unauthorized):
        admit("/v1/messages", HEADERS, RULES, lambda: False)


def test_where_bare_urls_are_off_nobody_is_asked_for() -> None:
    with pytest.raises(Unauthorized):
        admit("/v1/messages", HEADERS, Rules(TOKEN, 7077, bare_url=False), never)


def test_health_is_for_everybody_on_this_machine() -> None:
    assert admit("/bead/health?x=1", HEADERS, Rules(TOKEN, 7077, bare_url=False), never) == "/bead/health?x=1"


@pytest.mark.parametrize("target", ["*", "http://127.0.0.1:7077/v1/messages", "example.com:443", ""])
def test_only_paths_are_targets(target: str) -> None:
    with pytest.raises(BadRequest):
        admit(target, HEADERS, RULES, lambda: True)


def test_a_body_with_two_lengths_is_refused() -> None:
    headers = (*HEADERS, (b"transfer-Encoding", b"chunked"), (b"content-length", b"3"))
    with pytest.raises(BadRequest):
        admit(f"/t/{TOKEN}/v1", headers, RULES, never)


def test_a_name_of_ours_beside_loopback_is_accepted_when_it_is_told() -> None:
    rules = Rules(TOKEN, 7077, bare_url=False, hosts=frozenset({"bead-proxy"}))
    assert admit(f"/t/{TOKEN}/v1", ((b"host", b"bead-proxy:7077"),), rules, never) == "/v1"


def test_the_rules_do_not_show_the_capability() -> None:
    assert TOKEN not in repr(RULES)
