"""`bead explain`: the trace in the words of the store, the reasons in those of now."""

import asyncio
import io
import json
from pathlib import Path
from typing import Any

import pytest

from bead.facts import TriggerCard
from bead.home import Home
from bead.turns import Role, tool_block
from bead.wire.store import AppendTurn
from bead.wire.traces import Chosen, TurnTrace
from bead_cli.__main__ import run
from tests.contract.store.opening import opened
from tests.unit.cli.desk import Desk

AT = "2026-11-05T09:12:00Z"
CARD = TriggerCard(say=("run the tests of the shop",), do=("pytest",))


def explained(home: Path, turn: str, *more: str) -> str:
    out, err = io.StringIO(), io.StringIO()
    assert run(["explain", turn, *more, "--home", str(home)], {}, out, err) == 0, err.getvalue()
    return out.getvalue()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with one fact, three turns and a trace of the last one."""
    root = tmp_path / "home"

    async def fill() -> None:
        async with opened(Home(root)) as store:
            written = await store.write("Tests run with `make quick`.", "project/shop/tests", when=CARD)
            texts = [
                (Role.USER, "What is new?"),
                (Role.ASSISTANT, "I look.\n" + tool_block("use: Bash", "pytest tests/")),
                (Role.USER, "Please run the tests of the shop."),
                (Role.ASSISTANT, "I call make quick now."),
            ]
            for number, (role, text) in enumerate(texts, 1):
                turn = AppendTurn(session="s1", turn_id=f"t{number}", role=role, text=text, at=AT, project="shop")
                await store.client.append_turn(turn)
            chosen = Chosen(written.uid, 1, 0.91, "say", 14)
            trace = TurnTrace(turn="s1/turn-3", at=AT, session="s1", selected=(chosen,), cache_read_tokens=4321)
            await store.client.keep_trace(trace)

    asyncio.run(fill())
    return root


def test_last_turn_is_explained_with_terms_score_use_and_cache(home: Path) -> None:
    document: dict[str, Any] = json.loads(explained(home, "last", "--json"))
    text = explained(home, "last")

    assert document["turn"] == "s1/turn-3"
    (chosen,) = document["now"]["selected"]
    assert chosen["key"] == "project/shop/tests"
    assert chosen["score"] >= document["now"]["threshold"]
    assert {"make", "quick"} <= set(chosen["used"])
    assert "pytest" in document["now"]["terms"]["tool_input"]
    assert "project/shop/tests  score 0.91" in text
    assert "read from the provider's cache 4321" in text
    assert "used: the agent then wrote make, quick" in text


def test_turn_without_a_trace_says_so(home: Path) -> None:
    assert "no trace is kept of it" in explained(home, "s1/turn-1")


def test_turn_without_trace_or_text_is_not_found(home: Path) -> None:
    out, err = io.StringIO(), io.StringIO()

    assert run(["explain", "s1/turn-9", "--home", str(home)], {}, out, err) == 1
    assert "neither a trace nor a turn" in err.getvalue()


def test_name_that_is_no_turn_is_refused(desk: Desk) -> None:
    assert desk.bead("explain", "nonsense").code == 2
