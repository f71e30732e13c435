"""How what an item rests on differs from what is there now: stale, and the values side by side.

Never writes, and never asks whether a person may put it through all the same.
"""

from dataclasses import dataclass
from typing import Any

from daemon.agents.effects import effect_of
from daemon.agents.judging import Case, current
from store.fold import RANK_USER, Version
from store.item import Occurrence
from store.snapshot import Snapshot
from syncproto.codec import Value
from syncproto.heads import covers


@dataclass(frozen=True, slots=True)
class Compared:
    """What a proposal rested on, what is there now, and what it proposes, as people are shown it.

    Each is the value of the field that it writes, or, where it writes several, a map from field to value.
    """

    base: Any
    current: Any
    proposed: Any


def differing(found: Case) -> list[str]:
    """Return the fields that an item writes and that are not as its run saw them.

    Of what it would make, those that somebody has given another value than the proposed one. Where values
    are as they were, those that somebody has written anew.
    """
    fields = found.effect.fields
    seen = dict(fields) if found.effect.creates else _seen(found)
    changed = [field for field in fields if field in seen and current(found, field) != seen[field]]
    return changed or [field for field in fields if _others(found, field)] or list(fields)


def compared(found: Case) -> Compared:
    """Compare all that an item writes; of what it would make, what was changed there, or else its title."""
    fields = list(found.effect.fields)
    if found.effect.creates:
        fields = differing(found) if found.stands else fields[:1]
    seen, wanted = _seen(found), found.effect.fields
    sides = {field: (seen.get(field), current(found, field), wanted[field]) for field in fields}
    told = {field: side for field, side in sides.items() if _tells(found, field, side)}
    parts = [{field: _flat(found, field, side[at]) for field, side in told.items()} for at in range(3)]
    base, now, then = (next(iter(part.values())) if len(part) == 1 else part for part in parts)
    return Compared(base, now, then)


def _tells(found: Case, field: str, side: tuple[Value, ...]) -> bool:
    """Say whether a field is worth showing: a reason that was not there and will not be is not."""
    return field not in found.effect.accompanying or any(value is not None for value in side)


def _flat(found: Case, field: str, value: Value) -> Value:
    """Return a value as people take it: what is a yes or a no was a no before anyone wrote it."""
    return value is True if isinstance(found.effect.fields[field], bool) else value


def _seen(found: Case) -> dict[str, Value]:
    newest = max(found.item.occurrences, key=lambda one: (one.created_ms, one.change_set))
    return newest.value if isinstance(newest.value, dict) else {}


# -- stale -------------------------------------------------------------------------------------------


def is_stale(snapshot: Snapshot, found: Case) -> bool:
    """Say whether what the item rests on has changed since every run that proposed it.

    It is fresh where each maximal live version of each field that it writes is in the item's base (or the
    item's own), and the value is the one that was seen. A creation is stale only where the entity already
    stands, because a person touched it, and someone else wrote the fields that it would write.
    """
    if found.target is None or not found.stands:
        return False
    if found.effect.creates:
        return any(_others(found, field) for field in found.effect.fields)
    return not any(_is_fresh(snapshot, found, occurrence) for occurrence in found.item.occurrences)


def _others(found: Case, field: str) -> list[Version]:
    """Return the maximal versions of a field that are not the item's own."""
    versions = [] if found.target is None else found.target.versions(field)
    return [one for one in versions if one.source.effect != found.item.id]


def _is_fresh(snapshot: Snapshot, found: Case, occurrence: Occurrence) -> bool:
    """Say whether all that the agent proposed to write is as this run saw it.

    A field that only a person's words write was not judged by the run: it must not have been written since.
    """
    seen = occurrence.value if isinstance(occurrence.value, dict) else {}
    judged = effect_of(found.item.tool, found.proposed, found.item.id, found.item.task).fields
    added = [field for field in found.effect.fields if field not in judged]
    return all(_holds(snapshot, found, occurrence, field, seen.get(field)) for field in judged) and all(
        _is_unwritten(snapshot, found, occurrence, field) for field in added
    )


def _is_unwritten(snapshot: Snapshot, found: Case, occurrence: Occurrence, field: str) -> bool:
    """Say whether a run had seen every version of a field that is there, the item's own aside."""
    return all(covers(occurrence.base, one.source.head, snapshot.log) for one in _others(found, field))


def _holds(snapshot: Snapshot, found: Case, occurrence: Occurrence, field: str, seen: Value) -> bool:
    """Say whether a field is as the run saw it, the item's own versions aside."""
    assert found.target is not None
    if not _is_unwritten(snapshot, found, occurrence, field):
        return False
    winner = found.target.version(field)
    own = winner is not None and winner.source.effect == found.item.id
    return own or current(found, field) == seen


def is_own(version: Version | None) -> bool:
    """Say whether a person wrote a version directly."""
    return version is not None and version.source.rank == RANK_USER
