"""How tasks hang together: links read in both directions, and the circles that `blocks` may form.

Never takes a missing end for an error: the task may have been removed, or be on its way from another device.
"""

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Final, NamedTuple

from daemon.journal.references.names import shown_name
from daemon.journal.views.structures import Link
from store.fold.entity import Entity
from store.snapshot import Snapshot
from syncproto.ids import ID_BYTES, EntityId, id_to_text

BASIC: Final = "basic"
BLOCKS: Final = "blocks"
LINK_TYPES: Final = (BASIC, BLOCKS, "follows_up", "duplicates", "fixes")

OUTGOING, INCOMING = "to", "from"
_RELATIONS: Final = {OUTGOING: "link_from", INCOMING: "link_to"}


class LinkKey(NamedTuple):
    """The meaning of a link: people see two links with the same key as one."""

    begins: EntityId
    type: str
    ends: EntityId


def link_key(begins: EntityId, type_: str, ends: EntityId) -> LinkKey:
    """Return the key of a link between two tasks; `basic` has no direction, so its ends are sorted."""
    if type_ == BASIC and ends < begins:
        begins, ends = ends, begins
    return LinkKey(begins, type_, ends)


def link_key_of(link: Entity) -> LinkKey | None:
    """Return the key of a link, None if the link lacks an end."""
    begins, ends = link.value("from_id"), link.value("to_id")
    if not (isinstance(begins, bytes) and isinstance(ends, bytes)):
        return None
    if len(begins) != ID_BYTES or len(ends) != ID_BYTES:
        return None
    return link_key(EntityId(begins), link.text("type") or BASIC, EntityId(ends))


def links_at(snapshot: Snapshot, task: EntityId, direction: str) -> Iterator[tuple[Entity, LinkKey]]:
    """Yield the links in sight that begin (`OUT`) or end (`IN`) at a task."""
    for identifier in snapshot.ids_pointing_at(task, _RELATIONS[direction]):
        link = snapshot.entity(identifier)
        key = None if link is None else link_key_of(link)
        if link is not None and key is not None:
            yield link, key


def present_task_links(snapshot: Snapshot, task: EntityId, circles: "BlockingCycles") -> list[Link]:
    """Show the links of a task, each seen from the task, and each key only once."""
    links: dict[LinkKey, Entity] = {}
    for direction in (OUTGOING, INCOMING):
        for link, key in links_at(snapshot, task, direction):
            links.setdefault(key, link)
    blocking = {blocking_key for blocking_key in links if blocking_key.type == BLOCKS}
    is_between = any(blocking_key.begins == task for blocking_key in blocking) and any(
        blocking_key.ends == task for blocking_key in blocking
    )
    circle = circles.cycle_through(task) if is_between else frozenset()
    presented = [present_link(snapshot, link, task, circle) for link in links.values()]
    return sorted(presented, key=_place)


def present_link(snapshot: Snapshot, link: Entity, task: EntityId, circle: AbstractSet[EntityId]) -> Link:
    """Show a link as it is seen from one of its ends; `circle` contains the tasks that block each other."""
    key = link_key_of(link)
    assert key is not None
    other = key.ends if key.begins == task else key.begins
    entity = snapshot.entity(other)
    target = entity if entity is not None and entity.exists else None
    return Link(
        id=id_to_text(link.id),
        type=key.type,
        direction=OUTGOING if key.begins == task else INCOMING,
        from_id=id_to_text(key.begins),
        to_id=id_to_text(key.ends),
        task_id=id_to_text(other),
        title=None if target is None else shown_name(target),
        status=None if target is None else target.text("status") or "OPEN",
        circular=key.type == BLOCKS and other in circle,
        task_removed=target is not None and not target.visible,
        removed=not link.visible,
    )


def _place(link: Link) -> tuple[int, str, str, str]:
    """Return the key by which a task's links are ordered: by type, direction, then the other's title."""
    index = LINK_TYPES.index(link.type) if link.type in LINK_TYPES else len(LINK_TYPES)
    return index, link.direction, (link.title or "").casefold(), link.task_id


class BlockingCycles:
    """The circles that `blocks` closes, as one snapshot has them.

    What a task blocks is read once, however many tasks are asked for: a chain of thousands may be shown.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._known: dict[EntityId, frozenset[EntityId]] = {}

    def cycle_through(self, task: EntityId) -> frozenset[EntityId]:
        """Return the tasks that a task blocks and is blocked by, through whatever others; mostly none."""
        if task not in self._known:
            blocks = self._ahead(task)
            for circle in _circles(blocks):
                closed = len(circle) > 1 or not circle.isdisjoint(blocks[min(circle)])
                self._known |= dict.fromkeys(circle, circle if closed else frozenset())
        return self._known[task]

    def _ahead(self, task: EntityId) -> dict[EntityId, set[EntityId]]:
        """Return what each task blocks, from this one on, as far as it is not known yet.

        What is known has no way back to what is not, or that would be known too.
        """
        blocks: dict[EntityId, set[EntityId]] = {}
        waiting = [task]
        while waiting:
            identifier = waiting.pop()
            if identifier not in blocks:
                links = links_at(self._snapshot, identifier, OUTGOING)
                ends = {key.ends for _, key in links if key.type == BLOCKS}
                blocks[identifier] = ends - self._known.keys()
                waiting += blocks[identifier]
        return blocks


def _circles(blocks: Mapping[EntityId, set[EntityId]]) -> Iterator[frozenset[EntityId]]:
    """Yield the tasks in groups of which each reaches each other (Kosaraju); most are alone."""
    back: dict[EntityId, set[EntityId]] = {task: set() for task in blocks}
    for identifier, ends in blocks.items():
        for end in ends:
            back[end].add(identifier)
    identifiers: set[EntityId] = set()
    left = [member for root in blocks for member in _reachable(root, blocks, identifiers)]
    identifiers.clear()
    for identifier in reversed(left):
        if identifier not in identifiers:
            yield frozenset(_reachable(identifier, back, identifiers))


def _reachable(
    root: EntityId, ways: Mapping[EntityId, set[EntityId]], identifiers: set[EntityId]
) -> Iterator[EntityId]:
    """Yield what is reached from a task and not seen yet, each as it is left for the last time."""
    if root in identifiers:
        return
    identifiers.add(root)
    path = [(root, iter(ways[root]))]
    while path:
        identifier, rest = path[-1]
        onward = next((end for end in rest if end not in identifiers), None)
        if onward is None:
            path.pop()
            yield identifier
        else:
            identifiers.add(onward)
            path.append((onward, iter(ways[onward])))


def blocking_path(snapshot: Snapshot, begins: EntityId, ends: EntityId) -> list[EntityId]:
    """Return the shortest way from one task to another along `blocks`, both included; empty for none."""
    came_from: dict[EntityId, EntityId] = {}
    waiting = [begins]
    for identifier in waiting:
        for _, key in links_at(snapshot, identifier, OUTGOING):
            if key.type != BLOCKS or key.ends in came_from or key.ends == begins:
                continue
            came_from[key.ends] = identifier
            waiting.append(key.ends)
            if key.ends == ends:
                return _path_back(came_from, begins, ends)
    return []


def _path_back(came_from: dict[EntityId, EntityId], begins: EntityId, ends: EntityId) -> list[EntityId]:
    path = [ends]
    while path[-1] != begins:
        path.append(came_from[path[-1]])
    return path[::-1]
