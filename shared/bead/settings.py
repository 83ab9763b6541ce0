"""Settings: defaults, then `config.yaml`, then `BEAD_<SECTION>__<KEY>` in the environment.

Read once, in `__main__`; everything else gets values. A wrong key or value names itself and its place.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from bead.errors import BadRequest
from bead.home import Home

_PREFIX = "BEAD_"
_NESTED = "__"
_SECRET_NAME = re.compile(r"(?:\A|_)(?:key|token|secret|password|passphrase)\Z")
# Set beside the sections; everything else with the prefix is a setting.
_OTHER_VARIABLES = frozenset(
    {
        "BEAD_HOME",
        "BEAD_CONFIG",
        "BEAD_TRACE",
        "BEAD_IN_CONTAINER",
        "BEAD_IN_PATH",
        "BEAD_TOKENS",
        "BEAD_TOKENS_FOR",
        "BEAD_TEST_CACHE",
    }
) | {f"BEAD_{secret}_TOKEN_FILE" for secret in ("BUS", "ADMIN", "PROXY")}


def _address(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0 or parts.query or parts.fragment:
        raise ValueError("it must look like https://api.example.com or http://127.0.0.1:8080")
    return text


def _names(given: object) -> object:
    return tuple(name.strip() for name in given.split(",") if name.strip()) if isinstance(given, str) else given


def _timezone(text: str) -> str:
    try:
        ZoneInfo(text)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError("it must name a time zone of this machine, like Europe/Berlin") from None
    return text


Port = Annotated[int, Field(ge=0, le=65535)]
Address = Annotated[str, AfterValidator(_address)]
"""Of an HTTP server, with or without a path."""
Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Milliseconds = Annotated[int, Field(ge=1)]
Tokens = Annotated[int, Field(ge=0)]
Names = Annotated[tuple[str, ...], BeforeValidator(_names)]
"""A list; in a variable, with commas in between."""


class Section(BaseModel):
    """A group of settings: frozen, and a misspelled key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Listener(Section):
    """Where a service listens."""

    host: str = "127.0.0.1"
    """Loopback only, unless the container image says that it publishes on loopback."""
    port: Port
    url: Address | None = None
    """Where other services find it when they run elsewhere; default: `http://<host>:<port>`."""


class StoreSettings(Listener):
    """The one writer."""

    port: Port = 7071
    lock_wait_s: Seconds = 2.0
    """How long to wait for another process that holds the home."""
    group_fsync_ms: Milliseconds = 50
    """Longest time a captured turn stays unsynced (D12)."""
    watch: Literal["events", "sweep", "off"] = "events"
    """How edited files are noticed: by the system's events, by looking at all files again and again, or not at all.
    Where events do not arrive, the store sweeps by itself."""
    conversation_days: Annotated[int, Field(ge=1)] = 90
    """Days after which what was inserted into a conversation that has not gone on is no longer kept."""
    sweep_s: Annotated[float, Field(gt=0)] = 1.0
    """Shortest time between two sweeps; a large home is swept more seldom, a fifth of one core is the most it costs."""


class ScanSettings(Section):
    """The credential scan."""

    allow: tuple[str, ...] = ()
    """RE2 expressions; what would be a credential stays when one of them is found in it."""
    rules_off: tuple[str, ...] = ()
    """Ids of rules that are not used."""


class IndexSettings(Listener):
    """The derived copy."""

    port: Port = 7072
    gate: Literal["cards", "strict"] = "cards"
    """Who decides what a step needs: trigger cards, or the shared words of the first design."""


class ModelPrice(Section):
    """US dollars for a million tokens."""

    input: Annotated[float, Field(ge=0)]
    output: Annotated[float, Field(ge=0)]


class DreamSettings(Listener):
    """The grooming job."""

    port: Port = 7073
    provider: Literal["none", "ollama", "anthropic", "openai"] = "none"
    """Who reads the sessions; `none` works by rule. `openai` is any server with that interface."""
    model: str | None = None
    """Name of the model, as the provider calls it."""
    base_url: Address | None = None
    """Default: the provider's own; for ollama http://127.0.0.1:11434."""
    api_key_env: str | None = None
    """Name of the variable that holds the key; default: ANTHROPIC_API_KEY or OPENAI_API_KEY. Never the key itself."""
    api_key_command: str | None = None
    """A command that prints the key, for services whose environment does not have it."""
    api_key_timeout_s: Annotated[float, Field(gt=0, le=60)] = 10.0
    timeout_s: Annotated[float, Field(gt=0)] = 120.0
    """Longest time for one answer of the model."""
    decay_days: Annotated[int, Field(ge=1)] = 60
    """Days without use after which a fact that is not pinned falls asleep."""
    max_changes: Annotated[int, Field(ge=0)] = 100
    """Most changes of one run; then it stops and says so."""
    daily_tokens: Tokens = 2_000_000
    """Most tokens that models read and write for it in one day (UTC); then it stops and says so."""
    daily_usd: Annotated[float, Field(ge=0)] | None = None
    """Most money in one day, where `prices` are known."""
    prices: dict[str, ModelPrice] = {}
    """By name of the model."""


class JobSettings(Section):
    """One line of the table of jobs."""

    at: Annotated[str, Field(pattern=r"^([01]\d|2[0-3]):[0-5]\d$")]
    """Local time, `HH:MM`. A machine that slept or was off then runs the job once when it is back."""
    on: bool = True


class JobsSettings(Section):
    """What bead does by itself, once a day each."""

    state: JobSettings = JobSettings(at="03:00")
    use: JobSettings = JobSettings(at="03:10")
    drain: JobSettings = JobSettings(at="03:20")
    dream: JobSettings = JobSettings(at="03:30")
    index: JobSettings = JobSettings(at="04:30")
    store: JobSettings = JobSettings(at="04:40")
    backup: JobSettings = JobSettings(at="05:00")


class SchedulerSettings(Listener):
    """When things run."""

    port: Port = 7074
    timezone: Annotated[str, AfterValidator(_timezone)] | None = None
    """Name such as `Europe/Berlin`; default: the machine's (in a container, UTC)."""
    look_s: Annotated[float, Field(gt=0, le=3600)] = 30.0
    """Time between two looks at the clock; how late a job may be after the machine slept."""
    jobs: JobsSettings = JobsSettings()


class TelemetrySettings(Section):
    """Spans for people who run OpenTelemetry: names, counts and milliseconds, never a word of anybody."""

    endpoint: Address | None = None
    """Where traces go by OTLP over HTTP, such as http://127.0.0.1:4318/v1/traces; without it nothing is sent."""


class BackupSettings(Section):
    """The encrypted mirror of the home."""

    dir: str | None = None
    """Folder of the nightly backup, with its whole path; without it there is none."""
    recipient: str | None = None
    """Whom backups are encrypted for, `age1pq1…`; default: the vault's own."""


def _switches(given: object) -> object:
    return given if isinstance(given, dict) else {"all": given}


Switches = Annotated[
    dict[Literal["all", "claude", "codex", "gemini", "qwen"], bool], BeforeValidator(_switches)
]  # fmt: skip
"""`true`, `false`, or one by agent; `all` is for those that are not named."""


class DrainSettings(Section):
    """What the coding agents remember by themselves becomes drafts. Only your command empties anything."""

    enabled: Switches = {}
    """Whether bead drains by itself: when it starts, once a day, and after an agent's session."""
    on_write: Switches = {}
    """Whether a hook says so each time an agent writes a memory; needs `enabled`."""


class CurateSettings(Listener):
    """A person's hands."""

    port: Port = 7078


class Upstreams(Section):
    """Where model traffic goes, by provider. Only these addresses are ever called."""

    anthropic: Address = "https://api.anthropic.com"
    openai: Address = "https://api.openai.com"
    gemini: Address = "https://generativelanguage.googleapis.com"


class PinnedSettings(Section):
    """The block at the end of the system part (D15)."""

    budget_tokens: Tokens = 800
    project: Literal["fit", "pinned", "off"] = "fit"


class RecallSettings(Section):
    """The block at the end of the newest user message."""

    budget_tokens: Tokens = 1_500
    max_facts: Annotated[int, Field(ge=0)] = 2
    excerpts: Annotated[int, Field(ge=0, le=2)] = 0
    """Most pieces of past conversations and episodes of the project in one block."""


class RerankSettings(Section):
    """A model that picks among the gate's candidates; off, because your words go to it and each request waits."""

    provider: Literal["none", "anthropic", "openai"] = "none"
    model: str | None = None
    timeout_ms: Milliseconds = 2_500
    """Longest wait; then the gate's own choice stands."""
    api_key_env: str | None = None
    """Name of the variable that holds the key; default: ANTHROPIC_API_KEY or OPENAI_API_KEY."""
    base_url: Address | None = None
    """Default: the provider's own."""


class ProjectsSettings(Section):
    """Where memory works: nothing of another project is captured or injected, its requests go on as they came."""

    default: Literal["on", "off"] = "on"
    """For projects that are in neither list, and for requests of no project. `off`: only those in `on` have memory."""
    on: Names = ()
    """Scope names, or absolute paths of directories: what lies below them is meant too."""
    off: Names = ()
    """The same; wins over `on`."""


class ProxySettings(Listener):
    """The request path."""

    port: Port = 7077
    upstream: Upstreams = Upstreams()
    inject: Literal["off", "pinned", "full"] = "full"
    projects: ProjectsSettings = ProjectsSettings()
    ca_file: str | None = None
    """PEM file of certificates to trust beside the system's, for a company proxy that looks into TLS."""
    pinned: PinnedSettings = PinnedSettings()
    recall: RecallSettings = RecallSettings()
    rerank: RerankSettings = RerankSettings()
    memory_timeout_ms: Milliseconds = 200
    """Most time that memory may hold a request back; then it goes on without (I10)."""
    bare_url: bool = True
    """Whether requests without `/t/<token>` are accepted from processes of the same user (Linux)."""
    inject_body_limit_mb: Annotated[int, Field(ge=0)] = 64
    """Larger bodies are forwarded unread."""


class PrimeSettings(Section):
    """What a session-start hook tells; agents cut what is longer than about 10,000 characters, and say so to nobody."""

    max_items: Annotated[int, Field(ge=1)] = 100
    max_characters: Annotated[int, Field(ge=200)] = 9_000


class Settings(Section):
    """Everything that `config.yaml` may say."""

    owner: str = "me"
    store: StoreSettings = StoreSettings()
    scan: ScanSettings = ScanSettings()
    index: IndexSettings = IndexSettings()
    proxy: ProxySettings = ProxySettings()
    dream: DreamSettings = DreamSettings()
    curate: CurateSettings = CurateSettings()
    scheduler: SchedulerSettings = SchedulerSettings()
    prime: PrimeSettings = PrimeSettings()
    backup: BackupSettings = BackupSettings()
    telemetry: TelemetrySettings = TelemetrySettings()
    drain: DrainSettings = DrainSettings()


def load_settings(home: Home, environ: Mapping[str, str]) -> Settings:
    """The settings of `home` under `environ`.

    Raises:
        BadRequest: names the file or variable, and what is wrong with it.
    """
    merged = _merge(_read_config(config_file(home, environ)), _from_environment(environ))
    try:
        return Settings.model_validate(merged)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise BadRequest(f"setting '{place}' ({_where(first['loc'], home, environ)}): {_what(first)}") from None


def _where(loc: tuple[int | str, ...], home: Home, environ: Mapping[str, str]) -> str:
    """The variable that made the setting, else the file."""
    variable = _PREFIX + _NESTED.join(str(part) for part in loc).upper()
    mine = [name for name in environ if name == variable or name.startswith(f"{variable}{_NESTED}")]
    return " and ".join(sorted(mine)) or str(config_file(home, environ))


def _what(error: ErrorDetails) -> str:
    if error["type"] == "extra_forbidden":
        return "there is no such setting"
    return error["msg"].removeprefix("Value error, ")


class Effective(NamedTuple):
    """One setting as it is in force, for a person's eyes."""

    name: str
    """`section.key`."""
    value: object
    """None where nothing is set; what a password or a key would be is never shown."""
    source: str
    """The variable, the file, or `default`."""


def effective(home: Home, environ: Mapping[str, str], settings: Settings) -> tuple[Effective, ...]:
    """Every setting of `settings`, as they were loaded from `home` and `environ`, and what made it."""
    file = config_file(home, environ)
    config, variables = _read_config(file), _from_environment(environ)
    found: list[Effective] = []

    def walk(value: object, place: tuple[str, ...]) -> None:
        if isinstance(value, dict) and value:
            for name, below in value.items():
                walk(below, (*place, str(name)))
            return
        source = "default"
        if _holds(variables, place):
            source = _PREFIX + _NESTED.join(place).upper()
        elif _holds(config, place):
            source = str(file)
        found.append(Effective(".".join(place), _shown(place[-1], value), source))

    walk(settings.model_dump(mode="json"), ())
    return tuple(found)


def _holds(document: object, place: tuple[str, ...]) -> bool:
    for name in place:
        if not isinstance(document, dict) or name not in document:
            return False
        document = document[name]
    return True


def _shown(name: str, value: object) -> object:
    """`value` without a login in an address; a setting that is named like a secret is not shown at all."""
    if value and _SECRET_NAME.search(name):
        return "(set, not shown)"
    if isinstance(value, str) and "@" in value and "://" in value:
        return re.sub(r"//[^/@]*@", "//(login)@", value)
    return value


def config_file(home: Home, environ: Mapping[str, str]) -> Path:
    """`config.yaml` of the home, or the file that BEAD_CONFIG names: containers without a home have settings too."""
    return Path(environ.get("BEAD_CONFIG") or home.config)


def home_from(environ: Mapping[str, str]) -> Home:
    """The home that the environment names, else `~/.bead`."""
    return Home(Path(environ.get("BEAD_HOME") or Path.home() / ".bead").expanduser().absolute())


def _read_config(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise BadRequest(f"{path} cannot be read ({type(error).__name__})") from None
    try:
        document = YAML(typ="safe", pure=True).load(text)
    except YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f" at line {mark.line + 1}" if mark else ""
        raise BadRequest(f"{path} is not valid YAML{line}") from None
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise BadRequest(f"{path} must hold settings as 'section:' with 'key: value' lines below")
    return document


def _from_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in environ.items():
        if not name.startswith(_PREFIX) or name in _OTHER_VARIABLES:
            continue
        *sections, key = name.removeprefix(_PREFIX).lower().split(_NESTED)
        place = found
        for section in sections:
            place = place.setdefault(section, {})
            if not isinstance(place, dict):
                raise BadRequest(f"{name} and {_PREFIX}{section.upper()} contradict each other; unset one of them")
        place[key] = value
    return found


def _merge(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for name, value in over.items():
        below = merged.get(name)
        merged[name] = _merge(below, value) if isinstance(below, dict) and isinstance(value, dict) else value
    return merged
