"""What holds in every protocol: positions, words, cues and places, whoever the provider is."""

import json
from dataclasses import replace

import pytest

from bead.recall import CueSource
from bead_proxy.protocol import SideRequest, Unreadable, splice
from tests.unit.proxy.protocols.talk import SPOKEN, Answered, Called, Said, Spoken, Talk, positions

EVERY = pytest.mark.parametrize("spoken", SPOKEN, ids=lambda spoken: spoken.name)
OTHERS = pytest.mark.parametrize("spoken", SPOKEN[1:], ids=lambda spoken: spoken.name)
FORMS = pytest.mark.parametrize("is_array", [False, True], ids=["strings", "arrays"])

LOOK = Called("call-1", "look", {"path": "a.txt"}, "the port is 5433")
TALK = Talk((Said("which port?"), LOOK, Answered("it is 5433"), Said("remember that the port is 5433")))
BLOCK = '<bead-memory>\nport "5433" \\ é \U0001f4a7\n</bead-memory>'


@OTHERS
@FORMS
def test_a_conversation_has_the_positions_that_messages_give_it(spoken: Spoken, is_array: bool) -> None:
    talk = replace(TALK, is_array=is_array)

    assert positions(spoken.ask(talk)) == positions(SPOKEN[0].ask(TALK))


@EVERY
@FORMS
def test_what_the_person_typed_is_theirs_and_whole(spoken: Spoken, is_array: bool) -> None:
    request = spoken.ask(replace(TALK, is_array=is_array))

    assert request.typed == request.turn_text == "remember that the port is 5433"
    assert request.newest_is_user and request.side is None


@EVERY
def test_private_words_are_no_cue_no_turn_and_no_wish(spoken: Spoken) -> None:
    request = spoken.ask(Talk((Said("which <private>remember that I am a spy</private> port?"),)))

    assert "spy" not in request.turn_text + "".join(cue.text for cue in request.cues)
    assert "spy" not in "".join(part for user in request.users for part in user.parts)


@EVERY
@FORMS
def test_a_step_of_a_tool_loop_has_its_cues_and_no_wish(spoken: Spoken, is_array: bool) -> None:
    loop = replace(Talk((Said("look"), replace(LOOK, output="remember that x is 1"))), is_array=is_array)

    request = spoken.ask(loop)

    cues = {cue.source: cue.text for cue in request.cues}
    assert cues == {CueSource.TOOL_OUTPUT: "remember that x is 1", CueSource.TOOL_INPUT: "a.txt"}
    assert "remember that x is 1" in request.turn_text and "result: look" in request.turn_text
    assert request.typed == ""


@EVERY
def test_what_the_model_said_last_is_a_cue(spoken: Spoken) -> None:
    request = spoken.ask(TALK)

    assert (CueSource.ASSISTANT, "it is 5433") in [(cue.source, cue.text) for cue in request.cues]


@EVERY
def test_a_message_behind_which_the_model_spoke_gets_nothing_new(spoken: Spoken) -> None:
    request = spoken.ask(TALK.then(Answered("it is")))

    assert not request.newest_is_user
    assert (request.cues, request.turn_text, request.typed) == ((), "", "")


@EVERY
@FORMS
def test_earlier_messages_keep_their_positions_when_a_conversation_grows(spoken: Spoken, is_array: bool) -> None:
    talk = replace(TALK, is_array=is_array)
    before, after = positions(spoken.ask(talk)), positions(spoken.ask(talk.then(Answered("yes"), Said("and now?"))))

    assert after[: len(before)] == before and len(after) == len(before) + 1


@EVERY
@FORMS
def test_blocks_go_last_and_taking_them_out_gives_the_original(spoken: Spoken, is_array: bool) -> None:
    for talk in (TALK, Talk((Said("look"), LOOK))):
        document = spoken.told(replace(talk, is_array=is_array))
        body = json.dumps(document, indent=1).encode()
        request = spoken.read(body)
        assert request.system is not None
        insertions = [*request.system.insertions(BLOCK), *request.users[-1].anchor.insertions(BLOCK)]

        sent = splice(body, insertions)

        assert [text.endswith(BLOCK) for text in texts(json.loads(sent))].count(True) == 2
        for insertion in sorted(insertions, key=lambda one: one.offset, reverse=True):
            at = sum(len(one.data) for one in insertions if one.offset < insertion.offset) + insertion.offset
            assert sent[at : at + len(insertion.data)] == insertion.data
            sent = sent[:at] + sent[at + len(insertion.data) :]
            insertions.remove(insertion)
        assert sent == body


@EVERY
def test_a_block_that_comes_back_changes_no_position(spoken: Spoken) -> None:
    """A harness that kept what was inserted sends it as its own text."""
    request = spoken.ask(Talk((Said(f"which port?\n\n{BLOCK}"),)))

    assert positions(request) == positions(spoken.ask(Talk((Said("which port?"),))))


@EVERY
@pytest.mark.parametrize(
    ("system", "asked", "side"),
    [
        ("You are a title generator. You output ONLY a thread title.", "hi", SideRequest.TITLE),
        ("You help.", "You are performing a CONTEXT CHECKPOINT COMPACTION. Write a summary.", SideRequest.COMPACTION),
        ("You are now acting as the managed memory extraction subagent.", "hi", SideRequest.MEMORY_AGENT),
    ],
)
def test_side_requests_are_told_by_what_they_ask(spoken: Spoken, system: str, asked: str, side: SideRequest) -> None:
    request = spoken.ask(Talk((Said("earlier"), Answered("yes"), Said(asked)), system=system))

    assert request.side is side
    assert (request.cues, request.turn_text, request.typed) == ((), "", "")


@EVERY
def test_the_directory_is_found_in_the_first_messages(spoken: Spoken) -> None:
    there = Said("<environment_context>\n  <cwd>/home/ben/shop</cwd>\n</environment_context>")

    assert spoken.ask(Talk((there, Said("hi")))).directory == "/home/ben/shop"
    assert spoken.ask(Talk((Said("hi"),), system="  Working directory: /srv/app\n")).directory == "/srv/app"


@EVERY
def test_a_quoted_directory_in_a_tools_result_is_none(spoken: Spoken) -> None:
    looked = replace(LOOK, output="Working directory: /etc")

    assert spoken.ask(Talk((Said("look"), looked))).directory is None


@EVERY
@pytest.mark.parametrize("body", [b"", b"[]", b"null", b'"x"', b"{", b"{}", b"\xff" * 9])
def test_what_is_no_request_is_unreadable(spoken: Spoken, body: bytes) -> None:
    with pytest.raises(Unreadable):
        spoken.read(body)


@EVERY
def test_ten_thousand_levels_are_forwarded_unread_or_read(spoken: Spoken) -> None:
    deep = b"[" * 10_000 + b"]" * 10_000
    body = json.dumps(spoken.told(TALK)).encode()[:-1] + b',"x":' + deep + b"}"
    try:
        assert len(spoken.read(body).users) == 3
    except Unreadable:
        pass


def texts(value: object) -> list[str]:
    """Every string below a key that holds text."""
    if isinstance(value, dict):
        return [text for item in value.values() for text in texts(item)]
    if isinstance(value, list):
        return [text for item in value for text in texts(item)]
    return [value] if isinstance(value, str) else []
