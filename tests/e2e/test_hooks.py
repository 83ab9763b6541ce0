"""Memory without a base URL: the real Claude Code fires its hooks, and the provider sees what they told."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.e2e.conftest import BEAD, PROXY, UPSTREAM, Desk
from tests.harness.claude_code import Seat
from tests.harness.namespace import clean_environment

pytestmark = [pytest.mark.e2e, pytest.mark.harness]

HOOK = {"SessionStart": [{"hooks": [{"type": "command", "command": f"{BEAD} prime --hook-json"}]}]}
PROMPT_HOOK = {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": f"{BEAD} hook user-prompt"}]}]}
FACT = "we ship with make ship-it"


def ask(
    desk: Desk,
    base_url: str,
    environ: Mapping[str, str],
    *,
    hooks: Mapping[str, object] = HOOK,
    prompt: str = "what day is it?",
    more: tuple[str, ...] = (),
) -> str:
    """One prompt of an agent that has the hooks; everything that the provider got of it."""
    settings = Path(desk.root) / "hooks.json"
    settings.write_text(json.dumps({"hooks": hooks}))
    seat = Seat(desk.root, base_url, {"BEAD_HOME": str(desk.home), **environ})
    before = len(desk.provider.model_requests())
    arguments = ("--settings", str(settings), *more)
    desk.claude.ask(prompt, namespace=desk.namespace, seat=seat, arguments=arguments)
    return "\n".join(each.decoded_body.decode() for each in desk.provider.model_requests()[before:])


def test_a_session_starts_with_memory_though_its_requests_go_straight_to_the_provider(desk: Desk) -> None:
    desk.bead("write", "user/shipping", FACT)
    assert FACT in ask(desk, UPSTREAM, {})


def test_a_session_through_the_proxy_is_told_once(desk: Desk) -> None:
    desk.start_bead()
    desk.bead("write", "user/shipping", FACT)
    assert desk.seat.base_url.startswith(PROXY)
    sent = ask(desk, desk.seat.base_url, {})
    assert sent.count(FACT) == sent.count("<bead-memory kind=") > 0


def test_a_prompt_is_told_what_matters_to_it_once_a_session_and_nothing_where_the_proxy_does(desk: Desk) -> None:
    desk.start_bead()
    desk.bead("write", "user/shipping", FACT)
    desk.bead("search", "ship-it")
    prompt = "how do we ship? with make ship-it?"

    first = ask(desk, UPSTREAM, {}, hooks=PROMPT_HOOK, prompt=prompt)
    assert first.count(FACT) == 1
    assert "UserPromptSubmit hook additional context: <bead-memory kind=" in first

    again = ask(desk, UPSTREAM, {}, hooks=PROMPT_HOOK, prompt=f"{prompt} say it again", more=("--continue",))
    assert again.count(FACT) == 1

    through = ask(desk, desk.seat.base_url, {}, hooks=PROMPT_HOOK, prompt=prompt)
    assert through.count(FACT) == through.count("<bead-memory kind=") > 0
    assert "hook additional context" not in through


def test_the_status_line_says_what_the_session_was_given(desk: Desk) -> None:
    desk.start_bead()
    desk.bead("write", "user/shipping", FACT)
    desk.bead("search", "ship-it")
    session = desk.ask("how do we ship? with make ship-it?").session
    document = json.dumps({"session_id": session})

    def line() -> str:
        shown = desk.namespace.run(
            [BEAD, "statusline"],
            environment=clean_environment(desk.seat.home, path=[BEAD.parent]),
            folder=desk.seat.project,
            timeout_s=60,
            stdin=document,
        )
        assert shown.returncode == 0, shown.stderr
        return shown.stdout

    # Its limit is short, this machine may be busy, and a trace is told behind the answer.
    shown = [line()]
    while not shown[-1].startswith("bead: 1 fact, cache ") and len(shown) < 50:
        shown.append(line())
    assert shown[-1].startswith("bead: 1 fact, cache "), set(shown)


def test_the_agents_own_transcripts_become_history_unless_the_proxy_captured_them(desk: Desk) -> None:
    direct = Seat(desk.root, UPSTREAM)
    prompt = 'TURN:1 the tea is at four [[call Bash {"command": "echo one", "description": "x"}]]'
    arguments = ("--allowedTools", "Bash")
    session = desk.claude.ask(prompt, namespace=desk.namespace, seat=direct, arguments=arguments).session
    desk.start_bead()
    captured = desk.ask("TURN:2 and the cake at five").session

    folder = str(desk.seat.home / ".claude" / "projects")
    done = desk.bead("import", "--from", "claude-transcripts", folder, "--yes")

    assert done["wrong"] == []
    assert done["done"]["turn kept"] >= 3 and done["done"]["captured already"] >= 2
    logs = {path.stem: path.read_text() for path in (desk.home / "store" / "raw").rglob("*.md")}
    assert set(logs) == {captured, f"claude-import-{session}"}
    imported = logs[f"claude-import-{session}"]
    assert "the tea is at four" in imported and "use: Bash" in imported and "system-reminder" not in imported
