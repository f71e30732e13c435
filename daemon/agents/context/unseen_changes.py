"""The changes of an agent's task beyond what it has seen, from the log, with author, device and values.

Never reads further back than the first unseen commit, however long the history is. Never names a task that
the agent may not work on.
"""

from datetime import tzinfo
from functools import cache
from typing import Any, NamedTuple

from msgspec import structs

from daemon.agents.context.local_time import parse_local
from daemon.agents.tools import budgets, policy
from daemon.agents.tools.agent_record import Agent, state_id
from daemon.agents.tools.model_interface import ChangeView
from daemon.journal.change_log import present_changes
from daemon.journal.fields.imported_provenance import says_something
from daemon.journal.views.structures import Change
from store.fold.item import clock_from_value
from store.queries import field_changes
from store.queries.decisions import decisions_before
from store.snapshot import Snapshot
from syncproto.codec import Value
from syncproto.commit import AuthorKind, DecodedCommit
from syncproto.ids import EntityId
from syncproto.vector_clock import VectorClock, covers

COMMITS_COUNTED_MAX = 100
"""Beyond this number, unseen commits are not counted one by one."""

_NOT_SHOWN = frozenset({"position", "source", "happened_at"})
_ENDS = frozenset({"task_id", "checklist_id", "from_id", "to_id"})
_LINKED = ("from_id", "to_id")
_FOREIGN_TASK = "another task"
_CHILDREN = ("task_checklist", "task_entry", "link_from", "link_to")


class UnseenChanges(NamedTuple):
    """The newest changes, oldest first, and how many more there are at least."""

    views: tuple[ChangeView, ...]
    left_out: int


NO_CHANGES = UnseenChanges((), 0)


def unseen_changes_of(snapshot: Snapshot, agent: Agent, zone: tzinfo | None) -> UnseenChanges:
    """Return what changed of an agent's task and its parts beyond what the agent has seen."""
    task, heads = agent.task, agent.watermark
    since = field_changes.first_uncovered_position(snapshot, heads)
    if since is None:
        return NO_CHANGES
    read = field_changes.field_changes(
        snapshot,
        limit=budgets.CHANGES.members,
        since=since - 1,
        entities=_family(snapshot, task),
        wanted=lambda received, _operation: not covers(heads, received.head, snapshot.log),
        field=lambda field: field not in _NOT_SHOWN,
        shown=says_something,
    )
    views = [
        _view(change, zone)
        for change in _ForeignTaskFilter(snapshot, agent).present(_without_parents(read.changes))
    ]
    change_views = budgets.within_budget(reversed(views), budgets.CHANGES, _weight)
    # Reading stops at the limit, so beyond it there is one more at least.
    more = len(views) - len(change_views) + (read.resume_at is not None)
    return UnseenChanges(tuple(reversed(change_views)), more)


def count_since_report(snapshot: Snapshot, agent: Agent) -> int:
    """Count the commits that changed the task since its report, up to COMMITS_COUNTED_MAX."""
    state = snapshot.entity(state_id(agent.id))
    if state is None or agent.report_id is None:
        return 0
    # The end of a run writes watermark and report together. If the report is unchanged, it is named again.
    watermark = state.value("watermark")
    return count_commits_beyond(snapshot, agent.task, clock_from_value(watermark))


def count_decisions_since_report(snapshot: Snapshot, agent: Agent) -> int:
    """Count the decisions of people on the task's proposals since its report, up to COMMITS_COUNTED_MAX."""
    state = snapshot.entity(state_id(agent.id))
    if state is None or agent.report_id is None:
        return 0
    watermark = clock_from_value(state.value("watermark"))
    since = field_changes.first_uncovered_position(snapshot, watermark)
    if since is None:
        return 0
    newest = decisions_before(snapshot, task=agent.task, before=None, limit=COMMITS_COUNTED_MAX)
    unseen = 0
    for decision in newest[:COMMITS_COUNTED_MAX]:
        # The decisions come newest first, and all before this position were seen.
        if decision.seq < since:
            break
        received = snapshot.log.commit_at(decision.seq)
        by_person = any(
            operation.entity == decision.decision and operation.by is AuthorKind.USER
            for operation in received.commit.operations
        )
        unseen += by_person and not covers(watermark, received.head, snapshot.log)
    return unseen


def count_commits_beyond(snapshot: Snapshot, task: EntityId, heads: VectorClock) -> int:
    """Count the commits that changed a task or its parts beyond a clock, up to COMMITS_COUNTED_MAX."""
    since = field_changes.first_uncovered_position(snapshot, heads)
    if since is None:
        return 0
    family = _family(snapshot, task)
    count = 0
    for seq in field_changes.positions_touching(snapshot, family, since - 1):
        received = snapshot.log.commit_at(seq)
        count += not covers(heads, received.head, snapshot.log) and _is_news(received, family)
        if count == COMMITS_COUNTED_MAX:
            break
    return count


def _family(snapshot: Snapshot, task: EntityId) -> set[EntityId]:
    """Return the ids of a task and of all its parts, removed ones too, without reading them."""
    family = {task}
    for relation in _CHILDREN:
        family.update(snapshot.ids_pointing_at(task, relation, removed=True))
    for checklist in snapshot.ids_pointing_at(task, "task_checklist", removed=True):
        family.update(snapshot.ids_pointing_at(checklist, "checklist_item", removed=True))
    return family


def _is_news(received: DecodedCommit, family: set[EntityId]) -> bool:
    """Report whether a commit writes a value of one of these that is not the agent's own.

    An agent writes to its own task alone. The effect of a proposal is the write of the person who confirmed
    it.
    """
    return any(
        operation.fields
        and operation.entity in family
        and (operation.by is not AuthorKind.AGENT or operation.effect is not None)
        for operation in received.commit.operations
    )


def _without_parents(changes: list[field_changes.FieldChange]) -> list[field_changes.FieldChange]:
    """Leave out the parent of a new entity if another value of the same entity is shown."""
    shown_changes = {(change.seq, change.entity) for change in changes if change.field not in _ENDS}
    return [
        change
        for change in changes
        if change.field not in _ENDS or (change.seq, change.entity) not in shown_changes
    ]


class _ForeignTaskFilter:
    """Hides the names of tasks that the agent may not work on, which links and moves would show."""

    def __init__(self, snapshot: Snapshot, agent: Agent) -> None:
        self._snapshot = snapshot
        self._agent = snapshot.entity(agent.id)
        self._is_foreign = cache(self._read_is_foreign)

    def present(self, changes: list[field_changes.FieldChange]) -> list[Change]:
        """Return changes as the log shows them, without links to foreign tasks and without their names."""
        raws = [raw for raw in changes if not (raw.kind == "link" and self._leads_away(raw))]
        return [
            structs.replace(
                change,
                before=_FOREIGN_TASK if self._names_foreign(raw, raw.before) else change.before,
                after=_FOREIGN_TASK if self._names_foreign(raw, raw.after) else change.after,
            )
            for raw, change in zip(raws, present_changes(self._snapshot, raws), strict=True)
        ]

    def _leads_away(self, change: field_changes.FieldChange) -> bool:
        link = self._snapshot.entity(change.entity)
        # All concurrent versions: a change may show an end that is not the one in effect.
        ends = [] if link is None else [end.value for field in _LINKED for end in link.versions(field)]
        changed_ends = [change.before, change.after] if change.field in _LINKED else []
        return any(
            self._is_foreign(EntityId(end)) for end in (*ends, *changed_ends) if isinstance(end, bytes)
        )

    def _names_foreign(self, change: field_changes.FieldChange, value: Value) -> bool:
        return change.field in _ENDS and isinstance(value, bytes) and self._is_foreign(EntityId(value))

    def _read_is_foreign(self, identifier: EntityId) -> bool:
        entity = self._snapshot.entity(identifier)
        if entity is None or entity.kind != "task":
            return False
        return policy.category_refusal(self._snapshot, self._agent, entity) is not None


def _view(change: Change, zone: tzinfo | None) -> ChangeView:
    return ChangeView(
        entity_title=budgets.truncate(change.title, budgets.CHANGED_CHARS_MAX),
        kind=change.kind,
        field=change.field,
        before=_short(change.before),
        after=_short(change.after),
        who=change.by,
        device=change.device_name,
        at=parse_local(change.at, 0, zone),
    )


def _short(value: Any) -> Any:
    """Return a value as it is shown: the beginning of a long one."""
    if isinstance(value, str):
        return budgets.truncate(value, budgets.CHANGED_CHARS_MAX)
    return (
        budgets.truncate(budgets.as_json(value), budgets.CHANGED_CHARS_MAX)
        if isinstance(value, list | dict)
        else value
    )


def _weight(change: ChangeView) -> int:
    return (
        budgets.json_tokens([change.entity_title, change.field, change.before, change.after, change.device])
        + 40
    )
