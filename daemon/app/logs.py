"""Where the daemon's own words go: standard error, one line an event.

Never told what is in the journal: who logs gives ids and counts, no titles, texts or keys.
"""

import logging
import sys
import traceback
from types import TracebackType

import structlog
from structlog.typing import EventDict, WrappedLogger

_Raised = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


def configure() -> None:
    """Send all logging to standard error: drawn for a terminal, `key=value` for everything else."""
    drawn = sys.stderr.isatty()
    renderer: structlog.typing.Processor = (
        structlog.dev.ConsoleRenderer()
        if drawn
        else structlog.processors.LogfmtRenderer(key_order=["timestamp", "level", "event"])
    )
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            _told,
            renderer,
        ],
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Formatter("%(levelname)s %(name)s %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    # It warns, with tracebacks, of every socket whose interface went; interfaces come and go.
    logging.getLogger("zeroconf").setLevel(logging.ERROR)


def where(fault: BaseException) -> str:
    """Tell what kind of fault it is and where it arose, with what it came from; only the world's say more.

    Others may quote what they failed on, and that may be a note.
    """
    before = fault.__cause__ or (None if fault.__suppress_context__ else fault.__context__)
    parts = [where(before)] if before is not None else []
    if isinstance(fault, BaseExceptionGroup):
        parts += [where(one) for one in fault.exceptions]
    words = f": {fault}" if isinstance(fault, OSError) else ""
    parts.append("".join(traceback.format_tb(fault.__traceback__)) + type(fault).__qualname__ + words)
    return "\n".join(parts)


def _told(logger: WrappedLogger, method: str, event: EventDict) -> EventDict:
    """Put a traceback into words."""
    del logger, method
    raised = event.pop("exc_info", None)
    fault = sys.exc_info()[1] if raised is True else raised[1] if isinstance(raised, tuple) else raised
    if isinstance(fault, BaseException):
        event["exception"] = where(fault)
    return event


class _Formatter(logging.Formatter):
    """Tells faults of libraries in the same way."""

    def formatException(self, raised: _Raised) -> str:  # noqa: N802 - the name is the library's
        return "" if raised[1] is None else where(raised[1])
