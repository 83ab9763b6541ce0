"""The Kubernetes manifests are what an API server takes: each against its kind, together, and with the overlay applied.

No cluster is there to ask; `kubernetes_kinds` says what one would.
"""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from ruamel.yaml import YAML

from tests.unit.deploy.kubernetes_kinds import (
    MANIFEST,
    Kustomization,
    NetworkPolicy,
    Operation,
    Service,
    StatefulSet,
)

KUBERNETES = Path(__file__).parents[3] / "deploy/kubernetes"
BASE, OVERLAY = KUBERNETES / "base", KUBERNETES / "overlays/me"
FILES = sorted(path for path in KUBERNETES.rglob("*.yaml") if path.name != "config.yaml")
RESTRICTED_VOLUMES = {"config_map", "empty_dir"}


def document(path: Path) -> Any:
    return YAML(typ="safe", pure=True).load(path.read_text())


def stateful_set() -> Any:
    return document(BASE / "statefulset.yaml")


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(KUBERNETES)))
def test_a_manifest_is_of_its_kind(path: Path) -> None:
    MANIFEST.validate_python(document(path))


def test_every_file_there_is_named_by_a_kustomization() -> None:
    for folder in (BASE, OVERLAY):
        found = Kustomization.model_validate(document(folder / "kustomization.yaml"))
        own = {name for name in found.resources if name.endswith(".yaml")}
        generated = {name for each in found.config_map_generator for name in each.files}
        assert own | generated | {"kustomization.yaml"} == {path.name for path in folder.iterdir()}


def test_the_manifests_name_each_other() -> None:
    stateful = StatefulSet.model_validate(stateful_set()).spec
    service = Service.model_validate(document(BASE / "service.yaml"))
    policy = NetworkPolicy.model_validate(document(BASE / "network.yaml"))
    base = Kustomization.model_validate(document(BASE / "kustomization.yaml"))
    labels = stateful.template.metadata.labels
    assert stateful.service_name == service.metadata.name
    assert service.spec.selector == policy.spec.pod_selector.match_labels == labels
    configs = {each.config_map.name for each in stateful.template.spec.volumes if each.config_map}
    assert configs == {each.name for each in base.config_map_generator}
    overlay = Kustomization.model_validate(document(OVERLAY / "kustomization.yaml"))
    pod = stateful.template.spec
    assert {each.name for each in overlay.images} == {each.image for each in (*pod.init_containers, *pod.containers)}
    assert overlay.namespace == document(OVERLAY / "namespace.yaml")["metadata"]["name"]


def test_the_patch_of_the_overlay_finds_its_place_and_leaves_a_valid_manifest() -> None:
    overlay = Kustomization.model_validate(document(OVERLAY / "kustomization.yaml"))
    [patch] = overlay.patches
    manifest = stateful_set()
    assert (patch.target.kind, patch.target.name) == (manifest["kind"], manifest["metadata"]["name"])
    for each in YAML(typ="safe", pure=True).load(patch.patch):
        replace(manifest, Operation.model_validate(each))
    patched = StatefulSet.model_validate(manifest).spec.volume_claim_templates
    assert [each.spec.resources.requests for each in patched] == [{"storage": "20Gi"}]


def replace(manifest: Any, operation: Operation) -> None:
    """RFC 6902 `replace`: the place must be there."""
    assert operation.op == "replace"
    *parents, last = (int(part) if part.isdecimal() else part for part in operation.path.split("/")[1:])
    at = manifest
    for part in parents:
        at = at[part]
    assert at[last] != operation.value
    at[last] = operation.value


def test_the_pod_is_what_the_restricted_policy_lets_in() -> None:
    """The namespace enforces it: a pod that breaks one of its rules would never start."""
    assert document(OVERLAY / "namespace.yaml")["metadata"]["labels"] == {
        "pod-security.kubernetes.io/enforce": "restricted"
    }
    pod = StatefulSet.model_validate(stateful_set()).spec.template.spec
    assert pod.security_context.run_as_non_root and pod.security_context.run_as_user > 0
    assert pod.security_context.seccomp_profile.type == "RuntimeDefault"
    for each in (*pod.init_containers, *pod.containers):
        assert not each.security_context.allow_privilege_escalation
        assert (each.security_context.capabilities.drop, each.security_context.capabilities.add) == (["ALL"], [])
    assert {name for each in pod.volumes for name in each.model_dump(exclude_none=True)} == {
        "name",
        *RESTRICTED_VOLUMES,
    }


def _set(path: str, value: object) -> Callable[[Any], None]:
    def spoil(manifest: Any) -> None:
        *parents, last = (int(part) if part.isdecimal() else part for part in path.split("/"))
        at = manifest
        for part in parents:
            at = at[part]
        at[last] = value

    return spoil


POD = "spec/template/spec"
SPOILED: dict[str, Callable[[Any], None]] = {
    "a misspelt field": _set(f"{POD}/containers/0/volumeMount", []),
    "a boolean where a text is": _set(f"{POD}/containers/0/env/0/value", False),
    "a number as text": _set("spec/replicas", "1"),
    "a unit that is none": _set("spec/volumeClaimTemplates/0/spec/resources/requests/storage", "5GB"),
    "a mount of no volume": _set(f"{POD}/containers/0/volumeMounts/0/name", "elsewhere"),
    "a selector of other labels": _set("spec/selector/matchLabels", {"app": "other"}),
    "a probe of a container that ends": _set(f"{POD}/initContainers/0/restartPolicy", None),
    "an older version": _set("apiVersion", "apps/v1beta1"),
    "two containers of one name": _set(f"{POD}/containers/0/name", "store"),
}


@pytest.mark.parametrize("spoiling", SPOILED)
def test_what_an_api_server_refuses_is_refused_here(spoiling: str) -> None:
    manifest = copy.deepcopy(stateful_set())
    SPOILED[spoiling](manifest)
    with pytest.raises(ValidationError):
        StatefulSet.model_validate(manifest)
