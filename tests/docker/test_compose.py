"""`docker compose up`: healthy containers, loopback only, no rights, a token each, and memory reaches the model."""

import http.client
import json
import re
import socket
from pathlib import Path
from typing import Any

import pytest

from tests.docker.conftest import CURATE_PORT, HEALTHY_WITHIN_S, PROXY_PORT, Stack, call, readme_commands

pytestmark = pytest.mark.docker

SERVICES = {"store", "index", "proxy", "dream", "curate", "scheduler"}
GO_OUT = {"proxy", "dream"}
REMEMBERED = "we ship with `make ship-it` and never from a laptop on Fridays"

LOOK = """
import json, os, pathlib, resource, socket
status = dict(l.split(":\\t", 1) for l in open("/proc/1/status") if ":\\t" in l)
mounts = [l.split() for l in open("/proc/mounts")]
def writable(path):
    try:
        open(path + "/probe", "w").close(); os.unlink(path + "/probe"); return True
    except OSError:
        return False
def reaches(host, port):
    try:
        socket.create_connection((host, port), 2).close(); return True
    except OSError:
        return False
print(json.dumps({
    "uid": sorted(set(status["Uid"].split())),
    "cap_eff": int(status["CapEff"], 16), "cap_bnd": int(status["CapBnd"], 16),
    "no_new_privs": status["NoNewPrivs"].strip(), "seccomp": status["Seccomp"].strip(),
    "root": next(m[3] for m in mounts if m[1] == "/").split(",")[0],
    "core": resource.getrlimit(resource.RLIMIT_CORE)[1],
    "tokens": sorted(str(p) for p in pathlib.Path("/tokens").rglob("*") if p.is_file()),
    "secret": os.path.exists("/data/tokens/bus"), "socket": os.path.exists("/var/run/docker.sock"),
    "writable": sorted(p for p in ("/", "/data", "/tmp", "/tokens", "/opt/bead", "/etc/bead") if writable(p)),
    "environ": dict(os.environ), "store": reaches("store", 7071),
    "pth": sorted(p.name for p in pathlib.Path("/opt/bead/lib").rglob("*.pth")),
    "pip": any(pathlib.Path("/opt/bead/lib").rglob("pip/__init__.py")),
}))
"""

REACH = """
import socket, sys
try:
    socket.create_connection((sys.argv[1], int(sys.argv[2])), 2).close()
    print(True)
except OSError:
    print(False)
"""


@pytest.fixture(scope="module")
def seen(stack: Stack) -> dict[str, dict[str, Any]]:
    """What a process inside of each container sees."""
    return {name: json.loads(stack.inside(name, "python3", "-c", LOOK)) for name in SERVICES}


def test_every_service_is_healthy_within_twenty_seconds_of_the_build(stack: Stack) -> None:
    states = {name: row["Health"] for name, row in stack.services().items() if name in SERVICES}
    assert states == dict.fromkeys(SERVICES, "healthy")
    assert stack.took_s < HEALTHY_WITHIN_S


def test_only_proxy_and_admin_page_are_published_and_only_on_loopback(stack: Stack) -> None:
    published = {
        (name, port["URL"], port["PublishedPort"])
        for name, row in stack.services().items()
        for port in row.get("Publishers") or []
        if port["PublishedPort"]
    }
    assert published == {("proxy", "127.0.0.1", PROXY_PORT), ("curate", "127.0.0.1", CURATE_PORT)}

    others = {str(info[4][0]) for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
    for address in {*others, "::1"} - {"127.0.0.1"}:
        for port in (PROXY_PORT, CURATE_PORT):
            with pytest.raises(OSError):
                socket.create_connection((address, port), 2).close()


@pytest.mark.parametrize("service", sorted(SERVICES))
def test_a_container_has_no_rights(seen: dict[str, dict[str, Any]], service: str) -> None:
    found = seen[service]
    assert (found["uid"], found["cap_eff"], found["cap_bnd"]) == (["10001"], 0, 0)
    assert (found["no_new_privs"], found["seccomp"], found["root"], found["core"]) == ("1", "2", "ro", 0)
    assert not found["socket"]
    assert found["writable"] == (["/data", "/tmp"] if service in ("store", "index") else ["/tmp"])


@pytest.mark.parametrize("service", sorted(SERVICES - {"store"}))
def test_a_container_has_its_own_token_and_never_the_secret(seen: dict[str, dict[str, Any]], service: str) -> None:
    own = {"proxy": ["proxy"], "curate": ["admin"]}.get(service, [])
    assert seen[service]["tokens"] == sorted(f"/tokens/{service}/{name}" for name in (*own, "bus", "callers.json"))
    assert not seen[service]["secret"]


def test_no_secret_is_in_an_environment_or_in_what_docker_shows(stack: Stack, seen: dict[str, dict[str, Any]]) -> None:
    secret = stack.inside("store", "cat", "/data/tokens/bus").strip()
    tokens = [stack.inside(name, "cat", f"/tokens/{name}/bus").strip() for name in sorted(SERVICES - {"store"})]
    shown = stack.shell("docker inspect $(docker compose ps -q)") + json.dumps(
        [each["environ"] for each in seen.values()]
    )
    assert len({secret, *tokens}) == len(SERVICES)
    assert [each for each in (secret, *tokens) if each in shown] == []


def test_only_those_that_ask_models_can_go_out(stack: Stack, seen: dict[str, dict[str, Any]]) -> None:
    [outside] = [
        each["IPv4Address"].partition("/")[0]
        for each in stack.network("egress")["Containers"].values()
        if "-proxy-" in each["Name"]
    ]
    out = {
        name for name in SERVICES if stack.inside(name, "python3", "-c", REACH, outside, str(PROXY_PORT)) == "True\n"
    }
    assert out == GO_OUT
    assert stack.network("page")["Options"]["com.docker.network.bridge.enable_ip_masquerade"] == "false"
    assert stack.network("bus")["Internal"] is True
    assert all(found["store"] for found in seen.values())


def test_nothing_runs_at_the_start_of_python_and_no_installer_is_there(seen: dict[str, dict[str, Any]]) -> None:
    assert {name: (found["pth"], found["pip"]) for name, found in seen.items()} == dict.fromkeys(SERVICES, ([], False))


ASK_BUS = """
import sys, urllib.error, urllib.request
method, url, token = sys.argv[1:4]
headers = {"authorization": "Bearer " + token}
request = urllib.request.Request(url, b"{}" if method == "POST" else None, headers, method=method)
try:
    print(urllib.request.urlopen(request, timeout=10).status)
except urllib.error.HTTPError as error:
    print(error.code)
"""


def test_a_token_opens_its_own_routes_and_no_others(stack: Stack) -> None:
    def asked(method: str, url: str, token: str) -> int:
        return int(stack.inside("index", "python3", "-c", ASK_BUS, method, url, token))

    index = stack.inside("index", "cat", "/tokens/index/bus").strip()
    proxy = stack.inside("proxy", "cat", "/tokens/proxy/bus").strip()
    assert asked("GET", "http://store:7071/v1/manifest", index) == 200
    assert asked("POST", "http://store:7071/v1/forget", index) == 403
    assert asked("GET", "http://store:7071/v1/vault/identity", proxy) == 403
    assert asked("POST", "http://index:7072/v1/rebuild", proxy) == 403
    assert asked("POST", "http://index:7072/v1/recall", index) == 401
    for token in ("", "wrong", "\u00e9".encode().hex()):
        assert asked("GET", "http://store:7071/v1/manifest", token) == 401
        assert asked("POST", "http://index:7072/v1/recall", token) == 401


@pytest.mark.parametrize("port", [PROXY_PORT, CURATE_PORT])
@pytest.mark.parametrize("path", ["/", "/v1/messages", "/api/store/v1/facts", "/metrics", "/health", "/bead/health"])
def test_what_only_a_foreign_page_or_name_sends_is_refused(stack: Stack, port: int, path: str) -> None:
    for headers in (
        {"Host": f"rebind.example:{port}"},
        {"Host": f"127.0.0.1:{port}", "Origin": "https://evil.example"},
        {"Host": f"127.0.0.1:{port}", "Sec-Fetch-Site": "cross-site"},
    ):
        for method in ("GET", "POST"):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
            connection.request(method, path, body=b"{}" if method == "POST" else None, headers=headers)
            assert connection.getresponse().status in (401, 403, 404, 405, 421), (method, headers)
            connection.close()


def ask(stack: Stack, session: str, text: str) -> Any:
    token = stack.inside("proxy", "cat", "/tokens/proxy/proxy").strip()
    body = {
        "model": "claude-opus-5-5",
        "max_tokens": 64,
        "system": [{"type": "text", "text": "Primary working directory: /srv/shop"}],
        "messages": [{"role": "user", "content": [{"type": "text", "text": text}]}],
    }
    url = f"http://127.0.0.1:{PROXY_PORT}/t/{token}/v1/messages?beta=true"
    status, answer = call(url, "POST", body, {"content-type": "application/json", "x-claude-code-session-id": session})
    assert status == 200
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


def test_the_commands_of_the_readme_do_what_it_says(stack: Stack) -> None:
    _, claude, memories, page = readme_commands()
    base = stack.shell(f"{claude.rsplit(' ', 2)[0]}; echo $ANTHROPIC_BASE_URL").strip()
    token = stack.inside("proxy", "cat", "/tokens/proxy/proxy").strip()
    assert base == f"http://127.0.0.1:7077/t/{token}"
    stack.shell(memories.replace(" exec ", " exec -T "))

    link = stack.shell(page.replace(" exec ", " exec -T ")).split()[0]

    assert link.startswith(f"http://127.0.0.1:{CURATE_PORT}/")
    assert "ship-it" in visit(link)


def visit(link: str) -> str:
    """The list of facts as a browser sees it after a launch link: cookie kept, redirects followed."""
    path, cookie, text = "/" + link.split("/", 3)[3], "", ""
    for target in (path, "/facts"):
        connection = http.client.HTTPConnection("127.0.0.1", CURATE_PORT, timeout=10)
        connection.request("GET", target, headers={"cookie": cookie} if cookie else {})
        response = connection.getresponse()
        text = response.read().decode()
        cookie = cookie or re.split(";", response.getheader("set-cookie") or "")[0]
        connection.close()
    return text
