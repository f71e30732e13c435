"""Notes: the list, one of them whole, and the line that answers a change.

Never cuts a text that was asked for whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from daemon.cli.short import shorts
from daemon.cli.text import cut, shown, wrapped
from daemon.cli.views.values import author_words, source_word
from daemon.cli.when import ago
from daemon.cli.words import ngettext, said_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from daemon.cli.look import Look
    from daemon.cli.shapes import Entry

_WIDTH_MAX: Final = 88
_LINES_MAX: Final = 3
_ANSWERED_WIDTH: Final = 50


def entry_rows(entries: Iterable[Entry]) -> Iterator[Sequence[object]]:
    """Give the plain columns: id, time, author, text, source."""
    for entry in entries:
        get = entry.get
        yield get("id"), get("happened_at"), get("author"), get("text"), get("source")


def entry_done(verb: str, entries: Sequence[Entry], look: Look) -> Iterator[str]:
    """Answer a change of notes: what was done, the id, how the text begins."""
    ids = shorts(entries)
    sign = look.paint(look.sign("✓"), "green")
    for entry in entries:
        short = look.paint(shown(ids.get(entry.get("id", ""), "")), "cyan")
        lines = str(entry.get("text") or "").strip().splitlines() or [""]
        yield f"{sign} {verb} {short}  {cut(shown(lines[0]), _ANSWERED_WIDTH)}".rstrip()


def entry_heading(entry: Entry, short: str, look: Look) -> str:
    """Say which note it is: its id, when, by whom, where it is from."""
    who = author_words(entry.get("author"), entry.get("device_name") or entry.get("device"))
    source = str(entry.get("source") or "note")
    kind = source_word(source) if source != "note" else ""
    words = [ago(entry.get("happened_at"), look.now_s), who, kind]
    told = look.paint(", ".join(filter(None, words)), "dim")
    removed = look.paint(said_of("entry", "removed"), "red") if entry.get("removed") else ""
    return "  ".join(filter(None, [look.paint(shown(short), "cyan"), told, removed]))


def entry_list(entries: Sequence[Entry], look: Look) -> Iterator[str]:
    """Draw notes by how they begin."""
    ids = shorts(entries)
    for entry in entries:
        yield entry_heading(entry, ids.get(entry.get("id", ""), ""), look)
        lines = wrapped(str(entry.get("text") or ""), min(look.width, _WIDTH_MAX) - 2)
        yield from (f"  {line}" for line in lines[:_LINES_MAX])
        if len(lines) > _LINES_MAX:
            yield look.paint(f"  {_more(len(lines) - _LINES_MAX)}", "dim")


def _more(count: int) -> str:
    return ngettext(
        "and {count} more line: placet entry show", "and {count} more lines: placet entry show", count
    ).format(count=count)


def entry_page(entry: Entry, look: Look) -> Iterator[str]:
    """Draw a note whole."""
    yield entry_heading(entry, shorts([entry]).get(entry.get("id", ""), ""), look)
    lines = wrapped(str(entry.get("text") or ""), min(look.width, _WIDTH_MAX) - 2)
    yield from (f"  {line}" for line in lines)
