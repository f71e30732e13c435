"""What labels and categories have alike: added, renamed, removed and restored under names of their own.

Never lets a person make two of one name; devices that were apart may, and then both are kept and told.
"""

from collections import Counter
from collections.abc import Iterable, Mapping

from daemon.journal import names, refs, values
from daemon.journal.errors import Code, Refused
from daemon.journal.names import Kind, Names
from daemon.journal.tasks import stands
from daemon.journal.values import folded
from store.entity import Entity
from store.fold import DELETED
from store.snapshot import Snapshot
from store.transaction import Transaction, Write
from syncproto.codec import Value
from syncproto.ids import EntityId


def add(tx: Transaction, kind: Kind, name: str, fields: Mapping[str, Value]) -> EntityId:
    """Make what is called `name`, with these fields; return its id.

    What is there already must be so already: another colour is a change, which is asked for as one.
    """
    given: dict[str, Value] = {field: value for field, value in fields.items() if value is not None}
    known = Names(tx, kind)
    identifier = known.id_of(name)
    if known.writes:
        (made,) = known.writes
        tx.commit([Write(identifier, kind, made.fields | given)])
        return identifier
    held = tx.entity(identifier)
    assert held is not None
    if any(held.value(field) != value for field, value in given.items()):
        seen = held.text("name")
        raise Refused(Code.CONFLICT, f"a {kind} is called {seen!r} already", f"change it: `{kind} edit`")
    return identifier


def edit(
    tx: Transaction, held: Entity, fields: Mapping[str, Value], base: Mapping[str, int] | None
) -> EntityId:
    """Change what is not so already; return the id."""
    clock = refs.base_shown(tx, held, base)
    changed = {field: value for field, value in fields.items() if not stands(held, field, value)}
    if changed:
        tx.commit([Write(held.id, held.kind, changed, base=clock)])
    return held.id


def remove(tx: Transaction, kind: Kind, ref: str) -> EntityId:
    """Take it out of sight; what points at it goes on pointing."""
    held = names.find(tx, kind, ref, removed=True)
    if held.visible:
        tx.commit([Write(held.id, kind, {DELETED: True})])
    return held.id


def restore(tx: Transaction, kind: Kind, ref: str) -> EntityId:
    """Bring it back, unless its name was taken meanwhile."""
    held = names.find(tx, kind, ref, removed=True)
    if not stands(held, DELETED, False):
        free_name(tx, held, held.text("name"))
        tx.commit([Write(held.id, kind, {DELETED: False})])
    return held.id


def free_name(tx: Transaction, held: Entity, name: str) -> str:
    """Check a name for something that is there: no other one in sight may have it."""
    kind = held.kind.replace("_", " ")
    wanted = values.name(name, kind)
    for one in tx.entities(held.kind):
        if one.id != held.id and folded(one.text("name")) == folded(wanted):
            seen = one.text("name")
            raise Refused(
                Code.CONFLICT,
                f"another {kind} is called {seen!r}",
                f"choose another name, or remove one {kind}",
            )
    return wanted


def doubles(snapshot: Snapshot, kind: Kind) -> set[str]:
    """Return the names, folded, that more than one in sight has."""
    counted = Counter(folded(one.text("name")) for one in snapshot.entities(kind))
    return {name for name, count in counted.items() if count > 1}


def called(known: Mapping[EntityId, str], ids: Iterable[EntityId]) -> list[str]:
    """Return the names of these, in order; those out of sight have none."""
    return sorted((known[one] for one in ids if one in known), key=str.casefold)
