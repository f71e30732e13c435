"""Conflicts: what was said of one thing on several devices, numbered, with the command that settles it.

Never says which is right.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

from daemon.cli import names
from daemon.cli.sentences import retold
from daemon.cli.short import SHORT_MIN, shorts
from daemon.cli.text import shown, wrapped
from daemon.cli.views.values import author_words, field_words, headed, quoted_words, value_words
from daemon.cli.when import ago
from daemon.cli.words import _

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from daemon.cli.look import Look
    from daemon.cli.shapes import Conflict


def conflict_rows(conflicts: Iterable[Conflict]) -> Iterator[Sequence[object]]:
    """Give the plain columns: entity, field, number, value, author, device, time, kind, task."""
    for one in conflicts:
        get = one.get
        for number, version in enumerate(one.get("versions") or (), 1):
            told = _version(version)
            who = told.get("by"), told.get("device_name"), told.get("at")
            yield get("entity"), get("field"), number, told.get("value"), *who, get("kind"), get("task_id")


def conflict_list(conflicts: Sequence[Conflict], look: Look) -> Iterator[str]:
    """Draw conflicts beneath the tasks that they are on."""
    ids = shorts(conflicts, "entity")
    for place, (_task, group) in enumerate(groupby(conflicts, key=lambda one: one.get("task_id"))):
        together = list(group)
        if place:
            yield ""
        title = together[0].get("task_title")
        yield look.paint(shown(title or _("Beside the tasks")), "bold")
        for one in together:
            yield from conflict_lines(one, look, ids.get(str(one.get("entity")), ""))


def conflict_lines(conflict: Conflict, look: Look, short: str = "") -> Iterator[str]:
    """Draw one conflict: what it is on, each version with who, where and when, how to settle it."""
    yield look.paint(_subject(conflict), "red")
    for number, version in enumerate(conflict.get("versions") or (), 1):
        told = _version(version)
        who = author_words(told.get("by"), told.get("device_name"))
        said = look.paint(", ".join(filter(None, [who, ago(told.get("at"), look.now_s)])), "dim")
        now = f" {look.sign('·')} {_('in effect')}" if number == 1 else ""
        first, *rest = wrapped(_words(told, conflict), max(look.width - 40, 30))
        yield f"  {number}  {first}  {said}{look.paint(now, 'dim')}"
        yield from (f"     {line}" for line in rest)
    entity = short or str(conflict.get("entity") or "")[:SHORT_MIN]
    field = _quoted(str(conflict.get("name") or conflict.get("field") or ""))
    if entity:
        yield look.paint(f"  placet conflicts keep {shown(entity)} {field} N", "dim")


def kept_row(told: dict[str, Any]) -> Iterator[Sequence[object]]:
    """Give the plain columns of what was kept: entity, field, value, author, device, time."""
    version = _version(told.get("kept"))
    who = version.get("by"), version.get("device_name"), version.get("at")
    yield (told.get("entity"), told.get("field"), version.get("value"), *who)


def kept_lines(told: dict[str, Any], look: Look) -> Iterator[str]:
    """Answer what was kept, and draw what is still in conflict on the same thing."""
    version = _version(told.get("kept"))
    short = look.paint(shown(str(told.get("entity") or "")[:SHORT_MIN]), "cyan")
    who = author_words(version.get("by"), version.get("device_name"))
    words = f"{headed(_name(told))}{shown(_words(version, told))}  {look.paint(who, 'dim')}"
    yield f"{look.paint(look.sign('✓'), 'green')} {_('Kept')} {short}  {words}"
    for one in told.get("left") or ():
        yield from conflict_lines(one, look)


def _version(version: Any) -> dict[str, Any]:
    return version if isinstance(version, dict) else {"value": version}


def _words(told: dict[str, Any], conflict: Mapping[str, Any]) -> str:
    words = str(told.get("words") or "")
    if words:
        # For an id they are the name of what it stands for, which a person gave.
        return words if str(conflict.get("field")).endswith("_id") else retold(words)
    value = told.get("value")
    said = value_words(value, conflict.get("field", ""))
    return quoted_words(said) if isinstance(value, str) and value else said


def _subject(conflict: Mapping[str, Any]) -> str:
    """Say what is disputed: "two words on title", "deleted while it was edited"."""
    kind = str(conflict.get("kind") or "task")
    title = str(conflict.get("title") or "")
    what = f"{names.kind(kind)} {quoted_words(shown(title))}" if title else names.kind(kind)
    words = _("two words on {field}:").format(field=_name(conflict))
    if conflict.get("field") == "deleted":
        words = _("deleted while it was edited:")
    return words if kind == "task" else f"{what}, {words}"


def _name(conflict: Mapping[str, Any]) -> str:
    """Say a field in words; of a set, the member."""
    name, slash, member = str(conflict.get("name") or conflict.get("field") or "").partition("/")
    return f"{field_words(name.removesuffix('_ids'))} {shown(member)}" if slash else field_words(name)


def _quoted(field: str) -> str:
    import shlex

    return shown(shlex.quote(field))
