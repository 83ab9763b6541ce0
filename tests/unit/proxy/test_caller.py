"""What headers say about the caller."""

import pytest
from multidict import CIMultiDict, CIMultiDictProxy

from bead_proxy.caller import Caller, read_caller, session_name
from bead_proxy.protocol import SideRequest


def caller(**headers: str) -> Caller:
    return read_caller(
        CIMultiDictProxy(CIMultiDict({name.replace("_", "-"): value for name, value in headers.items()}))
    )


def test_our_own_header_wins_over_the_harness() -> None:
    assert caller(X_Bead_Session="mine", X_Claude_Code_Session_Id="theirs").session == "mine"


def test_a_subagent_has_its_own_session_that_begins_like_its_parents() -> None:
    parent = caller(X_Claude_Code_Session_Id="abc")
    child = caller(X_Claude_Code_Session_Id="abc", x_claude_code_agent_id="a1")
    other = caller(X_Claude_Code_Session_Id="abc", x_claude_code_agent_id="a2")

    assert parent.session == "abc" and not parent.is_subagent
    assert child.is_subagent and str(child.session).startswith("abc-")
    assert child.session != other.session


@pytest.mark.parametrize("name", ["../../etc/passwd", "UPPER", ".hidden", "a/b", "a" * 101, "ä", "\udce9", "x y"])
def test_an_unusual_session_name_becomes_a_harmless_one_of_its_own(name: str) -> None:
    harmless = session_name(name)

    assert session_name(harmless) == harmless
    assert harmless != session_name(name + "1")
    assert not set(harmless) - set("abcdefghijklmnopqrstuvwxyz0123456789-")


@pytest.mark.parametrize(
    ("agent", "harness"),
    [
        ("claude-cli/2.1.332 (external, cli)", "claude-cli"),
        ("codex_exec/0.1", "codex_exec"),
        ("", None),
        ("\x7f", None),
    ],
)
def test_the_harness_is_the_first_product_of_the_user_agent(agent: str, harness: str | None) -> None:
    assert caller(User_Agent=agent).harness == harness


def test_only_1_switches_memory_off() -> None:
    assert caller(X_Bead_Off="1").is_off
    assert not caller(X_Bead_Off="0").is_off and not caller().is_off


def test_a_codex_thread_is_a_subagent_of_its_session() -> None:
    main = caller(session_id="s1", thread_id="s1")
    child = caller(session_id="s1", thread_id="t2", x_openai_subagent="collab_spawn", x_codex_parent_thread_id="s1")

    assert (main.session, main.is_subagent) == ("s1", False)
    assert child.is_subagent and str(child.session).startswith("s1-")


def test_an_opencode_child_session_is_a_subagent_of_its_parent() -> None:
    main = caller(x_session_id="ses_a")
    child = caller(x_session_id="ses_b", x_parent_session_id="ses_a")

    assert (main.session, main.is_subagent) == ("ses_a", False)
    assert child.is_subagent and str(child.session).startswith("ses_a-")


@pytest.mark.parametrize(
    ("header", "value", "side"),
    [
        ("x-claude-code-request-class", "compaction", SideRequest.COMPACTION),
        ("x-claude-code-request-class", "auxiliary", SideRequest.OTHER),
        ("x-claude-code-request-class", "main", None),
        ("x-claude-code-request-class", "subagent", None),
        ("x-openai-memgen-request", "true", SideRequest.MEMORY_AGENT),
        ("x-openai-subagent", "compact", SideRequest.COMPACTION),
        ("x-openai-subagent", "collab_spawn", None),
    ],
)
def test_a_harness_may_say_itself_what_a_request_is(header: str, value: str, side: SideRequest | None) -> None:
    assert caller(**{header: value}).side is side


@pytest.mark.parametrize(
    ("metadata", "directory"),
    [
        ('{"workspaces":{"/home/ben/shop":{"latest_git_commit_hash":"a"}}}', "/home/ben/shop"),
        ('{"workspaces":{"/a":{},"/b":{}}}', None),
        ('{"workspaces":["/a"]}', None),
        ('{"workspaces":{"relative":{}}}', None),
        ("[" * 5_000, None),
        ("not json", None),
        ("", None),
    ],
)
def test_codex_names_the_directory_in_its_turn_metadata(metadata: str, directory: str | None) -> None:
    assert caller(x_codex_turn_metadata=metadata).directory == directory
