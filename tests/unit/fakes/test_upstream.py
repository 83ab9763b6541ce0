"""The fake provider over real sockets: what it records, what it replies, how it breaks off."""

import asyncio
import gzip
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.fakes.recording import Recorded
from tests.fakes.replies import Answer, Call, Disconnect, Failure, Gate, Held, Raw, Reply, Usage
from tests.fakes.upstream import FakeUpstream

MESSAGES = "/v1/messages?beta=true"
CHAT = "/v1/chat/completions"
RESPONSES = "/v1/responses"
GEMINI = "/v1beta/models/gemini-2.5-pro:generateContent"
GEMINI_STREAM = "/v1beta/models/gemini-2.5-pro:streamGenerateContent"

ENDPOINTS: list[tuple[str, dict[str, Any]]] = [
    (MESSAGES, {"model": "m", "messages": [{"role": "user", "content": "hi"}]}),
    (CHAT, {"model": "m", "messages": [{"role": "user", "content": "hi"}]}),
    (RESPONSES, {"model": "m", "input": [{"role": "user", "content": [{"type": "input_text", "text": "hi"}]}]}),
    (GEMINI, {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}),
]


@pytest.fixture
async def upstream() -> AsyncIterator[FakeUpstream]:
    async with FakeUpstream() as upstream:
        yield upstream


@pytest.fixture
async def client(upstream: FakeUpstream) -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(upstream.url, timeout=aiohttp.ClientTimeout(total=5)) as client:
        yield client


def files_in(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def without_ids(item: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in item.items() if key not in ("id", "call_id")}


async def post_json(client: aiohttp.ClientSession, path: str, body: dict[str, Any]) -> Any:
    async with client.post(path, json=body) as response:
        assert response.status == 200
        return await response.json()


async def post_events(client: aiohttp.ClientSession, path: str, body: dict[str, Any]) -> list[Any]:
    async with client.post(path, json=body) as response:
        assert response.content_type == "text/event-stream"
        text = await response.text()
    datas = [line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: ")]
    return [data if data == "[DONE]" else json.loads(data) for data in datas]


async def test_a_request_is_recorded_byte_for_byte_with_the_case_and_order_of_its_headers(
    upstream: FakeUpstream,
) -> None:
    body = gzip.compress(b'{"messages":  []}')
    reader, writer = await asyncio.open_connection("127.0.0.1", int(upstream.url.rpartition(":")[2]))
    writer.write(
        b"POST /any//pre%66ix/./messages?x=%41&x=b HTTP/1.1\r\n"
        b"Host: h\r\nX-One: 1\r\nx-ONE: 2\r\nContent-Encoding: gzip\r\n"
        b"Content-Length: " + str(len(body)).encode() + b"\r\nConnection: close\r\n\r\n" + body
    )
    async with asyncio.timeout(5):
        await reader.read()
    writer.close()

    request = upstream.requests[0]

    assert (request.method, request.target) == ("POST", "/any//pre%66ix/./messages?x=%41&x=b")
    assert [name for name, _ in request.headers] == [
        "Host",
        "X-One",
        "x-ONE",
        "Content-Encoding",
        "Content-Length",
        "Connection",
    ]
    assert [value for name, value in request.headers if name.lower() == "x-one"] == ["1", "2"]
    assert request.header("x-one") == "1"
    assert request.body == body
    assert request.decoded_body == b'{"messages":  []}'
    assert request.messages() == []


async def test_files_hold_what_was_recorded_except_credentials(tmp_path: Path) -> None:
    secret = "made" + "-up-key"
    async with FakeUpstream(out=tmp_path) as upstream, aiohttp.ClientSession(upstream.url) as client:
        async with client.post("/v1/messages?key=" + secret, data=b'{"messages": []}', headers={"X-Api-Key": secret}):
            pass
        kept = upstream.requests[0]

    on_disk = Recorded.read(tmp_path / "0001.json")

    assert kept.header("x-api-key") == secret
    assert not [name for name, content in files_in(tmp_path).items() if secret.encode() in content]
    assert on_disk.body == kept.body
    assert on_disk.outcome == "answered"
    assert [name for name, _ in on_disk.headers] == [name for name, _ in kept.headers]
    assert on_disk.header("x-api-key") != on_disk.header("host")


async def test_a_restarted_recorder_goes_on_with_the_next_number(tmp_path: Path) -> None:
    for _ in range(2):
        async with FakeUpstream(out=tmp_path) as upstream, aiohttp.ClientSession(upstream.url) as client:
            async with client.head("/api/hello") as response:
                assert response.status == 200

    assert sorted(files_in(tmp_path)) == ["0001.body", "0001.json", "0002.body", "0002.json"]


@pytest.mark.parametrize(("path", "body"), ENDPOINTS)
async def test_two_equal_runs_get_equal_answers(path: str, body: dict[str, Any]) -> None:
    answers = []
    for _ in range(2):
        async with FakeUpstream() as upstream, aiohttp.ClientSession(upstream.url) as client:
            upstream.enqueue(Answer("a b", calls=(Call("Bash", {"command": "pwd"}),)))
            async with client.post(path, json={**body, "stream": True}) as response:
                answers.append(await response.read())

    assert b"pwd" in answers[0]
    assert answers[0] == answers[1]


async def test_messages_are_answered_whole_and_streamed_alike(
    upstream: FakeUpstream, client: aiohttp.ClientSession
) -> None:
    usage = Usage(input_tokens=3, cache_read_tokens=40, cache_write_tokens=5, output_tokens=7)
    answer = Answer("two words", calls=(Call("Read", {"file_path": "/a/rather/long/path.txt"}),), usage=usage)
    upstream.enqueue(answer, answer)
    body = ENDPOINTS[0][1]

    whole = await post_json(client, MESSAGES, body)
    events = await post_events(client, MESSAGES, {**body, "stream": True})

    deltas = [event["delta"] for event in events if event["type"] == "content_block_delta"]
    assert whole["content"][0] == {"type": "text", "text": "two words"}
    assert (whole["stop_reason"], events[-2]["delta"]["stop_reason"]) == ("tool_use", "tool_use")
    assert "".join(delta.get("text", "") for delta in deltas) == "two words"
    assert json.loads("".join(delta.get("partial_json", "") for delta in deltas)) == whole["content"][1]["input"]
    assert events[0]["message"]["usage"] == {**whole["usage"], "output_tokens": 1}
    assert (whole["usage"]["cache_read_input_tokens"], whole["usage"]["cache_creation_input_tokens"]) == (40, 5)


async def test_chat_completions_are_answered_whole_and_streamed_alike(
    upstream: FakeUpstream, client: aiohttp.ClientSession
) -> None:
    answer = Answer("two words", calls=(Call("a"), Call("b")), usage=Usage(input_tokens=3, cache_read_tokens=40))
    upstream.enqueue(answer, answer)
    body = ENDPOINTS[1][1]

    whole = await post_json(client, CHAT, body)
    events = await post_events(client, CHAT, {**body, "stream": True, "stream_options": {"include_usage": True}})

    deltas = [event["choices"][0]["delta"] for event in events[:-2]]
    assert whole["choices"][0]["message"]["content"] == "".join(delta.get("content", "") for delta in deltas)
    assert [call["function"]["name"] for delta in deltas for call in delta.get("tool_calls", [])] == ["a", "b"]
    assert whole["usage"]["prompt_tokens"] == events[-2]["usage"]["prompt_tokens"] == 43
    assert events[-1] == "[DONE]"


async def test_responses_are_answered_whole_and_streamed_alike(
    upstream: FakeUpstream, client: aiohttp.ClientSession
) -> None:
    inner = [{"type": "function", "name": "recall"}]
    tools = [{"type": "custom", "name": "exec"}, {"type": "namespace", "name": "n", "tools": inner}]
    answer = Answer("two words", calls=(Call("exec", "text"), Call("n.recall", {"key": "k"})))
    upstream.enqueue(answer, answer)
    body = {**ENDPOINTS[2][1], "tools": tools}

    whole = await post_json(client, RESPONSES, body)
    events = await post_events(client, RESPONSES, {**body, "stream": True})

    assert [item["type"] for item in whole["output"]] == ["message", "custom_tool_call", "function_call"]
    assert (whole["output"][2]["namespace"], whole["output"][2]["name"]) == ("n", "recall")
    done = [event["item"] for event in events if event["type"] == "response.output_item.done"]
    assert [without_ids(item) for item in done] == [without_ids(item) for item in whole["output"]]
    assert events[-1]["type"] == "response.completed"
    assert [event["sequence_number"] for event in events] == list(range(len(events)))


async def test_gemini_streams_as_events_and_as_one_array(upstream: FakeUpstream, client: aiohttp.ClientSession) -> None:
    answer = Answer("two words", usage=Usage(input_tokens=3, cache_read_tokens=40))
    upstream.enqueue(answer, answer, answer)
    body = ENDPOINTS[3][1]

    whole = await post_json(client, GEMINI, body)
    array = await post_json(client, GEMINI_STREAM, body)
    events = await post_events(client, GEMINI_STREAM + "?alt=sse", body)

    texts = [chunk["candidates"][0]["content"]["parts"][0]["text"] for chunk in events]
    assert "".join(texts) == whole["candidates"][0]["content"]["parts"][0]["text"] == "two words"
    assert len(array) == len(events) == 2
    assert whole["usageMetadata"] == events[-1]["usageMetadata"]
    assert whole["usageMetadata"]["promptTokenCount"] == 43


@pytest.mark.parametrize(("path", "body"), ENDPOINTS)
async def test_a_failure_is_told_with_its_status_and_headers(
    upstream: FakeUpstream, client: aiohttp.ClientSession, path: str, body: dict[str, Any]
) -> None:
    upstream.enqueue(Failure(529, headers=(("retry-after", "1"),)))

    async with client.post(path, json=body) as response:
        told = await response.json()

    assert (response.status, response.headers["retry-after"]) == (529, "1")
    assert told["error"]["message"]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("HEAD", "/api/hello", 200),
        ("GET", "/v1/models", 200),
        ("GET", "/v1/other", 404),
        ("POST", "/v1/other", 404),
        ("POST", "/v1/messages/count_tokens?beta=true", 200),
        ("DELETE", "/v1/messages", 404),
    ],
)
async def test_side_requests_are_answered_and_recorded(
    upstream: FakeUpstream, client: aiohttp.ClientSession, method: str, path: str, status: int
) -> None:
    async with client.request(method, path, data=b"{}" if method == "POST" else None) as response:
        assert response.status == status

    assert [(request.method, request.target) for request in upstream.requests] == [(method, path)]
    assert upstream.model_requests() == []


async def test_a_websocket_upgrade_is_refused_with_426(upstream: FakeUpstream, client: aiohttp.ClientSession) -> None:
    with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
        await client.ws_connect("/v1/responses")

    assert refused.value.status == 426


async def test_raw_bytes_and_headers_arrive_as_given(upstream: FakeUpstream, client: aiohttp.ClientSession) -> None:
    packed = gzip.compress(b"data: x\n\n")
    headers = (("Content-Type", "text/event-stream"), ("content-encoding", "gzip"), ("X-Twice", "1"), ("X-Twice", "2"))
    upstream.enqueue(Raw(203, headers, (packed[:7], packed[7:])))

    async with client.post(MESSAGES, json={}, auto_decompress=False) as response:
        received = await response.read()

    assert (response.status, received) == (203, packed)
    assert response.headers.getall("x-twice") == ["1", "2"]
    assert (b"content-encoding", b"gzip") in response.raw_headers


@pytest.mark.parametrize("compression", ["gzip", "deflate"])
async def test_a_compressed_stream_says_the_same_as_a_plain_one(
    upstream: FakeUpstream, client: aiohttp.ClientSession, compression: str
) -> None:
    upstream.enqueue(Answer("two words", compression=compression))

    events = await post_events(client, MESSAGES, {**ENDPOINTS[0][1], "stream": True})

    assert "".join(event["delta"]["text"] for event in events if event["type"] == "content_block_delta") == "two words"


async def test_a_held_answer_does_not_start_before_its_gate_opens(
    upstream: FakeUpstream, client: aiohttp.ClientSession
) -> None:
    gate = Gate()
    upstream.enqueue(Held(gate, Answer("late")))

    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        asked = group.create_task(post_json(client, MESSAGES, ENDPOINTS[0][1]))
        await gate.reached.wait()
        assert not asked.done()
        gate.open()

    assert asked.result()["content"][0]["text"] == "late"


async def test_a_gate_within_a_stream_lets_only_earlier_events_through(
    upstream: FakeUpstream, client: aiohttp.ClientSession
) -> None:
    gate = Gate()
    upstream.enqueue(Answer("two words", breaks={1: gate}))

    async with asyncio.timeout(5), client.post(MESSAGES, json={**ENDPOINTS[0][1], "stream": True}) as response:
        await gate.reached.wait()
        before = await response.content.readuntil(b"\n\n")
        gate.open()
        after = await response.read()

    assert before.startswith(b"event: message_start\n")
    assert after.startswith(b"event: ping\n")
    assert after.endswith(b'{"type": "message_stop"}\n\n')


async def test_a_disconnect_within_a_stream_breaks_it_off_after_the_earlier_events(
    upstream: FakeUpstream, client: aiohttp.ClientSession, caplog: pytest.LogCaptureFixture
) -> None:
    upstream.enqueue(Answer("two words", breaks={1: Disconnect()}))

    async with client.post(MESSAGES, json={**ENDPOINTS[0][1], "stream": True}) as response:
        before = await response.content.readuntil(b"\n\n")
        with pytest.raises(aiohttp.ClientPayloadError):
            await response.read()

    assert before.startswith(b"event: message_start\n")
    assert upstream.requests[0].outcome == "disconnected"
    assert not caplog.records


async def test_a_client_that_goes_away_is_noticed(upstream: FakeUpstream) -> None:
    gate = Gate()
    upstream.enqueue(Answer("two words", breaks={1: gate}))
    async with asyncio.timeout(5):
        async with aiohttp.ClientSession(upstream.url) as client:
            async with client.post(MESSAGES, json={**ENDPOINTS[0][1], "stream": True}):
                await gate.reached.wait()
        await upstream.requests[0].closed.wait()

    assert upstream.requests[0].outcome == "client gone"


async def test_the_handler_comes_before_the_queue_and_the_queue_before_the_prompt(
    upstream: FakeUpstream, client: aiohttp.ClientSession
) -> None:
    handled: list[Reply | None] = [Answer("from the handler"), None, None]
    upstream.answer_with(lambda request: handled.pop(0))
    upstream.enqueue(Answer("from the queue"))
    body = {"messages": [{"role": "user", "content": "TURN:7"}]}

    texts = [(await post_json(client, MESSAGES, body))["content"][0]["text"] for _ in range(3)]

    assert texts == ["from the handler", "from the queue", "FAKE-ANSWER for turn 7 after 0 tool calls."]


async def test_requests_on_one_connection_carry_its_number(
    upstream: FakeUpstream, client: aiohttp.ClientSession
) -> None:
    for _ in range(2):
        await post_json(client, MESSAGES, ENDPOINTS[0][1])
    async with aiohttp.ClientSession(upstream.url) as other:
        await post_json(other, MESSAGES, ENDPOINTS[0][1])

    assert [request.connection for request in await upstream.wait_for(3)] == [1, 1, 2]
