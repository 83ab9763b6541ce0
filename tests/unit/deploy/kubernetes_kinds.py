"""The kinds of Kubernetes that deploy/kubernetes uses, as its API reference (v1.31) has them; a field that is not
here, or is of another type, is an error, as `kubectl apply --validate=strict` says it.

Only the fields that we use, each with the reference's type and bounds; what a field means is the reference's.
"""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, model_validator
from pydantic.alias_generators import to_camel

Label = Annotated[str, Field(pattern=r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$")]
"""RFC 1123: names of containers, volumes, services."""
Quantity = Annotated[str, Field(pattern=r"^[0-9]+(\.[0-9]+)?(m|k|Ki|M|Mi|G|Gi|T|Ti)?$")]
LabelValue = Annotated[str, Field(pattern=r"^([A-Za-z0-9][-A-Za-z0-9_.]{0,61}[A-Za-z0-9]|[A-Za-z0-9])?$")]
Labels = dict[Annotated[str, Field(pattern=r"^([a-z0-9.-]+/)?[A-Za-z0-9][-A-Za-z0-9_.]{0,62}$")], LabelValue]
Port = Annotated[int, Field(ge=1, le=65_535)]
Seconds = Annotated[int, Field(ge=1)]
Resources = dict[Literal["cpu", "memory", "storage", "ephemeral-storage"], Quantity]


class Kind(BaseModel):
    """Names as Kubernetes writes them; nothing is converted."""

    model_config = ConfigDict(extra="forbid", strict=True, alias_generator=to_camel, frozen=True)


class Meta(Kind):
    name: Label
    namespace: Label | None = None
    labels: Labels = {}
    annotations: dict[str, str] = {}


class PodMeta(Kind):
    labels: Labels


class Selector(Kind):
    match_labels: Labels = Field(min_length=1)


class Exec(Kind):
    command: list[str] = Field(min_length=1)


class Probe(Kind):
    exec: Exec
    period_seconds: Seconds = 10
    timeout_seconds: Seconds = 1
    failure_threshold: Seconds = 3


class Variable(Kind):
    name: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
    value: str
    """A text always: `false` without quotes is refused by the API server."""


class Mount(Kind):
    name: Label
    mount_path: Annotated[str, Field(pattern=r"^/[^:]*$")]
    read_only: bool = False


class Required(Kind):
    requests: Resources = {}
    limits: Resources = {}


class Capabilities(Kind):
    add: list[str] = []
    drop: list[str] = []


class SecurityContext(Kind):
    allow_privilege_escalation: bool
    read_only_root_filesystem: bool
    capabilities: Capabilities


class Container(Kind):
    name: Label
    image: Annotated[str, Field(min_length=1)]
    args: list[str] = []
    env: list[Variable] = []
    volume_mounts: list[Mount] = []
    resources: Required
    security_context: SecurityContext
    readiness_probe: Probe | None = None
    liveness_probe: Probe | None = None
    startup_probe: Probe | None = None

    @model_validator(mode="after")
    def _mounts_differ(self) -> Self:
        _all_differ("mountPath", [each.mount_path for each in self.volume_mounts])
        _all_differ("env", [each.name for each in self.env])
        return self


class InitContainer(Container):
    restart_policy: Literal["Always"] | None = None
    """With it a sidecar (1.29), which alone of init containers may have probes."""

    @model_validator(mode="after")
    def _probes_are_a_sidecar_s(self) -> Self:
        if self.restart_policy is None and (self.readiness_probe or self.liveness_probe or self.startup_probe):
            raise ValueError("an init container that ends may have no probe")
        return self


class ConfigMapSource(Kind):
    name: Label


class EmptyDir(Kind):
    medium: Literal["", "Memory"] = ""
    size_limit: Quantity | None = None


class Volume(Kind):
    name: Label
    config_map: ConfigMapSource | None = None
    empty_dir: EmptyDir | None = None

    @model_validator(mode="after")
    def _has_one_source(self) -> Self:
        if (self.config_map is None) == (self.empty_dir is None):
            raise ValueError("a volume has exactly one source")
        return self


class SeccompProfile(Kind):
    type: Literal["RuntimeDefault", "Unconfined", "Localhost"]


class PodSecurityContext(Kind):
    run_as_non_root: bool
    run_as_user: Annotated[int, Field(ge=0)]
    run_as_group: Annotated[int, Field(ge=0)]
    fs_group: Annotated[int, Field(ge=0)]
    fs_group_change_policy: Literal["OnRootMismatch", "Always"]
    seccomp_profile: SeccompProfile


class PodSpec(Kind):
    automount_service_account_token: bool
    enable_service_links: bool = True
    termination_grace_period_seconds: Annotated[int, Field(ge=0)] = 30
    security_context: PodSecurityContext
    init_containers: list[InitContainer] = []
    containers: list[Container] = Field(min_length=1)
    volumes: list[Volume] = []

    @model_validator(mode="after")
    def _names_differ(self) -> Self:
        _all_differ("container", [each.name for each in (*self.init_containers, *self.containers)])
        _all_differ("volume", [each.name for each in self.volumes])
        return self


class PodTemplate(Kind):
    metadata: PodMeta
    spec: PodSpec


class ClaimSpec(Kind):
    access_modes: list[Literal["ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"]] = Field(
        min_length=1
    )
    resources: Required
    storage_class_name: str | None = None


class Claim(Kind):
    metadata: Meta
    spec: ClaimSpec


class StatefulSetSpec(Kind):
    service_name: Label
    replicas: Annotated[int, Field(ge=0)] = 1
    selector: Selector
    template: PodTemplate
    volume_claim_templates: list[Claim] = []

    @model_validator(mode="after")
    def _belongs_together(self) -> Self:
        """What the API server refuses, or what leaves a pod waiting for ever."""
        if not self.selector.match_labels.items() <= self.template.metadata.labels.items():
            raise ValueError("the selector does not match the labels of the template")
        pod = self.template.spec
        there = {each.name for each in pod.volumes} | {each.metadata.name for each in self.volume_claim_templates}
        for container in (*pod.init_containers, *pod.containers):
            for mount in container.volume_mounts:
                if mount.name not in there:
                    raise ValueError(f"{container.name} mounts {mount.name}, which is no volume")
        return self


class StatefulSet(Kind):
    api_version: Literal["apps/v1"]
    kind: Literal["StatefulSet"]
    metadata: Meta
    spec: StatefulSetSpec


class ServiceSpec(Kind):
    cluster_ip: Literal["None"] = Field(alias="clusterIP")
    selector: Labels


class Service(Kind):
    api_version: Literal["v1"]
    kind: Literal["Service"]
    metadata: Meta
    spec: ServiceSpec


class PolicyPort(Kind):
    port: Port
    protocol: Literal["TCP", "UDP", "SCTP"] = "TCP"


class PolicyRule(Kind):
    ports: list[PolicyPort] = []


class PolicySpec(Kind):
    pod_selector: Selector
    policy_types: list[Literal["Ingress", "Egress"]]
    ingress: list[PolicyRule] = []
    egress: list[PolicyRule] = []


class NetworkPolicy(Kind):
    api_version: Literal["networking.k8s.io/v1"]
    kind: Literal["NetworkPolicy"]
    metadata: Meta
    spec: PolicySpec


class Namespace(Kind):
    api_version: Literal["v1"]
    kind: Literal["Namespace"]
    metadata: Meta


class Image(Kind):
    name: str
    new_name: str | None = None
    new_tag: str | None = None
    digest: str | None = None


class PatchTarget(Kind):
    kind: str
    name: Label


class Patch(Kind):
    target: PatchTarget
    patch: str


class Generator(Kind):
    name: Label
    files: list[str]


class Kustomization(Kind):
    api_version: Literal["kustomize.config.k8s.io/v1beta1"]
    kind: Literal["Kustomization"]
    namespace: Label | None = None
    resources: list[str]
    config_map_generator: list[Generator] = []
    images: list[Image] = []
    patches: list[Patch] = []


class Operation(Kind):
    """One step of a JSON patch (RFC 6902)."""

    op: Literal["add", "remove", "replace"]
    path: Annotated[str, Field(pattern=r"^(/[^/]+)+$")]
    value: object = None


Manifest = Annotated[
    StatefulSet | Service | NetworkPolicy | Namespace | Kustomization,
    Field(discriminator="kind"),
]
MANIFEST: TypeAdapter[Manifest] = TypeAdapter(Manifest)


def _all_differ(what: str, names: list[str]) -> None:
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise ValueError(f"{what} {', '.join(sorted(twice))} is there twice")
