"""Exports and imports of JSON lines without a daemon between.

Never holds a journal against anything: tests do.
"""

import io
from datetime import UTC
from functools import partial

from daemon.formats.core.importer import ImportResult
from daemon.formats.jsonl import reader
from daemon.formats.jsonl import writer as exporting
from daemon.formats.jsonl.importer import import_part
from tests.support.fleet import Home


class File:
    """A file in memory."""

    def __init__(self, text: str) -> None:
        self._raw = io.BytesIO(text.encode())

    def rewind(self) -> None:
        self._raw.seek(0)

    def line(self, bytes_max: int) -> bytes:
        return self._raw.readline(bytes_max)


def exported(home: Home) -> str:
    """Return the whole file."""
    return home.read(lambda snapshot: "".join(exporting.write(snapshot, UTC)))


def imported(home: Home, text: str) -> ImportResult:
    """Check a file and take all its parts, each in a transaction of its own."""
    file = File(text)
    reader.count_checked(file)
    done_acts = ImportResult()
    for part in reader.read_parts(file):
        done_acts += home.write(partial(import_part, part=part))
    return done_acts
