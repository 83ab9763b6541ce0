"""The dashboard asks for metrics that the services have."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path

from prometheus_client import CollectorRegistry

from bead.bus.transport import InProcessTransport
from bead.home import Home
from bead.settings import DreamSettings, SchedulerSettings, StoreSettings
from bead_dream.app import create_service as create_dream
from bead_proxy.metrics import Metrics
from bead_scheduler.app import create_service as create_scheduler
from bead_store.app import create_service as create_store
from tests.fakes.store import FakeStore

DASHBOARD = Path(__file__).parents[3] / "deploy/grafana/bead.json"
_METRIC = re.compile(r"\bbead_[a-z_]+")
_PROMISED = ("turns", "injections", "abstentions", "not_loaded", "added_milliseconds_bucket", "tokens", "usd", "queue")


def names(registry: CollectorRegistry) -> set[str]:
    """Series as Prometheus knows them."""
    found: set[str] = set()
    for family in registry.collect():
        if family.type == "counter":
            found.add(f"{family.name}_total")
        elif family.type == "histogram":
            found |= {f"{family.name}_{part}" for part in ("bucket", "sum", "count")}
        else:
            found.add(family.name)
    return found


def test_every_metric_of_the_dashboard_exists(tmp_path: Path) -> None:
    bus = InProcessTransport("store", FakeStore().service.app)
    services = (
        create_store(StoreSettings(), Home(tmp_path), "me"),
        create_dream(DreamSettings(), "home", bus, {}),
        create_scheduler(SchedulerSettings(), "home", dict.fromkeys(("store", "index", "dream"), bus), None, now),
    )
    there = names(Metrics(lambda: 0.0).registry).union(*(names(service.registry) for service in services))
    document = json.loads(DASHBOARD.read_text())
    asked = {
        name for panel in document["panels"] for each in panel["targets"] for name in _METRIC.findall(each["expr"])
    }

    assert asked - there == set()
    assert [word for word in _PROMISED if not any(word in name for name in asked)] == []
    assert len({panel["id"] for panel in document["panels"]}) == len(document["panels"])


def now() -> datetime:
    return datetime(2026, 11, 30, tzinfo=UTC)
