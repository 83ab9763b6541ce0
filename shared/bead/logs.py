"""JSON log lines on standard error: events, ids, counts and milliseconds, never content (I15)."""

import logging
import sys

import structlog


def configure(level: str = "INFO") -> None:
    """Log as JSON lines to standard error; the standard library's loggers stay quiet below warnings."""
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="%(message)s")
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
