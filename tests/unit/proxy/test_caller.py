"""What headers say about the caller."""

import pytest
from multidict import CIMultiDict, CIMultiDictProxy

from bead_proxy.caller import Caller, read_caller, session_name


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
