"""The formats that can be exported, by name.

Never writes a file itself: each format's writer yields its text piece by piece.
"""

from collections.abc import Callable, Iterator, Mapping
from datetime import tzinfo
from types import MappingProxyType
from typing import Final

from daemon.journal.errors import usage
from daemon.journal.exports import icalendar, jsonl, markdown, taskwarrior, todotxt
from store.snapshot import Snapshot

Writer = Callable[[Snapshot, tzinfo], Iterator[str]]
"""Yields a file's text from one snapshot; `zone` is where the person's days begin."""

WRITERS: Final[Mapping[str, Writer]] = MappingProxyType(
    {
        icalendar.FORMAT: icalendar.write,
        jsonl.FORMAT: jsonl.write,
        markdown.FORMAT: markdown.write,
        taskwarrior.FORMAT: taskwarrior.write,
        todotxt.FORMAT: todotxt.write,
    }
)


def writer(format_: str) -> Writer:
    """Return the writer of a format; refuse one that is not known."""
    found = WRITERS.get(format_)
    if found is None:
        raise usage(f"no export format is called {format_[:80]!r}", f"one of {', '.join(WRITERS)}")
    return found
