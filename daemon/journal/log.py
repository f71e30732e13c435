"""The history in a person's terms: who changed what, when, on which device, from what to what, and why.

Never shows an agent's bookkeeping unless it is asked for by id.
"""

import re
from difflib import get_close_matches
from functools import cache
from typing import Any, NamedTuple

from daemon.journal import refs
from daemon.journal.disputes import field_name
from daemon.journal.errors import Code, Refused, not_found, usage
from daemon.journal.kinds import BOOKKEEPING, FIELDS, OTHERS, is_known, is_secret, is_shown
from daemon.journal.provenance import AUTHORS, author, iso, written_ms
from daemon.journal.show import Shown
from daemon.journal.values import folded
from daemon.journal.views import Change, Event, Touched
from store import history
from store.entity import Entity
from store.fold import DELETED, written
from store.snapshot import Snapshot
from syncproto.commit import Operation, Received
from syncproto.ids import EntityId, ReplicaId, text

LIMIT_MAX = 500
TITLE_SHOWN_CHARS = 80

_TASKS = frozenset({"from_id", "to_id", "task_id"})

LOOKED_MAX = 100_000
"""How many commits one question looks through: beyond it, it is asked again from there."""

SHORT_COMMITS, SHORT_BYTES, SHORT_PAST = 4, 4096, 32
"""What is shown at once: so many commits, their bytes, and commits that wrote before to what they change."""

KINDS = frozenset({*FIELDS, *OTHERS})
"""The kinds of the log of everything that are known here; those of a newer version are shown too."""

_FIELD_NAMES = (
    *FIELDS.values(),
    ("display_name", "home_device_id", "lifecycle", "lifecycle_reason", "mode", "model"),
    ("policy", "allowed_category_ids"),
    ("item_id", "verdict", "device", "via", "reason", "edited_args"),
    ("public_key", "added_by"),
    (DELETED,),
)
"""By which fields the log may be asked: of tasks and theirs, of agents, of decisions, of devices, of all."""
_USUAL = ("title", "status", "priority", "due", "label", "category")

_BY_ID = (*sorted(KINDS), *sorted(BOOKKEEPING))
_FAMILY = {
    "task": ("task_checklist", "task_entry", "task_time", "agent_task", "link_from", "link_to"),
    "checklist": ("checklist_item",),
}


class Filter(NamedTuple):
    """Which changes are asked for; None is any. Times are Unix time in ms, the last one not included."""

    field: str | None = None
    kind: str | None = None
    by: str | None = None
    device: str | None = None
    agent: str | None = None
    since_ms: int | None = None
    until_ms: int | None = None


ANY = Filter()


def log(
    snapshot: Snapshot,
    ref: str | None,
    *,
    limit: int,
    after: int | None = None,
    before: int | None = None,
    only: Filter = ANY,
) -> list[Change]:
    """Show changes in the order in which they came here: the first beyond `after`, else the newest ones.

    `ref` names a task by id or title, with all that belongs to it, or anything else by its id. Raises Refused
    where as many commits as one question looks through held nothing.
    """
    kind = None if only.kind is None else _checked_kind(snapshot, only.kind, every_kind=ref is not None)
    if only.field is not None and ref is None and kind in (None, *FIELDS):
        _require_field(only.field)
    found = history.changes(
        snapshot,
        limit=max(1, min(limit, LIMIT_MAX)),
        after=after,
        before=before,
        entities=None if ref is None else family(snapshot, named(snapshot, ref)),
        wanted=_wanted(snapshot, only._replace(kind=kind), every_kind=ref is not None),
        field=lambda name: only.field is None or _is_called(name, only.field),
        commits_max=LOOKED_MAX,
    )
    if found.stopped is not None and not found.changes:
        on = f"--before {found.stopped + 1}" if after is None else f"--after {found.stopped - 1}"
        raise Refused(Code.FAILED, f"none of {LOOKED_MAX} commits matches", f"go on with {on}")
    return worded(snapshot, found.changes)


def _checked_kind(snapshot: Snapshot, asked: str, *, every_kind: bool) -> str:
    """Return the kind that is meant; one of a newer version where the journal holds any. Raises Refused."""
    kind = re.sub(r"[\s-]+", "_", asked.strip().lower())
    if kind not in KINDS and not ((every_kind or is_shown(kind)) and _is_held(snapshot, kind)):
        raise usage(f"no kind is called {asked[:80]!r}", f"one of {', '.join(sorted(KINDS))}")
    return kind


def _is_held(snapshot: Snapshot, kind: str) -> bool:
    return any(
        snapshot.in_order(kind, removed=removed, closed=True, after=None, limit=1)
        for removed in (False, True)
    )


def _require_field(asked: str) -> None:
    """Refuse a name that no field has: looking for it would read the whole log."""
    known = {word for names in _FIELD_NAMES for name in names for word in _called(name)}
    if asked.strip().lower().partition("/")[0] in known:
        return
    near = get_close_matches(asked.strip().lower(), sorted(known), n=1)
    hint = f"the nearest known one is {near[0]!r}" if near else f"such as {', '.join(_USUAL)}"
    raise usage(f"no field is called {asked[:80]!r}", hint)


def _wanted(snapshot: Snapshot, only: Filter, *, every_kind: bool) -> history.Wanted:
    """Return what says of an operation whether it is asked for, the cheap questions first."""
    replicas = None if only.device is None else _replicas(snapshot, only.device)
    agent = None if only.agent is None else refs.entity(snapshot, ["agent"], only.agent, removed=True).id

    @cache
    def proposer(item: EntityId) -> EntityId | None:
        held = snapshot.item(item)
        return None if held is None else held.occurrences[0].agent

    def is_wanted(received: Received, operation: Operation) -> bool:
        if not (every_kind or is_shown(operation.kind)) or only.kind not in (None, operation.kind):
            return False
        if replicas is not None and received.commit.replica not in replicas:
            return False
        if only.by is not None and AUTHORS[operation.by] != only.by:
            return False
        if agent is not None and received.commit.author.agent != agent:
            effect = operation.effect
            if effect is None or proposer(effect) != agent:
                return False
        at = written_ms(written(received, operation).source)
        return (only.since_ms is None or at >= only.since_ms) and (
            only.until_ms is None or at < only.until_ms
        )

    return is_wanted


def _replicas(snapshot: Snapshot, device: str) -> frozenset[ReplicaId]:
    """Return the replicas of the device of that name, or whose id begins so. Raises Refused for none."""
    known = Shown(snapshot).device_names
    named_so = {one for one, name in known.items() if folded(name) == folded(device)}
    wanted = named_so or {one for one in known if one.hex().startswith(device.strip().lower() or "-")}
    if not wanted:
        raise not_found("device", device, "see placet devices")
    if len(wanted) > 1 and not named_so:
        raise Refused(Code.AMBIGUOUS, f"{device[:80]!r} could mean {len(wanted)} devices", "give its name")
    return frozenset(head.replica for head in snapshot.vector() if snapshot.device_of(head.replica) in wanted)


def _is_called(field: str, wanted: str) -> bool:
    """Say whether a field is meant: by its whole name, a set's name, or the word that people see."""
    return wanted.strip().lower() in (field, *_called(field))


def _called(field: str) -> tuple[str, str]:
    """Return what a field may be called: its name, and the word that people see."""
    name = field.partition("/")[0]
    return name, name.removeprefix("is_").removesuffix("_minutes").removesuffix("_ids").removesuffix("_id")


def named(snapshot: Snapshot, ref: str) -> Entity:
    """Find the task that `ref` names, or anything else by its id, in sight or not. Raises Refused."""
    try:
        return refs.task(snapshot, ref, removed=True)
    except Refused as refused:
        if refused.code is not Code.NOT_FOUND:
            raise
    known = refs.known_by_full_id(snapshot, ref)
    return known or refs.entity(snapshot, _BY_ID, ref, removed=True, what="entity")


def family(snapshot: Snapshot, top: Entity) -> set[EntityId]:
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


def short_events(snapshot: Snapshot, after: int) -> list[Event] | None:
    """Return what `events` returns, None where that might take longer than a moment.

    What stood before is looked for among all writes to an entity, and why it changed among all that was
    proposed and decided.
    """
    sizes = snapshot.log.sizes(after, SHORT_COMMITS + 1)
    if len(sizes) > SHORT_COMMITS or sum(sizes) > SHORT_BYTES:
        return None
    new = snapshot.log.commits(after, SHORT_COMMITS)
    received = [(one.seq, snapshot.log.readable(one)) for one in new]
    operations = [operation for _, one in received for operation in one.commit.operations]
    rewritten = {one.entity for one in operations if one.base and one.fields}
    if any(one.effect for one in operations) or not history.are_few(snapshot, rewritten, SHORT_PAST):
        return None
    words, pasts = _Words(snapshot), history.Pasts(snapshot)
    return [words.event(seq, one, pasts) for seq, one in received]


def worded(snapshot: Snapshot, changes: list[history.Change]) -> list[Change]:
    """Show changes that were found elsewhere as the log shows them."""
    words = _Words(snapshot)
    return [words.change(one) for one in changes]


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
        secret = is_secret(change.kind, change.field)
        agent, why = (None, None) if source.effect is None else self._why(source.effect)
        if agent is None and change.agent is not None:
            agent = text(change.agent)
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
            field=field_name(self._shown, change.field),
            before=None if secret else self._value(change.field, change.before),
            after=None if secret else self._value(change.field, change.after),
            why=why,
            unknown=not is_known(change.kind, change.field),
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
            changes=[self.change(one) for one in made if is_shown(one.kind)],
        )

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
        """Say which agent proposed a change and in which words, and what the person said to it.

        The agent's words stand in quotation marks that they cannot end, so that none pass for the person's.
        """
        item = self._snapshot.item(effect)
        if item is None:
            return None, None
        proposed = item.occurrences[0]
        reasons = [one.reason for one in item.decisions if one.reason]
        quoted = '"{}"'.format(proposed.rationale.replace('"', "'"))
        cause = f"proposed by an agent: {quoted}" if proposed.rationale else "proposed by an agent"
        return text(proposed.agent), "; ".join([cause, *reasons])
