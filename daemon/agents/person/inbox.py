"""Everything that waits for a person, for a face that shows cards: proposals by task and agent, and asks.

Never writes, and never leaves out what waits.
"""

from collections.abc import Iterable, Sequence
from itertools import islice

from msgspec import Struct
from msgspec.structs import replace

from daemon.agents.asks.ask_record import read_ask
from daemon.agents.asks.ask_views import AskDetails, AskState, ask_details
from daemon.agents.deciding import decision_history
from daemon.agents.deciding.attention import mark_held_back
from daemon.agents.deciding.decision_history import DecisionRecord
from daemon.agents.deciding.urgency import SOON_MS
from daemon.agents.deciding.waiting_items import PendingItem, list_waiting_items, waiting_count
from daemon.agents.running.note_evidence import with_note_evidence
from daemon.agents.tools.agent_record import load_agent
from daemon.journal.references.names import TASK_LABELS, member_ids
from daemon.journal.views.lookup import NameLookup
from daemon.timestamps import iso_utc
from store.snapshot import Snapshot
from syncproto.ids import EntityId, id_from_text, id_to_text

DECISIONS_SEARCHED = 100


class InboxCard(Struct, frozen=True, kw_only=True):
    """What one agent proposes on one task. `agent_name` is a person's word for the agent, or null.

    `count` is the number of what is decided by itself: a question counts once.
    """

    task_id: str
    task_title: str
    agent_id: str
    agent_name: str | None
    labels: list[str]
    count: int
    items: list[PendingItem]


def list_cards(
    snapshot: Snapshot, now_ms: int, task: EntityId | None = None, *, open_per_day: int | None = None
) -> list[InboxCard]:
    """List what waits, of a task or of all, card by card, what presses first.

    With `open_per_day`, items that are beyond this budget of an agent are marked (`attention.py`). What notes
    say of the items is left to `with_evidence`: to read it of thousands takes long.
    """
    items = list_waiting_items(snapshot, now_ms, task=task)
    if open_per_day is not None:
        items = mark_held_back(items, open_per_day)
    names = NameLookup(snapshot)
    by_card: dict[tuple[str, str], list[PendingItem]] = {}
    for item in items:
        by_card.setdefault((item.task_id, item.agent_id), []).append(item)
    return [_card(snapshot, names, card_items) for card_items in by_card.values()]


def with_evidence(snapshot: Snapshot, cards: Iterable[InboxCard]) -> list[InboxCard]:
    """Return cards with what the notes of their tasks say of each item."""
    listed = list(cards)
    items = iter(with_note_evidence(snapshot, [item for card in listed for item in card.items]))
    return [replace(card, items=list(islice(items, len(card.items)))) for card in listed]


def in_order_of_urgency(
    cards: Sequence[InboxCard], asks: Sequence[AskDetails], now_ms: int
) -> list[InboxCard | AskDetails]:
    """Put cards and asks into one list, what presses first; cards stay in their own order.

    First comes what runs out within a day, the first to run out in front. Then come asks, since a program
    waits for each, the oldest first; then the other cards; then asks that a person deferred.
    """
    soonest_by_task: dict[str, str] = {}
    for card in cards:
        for item in card.items:
            if item.expires_soon and item.expires_at is not None:
                soonest = soonest_by_task.get(card.task_id, item.expires_at)
                soonest_by_task[card.task_id] = min(soonest, item.expires_at)
    soon = iso_utc(now_ms + SOON_MS)

    def place(entry: InboxCard | AskDetails) -> tuple[int, str]:
        if isinstance(entry, InboxCard):
            soonest = soonest_by_task.get(entry.task_id)
            return (2, "") if soonest is None else (0, soonest)
        if entry.state == AskState.DEFERRED:
            return 3, entry.not_after
        return (0, entry.not_after) if entry.not_after <= soon else (1, entry.made_at)

    return sorted([*cards, *asks], key=place)


def without_held_back(card: InboxCard) -> InboxCard | None:
    """Return a card without what is beyond the budget of its agent; None if nothing is left on it."""
    items = [item for item in card.items if not item.held_back]
    return replace(card, items=items, count=waiting_count(items)) if items else None


def _card(snapshot: Snapshot, names: NameLookup, items: list[PendingItem]) -> InboxCard:
    first = items[0]
    task = snapshot.entity(id_from_text(first.task_id))
    label_ids = [] if task is None else member_ids(task, TASK_LABELS)
    return InboxCard(
        task_id=first.task_id,
        task_title=first.task_title,
        agent_id=first.agent_id,
        agent_name=first.agent_name,
        labels=sorted(names.labels[label] for label in label_ids if label in names.labels),
        count=waiting_count(items),
        items=items,
    )


def last_run_at(snapshot: Snapshot) -> str | None:
    """Say when an agent last ran: ISO 8601 in UTC, None for never. Costs what agents there are."""
    agents = [load_agent(snapshot, entity.id) for entity in snapshot.entities("agent")]
    times = [agent.last_wake_ms for agent in agents if agent is not None and agent.last_wake_ms is not None]
    return iso_utc(max(times)) if times else None


def latest_decision(snapshot: Snapshot, now_ms: int, item: EntityId) -> DecisionRecord | None:
    """Return the latest decision on an item; None if there is none among the last of its task."""
    stored, wanted = snapshot.item(item), id_to_text(item)
    if stored is None:
        return None
    task = id_to_text(stored.task)
    records = decision_history.list_decisions(snapshot, now_ms, task=task, limit=DECISIONS_SEARCHED)
    return next((record for record in records if record.item_id == wanted), None)


def find_ask(snapshot: Snapshot, now_ms: int, name: EntityId) -> AskDetails | None:
    """Return an ask, however it stands; None if there is none under this id."""
    ask = read_ask(snapshot, name)
    return None if ask is None else ask_details(snapshot, ask, now_ms)
