"""The formats that can be exported, by name.

Never writes a file itself: each format's writer yields its text piece by piece.
"""

from daemon.file_formats import FILE_FORMATS
from daemon.formats.core.format import Writer, declared_format
from daemon.refusal import one_of, usage_error
from store.sentence import sentence


def writer_for(format_: str) -> Writer:
    """Return the writer of a format; refuse one that is not known."""
    rows = {row.name: row for row in FILE_FORMATS}
    if format_ not in rows:
        raise usage_error(
            sentence("unknown-export-format", "no export format is called {name!r}", name=format_[:80]),
            one_of(rows),
        )
    writer = declared_format(rows[format_]).write
    assert writer is not None
    return writer
