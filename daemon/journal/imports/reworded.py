"""Items and notes of a task that its file says again, with other words or the same.

Never takes what a person wrote here, or removed here, for a thing that the file reworded.
"""

from collections.abc import Iterator, Sequence

from daemon.journal.imports.alike import Said, paired
from daemon.journal.imports.memory import Memory, is_import
from store.entity import Entity
from store.snapshot import Snapshot
from syncproto.codec import Redacted, redacted
from syncproto.ids import EntityId

# Formats that name nothing, so that what belongs to a task is known by its words alone.
FORMATS = frozenset({"markdown"})

_WORDS = {"checklist_item": "title", "entry": "text"}


def known_as(
    snapshot: Snapshot, task: EntityId, kind: str, said: Sequence[tuple[EntityId, str]]
) -> dict[EntityId, EntityId]:
    """Return the ids of a task's items or entries that the file means, by those derived from its words."""
    held = {one.id: one for one in _held(snapshot, task, kind)}
    for derived, _ in said:
        # It may have come under another owner since.
        if derived not in held and (one := snapshot.entity(derived)):
            held[derived] = one
    known = sorted(
        ((_place(snapshot, one), one) for one in held.values() if _is_imported(one)),
        key=lambda pair: pair[0],
    )
    pairs = paired(
        [Said(derived, text) for derived, text in said],
        [Said(one.id, _words(snapshot, one)) for _, one in known],
    )
    return {said[at][0]: known[n][1].id for at, n in pairs.items()}


def contents(snapshot: Snapshot, task: EntityId) -> set[str | Redacted]:
    """Return what the file last said in a task: its items and notes."""
    held = (one for kind in _WORDS for one in _held(snapshot, task, kind) if _is_imported(one))
    return {_words(snapshot, one) for one in held if one.visible}


def _held(snapshot: Snapshot, task: EntityId, kind: str) -> Iterator[Entity]:
    """Yield all that points at the task, also what was removed or put into another checklist of it."""
    owners, relation = [task], "task_entry"
    if kind == "checklist_item":
        owners, relation = snapshot.referring(task, "task_checklist", removed=True), "checklist_item"
    for owner in owners:
        found = (snapshot.entity(one) for one in snapshot.referring(owner, relation, removed=True))
        yield from (one for one in found if one)


def _is_imported(one: Entity) -> bool:
    return one.created is not None and is_import(one.created)


def _place(snapshot: Snapshot, one: Entity) -> tuple[str, EntityId]:
    """Return where the file had it: a person may have moved it since."""
    place = Memory(snapshot, one).value("position")
    return (place if isinstance(place, str) else "", one.id)


def _words(snapshot: Snapshot, one: Entity) -> str | Redacted:
    """Return what the file last said; of what is removed only what tells whether it says the same again."""
    words = Memory(snapshot, one).value(_WORDS[one.kind])
    if isinstance(words, Redacted):
        return words
    text = words if isinstance(words, str) else ""
    return text if one.visible else redacted(text)
