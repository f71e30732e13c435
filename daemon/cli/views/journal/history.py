"""The history: who changed what, when, on which device, from what to what, and why.

Never shows a person what only machines read; the plain and JSON forms have all of it.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from daemon.cli.terminal.painted import change_words
from daemon.cli.views.journal.agent_words import argument_lines
from daemon.words import terms
from daemon.words.changes import NAMING_FIELDS, is_telling
from daemon.words.dates import relative_future_time, relative_time
from daemon.words.proposals import VERDICTS_ON_ASKS
from daemon.words.sentences import answer_words
from daemon.words.short_ids import SHORT_ID_CHARS_MIN, short_ids_of
from daemon.words.terminal_text import display_width, escape, pad_right, truncate, wrap_lines
from daemon.words.translation import _, ngettext, pgettext_noop
from daemon.words.values import author_words, field_words, value_words, with_colon

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from daemon.cli.api.client import StreamEvent
    from daemon.cli.terminal.display import Display
    from daemon.shapes.answers import ChangeJson

_WHEN_WIDTH_MIN: Final = 11
_WIDTH_MAX: Final = 100
_TITLE_WIDTH_MIN: Final = 16
# Of what is longer, only what changed is shown.
_LONG_CHARS: Final = 60
pgettext_noop("proposal", "took back")
_VERDICTS: Final = {"undone": "took back"}
_ROW_KEYS: Final = (
    "seq",
    "at",
    "by",
    "device",
    "kind",
    "entity",
    "field",
    "before",
    "after",
    "why",
    "change",
    "undone",
)


def change_rows(changes: Iterable[ChangeJson]) -> Iterator[Sequence[object]]:
    """Give the plain columns, those that `placet log --help` names."""
    for change in changes:
        yield tuple(change.get(key) for key in _ROW_KEYS)


def change_list(changes: Sequence[ChangeJson], display: Display) -> Iterator[str]:
    """Draw the changes: a line for what a commit touched, and one for each field that a person would know."""
    ids = short_ids_of(changes, "entity")
    moments = (escape(relative_time(change.get("at"), display.now_s)) for change in changes)
    wide = max(_WHEN_WIDTH_MIN, *map(display_width, moments), 0)
    for _touch, group in groupby(changes, key=_commit_and_entity):
        together = list(group)
        yield _heading_line(together, ids, wide, display)
        yield from _fields(together, wide, display)


def _commit_and_entity(change: ChangeJson) -> tuple[object, object]:
    return change.get("seq"), change.get("entity")


def _heading_line(group: Sequence[ChangeJson], ids: dict[str, str], wide: int, display: Display) -> str:
    first = group[0]
    when = display.paint(pad_right(escape(relative_time(first.get("at"), display.now_s)), wide), "dim")
    device = first.get("device_name") or first.get("device")
    who = with_colon(author_words(first.get("by"), device, first.get("as_proposed")))
    name = _change_name(first)
    room = display.width - wide - display_width(who) - 2 - (display_width(name) + 2 if name else 0)
    deed = f"{when}  {who}{_deed_words(group, ids, room, display)}".rstrip()
    return f"{deed}  {display.paint(name, 'dim')}" if name else deed


def _change_name(change: ChangeJson) -> str:
    """Return the name by which a change is undone, with whether it was; empty if there is none."""
    name = escape(change.get("change") or "")
    return _("{change} (undone)").format(change=name) if name and change.get("undone") else name


def _deed_words(group: Sequence[ChangeJson], ids: dict[str, str], room: int, display: Display) -> str:
    """Say what was touched: "added task 3f2a  Title", "confirmed proposal 99be"."""
    first = group[0]
    after = {change.get("field"): change.get("after") for change in group}
    if first.get("kind") == "decision" and after.get("verdict"):
        item = str(after.get("item_id") or "")[:SHORT_ID_CHARS_MIN]
        verdict = terms.proposal_status(_VERDICTS.get(str(after["verdict"]), after["verdict"]))
        item = display.paint(escape(item), "cyan")
        if first.get("is_about_ask"):
            verdict = terms.proposal_status(VERDICTS_ON_ASKS.get(str(after["verdict"]), after["verdict"]))
            words = _("{verdict} ask {item}").format(verdict=verdict, item=item)
        else:
            words = _("{verdict} proposal {item}").format(verdict=verdict, item=item)
        idle = {
            "other_device": lambda: _("not from another device: it does not count"),
            "passkey": lambda: _("without a passkey: it does not count"),
        }.get(str(first.get("lacks")))
        words = words if idle is None else f"{words} ({idle()})"
        title = truncate(escape(first.get("title") or ""), max(room - display_width(words), _TITLE_WIDTH_MIN))
        return f"{words}  {title}" if title else words
    if first.get("kind") == "use" and after.get("ask_id"):
        words = _("used the permission {item}").format(
            item=display.paint(escape(str(after["ask_id"])[:SHORT_ID_CHARS_MIN]), "cyan")
        )
        title = truncate(escape(first.get("title") or ""), max(room - display_width(words), _TITLE_WIDTH_MIN))
        return f"{words}  {title}"
    added = any(change.get("field") in NAMING_FIELDS and change.get("before") is None for change in group)
    kind = terms.kind_name(first.get("kind"))
    short = escape(ids.get(first.get("entity", ""), ""))
    what = _("added {kind}").format(kind=kind) if added else kind
    title = truncate(
        escape(first.get("title") or ""),
        max(room - display_width(what) - display_width(short) - 3, _TITLE_WIDTH_MIN),
    )
    return f"{what} {display.paint(short, 'cyan')}  {title}"


def _fields(group: Sequence[ChangeJson], wide: int, display: Display) -> Iterator[str]:
    margin = " " * (wide + 2)
    width = min(display.width, _WIDTH_MAX) - len(margin)
    for change in group:
        if is_telling(change):
            yield from (margin + line for line in _lines(change, width, display))
    # One commit has one cause.
    if reason := answer_words(group[-1], "why"):
        lines = wrap_lines(_("why: {why}").format(why=reason), width)
        yield from (margin + display.paint(line, "dim") for line in lines)
    yield from (margin + line for line in argument_lines(group[-1], width, display))


def _lines(change: ChangeJson, width: int, display: Display) -> Iterator[str]:
    before, after = change.get("before"), change.get("after")
    if change.get("left_out"):
        yield display.paint(with_colon(field_words(change.get("field", ""))) + _("not shown here"), "dim")
        return
    newer = display.paint(f"  {_('(of a newer version)')}", "dim") if change.get("unknown") else ""
    if isinstance(before, str) and isinstance(after, str) and max(len(before), len(after)) > _LONG_CHARS:
        from daemon.words.text_diff import word_changes

        yield from wrap_lines(
            with_colon(field_words(change.get("field", ""))) + word_changes(before, after), width
        )
        return
    yield f"{_what(change, display)}{newer}"


def _what(change: ChangeJson, display: Display) -> str:
    field, before, after = change.get("field", ""), change.get("before"), change.get("after")
    group, is_member, member = field.partition("_ids/")
    if is_member:
        sign = "+" if after else "-"
        return f"{with_colon(field_words(group))}{display.paint(sign + escape(member), 'green')}"
    name = with_colon(field_words(field))
    if before is None:
        return f"{name}{display.paint(value_words(after, field), 'green')}"
    return f"{name}{change_words(before, after, field, display)}"


def event_lines(event: StreamEvent, answer: Any, display: Display) -> Iterator[str]:
    """Draw one event of the stream: a commit by what it changed, a state in words, anything else as it is."""
    if event.name == "state" and isinstance(answer, dict):
        name = escape(answer.get("device_name") or answer.get("device") or "?")
        differs = _("{device} holds the same changes and shows something else")
        agrees = _("{device} holds the same changes and shows the same again")
        yield display.paint((differs if answer.get("differs") else agrees).format(device=name), "yellow")
        return
    if event.name == "expiring" and isinstance(answer, dict):
        yield display.paint(_expiry_words(answer, display), "yellow")
        return
    if event.name == "mailbox" and isinstance(answer, dict):
        yield _mailbox_line(answer, display)
        return
    changes = answer.get("changes") if isinstance(answer, dict) else None
    if isinstance(changes, list) and changes:
        yield from change_list(changes, display)
        return
    what = value_words(answer) if isinstance(answer, dict | list) else escape(answer)
    yield f"{display.paint(escape(event.id), 'dim')}  {escape(event.name)}  {what}"


def _expiry_words(answer: dict[str, Any], display: Display) -> str:
    when = relative_future_time(answer.get("expires_at"), display.now_s)
    if permissions := len(answer.get("ask_ids") or ()):
        words = ngettext(
            "{count} permission runs out {when}: placet asks",
            "{count} permissions run out within a day, the first {when}: placet asks",
            permissions,
        )
        return words.format(count=permissions, when=when)
    count = len(answer.get("item_ids") or ())
    words = ngettext(
        "{count} proposal expires {when}: placet pending",
        "{count} proposals expire within a day, the first {when}: placet pending",
        count,
    )
    return words.format(count=count, when=when)


def _mailbox_line(answer: dict[str, Any], display: Display) -> str:
    """Say what was done in a mailbox so far, or why it cannot be used."""
    name = escape(answer.get("mailbox") or "?")
    if answer.get("trouble"):
        return with_colon(name) + display.paint(escape(answer_words(answer, "trouble")), "yellow")
    return _("{mailbox}: {taken} taken, {put} left, {cleared} cleared up").format(
        mailbox=name,
        taken=escape(answer.get("taken")),
        put=escape(answer.get("put")),
        cleared=escape(answer.get("cleared")),
    )
