"""The history: who changed what, when, on which device, from what to what, and why.

Never shows a person what only machines read; the plain and JSON forms have all of it.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from daemon.cli import names
from daemon.cli.sentences import cause
from daemon.cli.short import SHORT_MIN, shorts
from daemon.cli.text import cells, cut, padded, shown, wrapped
from daemon.cli.views.values import author_words, before_after, field_words, headed, value_words
from daemon.cli.when import ago
from daemon.cli.words import _, named

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from daemon.cli.client import Event
    from daemon.cli.look import Look
    from daemon.cli.shapes import Change

_WHEN_WIDTH_MIN: Final = 11
_WIDTH_MAX: Final = 100
_TITLE_WIDTH_MIN: Final = 16
# The field that names a thing: its heading says it.
_NAMES: Final = ("title", "text", "name", "display_name")
_FOR_MACHINES: Final = frozenset(
    {
        "task_id",
        "checklist_id",
        "agent_id",
        "home_device_id",
        "position",
        "beacon",
        "certificate",
        "public_key",
        "happened_at",
    }
)
# Of what is longer, only what changed is shown.
_LONG_CHARS: Final = 60
named("proposal", "took back")
_VERDICTS: Final = {"undone": "took back"}
_ROW_KEYS: Final = ("seq", "at", "by", "device", "kind", "entity", "field", "before", "after", "why")


def change_rows(changes: Iterable[Change]) -> Iterator[Sequence[object]]:
    """Give the plain columns: position, time, author, device, kind, entity, field, before, after, why."""
    for change in changes:
        yield tuple(change.get(key) for key in _ROW_KEYS)


def change_list(changes: Sequence[Change], look: Look) -> Iterator[str]:
    """Draw the changes: a line for what a commit touched, and one for each field that a person would know."""
    ids = shorts(changes, "entity")
    moments = (shown(ago(change.get("at"), look.now_s)) for change in changes)
    wide = max(_WHEN_WIDTH_MIN, *map(cells, moments), 0)
    for _touch, group in groupby(changes, key=_touched):
        together = list(group)
        yield _heading(together, ids, wide, look)
        yield from _fields(together, wide, look)


def _touched(change: Change) -> tuple[object, object]:
    return change.get("seq"), change.get("entity")


def _heading(group: Sequence[Change], ids: dict[str, str], wide: int, look: Look) -> str:
    first = group[0]
    when = look.paint(padded(shown(ago(first.get("at"), look.now_s)), wide), "dim")
    who = headed(author_words(first.get("by"), first.get("device_name") or first.get("device")))
    room = look.width - wide - cells(who) - 2
    return f"{when}  {who}{_deed(group, ids, room, look)}".rstrip()


def _deed(group: Sequence[Change], ids: dict[str, str], room: int, look: Look) -> str:
    """Say what was touched: "added task 3f2a  Title", "confirmed proposal 99be"."""
    first = group[0]
    after = {change.get("field"): change.get("after") for change in group}
    if first.get("kind") == "decision" and after.get("verdict"):
        item = str(after.get("item_id") or "")[:SHORT_MIN]
        verdict = names.proposal_status(_VERDICTS.get(str(after["verdict"]), after["verdict"]))
        item = look.paint(shown(item), "cyan")
        return _("{verdict} proposal {item}").format(verdict=verdict, item=item)
    added = any(change.get("field") in _NAMES and change.get("before") is None for change in group)
    kind = names.kind(first.get("kind"))
    short = shown(ids.get(first.get("entity", ""), ""))
    what = _("added {kind}").format(kind=kind) if added else kind
    title = cut(shown(first.get("title") or ""), max(room - cells(what) - cells(short) - 3, _TITLE_WIDTH_MIN))
    return f"{what} {look.paint(short, 'cyan')}  {title}"


def _fields(group: Sequence[Change], wide: int, look: Look) -> Iterator[str]:
    margin = " " * (wide + 2)
    width = min(look.width, _WIDTH_MAX) - len(margin)
    for change in group:
        if _is_telling(change):
            yield from (margin + line for line in _lines(change, width, look))
    # One commit has one cause.
    if why := group[-1].get("why"):
        lines = wrapped(_("why: {why}").format(why=cause(why)), width)
        yield from (margin + look.paint(line, "dim") for line in lines)


def _lines(change: Change, width: int, look: Look) -> Iterator[str]:
    before, after = change.get("before"), change.get("after")
    newer = look.paint(f"  {_('(of a newer version)')}", "dim") if change.get("unknown") else ""
    if isinstance(before, str) and isinstance(after, str) and max(len(before), len(after)) > _LONG_CHARS:
        from daemon.cli.differing import word_changes

        yield from wrapped(headed(field_words(change.get("field", ""))) + word_changes(before, after), width)
        return
    yield f"{_what(change, look)}{newer}"


def _is_telling(change: Change) -> bool:
    """Leave out what only machines read, and what a new thing has by default or in its heading."""
    field = str(change.get("field") or "")
    if not field or field in _FOR_MACHINES or (change.get("kind") == "decision" and field != "reason"):
        return False
    new = change.get("before") is None
    return not new or (field not in _NAMES and change.get("after") not in (None, False, ""))


def _what(change: Change, look: Look) -> str:
    field, before, after = change.get("field", ""), change.get("before"), change.get("after")
    group, is_member, member = field.partition("_ids/")
    if is_member:
        return f"{headed(field_words(group))}{look.paint(('+' if after else '-') + shown(member), 'green')}"
    name = headed(field_words(field))
    if before is None:
        return f"{name}{look.paint(value_words(after, field), 'green')}"
    return f"{name}{before_after(before, after, field, look)}"


def event_lines(event: Event, told: Any, look: Look) -> Iterator[str]:
    """Draw one event of the stream: a commit by what it changed, a state in words, anything else as it is."""
    if event.name == "state" and isinstance(told, dict):
        name = shown(told.get("device_name") or told.get("device") or "?")
        differs = _("{device} holds the same changes and shows something else")
        agrees = _("{device} holds the same changes and shows the same again")
        yield look.paint((differs if told.get("differs") else agrees).format(device=name), "yellow")
        return
    changes = told.get("changes") if isinstance(told, dict) else None
    if isinstance(changes, list) and changes:
        yield from change_list(changes, look)
        return
    what = value_words(told) if isinstance(told, dict | list) else shown(told)
    yield f"{look.paint(shown(event.id), 'dim')}  {shown(event.name)}  {what}"
