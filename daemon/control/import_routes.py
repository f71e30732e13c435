"""The route by which files are imported.

Never reads a file: the client sends its text, so that the daemon opens nothing by a name from outside.
"""

from collections.abc import Callable, Mapping
from datetime import tzinfo

from msgspec import Struct

from daemon.control.routes import Call, Nothing, Route, Writes
from daemon.journal.errors import usage
from daemon.journal.imports import markdown, taskwarrior
from daemon.journal.imports.apply import ImportResult, apply_plan
from daemon.journal.imports.plan import Plan
from store.transaction import Transaction

IMPORT_BYTES_MAX = 64 << 20
"""A whole file is one request, so that it is taken whole or not at all; beyond other requests' limit."""

Parse = Callable[[str, str, tzinfo], Plan]

_FORMATS: Mapping[str, Parse] = {"markdown": markdown.parse, "taskwarrior": taskwarrior.parse}


class Import(Struct, frozen=True, forbid_unknown_fields=True):
    """A file's text, its name, and its format: markdown or taskwarrior."""

    format: str
    name: str
    text: str
    dry_run: bool = False


def routes(zone: tzinfo) -> list[Route]:
    """Return the route; `zone` is where the person's days begin."""

    def run(tx: Transaction, call: Call[Import, Nothing]) -> ImportResult:
        asked = call.body
        parse = _FORMATS.get(asked.format)
        if parse is None:
            raise usage(f"no format is called {asked.format[:80]!r}", f"one of {', '.join(_FORMATS)}")
        return apply_plan(tx, parse(asked.name, asked.text, zone), dry_run=asked.dry_run)

    return [
        Route(
            "POST",
            "/v1/import",
            "Import a file",
            Writes(run),
            ImportResult,
            Import,
            bytes_max=IMPORT_BYTES_MAX,
        )
    ]
