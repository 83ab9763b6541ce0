"""The shape fixtures of Claude Code are whole; that they are true is for tests/harness to say."""

import json
from pathlib import Path

import pytest

from tests.fakes import messages
from tests.fakes.recording import Recorded
from tests.fakes.script import UserText

FILES = sorted((Path(__file__).parents[2] / "fixtures/claude_code").glob("*.json"))


def test_there_are_fixtures() -> None:
    assert "first_request_new_shape" in [file.stem for file in FILES]


@pytest.mark.parametrize("file", FILES, ids=[file.stem for file in FILES])
def test_a_fixture_is_a_request_without_credentials_that_says_what_it_is(file: Path) -> None:
    loaded = json.loads(file.read_text())
    request = Recorded(
        1, 1, "POST", "/v1/messages", list(loaded["headers"].items()), json.dumps(loaded["body"]).encode()
    )

    assert list(loaded) == ["about", "headers", "body"]
    assert not {"x-api-key", "authorization", "cookie"} & {name.lower() for name in loaded["headers"]}
    assert request.header("x-claude-code-session-id")
    assert [item for item in messages.conversation(request).items if isinstance(item, UserText)]
