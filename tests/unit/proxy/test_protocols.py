"""Which protocol, which provider, and what the provider gets as its target."""

import pytest
from multidict import CIMultiDict

from bead.settings import Upstreams
from bead_proxy.protocols import Provider, route

BEARER = {"Authorization": "Bearer made-up"}
VERSION = {"anthropic-version": "2023-06-01"}
GOOGLE = {"x-goog-api-key": "made-up"}


def where(target: str, method: str = "POST", **headers: str) -> tuple[str, str, str | None]:
    found = route(method, target, CIMultiDict(headers))
    return found.provider.value, found.target, found.spoken.name if found.spoken else None


@pytest.mark.parametrize(
    ("target", "sent"),
    [
        ("/anthropic/v1/messages?beta=true", "/v1/messages?beta=true"),
        ("/openai/v1/models", "/v1/models"),
        ("/gemini/v1beta/models?key=a%2Fb", "/v1beta/models?key=a%2Fb"),
        ("/openai", "/"),
        ("/openai?a=1", "/?a=1"),
    ],
)
def test_a_prefix_names_the_provider_and_is_taken_off(target: str, sent: str) -> None:
    for headers in ({}, VERSION, GOOGLE, BEARER):
        provider, got, _ = where(target, **headers)

        assert (provider, got) == (target[1:].partition("/")[0].partition("?")[0], sent)


@pytest.mark.parametrize("target", ["/openai.txt", "/anthropic-beta/x", "/v1/openai/models", "//openai/v1", "/"])
def test_what_only_looks_like_a_prefix_stays(target: str) -> None:
    assert where(target)[1] == target


@pytest.mark.parametrize(
    ("target", "headers", "provider"),
    [
        ("/v1/messages/count_tokens", {}, "anthropic"),
        ("/api/hello", BEARER, "anthropic"),
        ("/v1/models", {}, "anthropic"),
        ("/v1/models", VERSION | BEARER, "anthropic"),
        ("/v1/models", BEARER, "openai"),
        ("/v1/models", {"openai-organization": "o"}, "openai"),
        ("/models?client_version=1", {"chatgpt-account-id": "a"}, "openai"),
        ("/v1/files", GOOGLE, "gemini"),
        ("/v1beta/models", {}, "gemini"),
        ("/upload/v1beta/files", {}, "gemini"),
        ("/v1beta/openai/chat/completions", BEARER, "gemini"),
        ("/v1/chat/completions", BEARER, "openai"),
        ("/v1/chat/completions", VERSION, "anthropic"),
        ("/v1/embeddings", {}, "openai"),
        ("/v1/responses/resp_1/cancel", {}, "openai"),
    ],
)
def test_providers_that_share_a_path_are_told_apart(target: str, headers: dict[str, str], provider: str) -> None:
    assert where(target, "GET", **headers)[0] == provider
    assert where(target, "POST", **headers)[0] == provider


def test_only_a_post_to_the_end_of_a_path_asks_a_model() -> None:
    assert where("/some/where/v1/messages?beta=true")[2] == "anthropic"
    assert where("/v1/messages", "GET")[2] is None
    assert where("/v1/messages/count_tokens")[2] is None
    assert where("/v1/threads/t/messages")[2] is None


def test_every_provider_has_an_address() -> None:
    assert set(Provider) == set(Upstreams.model_fields)
