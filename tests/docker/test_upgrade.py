"""An update: the containers of an earlier bead stop, this one's start on the same volumes, and nothing is lost."""

import json
import subprocess
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docker.conftest import REPOSITORY, Stack

pytestmark = pytest.mark.docker

_STEPS_BACK = 20
LIMIT_S = 60
_IMAGE = "bead:previous"
_NEXT = "bead:next"

WRITE = """
import json, sys, urllib.request
secret = open("/data/tokens/bus").read().strip()
headers = {"authorization": "Bearer " + secret, "content-type": "application/json"}
data = json.dumps({"key": sys.argv[1], "body": sys.argv[2], "trust": "user_stated"}).encode()
request = urllib.request.Request("http://127.0.0.1:7071/v1/facts", data, headers)
print(urllib.request.urlopen(request, timeout=20).status)
"""
READ = """
import json, sys, urllib.request
secret = open("/data/tokens/bus").read().strip()
headers = {"authorization": "Bearer " + secret}
request = urllib.request.Request("http://127.0.0.1:7071/v1/facts/" + sys.argv[1].replace("/", "%2F"), headers=headers)
print(json.load(urllib.request.urlopen(request, timeout=20))["body"])
"""


def docker(*arguments: str) -> str:
    done = subprocess.run(["docker", *arguments], capture_output=True, text=True, timeout=LIMIT_S)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.strip()


def previous_tree(folder: Path) -> Path:
    """The tree of an earlier commit; where the history is shallow, of the oldest there is."""
    commits = subprocess.run(
        ["git", "rev-list", f"-{_STEPS_BACK}", "HEAD"], cwd=REPOSITORY, capture_output=True, text=True
    )
    archive = subprocess.run(
        ["git", "archive", commits.stdout.split()[-1], "shared", "services"], cwd=REPOSITORY, capture_output=True
    )
    folder.mkdir()
    subprocess.run(["tar", "-x", "-C", str(folder)], input=archive.stdout, check=True)
    return folder


@pytest.fixture(scope="module")
def previous(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    tree = previous_tree(tmp_path_factory.mktemp("previous") / "tree")
    docker("build", "-q", "-t", _IMAGE, "-f", str(REPOSITORY / "tests/docker/previous.dockerfile"), str(tree))
    yield _IMAGE
    docker("image", "rm", "-f", _IMAGE)


@pytest.fixture
def volume() -> Iterator[str]:
    name = f"bead-upgrade-{uuid.uuid4().hex[:8]}"
    docker("volume", "create", name)
    yield name
    docker("volume", "rm", "-f", name)


class Store:
    """A store's container on a volume, for as long as the block runs."""

    def __init__(self, image: str, volume: str) -> None:
        self._image, self._volume = image, volume

    def __enter__(self) -> str:
        self._name = docker("run", "-d", "--read-only", "-v", f"{self._volume}:/data", self._image, "serve", "store")
        deadline = time.monotonic() + LIMIT_S
        command = ["docker", "exec", self._name, "bead", "serve", "store", "--check"]
        while subprocess.run(command, capture_output=True).returncode != 0:
            assert time.monotonic() < deadline, docker("logs", self._name)
        return self._name

    def __exit__(self, *error: object) -> None:
        docker("rm", "-f", self._name)


def test_facts_of_the_previous_image_are_there_in_this_one(previous: str, volume: str) -> None:
    with Store(previous, volume) as name:
        assert docker("exec", name, "python3", "-c", "import bead_store; print(bead_store.__file__)").startswith(
            "/opt/prev"
        )
        assert docker("exec", name, "python3", "-c", WRITE, "user/editor", "helix") in ("200", "201")
    with Store("bead:local", volume) as name:
        assert docker("exec", name, "python3", "-c", READ, "user/editor") == "helix"
        assert docker("exec", name, "python3", "-c", WRITE, "user/editor", "vim") in ("200", "201")
        assert docker("exec", name, "cat", "/data/format") == "1"


def test_home_of_a_newer_image_is_refused_in_one_line_and_left_alone(stack: Stack, volume: str) -> None:
    with Store("bead:local", volume) as name:
        docker("exec", name, "sh", "-c", "echo 2 > /data/format")
    command = ["docker", "run", "--rm", "-v", f"{volume}:/data", "bead:local", "serve", "store"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S)
    assert done.returncode == 3
    assert "newer bead" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.fixture
def following(stack: Stack) -> Iterator[str]:
    """An image whose form is newer; afterwards the stack is this one's again."""
    docker(
        "build", "-q", "-t", _NEXT, "-f", str(REPOSITORY / "tests/docker/next.dockerfile"), str(REPOSITORY / "deploy")
    )
    try:
        yield _NEXT
    finally:
        home, backup = (f"{stack.environ['COMPOSE_PROJECT_NAME']}_{name}" for name in ("home", "backup"))
        put_back = "echo 1 > /data/format; rm -rf /backup/data.form-1"
        mounts = ("-v", f"{home}:/data", "-v", f"{backup}:/backup")
        docker("run", "--rm", *mounts, "--entrypoint", "sh", "bead:local", "-c", put_back)
        stack.shell("docker compose up -d --wait")
        docker("image", "rm", "-f", _NEXT)


def test_a_stack_is_updated_by_migrate_with_a_copy_first_and_never_goes_back_by_itself(
    stack: Stack, following: str
) -> None:
    kept = {"key": "user/before", "body": "the update", "trust": "user_stated"}
    assert stack.curate("POST", "/api/store/v1/facts", kept)[0] in (200, 201)
    newer = f"BEAD_IMAGE={following} docker compose"

    stack.shell(f"{newer} stop && {newer} up -d --no-deps store")
    assert "run 'bead migrate'" in wait_for_log(stack, "run 'bead migrate'")
    stack.shell(f"{newer} stop store")
    told = json.loads(stack.shell(f"{newer} run --rm -T --no-deps store migrate --json"))
    assert (told["before"], told["after"], told["copy"]) == (1, 2, "/backup/data.form-1")
    stack.shell(f"{newer} up -d --wait")
    assert stack.curate("GET", "/api/store/v1/facts/user%2Fbefore")[1]["body"] == "the update"
    assert stack.inside("store", "cat", "/data/format", "/backup/data.form-1/format").split() == ["2", "1"]

    stack.shell("docker compose up -d --no-deps proxy")
    assert "run the same version of both" in wait_for_log(stack, "do not understand each other", "proxy")

    stack.shell("docker compose stop && docker compose up -d --no-deps store")
    assert "newer bead" in wait_for_log(stack, "newer bead")


def wait_for_log(stack: Stack, words: str, service: str = "store") -> str:
    """What a service has said, once it has said `words`."""
    deadline = time.monotonic() + LIMIT_S
    while words not in (said := stack.shell(f"docker compose logs --no-color {service} 2>&1")):
        assert time.monotonic() < deadline, said[-2000:]
    return said


def test_images_carry_their_version(stack: Stack) -> None:
    told = json.loads(docker("run", "--rm", "bead:local", "version", "--json"))
    assert told["version"]
