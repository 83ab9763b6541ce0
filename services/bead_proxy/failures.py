"""Tells the log about an error that nobody expected: its class and places, never its text (I15)."""

import traceback

import structlog

from bead_proxy.lettinggo import let_go_of_frames

log = structlog.get_logger()


def log_failure(event: str, error: Exception) -> None:
    """One line for `error`; what it says may hold what it choked on, so only where it happened is told.

    Its frames are let go of: they hold the request.
    """
    places = [f"{frame.name}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)]
    log.error(event, error=type(error).__name__, at=places)
    let_go_of_frames(error)
