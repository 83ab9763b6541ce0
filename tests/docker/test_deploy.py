"""What lies in deploy/compose renders, by compose itself; nothing of it is built or started here."""

import json
from typing import Any

import pytest

from tests.docker.conftest import REPOSITORY, Stack

pytestmark = pytest.mark.docker


def rendered(stack: Stack, name: str, **more: str) -> Any:
    files = f"-f compose.yaml -f {REPOSITORY}/deploy/compose/{name}.yaml"
    environ = " ".join(f"{key}={value}" for key, value in more.items())
    return json.loads(stack.shell(f"{environ} docker compose {files} config --format json"))["services"]


def test_rootless_is_uid_zero_with_the_same_lack_of_rights(stack: Stack) -> None:
    services = rendered(stack, "rootless")
    assert {each["user"] for each in services.values()} == {"0:0"}
    assert all(each["read_only"] and each["cap_drop"] == ["ALL"] for each in services.values())
    assert {each["build"]["args"]["BEAD_UID"] for each in services.values()} == {"0"}


def test_selinux_labels_the_folder_and_keeps_the_tokens_apart(stack: Stack) -> None:
    services = rendered(stack, "selinux", BEAD_HOME_DIR="/srv/memory")
    home = [each for each in services["store"]["volumes"] if each["target"] == "/data"]
    assert [(each["source"], each["bind"]["selinux"]) for each in home] == [("/srv/memory", "Z")]
    assert [each["target"] for each in services["proxy"]["volumes"] if "tokens" in each["target"]] == ["/tokens/proxy"]


def test_an_external_volume_is_the_home(stack: Stack) -> None:
    files = f"-f compose.yaml -f {REPOSITORY}/deploy/compose/external-volume.yaml"
    volumes = json.loads(stack.shell(f"docker compose {files} config --format json"))["volumes"]
    assert (volumes["home"]["external"], volumes["home"]["name"]) == (True, "bead-memory")


def test_an_image_says_what_it_was_built_on(stack: Stack) -> None:
    labels = json.loads(stack.shell("docker inspect bead:local --format '{{json .Config.Labels}}'"))
    assert labels["org.opencontainers.image.base.name"] == "python:3.11-slim-bookworm"
    assert labels["org.opencontainers.image.base.digest"] == ""


def test_a_base_is_pinned_by_its_digest_and_traces_are_a_choice(stack: Stack) -> None:
    digest = "sha256:" + "0" * 64
    told = f"BEAD_BASE_DIGEST={digest} BEAD_IMAGE_LOCK=otel docker compose config --format json"
    services = json.loads(stack.shell(told))["services"]
    built = [each["build"]["args"] for each in services.values() if "build" in each]
    assert {(each["BASE_DIGEST"], each["LOCK"]) for each in built} == {(digest, "otel")}
    dockerfile = (REPOSITORY / "deploy/Dockerfile").read_text()
    assert dockerfile.count("FROM ${BASE}${BASE_DIGEST:+@${BASE_DIGEST}}") == dockerfile.count("\nFROM ") == 2
