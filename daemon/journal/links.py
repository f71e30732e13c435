"""Links between tasks: add, list, remove.

Never makes a link twice: its id follows from what it says, so two devices that link the same make one, and
one that an import has made already is found. Never closes a circle of tasks that block each other; what two
devices closed while apart is shown as one.
"""

import re
from collections.abc import Sequence

from msgspec import Struct

from daemon.journal import refs, ties
from daemon.journal.checklists import touch
from daemon.journal.errors import Code, Refused, not_found, usage
from daemon.journal.ties import BLOCKS, TYPES, Circles, Tie
from daemon.journal.values import folded
from daemon.journal.views import Link
from store.entity import Entity
from store.fold import DELETED
from store.snapshot import Snapshot
from store.transaction import Transaction, Write
from syncproto.codec import Value
from syncproto.ids import EntityId, derived_id, text

KIND = "link"

_TITLES_SHOWN_MAX = 5


class NewLink(Struct, frozen=True, forbid_unknown_fields=True):
    """A link to make, from the task of the path to another: basic, blocks, follows_up, duplicates, fixes."""

    type: str
    to: str


def link_id(said: Tie) -> EntityId:
    """Return the id of the link that says this, the same on every device."""
    return derived_id(KIND, text(said.begins), said.type, text(said.ends), time_of=said.begins)


def listed(snapshot: Snapshot, ref: str) -> list[Link]:
    """List the links of a task, each seen from it."""
    return ties.links_of(snapshot, refs.task(snapshot, ref).id, Circles(snapshot))


def add(tx: Transaction, ref: str, new: NewLink) -> Link:
    """Link a task to another; a link that is there already stays as it is."""
    begins, ends = refs.task(tx, ref), refs.task(tx, new.to)
    said = ties.tie(begins.id, checked_type(new.type), ends.id)
    if begins.id == ends.id:
        raise usage(f"{begins.text('title')!r} cannot be linked to itself", "name another task")
    held = _saying(tx, said)
    if not held:
        _require_open_end(tx, said)
        tx.commit([_write(tx, said), touch(begins), touch(ends)])
        held = _saying(tx, said)
    return _shown(tx, held[0], begins.id)


def remove(tx: Transaction, ref: str) -> Link:
    """Take a link out of sight, and with it any other that says the same."""
    link = refs.entity(tx, [KIND], ref, removed=True)
    said = ties.tie_of(link)
    if said is None:
        raise not_found("link", ref, "it has no ends")
    writes = [Write(one.id, KIND, {DELETED: True}) for one in _saying(tx, said)]
    if writes:
        tx.commit(writes)
    held = tx.entity(link.id)
    assert held is not None
    return _shown(tx, held, said.begins)


def unlink(tx: Transaction, ref: str, new: NewLink) -> Link:
    """Take the link that says this out of sight; one that was taken away already stays so."""
    begins, ends = refs.task(tx, ref, removed=True), refs.task(tx, new.to, removed=True)
    said = ties.tie(begins.id, checked_type(new.type), ends.id)
    held = _saying(tx, said)
    made = held[0] if held else tx.entity(link_id(said))
    if made is None:
        raise not_found("link", f"{said.type} {new.to}", f"see `link list {ref[:40]}`")
    return remove(tx, text(made.id))


def checked_type(given: str) -> str:
    """Check a type of link, in any case, with spaces, hyphens or underscores."""
    wanted = re.sub(r"[\s-]+", "_", folded(given))
    if wanted not in TYPES:
        raise usage(f"no link is called {given[:80]!r}", f"one of {', '.join(TYPES).replace('_', '-')}")
    return wanted


def _saying(snapshot: Snapshot, said: Tie) -> list[Entity]:
    """Return the links in sight that say this, whatever their ids: an import derives them from its file."""
    out = ties.links_at(snapshot, said.begins, ties.OUT)
    back = ties.links_at(snapshot, said.begins, ties.IN)
    found = {link.id: link for links in (out, back) for link, one in links if one == said}
    return [found[one] for one in sorted(found)]


def _write(tx: Transaction, said: Tie) -> Write:
    identifier = link_id(said)
    fields: dict[str, Value] = {"from_id": said.begins, "to_id": said.ends, "type": said.type}
    if tx.entity(identifier) is not None:
        fields[DELETED] = False
    return Write(identifier, KIND, fields)


def _require_open_end(tx: Transaction, said: Tie) -> None:
    """Refuse a link by which tasks would block each other in a circle, naming it."""
    if said.type != BLOCKS:
        return
    path = ties.path_blocking(tx, said.ends, said.begins)
    if path:
        raise Refused(
            Code.CONFLICT,
            f"this would close a circle: {_in_words(tx, path)}",
            "remove one of these links first, or use another type",
        )


def _in_words(snapshot: Snapshot, path: Sequence[EntityId]) -> str:
    held = [snapshot.entity(one) for one in path]
    titles = [repr("?" if one is None else one.text("title")[:40]) for one in held]
    if len(titles) > _TITLES_SHOWN_MAX:
        titles = [*titles[: _TITLES_SHOWN_MAX - 1], f"{len(titles) - _TITLES_SHOWN_MAX} more", titles[-1]]
    return " blocks ".join(titles)


def _shown(snapshot: Snapshot, link: Entity, task: EntityId) -> Link:
    return ties.link_shown(snapshot, link, task, set())
