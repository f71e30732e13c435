"""Which tasks of a file are known already, where their ids alone do not say so.

Never takes one task of a list for another that only stands in its place: what is archived from the list and
what is new in it must not become one.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

from daemon.journal.imports.memory import Memory, source_of
from daemon.journal.imports.plan import Plan, PlannedTask, Skipped
from store.entity import Entity
from store.snapshot import Snapshot
from syncproto.codec import Redacted, redacted
from syncproto.ids import ID_BYTES, EntityId

_OWN = "a task of this journal, exported from it: change it here"
# Likeness of two titles, as the share of their letters in threes that both have (Dice): a mended slip or an
# added word stays above, another task with a word alike stays below. Tasks begun on one day are likely one.
_LIKE_MIN = 0.6
_LIKE_SAME_DAY_MIN = 0.4
# Letters that stand in more titles than this tell nothing, and would make a long list slow.
_TITLES_MAX = 16
_CLOSEST_MAX = 16
_AHEAD_MAX = 8


class Recognised(NamedTuple):
    """A plan whose keys are those of the tasks that the journal has, and the ids of those tasks."""

    plan: Plan
    ids: Mapping[str, EntityId]


def recognised(snapshot: Snapshot, plan: Plan) -> Recognised:
    """Compare a plan with the journal. It costs a look at every task where the format has no ids."""
    if plan.list_key is not None:
        known = _known(snapshot, plan.format, plan.list_key)
        ids = {one.key: one.id for one in known}
        return Recognised(replace(plan, tasks=tuple(_rekeyed(plan, known))), ids)
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


@dataclass(frozen=True, slots=True)
class _Known:
    """A task of the list as the journal has it: its key, and what the list last said.

    Where a compaction has dropped a long title, `dropped` is what is left of it.
    """

    id: EntityId
    key: str
    title: str
    made_ms: int | None
    dropped: Redacted | None = None


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
    dropped = title if isinstance(title, Redacted) else None
    return _Known(task.id, key, title if isinstance(title, str) else "", made_ms, dropped)


def _rekeyed(plan: Plan, known: Sequence[_Known]) -> Iterator[PlannedTask]:
    """Yield the tasks of a list under the keys of those that they are."""
    keys = _same_title(plan.tasks, known)
    keys |= _in_order(plan.tasks, keys, known)
    found = set(keys.values())
    keys |= _like(plan.tasks, keys, [one for one in known if one.key not in found])
    taken = {one.key for one in known}
    for at, task in enumerate(plan.tasks):
        key = keys.get(at) or _free(task.key, taken)
        taken.add(key)
        yield _under(task, key)


def _same_title(tasks: Sequence[PlannedTask], known: Iterable[_Known]) -> dict[int, str]:
    waiting: dict[str | Redacted, deque[str]] = defaultdict(deque)
    for one in known:
        waiting[one.dropped or one.title].append(one.key)
    same = (
        (at, waiting.get(task.title) or waiting.get(redacted(task.title))) for at, task in enumerate(tasks)
    )
    return {at: queue.popleft() for at, queue in same if queue}


def _free(key: str, taken: set[str]) -> str:
    """Return a key that no task of the list ever had; `key` ends in the number of its title's occurrence."""
    start, _, number = key.rpartition("/")
    nth = int(number)
    while f"{start}/{nth}" in taken:
        nth += 1
    return f"{start}/{nth}"


def _under(task: PlannedTask, key: str) -> PlannedTask:
    if key == task.key:
        return task
    cut = len(task.key)
    entries = tuple(replace(entry, key=key + entry.key[cut:]) for entry in task.entries)
    return replace(task, key=key, source=key, entries=entries)


def _in_order(
    tasks: Sequence[PlannedTask], keys: Mapping[int, str], known: Sequence[_Known]
) -> dict[int, str]:
    """Give new tasks the keys of those that went out of the list behind the same task, in the same order."""
    lines = [(at, keys.get(at)) for at in range(len(tasks))]
    there = set(keys.values())
    new = _behind(lines)
    gone = _behind((at, one.key if one.key in there else None) for at, one in enumerate(known))
    found: dict[int, str] = {}
    for anchor, unknown in new.items():
        waiting = deque(gone.get(anchor, ()))
        for at in unknown:
            ahead = [waiting[n] for n in range(min(_AHEAD_MAX, len(waiting)))]
            likely = [
                (likeness, -n)
                for n, one in enumerate(ahead)
                if (likeness := _likeness(tasks[at], known[one]))
            ]
            if likely:
                taken = -max(likely)[1]
                found[at] = known[ahead[taken]].key
                for _ in range(taken + 1):
                    waiting.popleft()
    return found


def _behind(places: Iterable[tuple[int, str | None]]) -> dict[str | None, list[int]]:
    """Group the places without a key by the key that stands before them."""
    groups: dict[str | None, list[int]] = defaultdict(list)
    anchor = None
    for at, key in places:
        if key is None:
            groups[anchor].append(at)
        else:
            anchor = key
    return groups


def _like(tasks: Sequence[PlannedTask], keys: Mapping[int, str], gone: Sequence[_Known]) -> dict[int, str]:
    """Give new tasks the keys of those that went out of the list anywhere and read nearly alike."""
    index: dict[str, list[int]] = defaultdict(list)
    for at, one in enumerate(gone):
        for three in _threes(one.title):
            index[three].append(at)
    found: dict[int, str] = {}
    used: set[int] = set()
    for at, task in enumerate(tasks if gone else ()):
        if at not in keys and (best := _closest(task, gone, index, used)) is not None:
            used.add(best)
            found[at] = gone[best].key
    return found


def _closest(
    task: PlannedTask, gone: Sequence[_Known], index: Mapping[str, list[int]], used: set[int]
) -> int | None:
    rare = (where for three in _threes(task.title) if len(where := index.get(three, ())) <= _TITLES_MAX)
    shared = Counter(at for where in rare for at in where if at not in used)
    closest = sorted(shared.items(), key=lambda one: (-one[1], one[0]))[:_CLOSEST_MAX]
    likely = [(likeness, -at) for at, _ in closest if (likeness := _likeness(task, gone[at]))]
    return -max(likely)[1] if likely else None


def _likeness(task: PlannedTask, other: _Known) -> float:
    """Return how alike two tasks read, 0 where that is not enough to take them for one."""
    if task.made_ms is not None and other.made_ms is not None and task.made_ms != other.made_ms:
        return 0.0
    same_day = task.made_ms is not None and task.made_ms == other.made_ms
    mine, theirs = _threes(task.title), _threes(other.title)
    likeness = 2 * len(mine & theirs) / (len(mine) + len(theirs))
    return likeness if likeness >= (_LIKE_SAME_DAY_MIN if same_day else _LIKE_MIN) else 0.0


@lru_cache(maxsize=1024)
def _threes(title: str) -> frozenset[str]:
    padded = f"  {title.casefold()} "
    return frozenset(padded[at : at + 3] for at in range(len(padded) - 2))
