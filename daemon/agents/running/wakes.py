"""Which agents are due, and the keys of their runs.

Never keeps a queue: the log says what is due, so a restart finds the same.

The theory: each agent has a watermark, the vector of what it had read when its last run ended. It is due if
somebody else changed its task beyond that. So a change needs no row of its own, and many changes make one
run. Only what the log cannot tell is kept in rows of this device: that a person asked, and that a timer is
set. They end in the transaction that ends the run. `scheduler.py` finds out when to look; `timetable.py` says
how soon a due agent may run.
"""

import hashlib
from collections.abc import Iterable

from daemon.agents.context.triggers import Trigger, unseen_triggers
from daemon.agents.tools.agent_record import AUTONOMOUS, Agent, agent_id, hindrance, load_agent
from daemon.journal.wishes import is_wish
from daemon.timestamps import iso_utc
from store.fold.entity import Entity
from store.local import run_log
from store.sentence import Sentence, foreign_text, sentence
from store.snapshot import Snapshot
from syncproto.ids import EntityId, id_to_text
from syncproto.vector_clock import Head

FEED_PAGE_COMMITS = 500

ASKED_BY_PERSON = sentence("wake-asked", "asked by a person")
TIMER_FIRED = sentence("wake-timer", "a timer")
_ONE_CHANGE = sentence("wake-one-change", "one change")
_COUNT_DIGITS_MAX = 12
_CHANGED = {
    "entry": (sentence("changed-note", "a note"), sentence("changed-notes", "notes")),
    "checklist_item": (
        sentence("changed-item", "a checklist item"),
        sentence("changed-items", "checklist items"),
    ),
    "checklist": (
        sentence("changed-checklist", "a checklist"),
        sentence("changed-checklists", "checklists"),
    ),
    "link": (sentence("changed-link", "a link"), sentence("changed-links", "links")),
    "task": (sentence("changed-task", "the task itself"),) * 2,
}
"""What a change is of, by its kind, for one thing and for several."""
_PARTS_MAX = len(_CHANGED)


def is_scheduled(snapshot: Snapshot, agent: Agent) -> bool:
    """Report whether changes wake an agent on this device: it may run here, and is autonomous."""
    return agent.mode == AUTONOMOUS and hindrance(snapshot, agent) is None


# -- what woke an agent -------------------------------------------------------------------------------


def changes_reason(changed: Iterable[Trigger]) -> Sentence:
    """Return what woke an agent: how many commits concern it, and what they changed."""
    triggers = list(changed)
    entities: dict[str, set[EntityId]] = {}
    for trigger in triggers:
        entities.setdefault(trigger.kind, set()).add(trigger.entity)
    parts = tuple(
        several if len(entities[kind]) > 1 else single
        for kind, (single, several) in _CHANGED.items()
        if kind in entities
    )
    return _changes_sentence(len({trigger.head for trigger in triggers}), parts)


def _changes_sentence(count: int, parts: tuple[Sentence, ...]) -> Sentence:
    if not parts:
        return _ONE_CHANGE if count == 1 else sentence("wake-changes", "{count} changes", count=count)
    if count == 1:
        return sentence("wake-one-change-of", "one change: {parts}", parts=parts)
    return sentence("wake-changes-of", "{count} changes: {parts}", count=count, parts=parts)


def stored_reason(text: str) -> Sentence:
    """Return what woke an agent, from the English text that its runs and messages are stored with."""
    counted, _, listed = text.partition(": ")
    number = counted.partition(" ")[0]
    count = int(number) if number.isascii() and number.isdigit() and len(number) < _COUNT_DIGITS_MAX else 0
    known_parts = {part.text: part for pair in _CHANGED.values() for part in pair}
    parts = tuple(known_parts[part] for part in listed.split("; ")[:_PARTS_MAX] if part in known_parts)
    known_reasons = (
        ASKED_BY_PERSON,
        TIMER_FIRED,
        _changes_sentence(1, ()),
        _changes_sentence(1, parts),
        _changes_sentence(count, ()),
        _changes_sentence(count, parts),
    )
    return next((reason for reason in known_reasons if reason.text == text), foreign_text(text))


# -- run keys -----------------------------------------------------------------------------------------


def change_key(heads: Iterable[Head]) -> str:
    """Return the logical key of changes: a hash of their sorted heads, the same on every device."""
    dots = sorted({f"{head.replica.hex()}:{head.counter}:{head.hash.hex()}" for head in heads})
    return hashlib.sha256("|".join(dots).encode()).hexdigest()


def subscription_key(agent: EntityId, heads: Iterable[Head]) -> str:
    """Return the run key of a change: no change is run twice, on whatever device it is read."""
    return _run_key(id_to_text(agent), "subscription", change_key(heads))


def session_key(agent: EntityId, session: str, turn: int) -> str:
    """Return the run key of a person's request."""
    return _run_key(id_to_text(agent), session, str(turn))


def wish_key(agent: EntityId, wish: EntityId) -> str:
    """Return the run key of a wish: it makes one run, on whatever device the agent is at home."""
    return _run_key(id_to_text(agent), "wish", id_to_text(wish))


def timer_key(agent: EntityId, at_ms: int) -> str:
    """Return the run key of a timer: a timer for the same time is the same one on every device."""
    return _run_key(id_to_text(agent), "timer", iso_utc(at_ms))


def _run_key(*parts: str) -> str:
    return hashlib.sha256("|".join(parts).encode()).hexdigest()


# -- whom the feed concerns ---------------------------------------------------------------------------


def home_agents(snapshot: Snapshot) -> list[EntityId]:
    """Return the agents whose home is this device."""
    return [
        agent.id for agent in snapshot.entities("agent") if agent.value("home_device_id") == snapshot.device
    ]


def agents_concerned(snapshot: Snapshot, after: int) -> tuple[set[EntityId], int]:
    """Return the agents whose tasks changed beyond a feed position, and the position that was read up to."""
    if not snapshot.has_kind("agent"):
        # A new device receives a whole history of commits, and none of them may have an agent.
        return set(), snapshot.feed_end()
    agents: set[EntityId] = set()
    touched: set[EntityId] = set()
    read_up_to = after
    for position, received in snapshot.read_feed(after, FEED_PAGE_COMMITS):
        read_up_to = position
        touched.update(operation.entity for operation in received.commit.operations)
    for entity in touched:
        agents.update(_agents_of(snapshot, entity))
    # Most tasks have no agent. Agents that do not exist are dropped here, so that an import costs nothing.
    return {agent for agent in agents if snapshot.entity(agent) is not None}, read_up_to


def _agents_of(snapshot: Snapshot, entity: EntityId) -> list[EntityId]:
    """Return the agents that watch an entity: that of its task, or the entity itself if it is an agent."""
    watched = snapshot.entity(entity)
    if watched is None:
        return []
    if watched.kind == "agent":
        return [watched.id]
    return [agent_id(task) for task in _tasks_of(snapshot, watched)]


def _tasks_of(snapshot: Snapshot, watched: Entity) -> list[EntityId]:
    match watched.kind:
        case "task":
            return [watched.id]
        case "checklist" | "entry":
            return _ids_in(watched, "task_id")
        case "message":
            # A run writes messages too, of which none concerns its agent.
            return _ids_in(watched, "task_id") if is_wish(watched) else []
        case "link":
            return _ids_in(watched, "from_id") + _ids_in(watched, "to_id")
        case "checklist_item":
            lists = (snapshot.entity(checklist) for checklist in _ids_in(watched, "checklist_id"))
            return [
                task for checklist in lists if checklist is not None for task in _ids_in(checklist, "task_id")
            ]
    return []


def _ids_in(watched: Entity, field: str) -> list[EntityId]:
    value = watched.value(field)
    return [EntityId(value)] if isinstance(value, bytes) else []


def is_due(snapshot: Snapshot, agent: EntityId) -> bool:
    """Report whether an agent should run by itself, because of changes."""
    known_agent = load_agent(snapshot, agent)
    return known_agent is not None and has_news(snapshot, known_agent)


def has_news(snapshot: Snapshot, agent: Agent) -> bool:
    """Report whether an agent should run by itself, because of changes.

    Changes that a completed run of this device has handled are no news, even if the watermark has lost them:
    a run with the same key may not begin again.
    """
    if not is_scheduled(snapshot, agent):
        return False
    changed = unseen_triggers(snapshot, agent)
    if not changed:
        return False
    earlier_run = run_log.find(snapshot, subscription_key(agent.id, (trigger.head for trigger in changed)))
    return earlier_run is None or not run_log.is_over(earlier_run)
