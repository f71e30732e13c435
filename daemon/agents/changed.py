"""What changed of an agent's task beyond what it has seen, from the log: who, when, where, before, after.

Never reads further back than the first commit that was not seen, however long the history is, and never names
a task that the agent may not work on.
"""

from datetime import tzinfo
from functools import cache
from typing import Any, NamedTuple

from msgspec import structs

from daemon.agents import policy, room
from daemon.agents.models.interface import ChangeView
from daemon.agents.moments import local_of
from daemon.agents.records import Agent, state_id
from daemon.journal.log import worded
from daemon.journal.views import Change
from store import history
from store.item import clock_from_value
from store.snapshot import Snapshot
from syncproto.codec import Value
from syncproto.commit import By, Received
from syncproto.heads import Clock, covers
from syncproto.ids import EntityId

COUNTED_MAX = 100
"""Beyond this many, changes are not counted one by one."""

_NOT_TOLD = frozenset({"position", "source", "happened_at"})
_ENDS = frozenset({"task_id", "checklist_id", "from_id", "to_id"})
_LINKED = ("from_id", "to_id")
_ELSEWHERE = "another task"
_CHILDREN = ("task_checklist", "task_entry", "link_from", "link_to")


class Changed(NamedTuple):
    """The newest changes, oldest first, and how many more there are at least."""

    told: tuple[ChangeView, ...]
    left_out: int


NOTHING = Changed((), 0)


def changed_since(snapshot: Snapshot, agent: Agent, zone: tzinfo | None) -> Changed:
    """Return what changed of an agent's task and what hangs on it beyond what the agent has seen."""
    task, seen = agent.task, agent.watermark
    since = history.first_beyond(snapshot, seen)
    if since is None:
        return NOTHING
    found = history.changes(
        snapshot,
        limit=room.CHANGES.members,
        since=since - 1,
        entities=_family(snapshot, task),
        wanted=lambda received, _operation: not covers(seen, received.head, snapshot.log),
        field=lambda field: field not in _NOT_TOLD,
    )
    told = [_view(one, zone) for one in _Business(snapshot, agent).worded(_without_ends(found.changes))]
    kept = room.within(reversed(told), room.CHANGES, _weight)
    more = len(told) - len(kept) + (found.stopped is not None)
    return Changed(tuple(reversed(kept)), more)


def since_report(snapshot: Snapshot, agent: Agent) -> int:
    """Count the commits that changed the task since what its report stands for, at most COUNTED_MAX."""
    state = snapshot.entity(state_id(agent.id))
    if state is None or agent.report_id is None:
        return 0
    # The end of a run writes both: where it leaves the report as it was, it names it again.
    seen = state.value("watermark")
    return count_since(snapshot, agent.task, clock_from_value(seen))


def count_since(snapshot: Snapshot, task: EntityId, seen: Clock) -> int:
    """Count the commits that changed a task or what hangs on it beyond a clock, at most COUNTED_MAX."""
    since = history.first_beyond(snapshot, seen)
    if since is None:
        return 0
    family = _family(snapshot, task)
    count = 0
    for seq in history.positions(snapshot, family, since - 1):
        received = snapshot.log.at(seq)
        count += not covers(seen, received.head, snapshot.log) and _tells(received, family)
        if count == COUNTED_MAX:
            break
    return count


def _family(snapshot: Snapshot, task: EntityId) -> set[EntityId]:
    """Return a task and all that hangs on it, what was removed included; none of it is read."""
    family = {task}
    for relation in _CHILDREN:
        family.update(snapshot.referring(task, relation, removed=True))
    for checklist in snapshot.referring(task, "task_checklist", removed=True):
        family.update(snapshot.referring(checklist, "checklist_item", removed=True))
    return family


def _tells(received: Received, family: set[EntityId]) -> bool:
    """Say whether a commit has a value for one of these that is not the agent's own.

    An agent writes to its own task alone; the effect of a proposal is the person's who confirmed it.
    """
    return any(
        one.fields and one.entity in family and (one.by is not By.AGENT or one.effect is not None)
        for one in received.commit.operations
    )


def _without_ends(changes: list[history.Change]) -> list[history.Change]:
    """Leave out what a new entity hangs on, where it has a value of its own that is told."""
    told = {(one.seq, one.entity) for one in changes if one.field not in _ENDS}
    return [one for one in changes if one.field not in _ENDS or (one.seq, one.entity) not in told]


class _Business:
    """Keeps from an agent what tasks are called that it may not work on, as links and moves would tell it."""

    def __init__(self, snapshot: Snapshot, agent: Agent) -> None:
        self._snapshot = snapshot
        self._agent = snapshot.entity(agent.id)
        self._is_foreign = cache(self._read_is_foreign)

    def worded(self, changes: list[history.Change]) -> list[Change]:
        """Show changes as the log does: none of a link with such a task, and a move without its name."""
        own = [one for one in changes if not (one.kind == "link" and self._leads_away(one))]
        return [
            structs.replace(
                change,
                before=_ELSEWHERE if self._names_foreign(one, one.before) else change.before,
                after=_ELSEWHERE if self._names_foreign(one, one.after) else change.after,
            )
            for one, change in zip(own, worded(self._snapshot, own), strict=True)
        ]

    def _leads_away(self, change: history.Change) -> bool:
        link = self._snapshot.entity(change.entity)
        ends = [] if link is None else [one.value for field in _LINKED for one in link.versions(field)]
        named = [change.before, change.after] if change.field in _LINKED else []
        return any(self._is_foreign(EntityId(one)) for one in (*ends, *named) if isinstance(one, bytes))

    def _names_foreign(self, change: history.Change, value: Value) -> bool:
        return change.field in _ENDS and isinstance(value, bytes) and self._is_foreign(EntityId(value))

    def _read_is_foreign(self, named: EntityId) -> bool:
        held = self._snapshot.entity(named)
        if held is None or held.kind != "task":
            return False
        return policy.category_refusal(self._snapshot, self._agent, held) is not None


def _view(change: Change, zone: tzinfo | None) -> ChangeView:
    return ChangeView(
        entity=room.shortened(change.title, room.CHANGED_CHARS_MAX),
        kind=change.kind,
        field=change.field,
        before=_short(change.before),
        after=_short(change.after),
        who=change.by,
        device=change.device_name,
        at=local_of(change.at, 0, zone),
    )


def _short(value: Any) -> Any:
    """Return a value as it is told: a long one by its beginning."""
    if isinstance(value, str):
        return room.shortened(value, room.CHANGED_CHARS_MAX)
    return (
        room.shortened(room.as_json(value), room.CHANGED_CHARS_MAX)
        if isinstance(value, list | dict)
        else value
    )


def _weight(change: ChangeView) -> int:
    return room.weight([change.entity, change.field, change.before, change.after, change.device]) + 40
