"""What waits for a person: open, deferred and disputed proposals, each with what it would change.

Never writes, and never shows a model's words as the summary.
"""

from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from typing import Any, Final, NamedTuple

from msgspec import Struct, structs

from daemon.agents.deciding import item_state, staleness, urgency
from daemon.agents.deciding.affected_tasks import affected_tasks
from daemon.agents.deciding.item_state import DisplayedStatus, ItemState
from daemon.agents.deciding.verdict_needs import IdleVerdict, idle_verdicts, presence_needed, verdict_lack
from daemon.agents.proposing import reach
from daemon.agents.proposing.change_set_builder import CHANGE_SETS_MAX
from daemon.agents.tools import summaries
from daemon.agents.tools.agent_record import AnyAgent, load_any_agent
from daemon.agents.tools.arguments import Arguments
from daemon.agents.tools.effects import args_hash, change_set_id
from daemon.agents.tools.presence import ANY
from daemon.agents.tools.questions import answer_text, arguments_of_answers, change_of_answer
from daemon.agents.tools.table import TOOLS, WriteTarget
from daemon.journal.references.names import short_text, shown_name
from daemon.journal.views.lookup import NameLookup
from daemon.timestamps import iso_utc
from store.fold.item import Item, Occurrence
from store.fold.item_name import Presence
from store.queries.items import tasks_of_agent_proposals, tasks_of_items_ending
from store.snapshot import Snapshot
from store.transaction import Transaction
from syncproto.ids import EntityId, id_to_text


class NoteEvidence(Struct, frozen=True, kw_only=True):
    """What the notes of a task say of a proposal, as this device reads them.

    `verdict` is "says so", "mentions it", "says other" (then `value` is what the note says), or "silent".
    `entry_id` and `written_at` (ISO 8601 in UTC) name the note, and `quote` is its sentence that says so by
    itself, or its beginning; all three are null for "silent".
    """

    verdict: str
    entry_id: str | None = None
    written_at: str | None = None
    value: int | str | None = None
    quote: str | None = None


class OfferedAnswer(Struct, frozen=True, kw_only=True):
    """One answer to a question: the item to confirm in order to choose it, its words, and its change.

    `tool` and `args` are null if choosing it changes nothing.
    """

    item_id: str
    text: str
    tool: str | None
    args: dict[str, Any] | None


class AskedQuestion(Struct, frozen=True, kw_only=True):
    """The question that an item answers. `number` is that of the item's own answer, from 1.

    `question_id` is the same for all its answers. Confirming one of them rejects the others; rejecting or
    deferring one of them rejects or defers the question.
    """

    question_id: str
    text: str
    number: int
    answers: list[OfferedAnswer]


class PendingItem(Struct, frozen=True, kw_only=True):
    """One proposal that waits: what is proposed, why, which values it replaces, and its status.

    `args` are those that would be applied: the person's own (`edited`) if an edited confirmation is in
    dispute. A decision that sends `args_hash` back can apply nothing else. `subject` is the name of the
    checklist item or label, or null. `base` is what the agent saw, `current` what is there now, `proposed`
    what the item would write. Each is a value, or a map from field to value if there are several. `stale`:
    `current` has changed since the agent saw it. `expires_at` is null if a person decided on it, deferred or
    reopened it: it expires no more. `expires_soon`: it expires within a day unless somebody decides.
    `notes` is what the notes of the task say of it, null if they cannot tell. Times are ISO 8601 in
    UTC. `question` is given if the item is an answer to a question of the agent: its answers are listed one
    after the other. `presence` is what a verdict needs in order to count: `any`, `other_device` than the
    agent's, or `passkey`; not `counts_here`: one on this device never does, since the agent works here.
    `idle_verdicts` are those that were given without it. `agent_name` is a person's word for the agent, or
    null. `proposed_on` is the name of the device that proposed it, null if that is the agent's home: the
    agent may have been moved since. `held_back`: its agent has more before the person already than the
    setting `proposals.open_per_day` allows; it waits like the rest, and can be decided. If an agent proposes
    a new task beside no task, `task_id` and `task_title` are the id and the name of the agent.
    """

    item_id: str
    set_id: str
    task_id: str
    task_title: str
    agent_id: str
    tool: str
    args: dict[str, Any]
    args_hash: str
    edited: bool
    subject: str | None
    summary: str
    rationale: str | None
    base: Any
    current: Any
    proposed: Any
    status: str
    disputed: bool
    stale: bool
    created_at: str
    expires_at: str | None
    expires_soon: bool = False
    notes: NoteEvidence | None = None
    question: AskedQuestion | None = None
    presence: str = ANY
    counts_here: bool = True
    idle_verdicts: list[IdleVerdict] = []
    agent_name: str | None = None
    proposed_on: str | None = None
    held_back: bool = False


EXPIRED_LISTED_MAX = 200

_WAITING = frozenset({DisplayedStatus.PENDING, DisplayedStatus.DEFERRED})
_REMEMBERED: Final = "waiting items"


class _WaitingItem(NamedTuple):
    """A proposal that waits: as it was looked up, its place among all by its making, and as it is shown."""

    state: ItemState
    made: tuple[int, str, int, int]
    shown: PendingItem

    @property
    def group(self) -> tuple[EntityId, EntityId]:
        """Return its task and its agent."""
        return self.state.item.task, _proposer(self.state.item)


class _RememberedItems(NamedTuple):
    """All that waits, from the time at which it was listed until time alone changes something of it.

    `new_tasks_by` are the tasks and agents whose open proposals would make tasks, whether they wait or not.
    """

    waiting: list[_WaitingItem]
    new_tasks_by: set[EntityId]
    listed: list[PendingItem]
    from_ms: int
    until_ms: float

    def holds_at(self, now_ms: int) -> bool:
        """Report whether time alone has changed nothing."""
        return self.from_ms <= now_ms < self.until_ms


def list_waiting_items(
    snapshot: Snapshot, now_ms: int, *, task: EntityId | None = None, closed: bool = False
) -> list[PendingItem]:
    """List the proposals that wait, task by task, what presses first (`urgency.py`), and there by agent.

    Expired and obsolete items do not wait any more. `closed` lists them too, with all that are decided, in
    the order in which they were made.
    """
    if closed:
        items = sorted(_look_up(snapshot, snapshot.items(task), now_ms, closed=True)[0], key=_order_of_making)
        return _limit_dates([item.shown for item in items], now_ms)
    if task is not None:
        waiting = _look_up(snapshot, snapshot.open_items(now_ms, task), now_ms)[0]
        return _limit_dates(_in_listed_order(waiting, now_ms), now_ms)
    # Every page counts what waits, and thousands of items take seconds.
    position, remembered = _recall_items(snapshot)
    if remembered is None or not _is_current(snapshot, position, remembered, now_ms):
        remembered = _all_waiting(snapshot, now_ms, position, remembered)
        snapshot.remember(_REMEMBERED, remembered)
    return _limit_dates(remembered.listed, now_ms)


def _recall_items(snapshot: Snapshot) -> tuple[int, _RememberedItems | None]:
    position, remembered = snapshot.recall(_REMEMBERED) or (0, None)
    return position, remembered if isinstance(remembered, _RememberedItems) else None


def _is_current(snapshot: Snapshot, position: int, remembered: _RememberedItems, now_ms: int) -> bool:
    return position == snapshot.feed_end() and remembered.holds_at(now_ms)


def count_waiting_items_of_agent(snapshot: Snapshot, now_ms: int, agent: EntityId) -> int:
    """Count the proposals of an agent that wait.

    In a transaction nothing else may be written meanwhile: it takes the list that is remembered if nothing
    has changed since, else it looks up only what the agent ever proposed.
    """
    position, remembered = _recall_items(snapshot)
    if remembered is not None and (
        not isinstance(snapshot, Transaction) or _is_current(snapshot, position, remembered, now_ms)
    ):
        own = id_to_text(agent)
        return sum(item.agent_id == own for item in list_waiting_items(snapshot, now_ms))
    items = (
        item
        for task in tasks_of_agent_proposals(snapshot, agent)
        for item in snapshot.open_items(now_ms, task)
        if _proposer(item) == agent
    )
    return sum(_waits(state, status) for state, status in _with_status(snapshot, items, now_ms))


def _limit_dates(items: list[PendingItem], now_ms: int) -> list[PendingItem]:
    """Return the items, none made later than now: a stamp ahead is that of a clock that was wrong."""
    now = iso_utc(now_ms)

    def limit(item: PendingItem) -> PendingItem:
        if item.created_at <= now and all(verdict.at <= now for verdict in item.idle_verdicts):
            return item
        verdicts = [structs.replace(verdict, at=min(verdict.at, now)) for verdict in item.idle_verdicts]
        return structs.replace(item, created_at=min(item.created_at, now), idle_verdicts=verdicts)

    return [limit(item) for item in items]


def _all_waiting(
    snapshot: Snapshot, now_ms: int, position: int, before: _RememberedItems | None
) -> _RememberedItems:
    """Return all that waits, given what did at another feed position and time, if that is known."""
    renewed = None if before is None else _brought_up_to_date(snapshot, before, position, now_ms)
    waiting, new_tasks_by = renewed or _look_up(snapshot, snapshot.open_items(now_ms), now_ms)
    ends_ms = [end_ms for item in waiting for end_ms in urgency.changes_ms(item.state.item)]
    until_ms = min((end_ms for end_ms in ends_ms if end_ms > now_ms), default=float("inf"))
    return _RememberedItems(waiting, new_tasks_by, _in_listed_order(waiting, now_ms), now_ms, until_ms)


def _brought_up_to_date(
    snapshot: Snapshot, before: _RememberedItems, position: int, now_ms: int
) -> tuple[list[_WaitingItem], set[EntityId]] | None:
    """Look up what may have changed since a feed position; None if that may be all."""
    by_commits = affected_tasks(
        snapshot, position, {agent for _, agent in {item.group for item in before.waiting}}
    )
    if by_commits is None:
        return None
    affected = by_commits.tasks | _affected_by_time(snapshot, before.from_ms, now_ms)
    # A proposed task waits only while no other has its title.
    if by_commits.are_twins_affected:
        affected |= before.new_tasks_by
    # What an item writes may be elsewhere.
    affected |= {item.state.item.task for item in before.waiting if item.state.effect.entity in affected}
    items = {item.id: item for task in affected for item in snapshot.open_items(now_ms, task)}
    again, new_tasks_by = _look_up(snapshot, items.values(), now_ms)
    kept = [item for item in before.waiting if item.state.item.task not in affected]
    # Another member's set can name an item of another task as one of its own.
    return (
        kept + [item for item in again if item.state.item.task in affected],
        (before.new_tasks_by - affected) | new_tasks_by,
    )


def _affected_by_time(snapshot: Snapshot, before_ms: int, now_ms: int) -> set[EntityId]:
    """Return the tasks with an open item that expired, or began to expire soon, between two times.

    Clocks go back too, and who asked first may be the last to answer: either time may be the earlier one.
    """
    earlier_ms, later_ms = sorted((before_ms, now_ms))
    return {
        task
        for ahead_ms in (0, urgency.SOON_MS)
        for task in tasks_of_items_ending(snapshot, earlier_ms + ahead_ms, later_ms + ahead_ms)
    }


def _look_up(
    snapshot: Snapshot, items: Iterable[Item], now_ms: int, *, closed: bool = False
) -> tuple[list[_WaitingItem], set[EntityId]]:
    """Return the items that wait, or all if `closed`, and whose proposals of new tasks are among all."""
    with_status = list(_with_status(snapshot, items, now_ms))
    new_tasks_by = {
        state.item.task for state, _ in with_status if TOOLS[state.item.tool].writes is WriteTarget.NEW_TASK
    }
    waiting = [(state, status) for state, status in with_status if closed or _waits(state, status)]
    shown = _pending_items(snapshot, waiting, now_ms)
    pairs = zip(waiting, shown, strict=True)
    return [_WaitingItem(state, _creation_order(state), item) for (state, _), item in pairs], new_tasks_by


def _with_status(
    snapshot: Snapshot, items: Iterable[Item], now_ms: int
) -> Iterator[tuple[ItemState, DisplayedStatus]]:
    """Yield the state of each item, with the status that is shown of it."""
    # Hundreds of proposals may be about one task, and another program may have made that as long as a commit.
    entity_of = cache(snapshot.entity)
    for item in items:
        state = item_state.item_state_of(snapshot, item, entity_of)
        if state is not None:
            yield state, item_state.displayed_status(snapshot, state, now_ms)


def _order_of_making(item: _WaitingItem) -> tuple[int, str, int, int]:
    return item.made


def _in_listed_order(waiting: list[_WaitingItem], now_ms: int) -> list[PendingItem]:
    """Return what waits as it is shown, in the order in which it is listed."""
    by_making = sorted(waiting, key=_order_of_making)
    places = urgency.task_places([item.state for item in by_making], now_ms)
    first_places: dict[tuple[EntityId, EntityId], int] = {}
    for number, item in enumerate(by_making):
        first_places.setdefault(item.group, number)
    # The sort is stable: items of one agent on one task stay in the order in which they were made.
    by_making.sort(key=lambda item: (places[item.state.item.task], first_places[item.group]))
    return [item.shown for item in by_making]


def list_expired_items(snapshot: Snapshot, now_ms: int, task: EntityId | None = None) -> list[PendingItem]:
    """List the proposals that nobody decided in time, the last to expire first, EXPIRED_LISTED_MAX at most.

    What has become obsolete meanwhile is left out: there is nothing left to ask about it.
    """
    items = snapshot.items_running_out(0, now_ms, task, limit=EXPIRED_LISTED_MAX)
    return _items_of_status(snapshot, items, DisplayedStatus.EXPIRED, now_ms)


def list_expiring_items(snapshot: Snapshot, now_ms: int) -> list[PendingItem]:
    """List the proposals that expire within a day unless somebody decides, the first to expire first."""
    items = snapshot.items_running_out(now_ms, now_ms + urgency.SOON_MS, limit=EXPIRED_LISTED_MAX)
    return _items_of_status(snapshot, items[::-1], DisplayedStatus.PENDING, now_ms)


def _items_of_status(
    snapshot: Snapshot, items: list[Item], wanted: DisplayedStatus, now_ms: int
) -> list[PendingItem]:
    with_status = _with_status(snapshot, items, now_ms)
    shown = _pending_items(snapshot, [pair for pair in with_status if pair[1] is wanted], now_ms)
    return _limit_dates(shown, now_ms)


def waiting_count(items: Iterable[PendingItem]) -> int:
    """Count what a person is asked to decide: a question counts once, however many answers it has."""
    return len({decided_together(item) for item in items})


def decided_together(item: PendingItem) -> str:
    """Return what names the item with all that one decision settles: its question if it answers one."""
    return item.item_id if item.question is None else item.question.question_id


def _waits(state: ItemState, status: DisplayedStatus) -> bool:
    return status in _WAITING or state.item.disputed


def _creation_order(state: ItemState) -> tuple[int, str, int, int]:
    """Return the key that sorts items in the order of their creation; it is the same on every device."""
    return min(
        (occurrence.created_ms, occurrence.run_key, _set_number(occurrence), occurrence.position)
        for occurrence in state.item.occurrences
    )


def _set_number(occurrence: Occurrence) -> int:
    """Return the number of the occurrence's set in its run: the sets of one run have the same time."""
    return _numbers_of_sets(occurrence.run_key, occurrence.task).get(occurrence.change_set, CHANGE_SETS_MAX)


@lru_cache(maxsize=64)
def _numbers_of_sets(run_key: str, task: EntityId) -> dict[EntityId, int]:
    """Return the number of each set that a run can make, by its id; the items of a run follow each other."""
    return {change_set_id(run_key, number, task): number for number in range(CHANGE_SETS_MAX)}


def newest_occurrence(item: Item) -> Occurrence:
    """Return the last proposal of an item: several runs, and several agents, may have proposed it.

    The id breaks a tie in the same way on every device.
    """
    return max(item.occurrences, key=lambda occurrence: (occurrence.created_ms, occurrence.change_set))


def _proposer(item: Item) -> EntityId:
    return newest_occurrence(item).agent


def _pending_items(
    snapshot: Snapshot, states: Iterable[tuple[ItemState, DisplayedStatus]], now_ms: int
) -> list[PendingItem]:
    # One agent may have made thousands of proposals.
    load_agent = cache(lambda agent: load_any_agent(snapshot, agent))
    return [
        _pending_item(snapshot, state, status, now_ms, load_agent(_proposer(state.item)))
        for state, status in states
    ]


def _device_elsewhere(snapshot: Snapshot, item: Item, agent: AnyAgent | None) -> str | None:
    """Return the name of the device that proposed an item; None if that is the home of its agent."""
    device = newest_occurrence(item).signer
    return None if agent is None or agent.home == device else NameLookup(snapshot).device_name(device)


def _pending_item(
    snapshot: Snapshot, state: ItemState, status: DisplayedStatus, now_ms: int, agent: AnyAgent | None
) -> PendingItem:
    item = state.item
    newest = newest_occurrence(item)
    compared = staleness.compare_values(state)
    subject = reach.target_name(snapshot, item.tool, state.args)
    return PendingItem(
        item_id=id_to_text(item.id),
        set_id=id_to_text(newest.change_set),
        task_id=id_to_text(item.task),
        task_title="" if state.task is None else shown_name(state.task),
        agent_id=id_to_text(newest.agent),
        tool=item.tool,
        args=state.args,
        args_hash=args_hash(item.tool, state.args).hex(),
        edited=state.is_edited,
        subject=subject,
        summary=summaries.proposal_summary(item.tool, state.args, subject),
        rationale=newest.rationale or None,
        base=compared.base,
        current=compared.current,
        proposed=compared.proposed,
        status=status.value,
        disputed=item.disputed,
        stale=staleness.is_stale(snapshot, state),
        created_at=iso_utc(min(occurrence.created_ms for occurrence in item.occurrences)),
        expires_at=None if item.decisions else iso_utc(item.expires_ms),
        expires_soon=urgency.expires_soon(item, now_ms),
        question=_question(state),
        presence=presence_needed(item),
        counts_here=verdict_lack(snapshot, item) is not Presence.OTHER_DEVICE,
        idle_verdicts=idle_verdicts(item, NameLookup(snapshot).device_name),
        agent_name=None if agent is None else short_text(agent.name) or None,
        proposed_on=_device_elsewhere(snapshot, item, agent),
    )


def _question(state: ItemState) -> AskedQuestion | None:
    """Return the question that an item answers; None for a plain proposal."""
    answer, items = state.answer, [id_to_text(item) for item in state.answers]
    calls = [] if answer is None else arguments_of_answers(answer)
    if answer is None or len(items) != len(calls):
        return None
    return AskedQuestion(
        question_id=items[0],
        text=answer["question"],
        number=answer["number"],
        answers=[_offered_answer(item, call) for item, call in zip(items, calls, strict=True)],
    )


def _offered_answer(item: str, call: Arguments) -> OfferedAnswer:
    change = change_of_answer(call)
    tool, args = (None, None) if change is None else change
    return OfferedAnswer(item_id=item, text=answer_text(call), tool=tool, args=args)
