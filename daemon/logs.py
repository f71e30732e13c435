"""The daemon's log: standard error, one line per event; in the journal of systemd with its priority.

Never contains content of the journal: a caller logs ids and counts, no titles, texts or keys.
"""

import logging
import os
import sys
import traceback
from collections.abc import Mapping
from types import TracebackType
from typing import Final

import structlog
from aiohttp.http_exceptions import HttpProcessingError
from structlog.typing import EventDict, WrappedLogger

_Raised = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


_PRIORITIES: Final = {"critical": 2, "error": 3, "warning": 4, "info": 6, "debug": 7}
"""The levels as syslog(3) numbers them."""


def is_journal(environment: Mapping[str, str] = os.environ, descriptor: int = 2) -> bool:
    """Return whether what is written there, by default standard error, goes to the journal of systemd."""
    try:
        status = os.fstat(descriptor)
    except OSError:
        return False
    # A child of a service inherits the variable, and may write elsewhere: systemd.exec(5).
    return environment.get("JOURNAL_STREAM", "") == f"{status.st_dev}:{status.st_ino}"


def with_priority(text: str, level: str) -> str:
    """Return lines as the journal takes them, each with its priority; the rest counts as information."""
    return "\n".join(f"<{_PRIORITIES[level]}>{line}" for line in text.split("\n"))


def configure_logging() -> None:
    """Send all logging to standard error: in colour for a terminal, else as `key=value`.

    The journal dates every line by itself, and takes the level as its priority.
    """
    to_journal = is_journal()
    renderer: structlog.typing.Processor = (
        structlog.dev.ConsoleRenderer()
        if sys.stderr.isatty()
        else structlog.processors.LogfmtRenderer(key_order=["event"])
        if to_journal
        else structlog.processors.LogfmtRenderer(key_order=["timestamp", "level", "event"])
    )
    dates = [] if to_journal else [structlog.processors.TimeStamper(fmt="iso", utc=True)]
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            *dates,
            _with_traceback_words,
            _escape_values,
            _JournalRenderer(renderer) if to_journal else renderer,
        ],
        # What is for debugging is written for each connection of a stranger, who could fill a disk with it.
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        _JournalFormatter("%(name)s %(message)s")
        if to_journal
        else _Formatter("%(levelname)s %(name)s %(message)s")
    )
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    # It warns, with tracebacks, of every socket whose interface disappeared, which is normal.
    logging.getLogger("zeroconf").setLevel(logging.ERROR)
    logging.getLogger("aiohttp.server").addFilter(_is_not_malformed_request)


def traceback_words(fault: BaseException) -> str:
    """Return the type of a fault and its traceback, after those of its cause.

    Only the message of an OSError is included: others may quote their input, which may be a note.
    """
    before = fault.__cause__ or (None if fault.__suppress_context__ else fault.__context__)
    parts = [traceback_words(before)] if before is not None else []
    if isinstance(fault, BaseExceptionGroup):
        parts += [traceback_words(part) for part in fault.exceptions]
    words = f": {escape(str(fault))}" if isinstance(fault, OSError) else ""
    parts.append("".join(traceback.format_tb(fault.__traceback__)) + type(fault).__qualname__ + words)
    return "\n".join(parts)


def escape(text: str) -> str:
    """Return the text with every character that is not printable in the form of a Python literal.

    So no reason, name or address that another device sent can begin a line or drive a terminal.
    """
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)


def _escape_values(logger: WrappedLogger, method: str, event: EventDict) -> EventDict:
    """Escape every value of an event but its traceback, whose lines are this program's."""
    del logger, method
    for key, value in event.items():
        if key != "exception" and not isinstance(value, int | float | None):
            event[key] = escape(str(value))
    return event


def _with_traceback_words(logger: WrappedLogger, method: str, event: EventDict) -> EventDict:
    """Replace the exception of an event by its type and traceback as text."""
    del logger, method
    raised = event.pop("exc_info", None)
    fault = sys.exc_info()[1] if raised is True else raised[1] if isinstance(raised, tuple) else raised
    if isinstance(fault, BaseException):
        event["exception"] = traceback_words(fault)
    return event


def _is_not_malformed_request(record: logging.LogRecord) -> bool:
    """Return whether a record tells of anything but bytes that are no HTTP, which the caller was told of.

    Anybody who can connect can send them at will, and each of them would write a traceback.
    """
    return record.exc_info is None or not isinstance(record.exc_info[1], HttpProcessingError)


class _Formatter(logging.Formatter):
    """Formats messages and faults of libraries in the same way."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - the name is the library's
        return escape(super().formatMessage(record))

    def formatException(self, raised: _Raised) -> str:  # noqa: N802 - the name is the library's
        return "" if raised[1] is None else traceback_words(raised[1])


class _JournalFormatter(_Formatter):
    """Begins each line of a library with its priority."""

    def format(self, record: logging.LogRecord) -> str:
        level = record.levelname.lower()
        return with_priority(super().format(record), level if level in _PRIORITIES else "info")


class _JournalRenderer:
    """Begins the line of an event with its priority, which its level then need not say."""

    def __init__(self, renderer: structlog.typing.Processor) -> None:
        self._renderer = renderer

    def __call__(self, logger: WrappedLogger, method: str, event: EventDict) -> str:
        level = str(event.pop("level", "info"))
        text = str(self._renderer(logger, method, event))
        return with_priority(text, level if level in _PRIORITIES else "info")
