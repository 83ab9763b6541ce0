"""Errors travel over the bus as what they are."""

import pytest
from fastapi import FastAPI

from bead.bus.service import Service
from bead.bus.transport import InProcessTransport, call
from bead.errors import BeadError, Refused, Unavailable, from_problem


def every_class(root: type[BeadError] = BeadError) -> list[type[BeadError]]:
    return [root, *(found for child in root.__subclasses__() for found in every_class(child))]


@pytest.mark.parametrize("kind", every_class(), ids=lambda kind: kind.code)
async def test_each_error_arrives_as_the_class_that_was_raised(kind: type[BeadError]) -> None:
    async def raises(body: bytes) -> bytes:
        raise kind("what happened", path="facts/a", line=3)

    service = Service("test", FastAPI(), hot={"/v1/turns": raises})

    with pytest.raises(BeadError) as caught:
        await call(InProcessTransport("test", service.app), "POST", "/v1/turns", b"{}")

    assert type(caught.value) is kind
    assert (caught.value.message, caught.value.facts) == ("what happened", {"path": "facts/a", "line": 3})


def test_codes_are_unique() -> None:
    codes = [kind.code for kind in every_class()]
    assert len(set(codes)) == len(codes)


@pytest.mark.parametrize(("status", "branch"), [(404, Refused), (418, Refused), (500, Unavailable), (503, Unavailable)])
def test_an_unknown_problem_becomes_its_branch(status: int, branch: type[BeadError]) -> None:
    assert type(from_problem({"type": "about:blank"}, status)) is branch
