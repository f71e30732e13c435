"""The formats that can be exported, by name.

Never writes a file itself: each format's writer yields its text piece by piece.
"""

from collections.abc import Callable, Iterator, Mapping
from datetime import tzinfo
from types import MappingProxyType
from typing import Final

from daemon.formats.icalendar import writer as icalendar
from daemon.formats.jsonl import writer as jsonl
from daemon.formats.markdown import writer as markdown
from daemon.formats.taskwarrior import writer as taskwarrior
from daemon.formats.todotxt import writer as todotxt
from daemon.refusal import one_of, usage_error
from store.sentence import sentence
from store.snapshot import Snapshot

Writer = Callable[[Snapshot, tzinfo], Iterator[str]]
"""Yields a file's text from one snapshot; `zone` is the person's time zone, which bounds their days."""

WRITERS: Final[Mapping[str, Writer]] = MappingProxyType(
    {
        icalendar.FORMAT: icalendar.write,
        jsonl.FORMAT: jsonl.write,
        markdown.FORMAT: markdown.write,
        taskwarrior.FORMAT: taskwarrior.write,
        todotxt.FORMAT: todotxt.write,
    }
)


def writer_for(format_: str) -> Writer:
    """Return the writer of a format; refuse one that is not known."""
    writer = WRITERS.get(format_)
    if writer is None:
        raise usage_error(
            sentence("unknown-export-format", "no export format is called {name!r}", name=format_[:80]),
            one_of(WRITERS),
        )
    return writer
