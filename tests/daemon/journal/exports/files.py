"""Exports and imports of JSON lines without a daemon between.

Never holds a journal against anything: tests do.
"""

import io
from datetime import UTC
from functools import partial

from daemon.journal.exports import jsonl as exporting
from daemon.journal.imports import jsonl
from daemon.journal.imports.apply import ImportResult
from daemon.journal.imports.jsonl_apply import take
from tests.daemon.agents.fleet import Home


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
    jsonl.check(file)
    done = ImportResult()
    for part in jsonl.parts(file):
        done += home.write(partial(take, part=part))
    return done
