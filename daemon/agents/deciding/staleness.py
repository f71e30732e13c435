"""How the values that an item rests on differ from the current ones: whether it is stale, and side by side.

Never writes, and never checks whether a person may apply a stale item all the same.
"""

from dataclasses import dataclass
from typing import Any

from daemon.agents.deciding.item_state import ItemState, current_value
from daemon.agents.tools.effects import effect_of
from daemon.journal.fields.validation import REASON_CHARS_MAX
from daemon.journal.references.names import short_text
from store.fold.field_versions import RANK_USER, Version
from store.fold.item import Occurrence
from store.snapshot import Snapshot
from syncproto import codec
from syncproto.codec import Value
from syncproto.vector_clock import covers


@dataclass(frozen=True, slots=True)
class ValueComparison:
    """What a proposal rested on, what is there now, and what it proposes, as people see it.

    Each is the value of the field that the item writes. If it writes several, each is a map from field to
    value.
    """

    base: Any
    current: Any
    proposed: Any


def changed_fields(state: ItemState) -> list[str]:
    """Return the fields that an item writes and that are not as its run saw them.

    For an item that creates, these are the fields to which somebody gave another value than the proposed one.
    If all values are as they were, these are the fields that somebody has written again.
    """
    fields = state.effect.fields
    # The run saw nothing of an item that did not exist yet.
    seen_values = dict(fields) if state.effect.creates else _seen_values(state)
    changed = [
        field
        for field in fields
        if field in seen_values and current_value(state, field) != seen_values[field]
    ]
    return changed or [field for field in fields if _versions_of_others(state, field)] or list(fields)


def compare_values(state: ItemState) -> ValueComparison:
    """Compare the values of all fields that an item writes.

    For an item that creates, these are the fields that were changed there, or else its title.
    """
    fields = list(state.effect.fields)
    if state.effect.creates:
        fields = changed_fields(state) if state.target_exists else fields[:1]
    seen_values, wanted = _seen_values(state), state.effect.fields
    sides = {field: (seen_values.get(field), current_value(state, field), wanted[field]) for field in fields}
    shown_sides = {field: side for field, side in sides.items() if _is_worth_showing(state, field, side)}
    parts = [
        {field: _as_shown(state, field, side[index]) for field, side in shown_sides.items()}
        for index in range(3)
    ]
    base, now, then = (next(iter(part.values())) if len(part) == 1 else part for part in parts)
    return ValueComparison(base, now, then)


def _is_worth_showing(state: ItemState, field: str, side: tuple[Value, ...]) -> bool:
    """Report whether to show a field. An accompanying reason that is empty before and after is not shown."""
    return field not in state.effect.accompanying or any(value is not None for value in side)


def _as_shown(state: ItemState, field: str, value: Value) -> Value:
    """Return a value as people understand it: a yes-or-no field was a no before anyone wrote it.

    Of a value that is longer than any of Placet's, only the beginning: each proposal for its field shows it.
    """
    if isinstance(state.effect.fields[field], bool):
        return value is True
    if isinstance(value, str):
        return short_text(value, REASON_CHARS_MAX)
    return value if len(codec.encode(value)) <= REASON_CHARS_MAX else "…"


def _seen_values(state: ItemState) -> dict[str, Value]:
    newest = max(
        state.item.occurrences, key=lambda occurrence: (occurrence.created_ms, occurrence.change_set)
    )
    return newest.value if isinstance(newest.value, dict) else {}


# -- stale -------------------------------------------------------------------------------------------


def is_stale(snapshot: Snapshot, state: ItemState) -> bool:
    """Report whether the base of the item has changed since every run that proposed it.

    The item is fresh if each maximal live version of each field that it writes is in the proposal's base or
    is the item's own, and if the value is the one that was seen. An item that creates is stale only if the
    entity already exists because a person touched it, and somebody else wrote the fields that the item would
    write.
    """
    if state.target is None or not state.target_exists:
        return False
    if state.effect.creates:
        return any(_versions_of_others(state, field) for field in state.effect.fields)
    if state.answer is not None and state.effect.is_already_applied(
        lambda field: current_value(state, field)
    ):
        return False  # whoever chooses an answer that is true already contradicts nobody
    return not any(_is_fresh(snapshot, state, occurrence) for occurrence in state.item.occurrences)


def _versions_of_others(state: ItemState, field: str) -> list[Version]:
    """Return the maximal versions of a field that neither the item nor its question wrote."""
    versions = [] if state.target is None else state.target.versions(field)
    return [version for version in versions if not state.wrote(version)]


def _is_fresh(snapshot: Snapshot, state: ItemState, occurrence: Occurrence) -> bool:
    """Report whether all that the agent proposed to write is as this run saw it.

    A field that only a person's edit adds was not considered by the run. It must not have been written since.
    """
    seen_values = occurrence.value if isinstance(occurrence.value, dict) else {}
    judged = effect_of(state.item.tool, state.proposed, state.item.id, state.item.task).fields
    added = [field for field in state.effect.fields if field not in judged]
    return all(
        _is_as_seen(snapshot, state, occurrence, field, seen_values.get(field)) for field in judged
    ) and all(_is_unwritten(snapshot, state, occurrence, field) for field in added)


def _is_unwritten(snapshot: Snapshot, state: ItemState, occurrence: Occurrence, field: str) -> bool:
    """Report whether a run had seen every version of a field, except the item's own."""
    return all(
        covers(occurrence.base, version.source.head, snapshot.log)
        for version in _versions_of_others(state, field)
    )


def _is_as_seen(
    snapshot: Snapshot, state: ItemState, occurrence: Occurrence, field: str, seen_value: Value
) -> bool:
    """Report whether a field is as the run saw it, except for the item's own versions."""
    assert state.target is not None
    if not _is_unwritten(snapshot, state, occurrence, field):
        return False
    winner = state.target.version(field)
    # What the item itself wrote, once it was confirmed, is no change of what it rests on.
    is_own = winner is not None and state.wrote(winner)
    return is_own or current_value(state, field) == seen_value


def is_persons_direct_write(version: Version | None) -> bool:
    """Report whether a person wrote a version directly, and not by a confirmation."""
    return version is not None and version.source.rank == RANK_USER
