"""JSON log lines on standard error: events, ids, counts and milliseconds, never content (I15).

What libraries say through the standard library's `logging` becomes such lines too: only their fixed wording and the
class and place of an exception, for the rest may hold content; and one wording once a minute, with a count of the
others, for anybody on this machine can make a server complain (I17).
"""

import json
import logging
import sys
import time
from datetime import UTC, datetime

import structlog

EVERY_S = 60.0
"""Shortest time between two lines of one wording of a library."""
_MOST_WORDINGS = 256
_WORDING_CHARACTERS = 200


class LibraryLines(logging.Handler):
    """Writes what libraries log, bounded; `clock` is in seconds."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.clock = time.monotonic
        self._said: dict[tuple[str, str], float] = {}
        self._left_out: dict[tuple[str, str], int] = {}

    def emit(self, record: logging.LogRecord) -> None:
        """One line, or one more to count."""
        wording = str(record.msg).partition("\n")[0][:_WORDING_CHARACTERS]
        # A library that builds its texts itself would make every line a new wording.
        key = (record.name, wording if len(self._said) < _MOST_WORDINGS else "")
        now = self.clock()
        if now - self._said.get(key, -EVERY_S) < EVERY_S:
            self._left_out[key] = self._left_out.get(key, 0) + 1
            return
        self._said[key] = now
        line: dict[str, object] = {
            "event": wording,
            "logger": record.name,
            "level": record.levelname.lower(),
            "timestamp": datetime.now(UTC).isoformat().replace("+00:00", "Z"),
            **_about(record),
        }
        if left_out := self._left_out.pop(key, 0):
            line["left_out"] = left_out
        sys.stderr.write(json.dumps(line) + "\n")


def _about(record: logging.LogRecord) -> dict[str, str]:
    """Class and place of the exception that came with it."""
    error = record.exc_info[1] if record.exc_info else None
    if error is None:
        return {}
    step, place = error.__traceback__, ""
    while step is not None:
        place, step = f"{step.tb_frame.f_code.co_filename}:{step.tb_lineno}", step.tb_next
    return {"error": type(error).__name__, "place": place}


def configure(level: str = "INFO") -> None:
    """Log as JSON lines to standard error; the standard library's loggers stay quiet below warnings."""
    logging.basicConfig(level=logging.WARNING, handlers=[LibraryLines()])
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level]),
        logger_factory=structlog.WriteLoggerFactory(file=sys.stderr),
    )
