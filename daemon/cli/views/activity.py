"""What an agent did, run by run.

Never passes an agent's words off as the program's: what it said stands in quotation marks.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from daemon.cli.proposals import summary
from daemon.cli.sentences import retold
from daemon.cli.text import cells, padded, shown, wrapped
from daemon.cli.views.values import quoted_words
from daemon.cli.when import ago
from daemon.cli.words import _, named, ngettext, said_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from daemon.cli.look import Look
    from daemon.cli.shapes import Activity

_WIDTH_MAX: Final = 88
_LINES_MAX: Final = 12
_ROW_KEYS: Final = ("id", "at", "thread_id", "kind", "tool", "outcome", "item_id", "trigger", "text")
_KINDS: Final = named(
    "activity", "said", "noted", "called", "answered", "confirmed", "done", "ended", "failed"
)
_STYLES: Final = {"noted": "cyan", "confirmed": "green", "done": "green", "failed": "red", "ended": "dim"}


def activity_rows(messages: Iterable[Activity]) -> Iterator[Sequence[object]]:
    """Give the plain columns, those that `placet agent log --help` names."""
    for one in messages:
        yield tuple(one.get(key) for key in _ROW_KEYS)


def activity_list(messages: Sequence[Activity], look: Look) -> Iterator[str]:
    """Draw the messages, oldest first: a heading where the agent woke, and below it what it did."""
    words = {kind: said_of("activity", kind) for kind in _KINDS}
    wide = max(map(cells, words.values()))
    for at, one in enumerate(messages):
        if one.get("trigger"):
            yield from [""] * bool(at)
            yield look.paint(_woken(one, look), "bold")
            continue
        kind = _kind(one)
        margin = " " * (wide + 4)
        width = min(look.width, _WIDTH_MAX) - len(margin)
        first, *rest = _shortened([line for part in _told(one, look) for line in wrapped(part, width)])
        yield f"  {look.paint(padded(words[kind], wide), _STYLES.get(kind, 'dim'))}  {first}"
        yield from (margin + line for line in rest)


def _shortened(lines: list[str]) -> list[str]:
    return [*lines[:_LINES_MAX], "…"] if len(lines) > _LINES_MAX else lines or [""]


def _woken(one: Activity, look: Look) -> str:
    when, why = shown(ago(one.get("at"), look.now_s)), shown(retold(str(one.get("trigger"))))
    return _("Woken {when}: {why}").format(when=when, why=why)


def _kind(one: Activity) -> str:
    """Name what a message is to people."""
    kind = str(one.get("kind") or "")
    if one.get("item_id"):
        return "confirmed" if kind == "action" else "done"
    if one.get("error") and kind == "system":
        return "failed"
    return _NAMES.get(kind, "said")


_NAMES: Final = {
    "observation": "noted",
    "action": "called",
    "tool_result": "answered",
    "summary": "ended",
    "system": "answered",
}


def _told(one: Activity, look: Look) -> Iterator[str]:
    """Say what a message holds, a line each."""
    text = str(one.get("text") or "") + ("…" if one.get("cut") else "")
    match _kind(one):
        case "said" | "noted":
            yield quoted_words(text).replace("“", look.sign("“")).replace("”", look.sign("”"))
        case "called":
            yield f"{one.get('tool') or ''} {_asked(one.get('tool'), text)}"
        case "confirmed":
            as_item: Any = one
            yield summary(as_item)
        case "done":
            yield ago(one.get("at"), look.now_s)
        case "ended" if one.get("ended"):
            yield from _ending(one, look)
        case _:
            yield text


_TLDR: Final = re.compile(r'"tldr"\s*:\s*("(?:[^"\\]|\\.)*")')


def _asked(tool: str | None, text: str) -> str:
    """Return what a call asked for as it was written, of a report what it says in short."""
    found = _TLDR.search(text) if tool == "update_report" else None
    if found is None:
        return text
    try:
        return quoted_words(json.loads(found[1], strict=False))
    except ValueError:
        return text


def _ending(one: Activity, look: Look) -> Iterator[str]:
    """Say what came of a run, in numbers, and what the agent said last."""
    ended: Any = one.get("ended")
    told = ended if isinstance(ended, dict) else {}
    proposals, calls = int(told.get("proposals") or 0), int(told.get("calls") or 0)
    parts = [
        ngettext("{count} proposal", "{count} proposals", proposals).format(count=proposals),
        ngettext("{count} call", "{count} calls", calls).format(count=calls),
        _("with a report") if told.get("reported") else _("without a report"),
        str(told.get("model") or ""),
    ]
    yield f" {look.sign('·')} ".join(part for part in parts if part)
    if one.get("text"):
        yield quoted_words(one["text"])
