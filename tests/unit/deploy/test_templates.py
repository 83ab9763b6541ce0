"""Units, manifests and overrides keep what compose.yaml promises; what renders them is in tests/docker."""

import configparser
import plistlib
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

DEPLOY = Path(__file__).parents[3] / "deploy"
SERVICES = {"store", "index", "dream", "scheduler", "proxy", "curate"}
BASE = DEPLOY / "kubernetes/base"


def document(path: Path) -> Any:
    return YAML(typ="safe", pure=True).load(path.read_text())


@pytest.fixture
def pod() -> Any:
    return document(BASE / "statefulset.yaml")["spec"]["template"]["spec"]


def every(pod: Any) -> list[Any]:
    return [*pod["initContainers"], *pod["containers"]]


def test_the_pod_has_every_service_and_no_rights(pod: Any) -> None:
    assert {each["name"] for each in every(pod)} == SERVICES
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["automountServiceAccountToken"] is False
    for each in every(pod):
        rights = each["securityContext"]
        assert rights == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert each["resources"]["limits"]["memory"]


def test_only_the_store_mounts_the_home_and_each_service_its_own_tokens(pod: Any) -> None:
    mounts = {each["name"]: {mount["name"] for mount in each["volumeMounts"]} for each in every(pod)}
    assert {name for name, found in mounts.items() if "home" in found} == {"store"}
    for name in SERVICES - {"store"}:
        assert {each for each in mounts[name] if each.startswith("tokens-")} == {f"tokens-{name}"}
    readers = [each for each in every(pod) if each["name"] != "store"]
    assert all(m["readOnly"] for each in readers for m in each["volumeMounts"] if m["name"].startswith("tokens-"))


def test_the_store_is_ready_before_the_others_begin(pod: Any) -> None:
    [store] = pod["initContainers"]
    assert (store["name"], store["restartPolicy"]) == ("store", "Always")
    assert store["startupProbe"]["exec"]["command"] == ["bead", "serve", "store", "--check"]


def test_nobody_in_the_cluster_may_come_in() -> None:
    policy = document(BASE / "network.yaml")["spec"]
    assert (policy["ingress"], policy["policyTypes"]) == ([], ["Ingress", "Egress"])
    assert {port["port"] for rule in policy["egress"] for port in rule["ports"]} == {53, 443}
    assert "ports" not in document(BASE / "service.yaml")["spec"]


def test_what_the_overlay_names_is_there() -> None:
    overlay = DEPLOY / "kubernetes/overlays/me"
    for name in document(overlay / "kustomization.yaml")["resources"]:
        assert (overlay / name).exists()
    for name in document(BASE / "kustomization.yaml")["resources"]:
        assert (BASE / name).exists()


def test_the_units_start_bead_and_end_it_in_time() -> None:
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign]  # the parser's documented way to keep case
    unit.read(DEPLOY / "systemd/bead.service")
    assert unit["Service"]["ExecStart"].endswith("/bead up")
    assert (unit["Service"]["UMask"], unit["Service"]["LimitCORE"]) == ("0077", "0")
    agent = plistlib.loads((DEPLOY / "launchd/com.bead.up.plist").read_bytes())
    assert agent["ProgramArguments"][1:] == ["up"]
    assert (agent["Umask"], agent["KeepAlive"]) == (0o077, {"SuccessfulExit": False})


@pytest.mark.parametrize("name", ["rootless", "selinux"])
def test_an_override_speaks_of_every_service(name: str) -> None:
    text = (DEPLOY / f"compose/{name}.yaml").read_text().replace("!override ", "")
    assert set(YAML(typ="safe", pure=True).load(text)["services"]) == SERVICES
