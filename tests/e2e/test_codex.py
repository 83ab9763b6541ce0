"""The real Codex talks through bead and is reminded."""

from pathlib import Path

import pytest

from bead.turns import spoken
from tests.harness.agents import CODEX
from tests.harness.desk import AgentDesk
from tests.harness.namespace import LoopbackNamespace
from tests.harness.records import Records
from tests.harness.scenario import SAID, WISH, blocks, play

pytestmark = [pytest.mark.e2e, pytest.mark.harness]


@pytest.fixture
def codex(tmp_path: Path, namespace: LoopbackNamespace, provider: Records) -> AgentDesk:
    return AgentDesk(tmp_path / "desk", namespace, provider, CODEX)


def test_a_fact_of_session_one_is_in_session_two_and_stays_through_loop_and_resume(codex: AgentDesk) -> None:
    outcome = play(codex)

    assert (outcome.is_reminded, outcome.is_loop_stable, outcome.is_resume_stable) == (True, True, True)
    facts = codex.bead("memories")["facts"]
    assert [(fact["body"], fact["trust"]) for fact in facts if "ship" in fact["key"]] == [(SAID, "user_stated")]


def test_both_sessions_are_in_the_raw_log_without_a_word_of_bead_or_of_the_harness(codex: AgentDesk) -> None:
    play(codex)

    logs = {path.stem: path.read_text() for path in (codex.home / "store" / "raw").rglob("*.md")}
    assert set(logs) == {request.header("session-id") for request in codex.provider.model_requests()}
    assert len(logs) == 2
    text = "\n".join(logs.values())
    assert WISH in spoken(text) and "does make ship-it work" in spoken(text)
    assert "use: exec_command" in text
    assert "bead-memory" not in text and "environment_context" not in text


def test_blocks_sit_in_the_developer_item_and_in_the_persons_own(codex: AgentDesk) -> None:
    play(codex)

    body = codex.provider.model_requests()[-1].json()
    found = [body["input"][int(block.place[1])] for block in blocks(body)]
    assert [item["role"] for item in found] == ["developer", "user"]
    assert all(item["content"][-1]["text"].startswith("<bead-memory") for item in found)
    assert "instructions" not in body


def test_wrap_starts_codex_with_its_own_provider_through_bead(codex: AgentDesk) -> None:
    codex.open()
    config = codex.seat.home / ".codex" / "config.toml"
    config.write_text(config.read_text().replace('model_provider = "bead"\n', ""))
    codex.bead("remember", SAID)

    codex.wrap("exec", "--dangerously-bypass-approvals-and-sandbox", "TURN:1 how do I ship this?")

    [request] = codex.provider.model_requests()
    assert SAID in request.body.decode()
    assert request.path == "/v1/responses"
