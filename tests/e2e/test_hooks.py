"""Memory without a base URL: the real Claude Code fires its session-start hook, and the provider sees what it told."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.e2e.conftest import BEAD, PROXY, UPSTREAM, Desk
from tests.harness.claude_code import Seat

pytestmark = [pytest.mark.e2e, pytest.mark.harness]

HOOK = {"SessionStart": [{"hooks": [{"type": "command", "command": f"{BEAD} prime --hook-json"}]}]}
FACT = "we ship with make ship-it"


def ask(desk: Desk, base_url: str, environ: Mapping[str, str]) -> str:
    """One prompt of an agent that has the hook; everything that the provider got of it."""
    settings = Path(desk.root) / "hooks.json"
    settings.write_text(json.dumps({"hooks": HOOK}))
    seat = Seat(desk.root, base_url, {"BEAD_HOME": str(desk.home), **environ})
    before = len(desk.provider.model_requests())
    desk.claude.ask("what day is it?", namespace=desk.namespace, seat=seat, arguments=("--settings", str(settings)))
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
