"""A service that fails is left alone for a moment; one that had no time is not blamed."""

import asyncio

import pytest

from bead.errors import BadRequest, ServiceDown
from bead_proxy.patience import NotLoaded, Patience


async def answer() -> str:
    return "here"


async def down() -> str:
    raise ServiceDown("no answer")


async def silent() -> str:
    await asyncio.Event().wait()
    return "never"


def soon(seconds: float = 0.01) -> float:
    return asyncio.get_running_loop().time() + seconds


async def test_an_answer_in_time_is_the_answer() -> None:
    assert await Patience("the store").call(answer, soon(5)) == "here"


@pytest.mark.parametrize("failure", [down, silent])
async def test_after_a_failure_the_service_is_not_called(failure: object) -> None:
    patience = Patience("the store")
    with pytest.raises(NotLoaded):
        await patience.call(failure, soon())  # type: ignore[arg-type]

    with pytest.raises(NotLoaded):
        await patience.call(answer, soon(5))
    assert patience.is_resting


async def test_a_refusal_is_the_callers_business() -> None:
    async def refuse() -> str:
        raise BadRequest("no")

    patience = Patience("the store")
    with pytest.raises(BadRequest):
        await patience.call(refuse, soon(5))
    assert not patience.is_resting


async def test_who_got_no_time_is_not_blamed() -> None:
    patience = Patience("the store")
    with pytest.raises(NotLoaded):
        await patience.call(answer, soon(-1))
    assert not patience.is_resting


async def test_a_caller_that_leaves_is_no_failure_of_the_service() -> None:
    patience = Patience("the store")
    task = asyncio.ensure_future(patience.call(silent, soon(5)))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not patience.is_resting
