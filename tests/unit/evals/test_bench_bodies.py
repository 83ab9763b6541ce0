import json
from itertools import pairwise
from typing import Any

import pytest

from bead_evals.bench.bodies import SMALLEST_BYTES, conversation

SIZES = (SMALLEST_BYTES, 30_000, 300_000, 1_500_000, 6_000_000)


def parsed(body: bytes) -> dict[str, Any]:
    document = json.loads(body)
    assert isinstance(document, dict)
    return document


@pytest.mark.parametrize("size_bytes", SIZES)
@pytest.mark.parametrize("nonce", [1, 0xFFFF_FFFF_FFFF])
def test_an_opening_request_has_exactly_the_asked_size(size_bytes: int, nonce: int) -> None:
    assert len(conversation(size_bytes, 1, nonce).bodies[0]) == size_bytes


@pytest.mark.parametrize("size_bytes", [300_000, 1_500_000])
def test_six_turns_stay_within_two_percent_of_the_asked_size(size_bytes: int) -> None:
    sizes = [len(body) for body in conversation(size_bytes, 6, nonce=3).bodies]

    assert max(sizes) <= 1.02 * size_bytes
    assert sizes == sorted(sizes)


def test_a_body_is_json_in_the_shape_of_claude_code() -> None:
    body = parsed(conversation(60_000, 1, nonce=5).bodies[0])

    assert list(body)[:4] == ["model", "messages", "system", "tools"]
    assert [block.get("cache_control") is not None for block in body["system"]] == [False, True, True]
    assert body["messages"][-1]["content"][-1]["cache_control"] == {"type": "ephemeral"}
    assert "Primary working directory: " in body["messages"][1]["content"]
    assert body["stream"] is True


def test_every_tool_call_is_followed_by_its_result() -> None:
    messages = parsed(conversation(300_000, 1, nonce=5).bodies[0])["messages"]
    calls = [
        (block["id"], follower["content"][0]["tool_use_id"])
        for message, follower in pairwise(messages)
        if message["role"] == "assistant" and isinstance(message["content"], list)
        for block in message["content"]
        if block["type"] == "tool_use"
    ]

    assert len(calls) > 20
    assert all(call == result for call, result in calls)
    assert len(set(calls)) == len(calls)


def test_the_earlier_messages_of_a_growing_conversation_keep_their_texts() -> None:
    first, second = (parsed(body)["messages"] for body in conversation(60_000, 2, nonce=9).bodies)

    assert second[: len(first) - 1] == first[:-1]
    assert second[len(first) - 1]["content"] == first[-1]["content"][0]["text"]
    assert [message["role"] for message in second[-2:]] == ["assistant", "user"]


def test_no_two_requests_of_a_run_end_with_the_same_prompt() -> None:
    prompts = [
        parsed(body)["messages"][-1]["content"][0]["text"]
        for nonce in range(4)
        for body in conversation(30_000, 6, nonce).bodies
    ]

    assert len(set(prompts)) == len(prompts)


def test_two_conversations_share_neither_their_first_message_nor_their_session() -> None:
    one, other = conversation(30_000, 1, nonce=1), conversation(30_000, 1, nonce=2)

    assert one.session_id != other.session_id
    assert parsed(one.bodies[0])["messages"][0] != parsed(other.bodies[0])["messages"][0]


def test_a_size_that_the_frame_does_not_fit_into_is_refused() -> None:
    with pytest.raises(ValueError, match="at least"):
        conversation(SMALLEST_BYTES - 1, 1, nonce=1)
