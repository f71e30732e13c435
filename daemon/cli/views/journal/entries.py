"""Notes: the list, one of them whole, and the line that answers a change.

Never cuts a text that was asked for whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from daemon.words.dates import relative_time
from daemon.words.short_ids import short_ids_of
from daemon.words.terminal_text import escape, truncate, wrap_lines
from daemon.words.translation import ngettext, pgettext
from daemon.words.values import author_words, source_word

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from daemon.cli.terminal.display import Display
    from daemon.shapes.answers import EntryJson

_WIDTH_MAX: Final = 88
_LINES_MAX: Final = 3
_ANSWERED_WIDTH: Final = 50


def entry_rows(entries: Iterable[EntryJson]) -> Iterator[Sequence[object]]:
    """Give the plain columns: id, time, author, text, source."""
    for entry in entries:
        get = entry.get
        yield get("id"), get("happened_at"), get("author"), get("text"), get("source")


def entry_deed_lines(verb: str, entries: Sequence[EntryJson], display: Display) -> Iterator[str]:
    """Answer a change of notes: what was done, the id, how the text begins."""
    ids = short_ids_of(entries)
    sign = display.paint(display.symbol("✓"), "green")
    for entry in entries:
        short = display.paint(escape(ids.get(entry.get("id", ""), "")), "cyan")
        lines = str(entry.get("text") or "").strip().splitlines() or [""]
        yield f"{sign} {verb} {short}  {truncate(escape(lines[0]), _ANSWERED_WIDTH)}".rstrip()


def entry_heading(entry: EntryJson, short: str, display: Display) -> str:
    """Say which note it is: its id, when, by whom, where it is from."""
    device = entry.get("device_name") or entry.get("device")
    who = author_words(entry.get("author"), device, entry.get("as_proposed"))
    source = str(entry.get("source") or "note")
    kind = source_word(source) if source != "note" else ""
    words = [relative_time(entry.get("happened_at"), display.now_s), who, kind]
    text = display.paint(", ".join(filter(None, words)), "dim")
    removed = display.paint(pgettext("entry", "removed"), "red") if entry.get("removed") else ""
    return "  ".join(filter(None, [display.paint(escape(short), "cyan"), text, removed]))


def entry_list(entries: Sequence[EntryJson], display: Display) -> Iterator[str]:
    """Draw notes by how they begin."""
    ids = short_ids_of(entries)
    for entry in entries:
        yield entry_heading(entry, ids.get(entry.get("id", ""), ""), display)
        lines = wrap_lines(str(entry.get("text") or ""), min(display.width, _WIDTH_MAX) - 2)
        yield from (f"  {line}" for line in lines[:_LINES_MAX])
        if len(lines) > _LINES_MAX:
            yield display.paint(f"  {_more(len(lines) - _LINES_MAX)}", "dim")


def _more(count: int) -> str:
    return ngettext(
        "and {count} more line: placet entry show", "and {count} more lines: placet entry show", count
    ).format(count=count)


def entry_page(entry: EntryJson, display: Display) -> Iterator[str]:
    """Draw a note whole."""
    yield entry_heading(entry, short_ids_of([entry]).get(entry.get("id", ""), ""), display)
    lines = wrap_lines(str(entry.get("text") or ""), min(display.width, _WIDTH_MAX) - 2)
    yield from (f"  {line}" for line in lines)
