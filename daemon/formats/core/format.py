"""What the folder of a format declares: the functions by which its files are read and written.

Never names a format: `daemon/file_formats.py` has their rows.
"""

from collections.abc import Callable, Collection, Iterator
from datetime import tzinfo
from importlib import import_module
from typing import NamedTuple

from daemon.file_formats import FileFormat
from daemon.formats.core.exported_tasks import ExportedTask
from daemon.formats.core.plan import Plan, PlannedTask
from store.snapshot import Snapshot
from syncproto.ids import EntityId

Parser = Callable[[str, str, tzinfo, int | None], Plan]
"""Reads a file into a plan, given its name, its text, the person's time zone, and the time if known."""

Writer = Callable[[Snapshot, tzinfo], Iterator[str]]
"""Yields a file's text from one snapshot; `zone` is the person's time zone, which bounds their days."""

Rereader = Callable[[ExportedTask, tzinfo], PlannedTask | None]
"""Reads back what the format's export contains of a task."""

PartWriter = Callable[[Snapshot, tzinfo, Collection[EntityId]], Iterator[str]]
"""Yields the text of an export that has only some of the tasks."""


class Format(NamedTuple):
    """What is done with files of one format; None for what is not done with them.

    `reread` is there if exports name the ids of this journal, `write_part` if tasks have ids of their own,
    also those that were made here.
    """

    parse: Parser | None = None
    write: Writer | None = None
    reread: Rereader | None = None
    write_part: PartWriter | None = None


def declared_format(row: FileFormat) -> Format:
    """Return what the folder of a format declares; import it only now, since its parser is large."""
    declared: Format = import_module(f"daemon.formats.{row.name}.format").FORMAT
    return declared
