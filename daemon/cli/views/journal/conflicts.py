"""Conflicts: what was said of one thing on several devices, numbered, with the command that settles it.

Never says which is right.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

from daemon.words import terms
from daemon.words.dates import relative_time
from daemon.words.sentences import answer_words
from daemon.words.short_ids import SHORT_ID_CHARS_MIN, short_ids_of
from daemon.words.terminal_text import escape, wrap_lines
from daemon.words.translation import _, ngettext
from daemon.words.values import author_words, field_words, in_quotation_marks, value_words, with_colon

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from daemon.cli.terminal.display import Display
    from daemon.shapes.answers import ConflictJson


def conflict_rows(conflicts: Iterable[ConflictJson]) -> Iterator[Sequence[object]]:
    """Give the plain columns: entity, field, number, value, author, device, time, kind, task."""
    for conflict in conflicts:
        get = conflict.get
        for number, version in enumerate(conflict.get("versions") or (), 1):
            fields = _version(version)
            who = fields.get("by"), fields.get("device_name"), fields.get("at")
            yield get("entity"), get("field"), number, fields.get("value"), *who, get("kind"), get("task_id")


def conflict_list(conflicts: Sequence[ConflictJson], display: Display) -> Iterator[str]:
    """Draw conflicts beneath the tasks that they are on."""
    ids = short_ids_of(conflicts, "entity")
    for place, (_task, group) in enumerate(groupby(conflicts, key=lambda conflict: conflict.get("task_id"))):
        together = list(group)
        if place:
            yield ""
        title = together[0].get("task_title")
        yield display.paint(escape(title or _("Beside the tasks")), "bold")
        for member in together:
            yield from conflict_lines(member, display, ids.get(str(member.get("entity")), ""))


def conflict_lines(conflict: ConflictJson, display: Display, short: str = "") -> Iterator[str]:
    """Draw one conflict: what it is on, each version with who, where and when, how to settle it."""
    yield display.paint(_subject(conflict), "red")
    for number, version in enumerate(conflict.get("versions") or (), 1):
        fields = _version(version)
        who = author_words(fields.get("by"), fields.get("device_name"), fields.get("as_proposed"))
        text = display.paint(
            ", ".join(filter(None, [who, relative_time(fields.get("at"), display.now_s)])), "dim"
        )
        now = f" {display.symbol('·')} {_('in effect')}" if number == 1 else ""
        first, *rest = wrap_lines(_words(fields, conflict), max(display.width - 40, 30))
        yield f"  {number}  {first}  {text}{display.paint(now, 'dim')}"
        yield from (f"     {line}" for line in rest)
    if left_out := conflict.get("left_out"):
        words = ngettext("{count} more value is not shown", "{count} more values are not shown", left_out)
        yield display.paint(f"     {words.format(count=left_out)}", "dim")
    entity = short or str(conflict.get("entity") or "")[:SHORT_ID_CHARS_MIN]
    field = _shell_quoted(str(conflict.get("name") or conflict.get("field") or ""))
    if entity:
        yield display.paint(f"  placet conflicts keep {escape(entity)} {field} N", "dim")


def kept_rows(fields: dict[str, Any]) -> Iterator[Sequence[object]]:
    """Give the plain columns of what was kept: entity, field, value, author, device, time."""
    version = _version(fields.get("kept"))
    who = version.get("by"), version.get("device_name"), version.get("at")
    yield (fields.get("entity"), fields.get("field"), version.get("value"), *who)


def kept_lines(fields: dict[str, Any], display: Display) -> Iterator[str]:
    """Answer what was kept, and draw what is still in conflict on the same thing."""
    version = _version(fields.get("kept"))
    short = display.paint(escape(str(fields.get("entity") or "")[:SHORT_ID_CHARS_MIN]), "cyan")
    who = author_words(version.get("by"), version.get("device_name"), version.get("as_proposed"))
    words = f"{with_colon(_name(fields))}{escape(_words(version, fields))}  {display.paint(who, 'dim')}"
    yield f"{display.paint(display.symbol('✓'), 'green')} {_('Kept')} {short}  {words}"
    for conflict in fields.get("left") or ():
        yield from conflict_lines(conflict, display)
    if count := fields.get("left_out"):
        words = ngettext(
            "{count} more is not shown: {command}", "{count} more are not shown: {command}", count
        )
        yield display.paint(words.format(count=count, command="placet conflicts"), "yellow")


def _version(version: Any) -> dict[str, Any]:
    return version if isinstance(version, dict) else {"value": version}


def _words(fields: dict[str, Any], conflict: Mapping[str, Any]) -> str:
    if words := answer_words(fields, "words"):
        return words
    value = fields.get("value")
    value_text = value_words(value, conflict.get("field", ""))
    return in_quotation_marks(value_text) if isinstance(value, str) and value else value_text


def _subject(conflict: Mapping[str, Any]) -> str:
    """Say what is disputed: "two words on title", "deleted while it was edited"."""
    kind = str(conflict.get("kind") or "task")
    title = str(conflict.get("title") or "")
    what = f"{terms.kind_name(kind)} {in_quotation_marks(escape(title))}" if title else terms.kind_name(kind)
    words = _("two words on {field}:").format(field=_name(conflict))
    if conflict.get("field") == "deleted":
        words = _("deleted while it was edited:")
    return words if kind == "task" else f"{what}, {words}"


def _name(conflict: Mapping[str, Any]) -> str:
    """Say a field in words; of a set, the member."""
    name, slash, member = str(conflict.get("name") or conflict.get("field") or "").partition("/")
    return f"{field_words(name.removesuffix('_ids'))} {escape(member)}" if slash else field_words(name)


def _shell_quoted(field: str) -> str:
    import shlex

    return escape(shlex.quote(field))
