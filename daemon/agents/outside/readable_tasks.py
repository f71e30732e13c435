"""The tasks that an agent of another maker may read, cut to what it needs, and the tools that it may call.

Never shows a task that is beyond its scope, nor the name of one.
"""

from typing import Any, Final

from msgspec import Struct

from daemon.agents.deciding import decision_history
from daemon.agents.deciding.decision_history import DecisionRecord
from daemon.agents.deciding.waiting_items import PendingItem, list_waiting_items
from daemon.agents.proposing import reach
from daemon.agents.proposing.sight import Sight
from daemon.agents.tools import summaries
from daemon.agents.tools.policy import (
    ALL_TASKS,
    ASKS_ONLY,
    NO_TASKS,
    Ruling,
    ruling_on,
    scope_of,
)
from daemon.agents.tools.table import ANSWER_QUESTION, TOOLS, CallMode, tool_description
from daemon.journal import search, tasks
from daemon.journal.references import entities
from daemon.journal.views.structures import BriefTask, Task
from daemon.refusal import RefusalCode, Refused, not_found_refusal
from store.fold.entity import Entity
from store.sentence import sentence
from store.snapshot import Snapshot
from syncproto.ids import EntityId, id_from_text, id_to_text

FOUND_MAX: Final = 20
ENTRIES_MAX: Final = 10
ENTRY_CHARS_MAX: Final = 1_000
ITEMS_MAX: Final = 100
PROPOSALS_MAX: Final = 20
_DECISIONS_SEARCHED: Final = 200
PAGE: Final = 100
_PAGES_MAX: Final = 20


class ReadableEntry(Struct, frozen=True, kw_only=True):
    """A note of a task, cut to 1 000 characters. `at` is ISO 8601 in UTC."""

    id: str
    text: str
    author: str | None
    at: str | None


class ReadableItem(Struct, frozen=True, kw_only=True):
    """An item of a checklist of a task."""

    id: str
    title: str
    checked: bool


class OwnProposal(Struct, frozen=True, kw_only=True):
    """A change that the agent proposed and that waits: the id of the item, and what it is, in words."""

    item: str
    tool: str
    summary: str


class OwnDecision(Struct, frozen=True, kw_only=True):
    """A decision on a change that the agent proposed. `state` is how that change stands now.

    `verdict` is confirmed, rejected, deferred, reopened, undone or retracted; `reason` is the person's.
    """

    item: str
    tool: str
    summary: str
    verdict: str
    state: str
    at: str
    reason: str | None


class ReadableTask(BriefTask, frozen=True, kw_only=True):
    """A task as an agent of another maker reads it: the newest ten notes, the first hundred open items.

    `open_proposals` counts what waits for a person, of all agents. `proposals` are this agent's own of these,
    and `decisions` the last on its own, 20 of each at most. `due` is YYYY-MM-DD.
    """

    labels: list[str]
    category: str | None
    notes: list[ReadableEntry]
    items: list[ReadableItem]
    open_proposals: int
    proposals: list[OwnProposal]
    decisions: list[OwnDecision]


class TaskHead(Struct, frozen=True, kw_only=True):
    """A task in a list: what an agent needs in order to name it, and how many proposals on it wait."""

    id: str
    title: str
    status: str
    due: str | None
    open_proposals: int


class CallableTool(Struct, frozen=True, kw_only=True):
    """A tool whose calls wait for a person: what it does, and a JSON schema of its arguments."""

    name: str
    description: str
    arguments: dict[str, Any]


def readable_task(snapshot: Snapshot, agent: EntityId, ref: str, now_ms: int) -> ReadableTask:
    """Return a task that the agent may read. Raises Refused as `find_task_in_scope` does."""
    task = find_task_in_scope(snapshot, agent, ref)
    details = tasks.show(snapshot, id_to_text(task.id))
    waiting = list_waiting_items(snapshot, now_ms, task=task.id)
    own, sight = id_to_text(agent), Sight(snapshot, agent)
    return ReadableTask(
        **{name: getattr(details, name) for name in BriefTask.__struct_fields__},
        labels=details.labels,
        category=details.category,
        notes=_notes(details),
        items=_items(details),
        open_proposals=len(waiting),
        proposals=[
            OwnProposal(
                item=item.item_id,
                tool=item.tool,
                summary=_own_summary(snapshot, sight, task.id, item),
            )
            for item in [item for item in waiting if item.agent_id == own][:PROPOSALS_MAX]
        ],
        decisions=_own_decisions(snapshot, sight, now_ms, task.id, own),
    )


def _own_summary(
    snapshot: Snapshot, sight: Sight, task: EntityId, shown: PendingItem | DecisionRecord
) -> str:
    """Return what a proposal of an agent is, without the name of what the agent may not know of by now."""
    if shown.subject is None:
        return shown.summary
    name = reach.name_in_sight(snapshot, sight, task, shown.tool, shown.args)
    return summaries.proposal_summary(shown.tool, shown.args, name)


def _own_decisions(
    snapshot: Snapshot, sight: Sight, now_ms: int, task: EntityId, agent: str
) -> list[OwnDecision]:
    """Return the last decisions on what an agent proposed on a task, the newest first."""
    listed = decision_history.list_decisions(
        snapshot, now_ms, task=id_to_text(task), limit=_DECISIONS_SEARCHED
    )
    return [
        OwnDecision(
            item=record.item_id,
            tool=record.tool,
            summary=_own_summary(snapshot, sight, task, record),
            verdict=record.verdict,
            state=record.status,
            at=record.at,
            reason=record.reason,
        )
        for record in [record for record in listed if record.agent_id == agent][:PROPOSALS_MAX]
    ]


def find_task_in_scope(snapshot: Snapshot, agent: EntityId, ref: str) -> Entity:
    """Find a task by its id or title, or by its whole id alone if the agent may read some categories only.

    A task of a series that nobody has touched is none: what an agent names, a person has had to do with.
    Raises Refused: forbidden if the agent works on no task, not_found, ambiguous. No refusal tells whether
    there is a task that the agent may not read.
    """
    entity = snapshot.entity(agent)
    scope = NO_TASKS if entity is None else scope_of(entity)
    if scope == NO_TASKS:
        raise Refused(RefusalCode.FORBIDDEN, ASKS_ONLY)
    if scope == ALL_TASKS:
        return _find_task_unnamed(snapshot, ref)
    hint = sentence("agent-names-by-id", "name a task that this agent may read by its whole id")
    is_shown = Sight(snapshot, agent).shows_task
    return entities.find_by_full_id(snapshot, "task", ref, is_shown, hint, untouched=False)


def _find_task_unnamed(snapshot: Snapshot, ref: str) -> Entity:
    """Find a task. Raises Refused without the title of any: two may be meant, or a removed one."""
    try:
        return entities.find_task(snapshot, ref, untouched=False)
    except Refused as refused:
        match refused.code:
            case RefusalCode.AMBIGUOUS:
                hint = sentence("more-of-id", "give more of the id")
                raise Refused(refused.code, refused.sentence, hint) from None
            case RefusalCode.NOT_FOUND:
                # A removed task is refused with its title.
                raise not_found_refusal("task", ref) from None
        raise


def _notes(details: Task) -> list[ReadableEntry]:
    return [
        ReadableEntry(
            id=entry.id,
            text=entry.text[:ENTRY_CHARS_MAX],
            author=entry.author,
            at=entry.happened_at,
        )
        for entry in details.entries[-ENTRIES_MAX:]
    ]


def _items(details: Task) -> list[ReadableItem]:
    items = [item for checklist in details.checklists for item in checklist.items if not item.is_archived]
    return [
        ReadableItem(id=item.id, title=item.title, checked=item.is_checked)
        for item in sorted(items, key=lambda item: item.is_checked)[:ITEMS_MAX]
    ]


def find_readable_tasks(
    snapshot: Snapshot, agent: EntityId, query: str, limit: int, now_ms: int
) -> list[TaskHead]:
    """Find tasks by words in them, or list open ones if there are none; those in scope alone."""
    sight = Sight(snapshot, agent)
    heads: list[TaskHead] = []
    after: int | str | None = 0 if query.strip() else None
    for _ in range(_PAGES_MAX):
        names, after = _page(snapshot, query, after)
        for name in names:
            task = snapshot.entity(id_from_text(name))
            if task is None or not sight.shows_task(task):
                continue
            due = task.value("due")
            heads.append(
                TaskHead(
                    id=name,
                    title=task.text("title"),
                    status=task.text("status") or "OPEN",
                    due=due if isinstance(due, str) else None,
                    open_proposals=len(list_waiting_items(snapshot, now_ms, task=task.id)),
                )
            )
            if len(heads) >= limit:
                return heads
        if after is None:
            break
    return heads


def _page(snapshot: Snapshot, query: str, after: int | str | None) -> tuple[list[str], int | str | None]:
    """Return the ids of a page of tasks, and what asks for the next page; None at the end."""
    if query.strip():
        assert not isinstance(after, str)
        page = search.search_tasks(
            snapshot, query, removed=False, after=after or 0, limit=search.LIMIT_DEFAULT
        )
        return [task.id for task in page.tasks], page.next
    assert not isinstance(after, int)
    lines = tasks.list_tasks(snapshot, closed=False, removed=False, brief=True, after=after, limit=PAGE)
    return [line.id for line in lines], lines[-1].id if len(lines) == PAGE else None


def callable_tools(snapshot: Snapshot, agent: EntityId) -> list[CallableTool]:
    """Return the tools that an agent of another maker may call, in the order of the table."""
    entity = snapshot.entity(agent)
    return [
        CallableTool(name=name, description=described["description"], arguments=described["parameters"])
        for name, tool in TOOLS.items()
        if tool.mode is not CallMode.IMMEDIATE
        and name != ANSWER_QUESTION
        and ruling_on(entity, name) is not Ruling.DENIED
        for described in (tool_description(name, with_evidence=True),)
    ]
