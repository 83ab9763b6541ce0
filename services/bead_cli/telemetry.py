"""Sends each trace as an OpenTelemetry span, when `telemetry.endpoint` names a collector; else nothing is imported.

What a span says is ids, counts and milliseconds, as in `bead.wire.traces`; project names and session ids stay here. The
exporter has a thread and a bound of its own: a collector that is slow or away costs a request nothing.
"""

import atexit
from collections.abc import Callable
from datetime import datetime
from importlib import import_module
from typing import Any

from bead.errors import Refused
from bead.settings import TelemetrySettings
from bead.wire.traces import TurnTrace

OnTrace = Callable[[TurnTrace], None]
_NUMBERS = (
    "status",
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "inserted_tokens",
)
_WORDS = ("harness", "protocol", "model", "kind", "abstained")


def following(settings: TelemetrySettings, also: OnTrace | None) -> OnTrace | None:
    """Whoever follows traces: `also`, and the collector when there is one.

    Raises:
        Refused: the packages for it are not installed.
    """
    if settings.endpoint is None:
        return also
    send = _sender(settings.endpoint)

    def both(trace: TurnTrace) -> None:
        send(trace)
        if also is not None:
            also(trace)

    return both


def attributes_of(trace: TurnTrace) -> dict[str, str | int | float]:
    """What a span says."""
    found: dict[str, str | int | float] = {f"bead.{name}": getattr(trace, name) for name in (*_NUMBERS, *_WORDS)}
    found |= {f"bead.added_ms.{part}": ms for part, ms in trace.added_ms.items()}
    found |= {"bead.selected": len(trace.selected), "bead.rejected": len(trace.rejected)}
    return found | {"bead.failures": len(trace.failures)}


def _sender(endpoint: str) -> OnTrace:
    try:
        exporters: Any = import_module("opentelemetry.exporter.otlp.proto.http.trace_exporter")
        sdk: Any = import_module("opentelemetry.sdk.trace")
        export: Any = import_module("opentelemetry.sdk.trace.export")
        resources: Any = import_module("opentelemetry.sdk.resources")
    except ImportError:
        raise Refused("telemetry.endpoint needs OpenTelemetry: pip install 'bead-memory[otel]'") from None
    provider = sdk.TracerProvider(resource=resources.Resource({"service.name": "bead"}), shutdown_on_exit=False)
    provider.add_span_processor(export.BatchSpanProcessor(exporters.OTLPSpanExporter(endpoint=endpoint)))
    atexit.register(provider.shutdown)
    tracer = provider.get_tracer("bead")

    def send(trace: TurnTrace) -> None:
        began = int(datetime.fromisoformat(trace.at).timestamp() * 1e9)
        span = tracer.start_span("model request", start_time=began, attributes=attributes_of(trace))
        span.end(end_time=began + int(trace.added_ms.get("all", 0.0) * 1e6))

    return send
