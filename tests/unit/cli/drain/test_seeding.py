"""bead's hooks come and go; whatever else stands in an agent's settings stays as it stands."""

from typing import Any

import pytest

from bead_cli.drain.seeding import Hook, drain_hooks, seeded, unseeded

HOOKS = drain_hooks("/opt/bead", on_write=True)
MINE: dict[str, Any] = {
    "theme": "dark",
    "hooks": {
        "SessionEnd": [{"hooks": [{"type": "command", "command": "say bye"}]}],
        "Stop": [{"matcher": "", "hooks": [{"type": "command", "command": "bell"}]}],
    },
}
SETTINGS = pytest.mark.parametrize(
    "settings",
    [{}, {"theme": "dark"}, MINE, {"hooks": {"PostToolUse": []}}, {"hooks": {"Odd": "kept", "Stop": [1, {"x": 2}]}}],
)


@SETTINGS
def test_what_was_there_is_there_after_coming_and_going(settings: dict[str, Any]) -> None:
    there = seeded(settings, HOOKS)
    gone = unseeded(there, HOOKS)

    assert {name: value for name, value in gone.items() if name != "hooks" or value} == {
        name: {event: groups for event, groups in value.items() if groups} if name == "hooks" else value
        for name, value in settings.items()
        if name != "hooks" or any(value.values())
    }


@SETTINGS
def test_a_second_time_adds_nothing(settings: dict[str, Any]) -> None:
    once = seeded(settings, HOOKS)
    assert seeded(once, HOOKS) == once


def test_the_persons_hook_of_the_same_event_stays_first() -> None:
    groups = seeded(MINE, HOOKS)["hooks"]["SessionEnd"]
    assert [group["hooks"][0]["command"] for group in groups] == ["say bye", "/opt/bead hook session-end"]


def test_only_beads_entry_leaves_a_group_that_a_person_has_joined() -> None:
    both = [{"type": "command", "command": HOOKS[0].command}, {"type": "command", "command": "mine"}]
    settings = {"hooks": {"SessionEnd": [{"matcher": "x", "hooks": both}]}}
    assert unseeded(settings, HOOKS) == {"hooks": {"SessionEnd": [{"matcher": "x", "hooks": both[1:]}]}}


def test_a_command_that_only_begins_like_beads_is_the_persons() -> None:
    settings = seeded({}, (Hook("SessionEnd", f"{HOOKS[0].command} --verbose"),))
    assert unseeded(settings, HOOKS) == settings


@pytest.mark.parametrize("hooks", ["text", [], {"SessionEnd": "text"}])
def test_settings_that_the_agent_cannot_read_are_not_touched(hooks: object) -> None:
    with pytest.raises(ValueError, match="hooks"):
        seeded({"hooks": hooks}, HOOKS)


def test_without_on_write_only_the_end_of_a_session_is_heard() -> None:
    assert [hook.event for hook in drain_hooks("bead", on_write=False)] == ["SessionEnd"]
