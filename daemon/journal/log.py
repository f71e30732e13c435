"""The history in a person's terms: who changed what, when, on which device, from what to what, and why.

Never shows an agent's bookkeeping unless it is asked for by id.
"""

from functools import cache
from typing import Any

from daemon.journal import refs
from daemon.journal.errors import Code, Refused
from daemon.journal.names import SCOPE, SET
from daemon.journal.provenance import AUTHORS, author, iso, written_ms
from daemon.journal.show import Shown
from daemon.journal.views import Change, Event, Touched
from store import history
from store.entity import Entity
from store.snapshot import Snapshot
from syncproto.commit import Received
from syncproto.ids import EntityId, from_text, text

LIMIT_MAX = 500
TITLE_SHOWN_CHARS = 80

KINDS = frozenset(
    {"task", "checklist", "checklist_item", "entry", "time_record", "link", "label", "category"}
    | {"agent", "decision", "device"}
)
"""The kinds that the log of everything shows; agents' messages, reports and states are bookkeeping."""

_BY_ID = (*sorted(KINDS), "agent_state", "message", "payload", "report", "change_set", "usage")
_TASKS = frozenset({"from_id", "to_id", "task_id"})
_FAMILY = {
    "task": ("task_checklist", "task_entry", "task_time", "link_from", "link_to", "agent_task"),
    "checklist": ("checklist_item",),
}


def log(snapshot: Snapshot, ref: str | None, *, after: int | None, limit: int) -> list[Change]:
    """Show changes in the order in which they came here: the first beyond `after`, else the newest ones.

    `ref` names a task by id or title, with all that belongs to it, or anything else by its id.
    """
    bounded = max(1, min(limit, LIMIT_MAX))
    if ref is None:
        found = history.changes(snapshot, limit=bounded, after=after, kinds=KINDS)
    else:
        family = _family(snapshot, named(snapshot, ref))
        found = history.changes(snapshot, limit=bounded, after=after, entities=family)
    words = _Words(snapshot)
    return [words.change(one) for one in found]


def named(snapshot: Snapshot, ref: str) -> Entity:
    """Find the task that `ref` names, or anything else by its id, in sight or not. Raises Refused."""
    try:
        return refs.task(snapshot, ref, removed=True)
    except Refused as refused:
        if refused.code is not Code.NOT_FOUND:
            raise
    return refs.entity(snapshot, _BY_ID, ref, removed=True, what="entity")


def _family(snapshot: Snapshot, top: Entity) -> set[EntityId]:
    """Return an entity and all that hangs from it, removed ones too, and the decisions on its items."""
    family = {top.id}
    waiting = [top]
    while waiting:
        one = waiting.pop()
        for relation in _FAMILY.get(one.kind, ()):
            below = [
                child for child in snapshot.referring(one.id, relation, removed=True) if child not in family
            ]
            family.update(below)
            waiting += [held for child in below if (held := snapshot.entity(child)) is not None]
    if top.kind == "task":
        family.update(decision.id for item in snapshot.items(top.id) for decision in item.decisions)
    return family


def events(snapshot: Snapshot, after: int, limit: int) -> list[Event]:
    """Return the commits beyond a feed position, at most `limit`, each with what it touched and changed."""
    words, pasts = _Words(snapshot), history.Pasts(snapshot)
    return [words.event(seq, received, pasts) for seq, received in snapshot.feed(after, limit)]


class _Words:
    """Turns changes into what is shown; looks each thing up once."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._shown = Shown(snapshot)
        self._title = cache(self._read_title)
        self._why = cache(self._read_why)

    def change(self, change: history.Change) -> Change:
        """Show one change."""
        source = change.source
        device = self._shown.device(source.head.replica)
        agent, why = (None, None) if source.effect is None else self._why(source.effect)
        return Change(
            seq=change.seq,
            at=iso(written_ms(source)),
            by=author(source) or "",
            agent_id=agent,
            device=device.hex(),
            device_name=self._shown.device_names.get(device, ""),
            entity=text(change.entity),
            kind=change.kind,
            title=self._title(change.entity),
            field=self._field(change.field),
            before=self._value(change.field, change.before),
            after=self._value(change.field, change.after),
            why=why,
        )

    def event(self, seq: int, received: Received, pasts: history.Pasts) -> Event:
        """Show one commit."""
        commit = received.commit
        device = self._shown.device(commit.replica)
        made = [change for one in commit.operations for change in pasts.changes(seq, received, one)]
        return Event(
            seq=seq,
            at=iso(commit.stamp.ms),
            by=AUTHORS[commit.author.by],
            agent_id=None if commit.author.agent is None else text(commit.author.agent),
            device=device.hex(),
            device_name=self._shown.device_names.get(device, ""),
            touched=[Touched(text(one.entity), one.kind) for one in commit.operations],
            changes=[self.change(one) for one in made if one.kind in KINDS],
        )

    def _field(self, field: str) -> str:
        """Name a member of a set by its name: `label_ids/<id>` reads `label_ids/home`."""
        prefix, slash, member = field.partition("/")
        known = {SET: self._shown.labels, SCOPE: self._shown.categories}.get(prefix)
        if known is None or not slash:
            return field
        try:
            return f"{prefix}/{known.get(from_text(member), member)}"
        except ValueError:
            return field

    def _value(self, field: str, value: object) -> Any:
        """Show a value; a task that is pointed at by its title."""
        titled = self._title(EntityId(value)) if field in _TASKS and isinstance(value, bytes) else ""
        return titled or self._shown.value(field, value)

    def _read_title(self, entity: EntityId) -> str:
        held = self._snapshot.entity(entity)
        if held is None:
            return ""
        if held.kind == "link":
            ends = (held.value("from_id"), held.value("to_id"))
            titles = [self._title(EntityId(one)) if isinstance(one, bytes) else "" for one in ends]
            return f"{titles[0]} {held.text('type')} {titles[1]}".strip()
        task = held.value("task_id") if held.kind == "time_record" else None
        if isinstance(task, bytes):
            return self._title(EntityId(task))
        words = held.text("title") or held.text("name") or held.text("text") or held.text("display_name")
        return words[:TITLE_SHOWN_CHARS]

    def _read_why(self, effect: EntityId) -> tuple[str | None, str | None]:
        """Say which agent proposed a change and in which words, and what the person said to it."""
        item = self._snapshot.item(effect)
        if item is None:
            return None, None
        proposed = item.occurrences[0]
        reasons = [one.reason for one in item.decisions if one.reason]
        words = [f"proposed by an agent: {proposed.rationale or item.tool}", *reasons]
        return text(proposed.agent), "; ".join(words)
