"""What the image is made of, as far as files say it: packages with hashes, one choice of them."""

import re
from pathlib import Path

LOCKS = Path(__file__).parents[3] / "locks"


def pinned(name: str) -> dict[str, str]:
    return dict(re.findall(r"^([a-z0-9_.-]+)==(\S+)", (LOCKS / f"{name}.txt").read_text(), re.MULTILINE))


def test_the_image_with_traces_has_the_same_packages_and_those_that_send_traces() -> None:
    run, otel = pinned("run"), pinned("otel")
    assert {name: otel.get(name) for name in run} == run
    assert {"opentelemetry-sdk", "opentelemetry-exporter-otlp-proto-http"} <= set(otel) - set(run)


def test_every_package_of_an_image_has_its_hash() -> None:
    for name in ("run", "otel", "build"):
        entries = re.split(r"\n(?=[a-z0-9])", (LOCKS / f"{name}.txt").read_text())
        assert [each.split()[0] for each in entries if "--hash=sha256:" not in each] == []
