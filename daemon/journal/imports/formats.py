"""The formats that can be imported, by name.

Never looks into a file itself: each format's parser does.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, tzinfo
from types import MappingProxyType
from typing import Final

from daemon.journal.errors import usage
from daemon.journal.imports import icalendar, markdown, taskwarrior, todotxt
from daemon.journal.imports.plan import Plan

Parser = Callable[[str, str, tzinfo, int | None], Plan]
"""Reads a file into a plan, given its name, its text, where days begin, and the time if it is known."""

PARSERS: Final[Mapping[str, Parser]] = MappingProxyType(
    {
        icalendar.FORMAT: icalendar.parse,
        markdown.FORMAT: markdown.parse,
        taskwarrior.FORMAT: taskwarrior.parse,
        todotxt.FORMAT: todotxt.parse,
    }
)


def read(format_: str, name: str, text: str, zone: tzinfo = UTC, now_ms: int | None = None) -> Plan:
    """Read a file into a plan, whose faults say what cannot be read; refuse a format that is not known.

    Pure, and slow for a large file: call it before a transaction is opened. `zone` is the person's, `now_ms`
    the time for which the file is read: whether a task still waits depends on it.
    """
    parser = PARSERS.get(format_)
    if parser is None:
        raise usage(f"no import format is called {format_[:80]!r}", f"one of {', '.join(PARSERS)}")
    return parser(name, text, zone, now_ms)
