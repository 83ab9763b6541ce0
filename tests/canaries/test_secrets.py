"""Credentials that were said, shown by a tool, answered and written by an agent: in no byte of the home (B16)."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from bead_cli.verifying import verify
from tests.canaries.world import World, world
from tests.unit.proxy.protocols.talk import SPOKEN, Called, Said, Talk
from tests.unit.scan.made_up import Sample, samples

pytestmark = pytest.mark.e2e


@pytest.fixture
def place(tmp_path: Path) -> Iterator[World]:
    with world(tmp_path) as found:
        found.up()
        yield found


def test_no_credential_that_came_by_any_way_is_in_any_byte_of_the_home(place: World) -> None:
    told: list[Sample] = [each for each in samples() if len(each.secret) >= 16][:24]
    said, shown, written = (told[number::3] for number in range(3))
    for number, spoken in enumerate(SPOKEN):
        place.say("".join(f"{each.text}\n" for each in said[number::4]), f"said-{number}", protocol=spoken.name)
        output = json.dumps({"out": json.dumps([each.text for each in shown[number::4]])})
        talk = Talk((Said("show it"), Called("c1", "look", {"path": "x"}, output)))
        place.send(talk, f"shown-{number}", protocol=spoken.name)
    for number, each in enumerate(written):
        wish = {"text": f"deploys need this: {each.text}", "key": f"user/deploy-{number}"}
        assert "it was not stored" in place.mcp_http("remember", wish)
    # The provider says the name of a turn in pieces of a few characters.
    answered = "ghp_" + "Kd7wQ2xZ" * 4 + "Lm9p"
    place.say(f"TURN:{answered} go on", "answered")

    assert place.json("memories", "--all")["facts"] == []
    found = {}
    for secret in (answered, *(each.secret for each in told)):
        for folder in (place.machine.home, place.temporary):
            if traces := verify(folder, secret, lambda done, total: None).traces:
                found[secret[:6]] = traces
    assert found == {}
    raw = "".join(path.read_text() for path in (place.machine.home / "store" / "raw").rglob("*.md"))
    assert raw.count("[REDACTED:") >= len(said) + len(shown), "a marker stands where each was"
