"""What labels and categories have alike: added, renamed, removed and restored under names of their own.

Never lets a person make two of one name; devices that were apart may, and then both are kept and told.
"""

from collections import Counter
from collections.abc import Iterable, Mapping

from daemon.journal.fields import validation
from daemon.journal.fields.provenance import is_set_by_person
from daemon.journal.references import entities, names
from daemon.journal.references.name_registry import NameRegistry
from daemon.journal.references.names import NamedKind
from daemon.refusal import RefusalCode, Refused
from daemon.text_comparison import comparison_key
from store.fold.entity import Entity
from store.fold.entity_state import DELETED
from store.sentence import sentence
from store.snapshot import Snapshot
from store.transaction import EntityWrite, Transaction
from syncproto.codec import Value
from syncproto.ids import EntityId


def add(tx: Transaction, kind: NamedKind, name: str, fields: Mapping[str, Value]) -> EntityId:
    """Make what is called `name`, with these fields; return its id.

    What is there already must be so already: another colour is a change, which is asked for as one.
    """
    given_fields: dict[str, Value] = {field: value for field, value in fields.items() if value is not None}
    name_registry = NameRegistry(tx, kind)
    identifier = name_registry.id_to_use(name)
    if name_registry.writes:
        (entity_write,) = name_registry.writes
        tx.commit([EntityWrite(identifier, kind, entity_write.fields | given_fields)])
        return identifier
    entity = tx.entity(identifier)
    assert entity is not None
    if any(entity.value(field) != value for field, value in given_fields.items()):
        stored_name = entity.text("name")
        raise Refused(
            RefusalCode.CONFLICT,
            sentence("name-taken", "a {kind} is called {name!r} already", kind=kind, name=stored_name),
            sentence("use-edit", "change it: `{noun} edit`", noun=kind),
        )
    return identifier


def edit(
    tx: Transaction, entity: Entity, fields: Mapping[str, Value], base: Mapping[str, int] | None
) -> EntityId:
    """Change what is not so already; return the id."""
    clock = entities.resolve_base_clock(tx, entity, base)
    changed = {field: value for field, value in fields.items() if not is_set_by_person(entity, field, value)}
    if changed:
        tx.commit([EntityWrite(entity.id, entity.kind, changed, base=clock)])
    return entity.id


def remove(tx: Transaction, kind: NamedKind, ref: str) -> EntityId:
    """Take it out of sight; what points at it goes on pointing."""
    entity = names.find_named(tx, kind, ref, removed=True)
    if entity.visible:
        tx.commit([EntityWrite(entity.id, kind, {DELETED: True})])
    return entity.id


def restore(tx: Transaction, kind: NamedKind, ref: str) -> EntityId:
    """Bring it back, unless something else got its name meanwhile."""
    entity = names.find_named(tx, kind, ref, removed=True)
    if not is_set_by_person(entity, DELETED, False):
        require_free_name(tx, entity, entity.text("name"))
        tx.commit([EntityWrite(entity.id, kind, {DELETED: False})])
    return entity.id


def require_free_name(snapshot: Snapshot, entity: Entity, name: str) -> str:
    """Check a name for something that is there: no other one in sight may have it."""
    kind = entity.kind.replace("_", " ")
    wanted = validation.checked_name(name, kind)
    for other in snapshot.entities(entity.kind):
        if other.id != entity.id and comparison_key(other.text("name")) == comparison_key(wanted):
            other_name = other.text("name")
            raise Refused(
                RefusalCode.CONFLICT,
                sentence("name-of-another", "another {kind} is called {name!r}", kind=kind, name=other_name),
                sentence("choose-another-name", "choose another name, or remove one {kind}", kind=kind),
            )
    return wanted


def duplicate_name_keys(snapshot: Snapshot, kind: NamedKind) -> set[str]:
    """Return the names, folded, that more than one in sight has."""
    counted = Counter(comparison_key(entity.text("name")) for entity in snapshot.entities(kind))
    return {name for name, count in counted.items() if count > 1}


def names_of(names_by_id: Mapping[EntityId, str], ids: Iterable[EntityId]) -> list[str]:
    """Return the names of these, in order; those out of sight have none."""
    return sorted(
        (names_by_id[identifier] for identifier in ids if identifier in names_by_id), key=str.casefold
    )
