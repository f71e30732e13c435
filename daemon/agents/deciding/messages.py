"""Sentences about why a decision is stale, and about what an undo leaves.

Never written to the journal: they are answers, which clients translate.
"""

from dataclasses import replace

from daemon.agents.deciding.item_state import ItemState, current_value
from daemon.agents.deciding.staleness import changed_fields, compare_values, is_persons_direct_write
from daemon.agents.tools import summaries
from daemon.agents.tools.table import REMOVE_TASK_LABEL, TOOLS, WriteTarget
from store.sentence import Sentence, sentence
from store.snapshot import Snapshot
from syncproto.codec import Value
from syncproto.vector_clock import covers


def stale_message(state: ItemState) -> Sentence:
    """Return that the base of an item has changed; for one field, with all its values."""
    if TOOLS[state.item.tool].writes is WriteTarget.MEMBER:
        return sentence("stale-label", "you changed this label since")
    fields = changed_fields(state)
    if len(fields) > 1:
        return sentence("stale-several-values", "several of its values changed since")
    compared, field = compare_values(state), fields[0]
    base, now, then = (
        side.get(field) if isinstance(side, dict) else side
        for side in (compared.base, compared.current, compared.proposed)
    )
    if base == now:
        return sentence(
            "stale-value-set-again",
            "{field} was set again since: it is {value} as before, and would be {proposed}",
            field=summaries.field_label(field),
            value=value_text(now, field),
            proposed=value_text(then, field),
        )
    return sentence(
        "stale-value",
        "{field} changed since: it was {base}, is {value}, and would be {proposed}",
        field=summaries.field_label(field),
        base=value_text(base, field),
        value=value_text(now, field),
        proposed=value_text(then, field),
    )


def undo_message(snapshot: Snapshot, before: ItemState) -> Sentence:
    """Return what people see after an undo. `before` is the state of the item as it was confirmed."""
    after = replace(before, target=snapshot.entity(before.effect.entity))
    if after.effect.creates:
        return _undone_creation(after)
    if TOOLS[after.item.tool].writes is WriteTarget.MEMBER:
        is_there = any(current_value(after, field) is True for field in after.effect.fields)
        if after.item.tool == REMOVE_TASK_LABEL:
            if is_there:
                return sentence("undone-label-on", "undone: the label is on again")
            return sentence("undone-label-stays-off", "undone, but the label stays off: you took it off")
        if is_there:
            return sentence("undone-label-stays", "undone, but the task has the label: you gave it")
        return sentence("undone-label-off", "undone: the label is off")
    fields = [field for field in after.effect.fields if field not in after.effect.accompanying]
    if not fields:
        return sentence("undone-answer", "undone: the answer is taken back")
    if len(fields) == 1:
        return _undone_field(snapshot, after, fields[0])
    if any(_is_later_edit(snapshot, after, field) for field in fields):
        return sentence("undone-edits-stay", "undone, but your later edits stay")
    return sentence("undone-all", "undone: all that it changed is as it was")


def _undone_creation(after: ItemState) -> Sentence:
    stays = after.target is not None and after.target.visible
    if after.effect.kind == "task":
        if stays:
            return sentence("undone-task-stays", "undone, but the task stays: you changed it since")
        return sentence("undone-task-gone", "undone: the task is gone")
    if stays:
        return sentence("undone-item-stays", "undone, but the item stays: you changed it since")
    return sentence("undone-item-gone", "undone: the item is gone")


def _undone_field(snapshot: Snapshot, after: ItemState, field: str) -> Sentence:
    """Return the value of the only field, and whether a person wrote it after the proposal."""
    label, value = summaries.field_label(field), value_text(current_value(after, field), field)
    if _is_later_edit(snapshot, after, field):
        return sentence(
            "undone-edit-stays",
            "undone: your later edit stays, {field} is {value}",
            field=label,
            value=value,
        )
    return sentence("undone-field", "undone: {field} is {value}", field=label, value=value)


def _is_later_edit(snapshot: Snapshot, after: ItemState, field: str) -> bool:
    """Report whether a person wrote the current value directly, and no proposing run had seen it."""
    version = None if after.target is None else after.target.version(field)
    if version is None or not is_persons_direct_write(version):
        return False
    return not any(
        covers(occurrence.base, version.source.head, snapshot.log) for occurrence in after.item.occurrences
    )


def value_text(value: Value, field: str) -> Sentence | str:
    """Return the value of a field as it is written in a sentence."""
    if isinstance(value, bool):
        return sentence("value-yes", "yes") if value else sentence("value-no", "no")
    if value is None:
        return sentence("value-empty", "empty")
    return sentence("value-status", "{status}", status=str(value)) if field == "status" else str(value)
