"""What a Messages request says: positions, places for blocks, side requests, directory, cues, the turn's text."""

import base64
import json
from typing import Any

import pytest

from bead.recall import CueSource
from bead.turns import TOOL_TEXT_LIMIT
from bead_proxy import anthropic
from bead_proxy.anthropic.newest import TOOL_CUE_ENDS, WORDS_CUE_ENDS
from bead_proxy.protocol import Shape, SideRequest, Unreadable, splice
from tests.unit.proxy.protocol.bodies import (
    Content,
    Message,
    assistant,
    body,
    image,
    positions,
    read,
    reminder,
    text,
    tool_result,
    tool_use,
    user,
)

_MARKED = {"cache_control": {"type": "ephemeral"}}
_SUMMARY = "This session is being continued from a previous conversation that ran out of context.\n\nSummary: beds."


# -- Unreadable --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "unreadable",
    [
        b"{}",
        b'{"messages":null}',
        b'{"messages":{}}',
        b'{"messages":[null]}',
        b'{"messages":["text"]}',
        b'{"messages":[{"content":"no role"}]}',
        b'{"messages":[{"role":7,"content":"x"}]}',
        b'{"messages":[{"role":"user","content":{"type":"text"}}]}',
        b'{"messages":[{"role":"user","content":["x"]}]}',
        b'{"messages":[{"role":"user","content":"\xff"}]}',
        b'{"messages":[],"system":{"type":"text"}}',
        b'{"messages":[{"role":"user","content":' + b"[" * 50_000 + b"]" * 50_000 + b"}]}",
    ],
)
def test_a_body_of_another_shape_is_unreadable(unreadable: bytes) -> None:
    with pytest.raises(Unreadable):
        anthropic.read(unreadable)


def test_a_reason_never_quotes_the_body() -> None:
    with pytest.raises(Unreadable) as refused:
        anthropic.read(b'{"messages":"a made-up private sentence"}')

    assert "private" not in str(refused.value)


@pytest.mark.parametrize(
    "content",
    [None, "", [], [{"type": "text"}], [{"type": "text", "text": None}], [{"type": "new kind", "text": {"a": 1}}]],
)
def test_content_without_words_gets_no_position(content: Any) -> None:
    assert read(user(content)).users == ()


def test_an_unknown_role_has_no_position_and_counts_as_answered() -> None:
    request = read(user("hi"), {"role": "developer", "content": "x"})

    assert ([message.human_text for message in request.users], request.newest_is_user) == (["hi"], False)


# -- Positions ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "rewritten",
    [
        [text("water the beds")],
        [text("water the beds", **_MARKED)],
        [reminder("date"), text("water the beds")],
        [reminder("date"), reminder("rules"), text("water the beds", **_MARKED)],
        "water the beds\n\n<system-reminder>\ndate\n</system-reminder>",
        [text("<current_datetime>now</current_datetime>\n\nwater the beds")],
        [text("water the beds"), text('<bead-memory kind="recall">\nNotes\n</bead-memory>')],
        [text("water the beds"), text("")],
        [text("water the beds"), text("CRITICAL: Respond with TEXT ONLY. Summarise.")],
    ],
)
def test_a_message_keeps_its_position_when_a_harness_rewrites_it(rewritten: Content) -> None:
    assert positions(read(user(rewritten))) == positions(read(user("water the beds")))


@pytest.mark.parametrize("content", ["one", [text("one", **_MARKED)]])
def test_a_tool_result_keeps_its_position_when_its_content_is_rewritten(content: Any) -> None:
    plain = read(user([tool_result("toolu_1", "one\n\n<system-reminder>\nx\n</system-reminder>")]))

    assert positions(read(user([tool_result("toolu_1", content)]))) == positions(plain)


def test_messages_of_reminders_alone_and_of_role_system_leave_positions_as_they_are() -> None:
    plain = read(user("a"), assistant("b"), user("c"))
    noticed = read(
        user([reminder("Called the Read tool")]),
        user("a"),
        {"role": "system", "content": "rules", "output_config": {}},
        assistant("b"),
        {"role": "system", "content": []},
        user([reminder("[SYSTEM NOTIFICATION - NOT USER INPUT]")]),
        user("c"),
    )

    assert positions(noticed) == positions(plain)


@pytest.mark.parametrize(
    "other",
    [
        [user("a"), assistant("b"), user("d")],
        [user("x"), assistant("b"), user("c")],
        [user([text("a"), text("c")])],
        [user([tool_result("toolu_1", "x")]), assistant("b"), user("c")],
        [user(_SUMMARY), assistant("b"), user("c")],
    ],
)
def test_another_conversation_ends_in_another_position(other: list[Message]) -> None:
    assert positions(read(*other))[-1] != positions(read(user("a"), assistant("b"), user("c")))[-1]


def test_a_request_for_a_summary_keeps_the_positions_of_what_it_summarises() -> None:
    history = [user("a"), assistant([tool_use("toolu_1", "Bash", command="ls")])]
    behind_a_result = read(*history, user([tool_result("toolu_1", "x"), text("CRITICAL: Respond with TEXT ONLY.")]))
    of_its_own = read(*history, user([tool_result("toolu_1", "x")]), user("CRITICAL: Respond with TEXT ONLY."))

    expected = positions(read(*history, user([tool_result("toolu_1", "x")])))
    assert positions(behind_a_result) == positions(of_its_own) == expected


def test_words_beside_a_tool_result_are_the_persons() -> None:
    """OpenHands puts the next prompt into the message that answers the last tool."""
    (message,) = read(user([tool_result("toolu_1", "finished"), text("now water the beds")])).users

    assert (message.parts, message.human_text) == (("toolu_1", "now water the beds"), "now water the beds")


def test_a_summary_moves_positions_but_is_nobodys_words() -> None:
    request = read(user([text(_SUMMARY), text("remember that beds are dry")]))

    assert request.users[0].human_text == "remember that beds are dry"
    assert request.turn_text == "remember that beds are dry"
    assert len(request.users[0].parts) == 2
    assert read(user(_SUMMARY)).turn_text == ""


# -- Places ------------------------------------------------------------------------------------------------------------


def _with_block(content: Any) -> Any:
    original = body(user(content))
    (message,) = anthropic.read(original).users
    return json.loads(splice(original, message.anchor.insertions('new "block"')))["messages"][0]["content"]


_BLOCK = {"type": "text", "text": 'new "block"'}


@pytest.mark.parametrize(
    "content",
    [
        [text("a")],
        [text("a", **_MARKED), image("AAAA")],
        [tool_result("toolu_1", [text("]}")])],
        [tool_result("toolu_1", "x") | _MARKED],
    ],
)
def test_a_block_becomes_the_last_of_its_message(content: list[dict[str, Any]]) -> None:
    assert _with_block(content) == [*content, _BLOCK]


def test_a_string_and_one_text_block_give_the_same_blocks() -> None:
    assert _with_block("words") == _with_block([text("words")]) == [text("words"), _BLOCK]


@pytest.mark.parametrize(
    ("system", "shape", "expected"),
    [
        ("Be brief.", Shape.STRING, [text("Be brief."), _BLOCK]),
        ([text("a", **_MARKED)], Shape.ARRAY, [text("a", **_MARKED), _BLOCK]),
        ([], Shape.EMPTY_ARRAY, [_BLOCK]),
    ],
)
def test_a_block_becomes_the_last_of_the_system_part(system: Any, shape: Shape, expected: Any) -> None:
    original = body(user("hi"), system=system)
    anchor = anthropic.read(original).system

    assert anchor is not None and anchor.shape is shape
    assert json.loads(splice(original, anchor.insertions('new "block"'))) == json.loads(original) | {"system": expected}


@pytest.mark.parametrize("blanks", [b"", b" \n\t"])
def test_a_body_without_a_system_part_gets_one(blanks: bytes) -> None:
    original = blanks + b"{" + blanks + body(user("hi"))[1:]
    anchor = anthropic.read(original).system

    assert anchor is not None and anchor.shape is Shape.ABSENT
    assert json.loads(splice(original, anchor.insertions('new "block"'))) == json.loads(original) | {"system": [_BLOCK]}


@pytest.mark.parametrize("system", [None, "", " \n"])
def test_a_system_part_that_cannot_take_a_block_has_no_place(system: Any) -> None:
    """A provider refuses empty text blocks, so wrapping blank text would break a request that works."""
    assert read(user("hi"), system=system).system is None


def test_of_a_key_that_comes_twice_the_last_value_gets_the_block() -> None:
    original = (
        b'{"messages":[{"role":"user","content":"old"}],"messages":[{"role":"user","content":"x","content":"y"}]}'
    )
    (message,) = anthropic.read(original).users

    spliced = json.loads(splice(original, message.anchor.insertions("b")))
    assert spliced == {"messages": [{"role": "user", "content": [text("y"), text("b")]}]}


# -- The newest message ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([user("a")], True),
        ([user("a"), {"role": "system", "content": "x"}], True),
        ([user("a"), user([reminder("x")])], True),
        ([user("a"), assistant("b")], False),
        ([user("a"), assistant("b"), user([reminder("[SYSTEM NOTIFICATION]")])], False),
        ([assistant("b")], False),
        ([], False),
    ],
)
def test_a_new_block_may_go_only_where_the_model_has_not_answered_yet(messages: list[Message], expected: bool) -> None:
    assert read(*messages).newest_is_user is expected


def test_an_answered_message_gives_no_cues_and_no_turn_again() -> None:
    request = read(user("a"), assistant("b"), user([reminder("[SYSTEM NOTIFICATION]")]))

    assert (request.cues, request.turn_text) == ((), "")


def test_cues_name_whose_words_they_are() -> None:
    request = read(
        user("old words"),
        assistant("older answer"),
        user("asked"),
        assistant(
            [
                {"type": "thinking", "thinking": "hidden thought", "signature": "x"},
                text("I look."),
                tool_use("toolu_1", "Bash", command="ls /beds", options={"depth": 3, "deep": [True, "all"]}),
            ]
        ),
        {"role": "system", "content": "notice"},
        user([tool_result("toolu_1", "dry.txt\n\n<system-reminder>\nrule\n</system-reminder>"), text("go on")]),
    )

    assert [(cue.source, cue.text) for cue in request.cues] == [
        (CueSource.PERSON, "go on"),
        (CueSource.TOOL_OUTPUT, "dry.txt"),
        (CueSource.ASSISTANT, "I look."),
        (CueSource.TOOL_INPUT, "ls /beds\n3\nall"),
    ]


def test_tool_text_is_cut_in_cues_and_keeps_the_error_at_its_end() -> None:
    output = f"first line {'o' * 9_000} error: last line"
    request = read(
        assistant([tool_use("toolu_1", "Write", content="i" * 9_000)]), user([tool_result("toolu_1", output)])
    )

    assert [len(cue.text) for cue in request.cues] == [sum(TOOL_CUE_ENDS) + 1] * 2
    assert request.cues[0].text.startswith("first line ")
    assert request.cues[0].text.endswith(" error: last line")


def test_a_question_behind_a_long_paste_is_in_the_cue() -> None:
    request = read(user(f"look at this: {'p' * 40_000} why does it fail?"))

    (cue,) = request.cues
    assert len(cue.text) == sum(WORDS_CUE_ENDS) + 1
    assert cue.text.startswith("look at this: ")
    assert cue.text.endswith(" why does it fail?")


def test_text_that_just_fits_is_a_cue_as_it_is() -> None:
    words = "w" * sum(WORDS_CUE_ENDS)

    assert [cue.text for cue in read(user(words)).cues] == [words]


def test_a_turn_holds_words_whole_tool_results_cut_and_data_as_placeholders() -> None:
    data = base64.b64encode(bytes(12_345)).decode()
    document = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "d" * 70}}
    request = read(
        user("read it"),
        assistant([tool_use("toolu_1", "Read", path="/x")]),
        user(
            [
                reminder("not said"),
                tool_result("toolu_1", [text("r" * 9_000), image(data), {"type": "tool_reference", "tool_name": "x"}]),
                tool_result("toolu_2", "short"),
                text("w" * 9_000),
                image(data),
                document,
                {"type": "image", "source": {"type": "url", "url": "https://example.test/x"}},
                {"type": "container_upload", "file_id": "made-up"},
            ]
        ),
    )

    pieces = request.turn_text.split("\n\n")
    assert pieces[0].startswith("[tool result: Read]\nrrr") and "characters left out" in pieces[0]
    assert len(pieces[0]) < TOOL_TEXT_LIMIT + 200
    assert pieces[1:] == [
        "[tool result]\nshort\n[end of tool text]",
        "w" * 9_000,
        "[image image/png, 12345 bytes]",
        "[document text/plain, 70 bytes]",
        "[image]",
        "[block of type container_upload]",
    ]


def test_images_inside_a_tool_result_are_placeholders_and_no_cue() -> None:
    request = read(user([tool_result("toolu_1", [image("AAA="), {"type": "odd kind!"}])]))

    assert request.turn_text == "[tool result]\n[image image/png, 2 bytes]\n[block of type oddkind]\n[end of tool text]"
    assert request.cues == ()


def test_nothing_private_is_in_cues_or_turn() -> None:
    request = read(user([tool_result("t", "a <private>b</private> c"), text("keep <private>the pin</private> out")]))

    assert "pin" not in request.turn_text and "b" not in request.turn_text.split("[tool result]\n")[1].split("\n")[0]
    assert all("pin" not in cue.text and "b" not in cue.text for cue in request.cues)


# -- Side requests -----------------------------------------------------------------------------------------------------

_SCHEMA = {"format": {"type": "json_schema", "schema": {"type": "object"}}}


@pytest.mark.parametrize(
    ("request_body", "side"),
    [
        (body(user("hi")), None),
        (body(user("hi"), output_config=_SCHEMA), None),
        (body(user("<session>\nhi\n</session>"), tools=[], output_config=_SCHEMA), SideRequest.TITLE),
        (body(user("Generate a title for this conversation:\n"), tools=[]), SideRequest.TITLE),
        (body(user("hi"), system="You are a title generator. You output ONLY a thread title."), SideRequest.TITLE),
        (body(user("pick one"), tools=[], output_config=_SCHEMA), SideRequest.OTHER),
        (body(user("pick one"), tools=[], output_format=_SCHEMA["format"]), SideRequest.OTHER),
        (body(user("quota"), max_tokens=1), SideRequest.OTHER),
        (body(user("a"), assistant("b"), user("CRITICAL: Respond with TEXT ONLY. Do it.")), SideRequest.COMPACTION),
        (
            body(user("a"), user([tool_result("t", "x"), text("CRITICAL: Respond with TEXT ONLY.")])),
            SideRequest.COMPACTION,
        ),
        (
            body(user("CRITICAL: Respond with TEXT ONLY."), {"role": "system", "content": "notice"}),
            SideRequest.COMPACTION,
        ),
        (
            body(user("hi"), system=[text("You are now acting as the managed memory extraction subagent for an AI.")]),
            SideRequest.MEMORY_AGENT,
        ),
        (
            body(user("a"), user("You are now acting as the memory extraction subagent. Analyze the messages above.")),
            SideRequest.MEMORY_AGENT,
        ),
    ],
)
def test_side_requests_are_told_from_steps_of_the_conversation(request_body: bytes, side: SideRequest | None) -> None:
    request = anthropic.read(request_body)

    assert request.side is side
    assert (request.turn_text == "") is (side is not None)
    assert (request.cues == ()) is (side is not None)


def test_only_the_newest_user_message_makes_a_request_a_side_request() -> None:
    assert read(user("CRITICAL: Respond with TEXT ONLY."), assistant("summary"), user("go on")).side is None


# -- Directory and session ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        "# Environment\n - Primary working directory: /home/a b/garden\n - Is a git repository: true",
        "<env>\n  Working directory: /home/a b/garden\n  Platform: linux\n</env>",
        "<environment_context>\n  <cwd>/home/a b/garden</cwd>\n</environment_context>",
        "* Current working directory: /home/a b/garden\n* Git",
        "I'm currently working in the directory: /home/a b/garden\nHere is the structure",
        "Your current working directory is: /home/a b/garden\n",
        "- **Current working directory**: /home/a b/garden\n",
        "4. Working Directory: /home/a b/garden",
        "You are a coding helper. working directory: /home/a b/garden  ",
    ],
)
def test_the_directory_is_found_wherever_a_harness_names_it(line: str) -> None:
    directory = "/home/a b/garden"

    assert read(user("hi"), system=line).directory == directory
    assert read(user("hi"), system=[text("x"), text(line)]).directory == directory
    assert read(user("hi"), {"role": "system", "content": line}).directory == directory
    assert read(user([reminder(line), text("hi")])).directory == directory


def test_the_primary_directory_wins_over_others_wherever_it_stands() -> None:
    request = read(
        user([reminder(" - Primary working directory: /right"), text("hi")]), system="working directory: /wrong"
    )

    assert request.directory == "/right"


def test_a_windows_directory_is_a_directory() -> None:
    assert read(user("hi"), system="Working directory: C:\\work\\garden").directory == "C:\\work\\garden"


@pytest.mark.parametrize(
    "messages",
    [
        [user([tool_result("t", " - Primary working directory: /etc")])],
        [user("hi"), assistant("Working directory: /etc")],
        [*[user("x"), assistant("y")] * 5, user("Working directory: /etc")],
        [user("the working directory: relative/path")],
    ],
)
def test_a_directory_in_tool_text_or_late_in_the_conversation_is_not_believed(messages: list[Message]) -> None:
    assert read(*messages).directory is None


_SESSION = "11111111-2222-4333-8444-555555555555"


@pytest.mark.parametrize(
    ("metadata", "session"),
    [
        ({"user_id": json.dumps({"device_id": "d", "account_uuid": "", "session_id": _SESSION})}, _SESSION),
        ({"user_id": f"user_made_up_account__session_{_SESSION}"}, _SESSION),
        ({"user_id": "sample", "n": 12345678901234567890}, None),
        ({"user_id": json.dumps({"session_id": 7})}, None),
        ({"user_id": json.dumps({"session_id": "x" * 500})}, None),
        ({"user_id": "[" * 100_000}, None),
        ({"user_id": 7}, None),
        (None, None),
        ("text", None),
    ],
)
def test_the_session_is_read_from_the_metadata(metadata: Any, session: str | None) -> None:
    assert read(user("hi"), metadata=metadata).session == session


def test_nothing_of_a_request_shows_in_its_repr() -> None:
    request = read(user("a made-up secret"))

    assert "secret" not in repr(request) + repr(request.users) + repr(request.cues)
