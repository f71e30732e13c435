"""Links between tasks: add, list, remove, restore.

Never makes a link twice: its id follows from what it says, so two devices that link the same make one, and
one that an import has made already is found. Never closes a circle of tasks that block each other; what two
devices closed while apart is shown as one.
"""

import re
from collections.abc import Sequence

from msgspec import Struct

from daemon.journal.fields.provenance import is_set_by_person
from daemon.journal.references import entities
from daemon.journal.tasks import require_visible_task, touch_task
from daemon.journal.views import task_graph
from daemon.journal.views.structures import Link
from daemon.journal.views.task_graph import BLOCKS, LINK_TYPES, BlockingCycles, LinkKey
from daemon.refusal import RefusalCode, Refused, not_found_refusal, one_of, usage_error
from daemon.text_comparison import comparison_key
from store.fold.entity import Entity
from store.fold.entity_state import DELETED
from store.sentence import sentence
from store.snapshot import Snapshot
from store.transaction import EntityWrite, Transaction
from syncproto.codec import Value
from syncproto.ids import EntityId, derived_id, id_to_text

KIND = "link"

_TITLES_SHOWN_MAX = 5


class NewLink(Struct, frozen=True, forbid_unknown_fields=True):
    """A link to make, from the task of the path to another: basic, blocks, follows_up, duplicates, fixes."""

    type: str
    to: str


def link_id_of(key: LinkKey) -> EntityId:
    """Return the id of the link with this meaning, the same on every device."""
    return derived_id(KIND, id_to_text(key.begins), key.type, id_to_text(key.ends), time_of=key.begins)


def list_links(snapshot: Snapshot, ref: str) -> list[Link]:
    """List the links of a task, each seen from it."""
    return task_graph.present_task_links(
        snapshot, entities.find_task(snapshot, ref).id, BlockingCycles(snapshot)
    )


def add(tx: Transaction, ref: str, new: NewLink) -> Link:
    """Link a task to another; a link that is there already stays as it is."""
    begins, ends = entities.find_task(tx, ref), entities.find_task(tx, new.to)
    key = task_graph.link_key(begins.id, checked_type(new.type), ends.id)
    if begins.id == ends.id:
        raise usage_error(
            sentence("link-to-itself", "{title!r} cannot be linked to itself", title=begins.text("title")),
            sentence("name-another-task", "name another task"),
        )
    links = _links_with_key(tx, key)
    if not links:
        _require_open_end(tx, key)
        tx.commit([_write(tx, key), touch_task(begins), touch_task(ends)])
        links = _links_with_key(tx, key)
    return _present(tx, links[0], begins.id)


def remove(tx: Transaction, ref: str) -> Link:
    """Remove a link from sight, and with it any other that means the same."""
    link = entities.find_entity(tx, [KIND], ref, removed=True)
    key = task_graph.link_key_of(link)
    if key is None:
        raise not_found_refusal("link", ref, sentence("link-without-ends", "it has no ends"))
    writes = [EntityWrite(entity.id, KIND, {DELETED: True}) for entity in _links_with_key(tx, key)]
    if writes:
        tx.commit(writes)
    stored_entity = tx.entity(link.id)
    assert stored_entity is not None
    return _present(tx, stored_entity, key.begins)


def restore(tx: Transaction, ref: str) -> Link:
    """Bring a removed link back, unless it would close a circle."""
    link = entities.find_entity(tx, [KIND], ref, removed=True)
    key = task_graph.link_key_of(link)
    if key is None:
        raise not_found_refusal("link", ref, sentence("link-without-ends", "it has no ends"))
    ends = [require_visible_task(tx.entity(end)) for end in (key.begins, key.ends)]
    if not is_set_by_person(link, DELETED, False):
        _require_open_end(tx, key)
        touches = [touch_task(end) for end in ends if end is not None]
        tx.commit([EntityWrite(link.id, KIND, {DELETED: False}), *touches])
    stored_entity = tx.entity(link.id)
    assert stored_entity is not None
    return _present(tx, stored_entity, key.begins)


def remove_matching(tx: Transaction, ref: str, new: NewLink) -> Link:
    """Remove the link with this meaning from sight; a link that is already removed stays so."""
    begins, ends = entities.find_task(tx, ref, removed=True), entities.find_task(tx, new.to, removed=True)
    key = task_graph.link_key(begins.id, checked_type(new.type), ends.id)
    links = _links_with_key(tx, key)
    removed_link = links[0] if links else tx.entity(link_id_of(key))
    if removed_link is None:
        raise not_found_refusal(
            "link", f"{key.type} {new.to}", sentence("see-link-list", "see `link list {ref}`", ref=ref[:40])
        )
    return remove(tx, id_to_text(removed_link.id))


def checked_type(text: str) -> str:
    """Check a type of link, in any case, with spaces, hyphens or underscores."""
    wanted = re.sub(r"[\s-]+", "_", comparison_key(text))
    if wanted not in LINK_TYPES:
        raise usage_error(
            sentence("unknown-link-type", "no link is called {name!r}", name=text[:80]),
            one_of(name.replace("_", "-") for name in LINK_TYPES),
        )
    return wanted


def _links_with_key(snapshot: Snapshot, key: LinkKey) -> list[Entity]:
    """Return the links in sight that mean this, whatever their ids: an import derives ids from its file."""
    out = task_graph.links_at(snapshot, key.begins, task_graph.OUTGOING)
    back = task_graph.links_at(snapshot, key.begins, task_graph.INCOMING)
    matching_links = {link.id: link for links in (out, back) for link, other_key in links if other_key == key}
    return [matching_links[identifier] for identifier in sorted(matching_links)]


def _write(tx: Transaction, key: LinkKey) -> EntityWrite:
    identifier = link_id_of(key)
    fields: dict[str, Value] = {"from_id": key.begins, "to_id": key.ends, "type": key.type}
    if tx.entity(identifier) is not None:
        fields[DELETED] = False
    return EntityWrite(identifier, KIND, fields)


def _require_open_end(tx: Transaction, key: LinkKey) -> None:
    """Refuse a link by which tasks would block each other in a circle, naming it."""
    if key.type != BLOCKS:
        return
    path = task_graph.blocking_path(tx, key.ends, key.begins)
    if path:
        raise Refused(
            RefusalCode.CONFLICT,
            sentence("link-circle", "this would close a circle: {path}", path=_in_words(tx, path)),
            sentence("break-link-circle", "remove one of these links first, or use another type"),
        )


def _in_words(snapshot: Snapshot, path: Sequence[EntityId]) -> str:
    tasks = [snapshot.entity(identifier) for identifier in path]
    titles = [repr("?" if task is None else task.text("title")[:40]) for task in tasks]
    if len(titles) > _TITLES_SHOWN_MAX:
        titles = [*titles[: _TITLES_SHOWN_MAX - 1], f"{len(titles) - _TITLES_SHOWN_MAX} more", titles[-1]]
    return " blocks ".join(titles)


def _present(snapshot: Snapshot, link: Entity, task: EntityId) -> Link:
    return task_graph.present_link(snapshot, link, task, set())
