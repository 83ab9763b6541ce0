"""A finished request is let go of at once, though an error or a library would keep it."""

import gc
import weakref
from collections.abc import Iterator

import pytest
from yarl import URL, _url

from bead_proxy.lettinggo import REMEMBERING, let_go_of_address, let_go_of_frames

KEY = "a-made-up-key"


class Head:
    """Stands for a request's head, which a frame holds."""


@pytest.fixture
def no_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def keeps_its_error(head: Head) -> None:
    """As a library's frame does that tries one address after the other."""
    last: list[BaseException] = []
    try:
        raise OSError("nobody there")
    except OSError as error:
        last.append(error)
    try:
        raise ConnectionError("no way") from last[0]
    except ConnectionError as error:
        last.append(error)
    raise ExceptionGroup("all of them", [each for each in last if isinstance(each, Exception)])


def asked(*, lets_go: bool) -> "weakref.ref[Head]":
    head = Head()
    try:
        keeps_its_error(head)
    except ExceptionGroup as error:
        if lets_go:
            let_go_of_frames(error)
    return weakref.ref(head)


@pytest.mark.usefixtures("no_collector")
def test_what_an_error_passed_through_is_gone_without_the_collector() -> None:
    assert asked(lets_go=False)() is not None, "so it would be kept"
    assert asked(lets_go=True)() is None


def test_an_error_that_came_from_itself_ends() -> None:
    error = OSError("a")
    error.__context__ = ValueError("b")
    error.__context__.__context__ = error
    let_go_of_frames(error)
    assert error.__traceback__ is None


def held() -> int:
    return sum(getattr(_url, name).cache_info().currsize for name in REMEMBERING)


def test_an_address_with_a_key_is_remembered_nowhere_in_the_library() -> None:
    """Every function of the library that remembers whole addresses is in the list."""
    target = f"/v1beta/models/g:generateContent?key={KEY}"
    URL(f"http://127.0.0.1:1{target}", encoded=True)
    URL(f"http://127.0.0.1:2{target}")
    URL.build(path="/v1beta", query_string=f"key={KEY}", encoded=True)
    URL("http://127.0.0.1:3/").join(URL(target))
    assert held() > 0

    let_go_of_address(target)

    assert held() == 0
    remembering = {name for name, found in vars(_url).items() if hasattr(found, "cache_info")}
    of_hosts = {"_encode_host", "_idna_decode", "_idna_encode", "make_netloc", "split_netloc"}
    assert remembering == of_hosts | set(REMEMBERING)


def test_an_address_without_a_key_stays_remembered() -> None:
    URL("http://127.0.0.1:4/v1/messages?beta=true", encoded=True)
    let_go_of_address("/v1/messages?beta=true")
    assert held() > 0
