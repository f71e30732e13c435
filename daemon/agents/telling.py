"""Sentences about what a decision meets and what an undo leaves, made by code.

Never written to the journal: they are answers, in forms that the command line can say in other languages.
"""

from dataclasses import replace

from daemon.agents import wording
from daemon.agents.comparing import compared, differing, is_own
from daemon.agents.judging import Case, current
from daemon.agents.tools import TOOLS, Writes
from store.snapshot import Snapshot
from syncproto.codec import Value
from syncproto.heads import covers


def changed(found: Case) -> str:
    """Say that what an item rests on has changed, and of one value what it was, is and would be."""
    if TOOLS[found.item.tool].writes is Writes.MEMBER:
        return "you changed this label since: --force applies it anyway"
    fields = differing(found)
    if len(fields) > 1:
        return "several of its values changed since: --force applies it anyway"
    told, field = compared(found), fields[0]
    base, now, then = (
        side.get(field) if isinstance(side, dict) else side
        for side in (told.base, told.current, told.proposed)
    )
    if base == now:
        return (
            f"{wording.field_name(field)} was set again since: it is {value_words(now)} as before,"
            f" and would be {value_words(then)}; --force applies it anyway"
        )
    return (
        f"{wording.field_name(field)} changed since: it was {value_words(base)}, is {value_words(now)},"
        f" and would be {value_words(then)}; --force applies it anyway"
    )


def left_by_undo(snapshot: Snapshot, before: Case) -> str:
    """Say what shows after an undo; `before` is the case as it was confirmed."""
    left = replace(before, target=snapshot.entity(before.effect.entity))
    if left.effect.creates:
        stays = left.target is not None and left.target.visible
        return "undone, but the item stays: you changed it since" if stays else "undone: the item is gone"
    if TOOLS[left.item.tool].writes is Writes.MEMBER:
        stays = any(current(left, field) is True for field in left.effect.fields)
        return "undone, but the task has the label: you gave it" if stays else "undone: the label is off"
    fields = [field for field in left.effect.fields if field not in left.effect.accompanying]
    if len(fields) == 1:
        return f"undone: {_left(snapshot, left, fields[0])}"
    if any(_is_later_edit(snapshot, left, field) for field in fields):
        return "undone, but your later edits stay"
    return "undone: all that it changed is as it was"


def _left(snapshot: Snapshot, left: Case, field: str) -> str:
    """Name the value that shows, and say where it is one that a person wrote since the proposal."""
    stays = "your later edit stays, " if _is_later_edit(snapshot, left, field) else ""
    return f"{stays}{wording.field_name(field)} is {value_words(current(left, field))}"


def _is_later_edit(snapshot: Snapshot, left: Case, field: str) -> bool:
    """Say whether what shows is a person's own word that no run had seen when it proposed this."""
    version = None if left.target is None else left.target.version(field)
    if version is None or not is_own(version):
        return False
    return not any(covers(one.base, version.source.head, snapshot.log) for one in left.item.occurrences)


def value_words(value: Value) -> str:
    """Write a value as it stands in a sentence."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "empty" if value is None else str(value)
