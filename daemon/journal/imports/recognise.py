"""Which tasks of a file are known already, where their ids alone do not say so.

Never takes one task of a list for another that only stands in its place: what is archived from the list and
what is new in it must not become one.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from daemon.journal.imports import reworded
from daemon.journal.imports.alike import Said, paired
from daemon.journal.imports.memory import Memory, source_of
from daemon.journal.imports.plan import Plan, PlannedChecklist, PlannedTask, Skipped
from store.entity import Entity
from store.snapshot import Snapshot
from syncproto.codec import Redacted
from syncproto.ids import ID_BYTES, EntityId

_OWN = "a task of this journal, exported from it: change it here"
# Sections with this share of their items and notes in common (Dice) are one, whatever they are called now.
_SHARED_MIN = 0.6
_SHARED_COUNT_MIN = 2
# What stands in more sections than this tells nothing.
_SECTIONS_MAX = 16


class Recognised(NamedTuple):
    """A plan whose keys are those of the tasks that the journal has, and the ids of those tasks."""

    plan: Plan
    ids: Mapping[str, EntityId]


def recognised(snapshot: Snapshot, plan: Plan) -> Recognised:
    """Compare a plan with the journal. It costs a look at every task where the format has no ids."""
    if plan.list_key is not None:
        known = _known(snapshot, plan.format, plan.list_key)
        ids = {one.key: one.id for one in known}
        return Recognised(replace(plan, tasks=tuple(_rekeyed(snapshot, plan, known))), ids)
    own = dict(_own(snapshot, plan))
    if not own:
        return Recognised(plan, {})
    mine = [Skipped(task.line, task.title, _OWN) for task in plan.tasks if task.key in own]
    others = tuple(task for task in plan.tasks if task.key not in own)
    return Recognised(replace(plan, tasks=others, skipped=(*plan.skipped, *mine)), own)


def _own(snapshot: Snapshot, plan: Plan) -> Iterator[tuple[str, EntityId]]:
    for task in plan.tasks:
        identifier = _as_id(task.source or "")
        held = None if identifier is None else snapshot.entity(identifier)
        if identifier is not None and held is not None and held.kind == "task":
            yield task.key, identifier


def _as_id(source: str) -> EntityId | None:
    """Return the id behind a UUID, which is how an export names a task that has no other name."""
    try:
        raw = bytes.fromhex(source.replace("-", ""))
    except ValueError:
        return None
    return EntityId(raw) if len(raw) == ID_BYTES else None


# -- lists without ids --------------------------------------------------------------------------------


class _Known(NamedTuple):
    """A task of the list as the journal has it: its id, and under its key what the list last said.

    Where a compaction has dropped a long title, only what is left of it.
    """

    id: EntityId
    key: str
    said: Said


def _known(snapshot: Snapshot, format_: str, list_key: str) -> list[_Known]:
    """Return the tasks that came from a list, in the order in which they came."""
    held = [*snapshot.entities("task"), *snapshot.entities("task", removed=True)]
    found: list[tuple[tuple[int, int, EntityId], str, Entity]] = []
    for task in held:
        source = source_of(task)
        if source and task.created and source[0] == format_ and source[1].startswith(f"{list_key}/"):
            found.append(((task.created.ms, task.created.n, task.id), source[1], task))
    found.sort(key=lambda one: one[0])
    return [_as_known(snapshot, key, task) for _, key, task in found]


def _as_known(snapshot: Snapshot, key: str, task: Entity) -> _Known:
    title = Memory(snapshot, task).value("title")
    made_ms = ((task.created and task.created.origin) or {}).get("at_ms")
    words = title if isinstance(title, str | Redacted) else ""
    return _Known(task.id, key, Said(key, words, made_ms))


def _rekeyed(snapshot: Snapshot, plan: Plan, known: Sequence[_Known]) -> list[PlannedTask]:
    """Return the tasks of a list under the keys of those that they are."""
    new = [Said(task.key, task.title, task.made_ms) for task in plan.tasks]
    pairs = paired(new, [one.said for one in known])
    if plan.format in reworded.FORMATS:
        pairs |= _same_contents(snapshot, plan.tasks, known, pairs)
    free = _Free(one.key for one in known)
    keys = {
        task.key: known[pairs[at]].key if at in pairs else free.key(task.key)
        for at, task in enumerate(plan.tasks)
    }
    return [_under(task, keys) for task in plan.tasks]


class _Free:
    """Keys that no task of the list ever had; a key ends in the number of its title's occurrence."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = set(taken)
        self._next: dict[str, int] = {}

    def key(self, wanted: str) -> str:
        """Return the key itself, or the next one of its title that is free."""
        start, _, number = wanted.rpartition("/")
        nth = max(int(number), self._next.get(start, 0))
        while f"{start}/{nth}" in self._taken:
            nth += 1
        self._taken.add(f"{start}/{nth}")
        self._next[start] = nth + 1
        return f"{start}/{nth}"


def _under(task: PlannedTask, keys: Mapping[str, str]) -> PlannedTask:
    """Return the task with the keys that it, all that belongs to it, and what it is linked with have."""
    key, cut = keys[task.key], len(task.key)

    def moved(old: str) -> str:
        return key + old[cut:]

    links = (
        replace(one, key=moved(one.key), from_key=keys[one.from_key], to_key=keys[one.to_key])
        for one in task.links
    )
    return replace(
        task,
        key=key,
        source=key,
        entries=tuple(replace(one, key=moved(one.key)) for one in task.entries),
        checklists=tuple(_checklist_under(one, moved) for one in task.checklists),
        links=tuple(links),
    )


def _checklist_under(checklist: PlannedChecklist, moved: Callable[[str], str]) -> PlannedChecklist:
    items = tuple(replace(item, key=moved(item.key)) for item in checklist.items)
    return replace(checklist, key=moved(checklist.key), items=items)


def _same_contents(
    snapshot: Snapshot, tasks: Sequence[PlannedTask], known: Sequence[_Known], pairs: Mapping[int, int]
) -> dict[int, int]:
    """Pair sections under a quite new heading with those that went out and held much the same."""
    fresh = {at: said for at, task in enumerate(tasks) if at not in pairs and (said := _contents(task))}
    if not fresh:
        return {}
    there = set(pairs.values())
    gone = {n: reworded.contents(snapshot, one.id) for n, one in enumerate(known) if n not in there}
    index: dict[str | Redacted, list[int]] = defaultdict(list)
    for n, words in gone.items():
        for one in words:
            index[one].append(n)
    found: dict[int, int] = {}
    for at, said in fresh.items():
        told = (where for one in said if len(where := index.get(one, ())) <= _SECTIONS_MAX)
        shared = Counter(n for where in told for n in where if n in gone)
        best = max(shared, key=lambda n: (shared[n], -n), default=None)
        if best is not None and _is_shared(shared[best], len(said), len(gone[best])):
            found[at] = best
            del gone[best]
    return found


def _is_shared(count: int, mine: int, theirs: int) -> bool:
    return count >= _SHARED_COUNT_MIN and 2 * count / (mine + theirs) >= _SHARED_MIN


def _contents(task: PlannedTask) -> set[str | Redacted]:
    items = {item.title for checklist in task.checklists for item in checklist.items}
    return {*items, *(entry.text for entry in task.entries)}
