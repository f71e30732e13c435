"""How tasks hang together: links read in both directions, and the circles that `blocks` may form.

Never takes a missing end for an error: the task may have been removed, or be on its way from another device.
"""

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Final, NamedTuple

from daemon.journal.views import Link
from store.entity import Entity
from store.snapshot import Snapshot
from syncproto.ids import ID_BYTES, EntityId, text

BASIC: Final = "basic"
BLOCKS: Final = "blocks"
TYPES: Final = (BASIC, BLOCKS, "follows_up", "duplicates", "fixes")

OUT, IN = "to", "from"
_RELATIONS: Final = {OUT: "link_from", IN: "link_to"}


class Tie(NamedTuple):
    """What a link says; two links that say the same are one to people."""

    begins: EntityId
    type: str
    ends: EntityId


def tie(begins: EntityId, type_: str, ends: EntityId) -> Tie:
    """Return what a link between two tasks says; `basic` has no direction, so its ends are in order."""
    if type_ == BASIC and ends < begins:
        begins, ends = ends, begins
    return Tie(begins, type_, ends)


def tie_of(link: Entity) -> Tie | None:
    """Return what a link says, None where it lacks an end."""
    begins, ends = link.value("from_id"), link.value("to_id")
    if not (isinstance(begins, bytes) and isinstance(ends, bytes)):
        return None
    if len(begins) != ID_BYTES or len(ends) != ID_BYTES:
        return None
    return tie(EntityId(begins), link.text("type") or BASIC, EntityId(ends))


def links_at(snapshot: Snapshot, task: EntityId, direction: str) -> Iterator[tuple[Entity, Tie]]:
    """Yield the links in sight that begin (`OUT`) or end (`IN`) at a task."""
    for identifier in snapshot.referring(task, _RELATIONS[direction]):
        link = snapshot.entity(identifier)
        said = None if link is None else tie_of(link)
        if link is not None and said is not None:
            yield link, said


def links_of(snapshot: Snapshot, task: EntityId, circles: "Circles") -> list[Link]:
    """Show the links of a task, each seen from it, those that say the same once."""
    found: dict[Tie, Entity] = {}
    for direction in (OUT, IN):
        for link, said in links_at(snapshot, task, direction):
            found.setdefault(said, link)
    blocking = {said for said in found if said.type == BLOCKS}
    is_between = any(said.begins == task for said in blocking) and any(said.ends == task for said in blocking)
    circle = circles.of(task) if is_between else frozenset()
    shown = [link_shown(snapshot, link, task, circle) for link in found.values()]
    return sorted(shown, key=_place)


def link_shown(snapshot: Snapshot, link: Entity, task: EntityId, circle: AbstractSet[EntityId]) -> Link:
    """Show a link as it is seen from one of its ends; `circle` holds the tasks that block each other."""
    said = tie_of(link)
    assert said is not None
    other = said.ends if said.begins == task else said.begins
    held = snapshot.entity(other)
    here = held if held is not None and held.exists else None
    return Link(
        id=text(link.id),
        type=said.type,
        direction=OUT if said.begins == task else IN,
        from_id=text(said.begins),
        to_id=text(said.ends),
        task_id=text(other),
        title=None if here is None else here.text("title"),
        status=None if here is None else here.text("status") or "OPEN",
        circular=said.type == BLOCKS and other in circle,
        task_removed=here is not None and not here.visible,
        removed=not link.visible,
    )


def _place(link: Link) -> tuple[int, str, str, str]:
    """Return the key by which a task's links are ordered: by type, direction, then the other's title."""
    known = TYPES.index(link.type) if link.type in TYPES else len(TYPES)
    return known, link.direction, (link.title or "").casefold(), link.task_id


class Circles:
    """The circles that `blocks` closes, as one snapshot has them.

    What a task blocks is read once, however many tasks are asked for: a chain of thousands may be shown.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._known: dict[EntityId, frozenset[EntityId]] = {}

    def of(self, task: EntityId) -> frozenset[EntityId]:
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
            one = waiting.pop()
            if one not in blocks:
                links = links_at(self._snapshot, one, OUT)
                ends = {said.ends for _, said in links if said.type == BLOCKS}
                blocks[one] = ends - self._known.keys()
                waiting += blocks[one]
        return blocks


def _circles(blocks: Mapping[EntityId, set[EntityId]]) -> Iterator[frozenset[EntityId]]:
    """Yield the tasks in groups of which each reaches each other (Kosaraju); most are alone."""
    back: dict[EntityId, set[EntityId]] = {one: set() for one in blocks}
    for one, ends in blocks.items():
        for end in ends:
            back[end].add(one)
    seen: set[EntityId] = set()
    left = [one for root in blocks for one in _leaving(root, blocks, seen)]
    seen.clear()
    for one in reversed(left):
        if one not in seen:
            yield frozenset(_leaving(one, back, seen))


def _leaving(
    root: EntityId, ways: Mapping[EntityId, set[EntityId]], seen: set[EntityId]
) -> Iterator[EntityId]:
    """Yield what is reached from a task and not seen yet, each as it is left for the last time."""
    if root in seen:
        return
    seen.add(root)
    path = [(root, iter(ways[root]))]
    while path:
        one, rest = path[-1]
        onward = next((end for end in rest if end not in seen), None)
        if onward is None:
            path.pop()
            yield one
        else:
            seen.add(onward)
            path.append((onward, iter(ways[onward])))


def path_blocking(snapshot: Snapshot, begins: EntityId, ends: EntityId) -> list[EntityId]:
    """Return the shortest way from one task to another along `blocks`, both included; empty for none."""
    came_from: dict[EntityId, EntityId] = {}
    waiting = [begins]
    for one in waiting:
        for _, said in links_at(snapshot, one, OUT):
            if said.type != BLOCKS or said.ends in came_from or said.ends == begins:
                continue
            came_from[said.ends] = one
            waiting.append(said.ends)
            if said.ends == ends:
                return _walked(came_from, begins, ends)
    return []


def _walked(came_from: dict[EntityId, EntityId], begins: EntityId, ends: EntityId) -> list[EntityId]:
    path = [ends]
    while path[-1] != begins:
        path.append(came_from[path[-1]])
    return path[::-1]
