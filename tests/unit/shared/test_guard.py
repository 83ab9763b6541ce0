"""Who may ask at all."""

import pytest

from bead.bus.guard import Unauthorized, WrongHost, check_host, check_not_browser, scope_of, scoped_token
from bead.errors import NotAllowed

PORT = 7071
SECRET = "s" * 43


def host(value: str) -> list[tuple[bytes, bytes]]:
    return [(b"host", value.encode())]


@pytest.mark.parametrize("name", ["127.0.0.1:7071", "localhost:7071", "[::1]:7071", "127.0.0.1", "LOCALHOST:7071"])
def test_our_own_loopback_names_are_accepted(name: str) -> None:
    check_host(host(name), PORT)


@pytest.mark.parametrize(
    "name",
    [
        "evil.example:7071",
        "127.0.0.1.nip.io:7071",
        "127.0.0.1:7071@evil.example",
        "0.0.0.0:7071",
        "localhost.evil.example",
        "127.0.0.1:9",
        "",
        "localhost:7071:7071",
        "127.0.0.1:٧٠٧١",  # noqa: RUF001 -- digits that int() would take
    ],
)
def test_any_other_host_is_refused(name: str) -> None:
    with pytest.raises(WrongHost):
        check_host(host(name), PORT)


def test_no_host_and_two_hosts_are_refused() -> None:
    for headers in ([], host("127.0.0.1") + host("evil.example")):
        with pytest.raises(WrongHost):
            check_host(headers, PORT)


def test_a_compose_service_name_is_accepted_only_when_it_is_named() -> None:
    check_host(host("store:7071"), PORT, extra_hosts={"store"})
    with pytest.raises(WrongHost):
        check_host(host("store:7071"), PORT)


@pytest.mark.parametrize(
    "header", [(b"Origin", b"null"), (b"origin", b"http://127.0.0.1:7071"), (b"sec-fetch-site", b"cross-site")]
)
def test_what_a_browser_sends_is_refused(header: tuple[bytes, bytes]) -> None:
    with pytest.raises(NotAllowed):
        check_not_browser([header])


def test_node_fetch_is_no_browser() -> None:
    check_not_browser([(b"sec-fetch-mode", b"cors"), (b"Sec-Fetch-Site", b"none")])


def bearer(token: str) -> list[tuple[bytes, bytes]]:
    return [(b"Authorization", f"Bearer {token}".encode())]


def test_the_secret_opens_everything_and_a_scoped_token_names_its_scope() -> None:
    assert scope_of(bearer(SECRET), SECRET, ["proxy"]) == "all"
    assert scope_of(bearer(scoped_token(SECRET, "proxy")), SECRET, ["index", "proxy"]) == "proxy"


@pytest.mark.parametrize("token", ["", SECRET[:-1], SECRET + "x", scoped_token(SECRET, "curate"), "é"])
def test_other_tokens_open_nothing(token: str) -> None:
    with pytest.raises(Unauthorized):
        scope_of(bearer(token), SECRET, ["proxy"])
