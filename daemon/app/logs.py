"""Where the daemon's own words go: standard error, one line an event.

Never told what is in the journal: who logs gives ids and counts, no titles, texts or keys.
"""

import logging
import sys

import structlog


def configure() -> None:
    """Send all logging to standard error: drawn for a terminal, `key=value` for everything else."""
    drawn = sys.stderr.isatty()
    renderer: structlog.typing.Processor = (
        # Drawn with their local variables, as is the default, tracebacks would show what is in the journal.
        structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
        if drawn
        else structlog.processors.LogfmtRenderer(key_order=["timestamp", "level", "event"])
    )
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            *([] if drawn else [structlog.processors.format_exc_info]),
            renderer,
        ],
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="%(levelname)s %(name)s %(message)s")
    # It warns, with tracebacks, of every socket whose interface went; interfaces come and go.
    logging.getLogger("zeroconf").setLevel(logging.ERROR)
