"""Keys from a variable or a command, and what becomes of servers that answer badly."""

import os
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bead.errors import BadRequest, ModelTrouble
from bead.settings import DreamSettings
from bead_dream.providers import keys, provider_of
from bead_dream.providers.base import Provider, Question, RefusedByModel, ServerFailed
from tests.fakes.models import FakeModel, serving_model

SECRET = "-".join(("made", "up", "by", "a", "test"))
ASKED = Question("extract", "system", "prompt", {"type": "object"})
ENVIRON = {"HOME": "/tmp", "USER": "me", "PATH": os.environ["PATH"], "SECRET_OF_THE_SHELL": SECRET}


@pytest.fixture
async def model() -> AsyncIterator[FakeModel]:
    async with serving_model() as fake:
        yield fake


def provider(model: FakeModel, name: str, environ: dict[str, str], **more: object) -> Provider:
    found = provider_of(model.settings(name, **more), environ)
    assert found is not None
    return found


def script(folder: Path, text: str) -> str:
    path = folder / "key.sh"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o700)
    return str(path)


@pytest.mark.parametrize("ending", ["\\n", "\\r\\n", ""])
async def test_key_of_a_command_comes_without_its_line_end(tmp_path: Path, ending: str) -> None:
    command = script(tmp_path, f"printf '{SECRET}{ending}'")
    assert await keys.key_of_command(command, ENVIRON, 5) == SECRET


async def test_command_runs_in_the_bare_environment_of_a_night(tmp_path: Path) -> None:
    """What a shell has set is not there: a command that needs it must fail by day already."""
    command = script(tmp_path, 'printf "%s|%s|%s" "$SECRET_OF_THE_SHELL" "$HOME" "$PATH"')
    assert await keys.key_of_command(command, ENVIRON, 5) == f"|/tmp|{keys.PATH}"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"echo {SECRET}; exit 7", "code 7"),
        ("true", "printed no key"),
        (f"echo {SECRET}; echo {SECRET}", "one line"),
        ("sleep 60", "within 0.3 s"),
    ],
)
async def test_command_without_a_key_says_why_and_never_what_it_printed(tmp_path: Path, text: str, words: str) -> None:
    began = time.monotonic()
    with pytest.raises(ModelTrouble, match=words) as caught:
        await keys.key_of_command(script(tmp_path, text), ENVIRON, 0.3 if "sleep" in text else 5)
    assert SECRET not in caught.value.message
    assert time.monotonic() - began < 10


@pytest.mark.parametrize("command", ["/no/such/program", "'unclosed"])
async def test_command_that_cannot_be_run_is_said(command: str) -> None:
    with pytest.raises(ModelTrouble, match="cannot be run"):
        await keys.key_of_command(command, ENVIRON, 5)


async def test_command_is_asked_once_and_counts_before_the_variable(model: FakeModel, tmp_path: Path) -> None:
    count = tmp_path / "asked"
    command = script(tmp_path, f"echo x >> {count}; echo {SECRET}")
    asked = provider(model, "anthropic", {"ANTHROPIC_API_KEY": "other", "HOME": "/tmp"}, api_key_command=command)

    await asked.ask(ASKED)
    await asked.ask(ASKED)

    assert [headers["x-api-key"] for headers in model.headers] == [SECRET, SECRET]
    assert count.read_text() == "x\n"


@pytest.mark.parametrize("name", ["anthropic", "openai", "ollama"])
@pytest.mark.parametrize(
    ("status", "error"), [(400, RefusedByModel), (401, ModelTrouble), (429, ModelTrouble), (500, ServerFailed)]
)
async def test_error_of_a_server_tells_its_status_and_none_of_its_text(
    model: FakeModel, name: str, status: int, error: type[ModelTrouble]
) -> None:
    model.say("extract", status)
    asked = provider(model, name, {"ANTHROPIC_API_KEY": SECRET})
    with pytest.raises(error, match=str(status)) as caught:
        await asked.ask(ASKED)
    assert type(caught.value) is error
    assert "prompt" not in caught.value.message and SECRET not in caught.value.message


async def test_server_that_is_not_there_is_trouble(model: FakeModel) -> None:
    asked = provider_of(model.settings("ollama", base_url="http://127.0.0.1:9"), {})
    assert asked is not None
    with pytest.raises(ModelTrouble, match=r"no answer from http://127\.0\.0\.1:9"):
        await asked.ask(ASKED)


def test_provider_without_a_model_is_a_wrong_setting_and_none_needs_none() -> None:
    with pytest.raises(BadRequest, match=r"dream\.model"):
        provider_of(DreamSettings(provider="ollama"), {})
    assert provider_of(DreamSettings(), {}) is None
