"""`docker compose up`, first version: six healthy containers, loopback only, and memory reaches the model."""

import json
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from tests.docker.conftest import Stack

pytestmark = pytest.mark.docker

SERVICES = {"store", "index", "proxy", "dream", "curate", "scheduler"}
REMEMBERED = "we ship with `make ship-it` and never from a laptop on Fridays"


def test_every_service_is_healthy(stack: Stack) -> None:
    states = {name: row["Health"] for name, row in stack.services().items() if name in SERVICES}
    assert states == dict.fromkeys(SERVICES, "healthy")


def test_only_proxy_and_admin_page_are_published_and_only_on_loopback(stack: Stack) -> None:
    published = {
        (name, port["URL"], port["PublishedPort"])
        for name, row in stack.services().items()
        for port in row.get("Publishers") or []  # type: ignore[attr-defined]  # compose's own JSON
        if port["PublishedPort"]
    }
    assert published == {
        ("proxy", "127.0.0.1", stack.proxy_port),
        ("curate", "127.0.0.1", stack.curate_port),
    }


@pytest.mark.parametrize("service", sorted(SERVICES))
def test_a_container_has_no_root_no_capabilities_and_no_writable_root(stack: Stack, service: str) -> None:
    status = stack.inside(service, "cat", "/proc/1/status")
    fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    mounts = stack.inside(service, "cat", "/proc/mounts").splitlines()
    root_options = next(line.split()[3] for line in mounts if line.split()[1] == "/")

    assert fields["Uid"].split()[0] == "10001"
    assert int(fields["CapEff"], 16) == 0
    assert fields["NoNewPrivs"].strip() == "1"
    assert "ro" in root_options.split(",")


def ask(stack: Stack, session: str, text: str) -> dict[str, Any]:
    token = stack.inside("proxy", "cat", "/data/tokens/proxy").strip()
    body = {
        "model": "claude-opus-5-5",
        "max_tokens": 64,
        "system": [{"type": "text", "text": "Primary working directory: /srv/shop"}],
        "messages": [{"role": "user", "content": [{"type": "text", "text": text}]}],
    }
    request = urllib.request.Request(
        f"http://127.0.0.1:{stack.proxy_port}/t/{token}/v1/messages?beta=true",
        data=json.dumps(body).encode(),
        headers={"content-type": "application/json", "x-claude-code-session-id": session},
    )
    with urllib.request.urlopen(request, timeout=30) as response:
        answer: dict[str, Any] = json.load(response)
    return answer


def newest_body(records: Path) -> str:
    return max(records.glob("*.body")).read_text()


def test_what_was_said_in_one_session_reaches_the_model_in_the_next(stack: Stack) -> None:
    ask(stack, "11111111-0000-4000-8000-000000000001", f"remember that {REMEMBERED}")
    assert "<bead-memory" not in newest_body(stack.records)

    stack.inside("curate", "bead", "memories", "ship", "--json")
    ask(stack, "11111111-0000-4000-8000-000000000002", "how do I ship this?")

    sent = newest_body(stack.records)
    assert "<bead-memory" in sent
    assert REMEMBERED in sent
