"""What of a JSON Lines file is left out because it belongs to a line that cannot be read.

Never leaves out what belongs to a thing that the journal or another line has.
"""

from collections.abc import Collection, Iterator, Mapping

from daemon.formats.core.plan import Skipped, describe_skipped
from daemon.formats.jsonl.entity_record import EntityRecord, name_of
from daemon.formats.jsonl.reader import RewindableFile, read_entities
from store.sentence import sentence
from store.snapshot import Snapshot
from syncproto.ids import EntityId

_OWNERS = ("task_id", "checklist_id", "from_id", "to_id")
_BELONGS = sentence("jsonl-belongs-to-faulty", "it belongs to something faulty of the file")


def not_in_journal(snapshot: Snapshot, ids: Collection[EntityId]) -> set[EntityId]:
    """Return those of some ids that name nothing in the journal."""
    return {identifier for identifier in ids if snapshot.entity(identifier) is None}


def find_belongings(file: RewindableFile, missing_ids: Collection[EntityId]) -> Mapping[EntityId, Skipped]:
    """Return what belongs to things that are nowhere: lines and items of a task, and links with it.

    It reads the file twice, however long a chain of things that belong to one another is.
    """
    if not missing_ids:
        return {}
    belongings: dict[EntityId, list[EntityId]] = {}
    missing = set(missing_ids)
    for located in read_entities(file):
        missing.discard(located.whole.id)
        for owner in _owners(located.whole):
            belongings.setdefault(owner, []).append(located.whole.id)
    loose: set[EntityId] = set()
    reached = list(missing)
    while reached:
        further = set(belongings.pop(reached.pop(), ())) - loose
        loose |= further
        reached += further
    return {
        located.whole.id: describe_skipped(located.number, name_of(located.whole), _BELONGS)
        for located in read_entities(file)
        if located.whole.id in loose
    }


def _owners(whole: EntityRecord) -> Iterator[EntityId]:
    for name in _OWNERS:
        for recorded_value in whole.current.get(name, ()):
            if isinstance(recorded_value.value, bytes):
                yield EntityId(recorded_value.value)
