"""The history in a person's terms: who changed what, when, on which device, from what to what, and why.

Never shows an agent's bookkeeping unless it is asked for by id.
"""

import re
from collections.abc import Iterable
from difflib import get_close_matches
from functools import cache, partial
from typing import Any, NamedTuple

from daemon.journal.fields.imported_provenance import says_something
from daemon.journal.fields.provenance import AUTHOR_NAMES, as_proposed, author_name, written_ms
from daemon.journal.fields.schema import (
    BOOKKEEPING_KINDS,
    FIELDS_BY_KIND,
    OTHER_LOGGED_KINDS,
    is_known_field,
    is_logged_kind,
    is_secret_field,
)
from daemon.journal.references import entities
from daemon.journal.references.change_names import commit_name
from daemon.journal.references.names import short_text
from daemon.journal.references.undo_marks import UNDO, mark_of, undone_in
from daemon.journal.views.change_cause import NO_CAUSE, read_cause
from daemon.journal.views.lookup import NameLookup
from daemon.journal.views.structures import Change, Event, Touched
from daemon.refusal import RefusalCode, Refused, not_found_refusal, one_of, usage_error
from daemon.text_comparison import comparison_key
from daemon.words.devices import split_name
from store.fold.entity import Entity
from store.fold.entity_state import DELETED, with_provenance
from store.queries import field_changes
from store.queries.decisions import decision_ids_of_task
from store.queries.field_changes import FieldChange
from store.sentence import sentence, sentence_fields
from store.snapshot import Snapshot
from syncproto.commit import DecodedCommit, Operation
from syncproto.ids import EntityId, ReplicaId, id_to_text
from syncproto.vector_clock import Head

LIMIT_MAX = 500
TITLE_SHOWN_CHARS = 80

_TASKS = frozenset({"from_id", "to_id", "task_id"})

COMMITS_SEARCHED_MAX = 100_000
"""How many commits one question looks through: beyond it, it is asked again from there."""

SMALL_COMMITS_MAX, SMALL_BYTES_MAX, SMALL_HISTORY_MAX = 4, 4096, 32
"""What is shown at once: so many commits, their bytes, and commits that wrote before to what they change."""

CHANGE_BYTES = 512
"""About what a change has beside its two values."""
EVENT_BYTES_MAX, PAGE_BYTES_MAX = 1 << 20, 4 << 20
"""An event shows about so much of what its commit changed; so much is read at once for a stream or a list."""

LOGGED_KINDS = frozenset({*FIELDS_BY_KIND, *OTHER_LOGGED_KINDS})
"""The kinds of the log of everything that are known here; those of a newer version are shown too."""

_FIELD_NAMES = (
    *FIELDS_BY_KIND.values(),
    ("display_name", "home_device_id", "lifecycle", "lifecycle_reason", "mode", "model"),
    ("policy", "allowed_category_ids", "presence"),
    ("item_id", "verdict", "device", "via", "reason", "edited_args"),
    ("public_key", "added_by"),
    (DELETED,),
)
"""By which fields the log may be asked: of tasks and theirs, of agents, of decisions, of devices, of all."""
_USUAL = ("title", "status", "priority", "due", "label", "category")

_BY_ID = (*sorted(LOGGED_KINDS), *sorted(BOOKKEEPING_KINDS))
_FAMILY = {
    "task": ("task_checklist", "task_entry", "task_time", "agent_task", "link_from", "link_to"),
    "checklist": ("checklist_item",),
}
"""The relations by which things belong to a task or a checklist; of these, only checklists have parts."""


class ChangeFilter(NamedTuple):
    """Which changes are asked for; None is any. Times are Unix time in ms, the last one not included."""

    field: str | None = None
    kind: str | None = None
    by: str | None = None
    device: str | None = None
    agent: str | None = None
    since_ms: int | None = None
    until_ms: int | None = None


ANY_CHANGE = ChangeFilter()


def list_changes(
    snapshot: Snapshot,
    ref: str | None,
    *,
    limit: int,
    after: int | None = None,
    before: int | None = None,
    only: ChangeFilter = ANY_CHANGE,
) -> list[Change]:
    """Show changes in the order in which they came here: the first beyond `after`, else the newest ones.

    `ref` names a task by id or title, with all that belongs to it, or anything else by its id. Raises Refused
    if as many commits as one question looks through contain nothing.
    """
    kind = None if only.kind is None else _checked_kind(snapshot, only.kind, every_kind=ref is not None)
    if only.field is not None and ref is None and kind in (None, *FIELDS_BY_KIND):
        _require_field(only.field)
    page = field_changes.field_changes(
        snapshot,
        limit=max(1, min(limit, LIMIT_MAX)),
        after=after,
        before=before,
        entities=None
        if ref is None
        else entity_and_descendant_ids(snapshot, find_logged_entity(snapshot, ref)),
        wanted=_operation_filter(snapshot, only._replace(kind=kind), every_kind=ref is not None),
        field=lambda name: only.field is None or _is_called(name, only.field),
        shown=says_something,
        commits_max=COMMITS_SEARCHED_MAX,
        value_bytes_max=PAGE_BYTES_MAX,
    )
    if page.resume_at is not None and not page.changes:
        hint = (
            sentence("go-on-before", "go on with --before {seq}", seq=page.resume_at + 1)
            if after is None
            else sentence("go-on-after", "go on with --after {seq}", seq=page.resume_at - 1)
        )
        raise Refused(
            RefusalCode.FAILED,
            sentence("no-commit-matches", "none of {count} commits matches", count=COMMITS_SEARCHED_MAX),
            hint,
        )
    return present_changes(snapshot, page.changes)


def _checked_kind(snapshot: Snapshot, requested_kind: str, *, every_kind: bool) -> str:
    """Return the kind that is meant; a newer version's kind counts if the journal has any. Raises Refused."""
    kind = re.sub(r"[\s-]+", "_", requested_kind.strip().lower())
    if kind not in LOGGED_KINDS and not ((every_kind or is_logged_kind(kind)) and _is_held(snapshot, kind)):
        raise usage_error(
            sentence("unknown-kind", "no kind is called {name!r}", name=requested_kind[:80]),
            one_of(sorted(LOGGED_KINDS)),
        )
    return kind


def _is_held(snapshot: Snapshot, kind: str) -> bool:
    return any(
        snapshot.states_in_order(kind, removed=removed, closed=True, after=None, limit=1)
        for removed in (False, True)
    )


def _require_field(requested_field: str) -> None:
    """Refuse a name that no field has: looking for it would read the whole log."""
    known_fields = {word for names in _FIELD_NAMES for name in names for word in _names_of_field(name)}
    if requested_field.strip().lower().partition("/")[0] in known_fields:
        return
    near = get_close_matches(requested_field.strip().lower(), sorted(known_fields), n=1)
    hint = (
        sentence("nearest-known", "the nearest known one is {name!r}", name=near[0])
        if near
        else sentence("such-as", "such as {names}", names=", ".join(_USUAL))
    )
    raise usage_error(
        sentence("unknown-field", "no field is called {name!r}", name=requested_field[:80]), hint
    )


def _operation_filter(
    snapshot: Snapshot, only: ChangeFilter, *, every_kind: bool
) -> field_changes.OperationFilter:
    """Return the predicate that selects the operations asked for; it tests cheap conditions first."""
    replicas = None if only.device is None else _replicas(snapshot, only.device)
    agent = (
        None if only.agent is None else entities.find_entity(snapshot, ["agent"], only.agent, removed=True).id
    )

    @cache
    def proposer(item: EntityId) -> EntityId | None:
        stored_item = snapshot.item(item)
        return None if stored_item is None else stored_item.occurrences[0].agent

    def is_wanted(received: DecodedCommit, operation: Operation) -> bool:
        if not (every_kind or is_logged_kind(operation.kind)) or only.kind not in (None, operation.kind):
            return False
        if replicas is not None and received.commit.replica not in replicas:
            return False
        if only.by is not None and AUTHOR_NAMES[operation.by] != only.by:
            return False
        if agent is not None and received.commit.author.agent != agent:
            effect = operation.effect
            if effect is None or proposer(effect) != agent:
                return False
        change_ms = written_ms(with_provenance(received, operation).source)
        return (only.since_ms is None or change_ms >= only.since_ms) and (
            only.until_ms is None or change_ms < only.until_ms
        )

    return is_wanted


def _replicas(snapshot: Snapshot, device: str) -> frozenset[ReplicaId]:
    """Return the replicas of the device of that name, or whose id begins so. Raises Refused for none."""
    device_names, key = NameLookup(snapshot).read_device_names(), comparison_key(" ".join(device.split()))
    named_so = {member for member, name in device_names.items() if comparison_key(name) == key}
    shown_name, id_start = split_name(device)
    shown_so = {member for member, name in device_names.items() if name == shown_name and id_start}
    wanted = (
        named_so
        or {member for member in shown_so if member.hex().startswith(id_start)}
        or {member for member in device_names if member.hex().startswith(device.strip().lower() or "-")}
    )
    if not wanted:
        raise not_found_refusal("device", device, sentence("see-devices", "see placet devices"))
    if len(wanted) > 1 and not named_so:
        raise Refused(
            RefusalCode.AMBIGUOUS,
            sentence(
                "ambiguous-device", "{ref!r} could mean {count} devices", ref=device[:80], count=len(wanted)
            ),
            sentence("give-its-name", "give its name"),
        )
    return frozenset(head.replica for head in snapshot.vector() if snapshot.device_of(head.replica) in wanted)


def _is_called(field: str, wanted: str) -> bool:
    """Say whether a field is meant: by its whole name, a set's name, or the word that people see."""
    return wanted.strip().lower() in (field, *_names_of_field(field))


def _names_of_field(field: str) -> tuple[str, str]:
    """Return what a field may be called: its name, and the word that people see."""
    name = field.partition("/")[0]
    return name, name.removeprefix("is_").removesuffix("_minutes").removesuffix("_ids").removesuffix("_id")


def find_logged_entity(snapshot: Snapshot, ref: str) -> Entity:
    """Find the task that `ref` names, or anything else by its id, in sight or not. Raises Refused."""
    try:
        return entities.find_task(snapshot, ref, removed=True)
    except Refused as refused:
        if refused.code is not RefusalCode.NOT_FOUND:
            raise
    entity = entities.entity_by_full_id(snapshot, ref)
    return entity or entities.find_entity(snapshot, _BY_ID, ref, removed=True, noun="entity")


def entity_and_descendant_ids(snapshot: Snapshot, top: Entity) -> set[EntityId]:
    """Return an entity and all that hangs from it, removed ones too, and the decisions on its items."""
    family = {top.id}
    for relation in _FAMILY.get(top.kind, ()):
        below = snapshot.ids_pointing_at(top.id, relation, removed=True)
        family.update(below)
        if relation == "task_checklist":
            for checklist in below:
                family.update(snapshot.ids_pointing_at(checklist, "checklist_item", removed=True))
    if top.kind == "task":
        family.update(decision_ids_of_task(snapshot, top.id))
    return family


def find_entity_family(snapshot: Snapshot, ref: str) -> tuple[EntityId, set[EntityId]]:
    """Return the entity that `ref` names, and the ids of all that belongs to it. Raises Refused."""
    entity = find_logged_entity(snapshot, ref)
    return entity.id, entity_and_descendant_ids(snapshot, entity)


def replica_device_name(snapshot: Snapshot, replica: ReplicaId) -> str:
    """Return the name of the device that writes as a replica, empty if the roster has no such device."""
    names = NameLookup(snapshot)
    return names.device_name(names.device_of_replica(replica))


def feed_events(snapshot: Snapshot, after: int, limit: int) -> list[Event]:
    """Return the commits beyond a feed position, each with what it touched and changed.

    They are at most `limit`, and fewer if they change long texts.
    """
    words, pasts = _Words(snapshot), field_changes.PreviousValues(snapshot)
    events, page_bytes = list[Event](), 0
    for seq, received in snapshot.read_feed(after, limit):
        event, event_bytes = words.event(seq, received, pasts)
        events.append(event)
        page_bytes += event_bytes
        if page_bytes >= PAGE_BYTES_MAX:
            break
    return events


def small_feed_events(snapshot: Snapshot, after: int) -> list[Event] | None:
    """Return what `feed_events` returns, None if that might need longer than a moment.

    What stood before is looked for among all writes to an entity, and why it changed among all that was
    proposed and decided.
    """
    sizes = snapshot.log.commit_sizes(after, SMALL_COMMITS_MAX + 1)
    if len(sizes) > SMALL_COMMITS_MAX or sum(sizes) > SMALL_BYTES_MAX:
        return None
    new = snapshot.log.feed_commits(after, SMALL_COMMITS_MAX)
    received = [(feed_commit.seq, snapshot.log.decode_entry(feed_commit)) for feed_commit in new]
    operations = [operation for _, commit in received for operation in commit.commit.operations]
    rewritten = {operation.entity for operation in operations if operation.base and operation.fields}
    if any(operation.effect for operation in operations) or not field_changes.is_touched_at_most(
        snapshot, rewritten, SMALL_HISTORY_MAX
    ):
        return None
    words, pasts = _Words(snapshot), field_changes.PreviousValues(snapshot)
    return [words.event(seq, commit, pasts)[0] for seq, commit in received]


def present_changes(snapshot: Snapshot, changes: list[FieldChange]) -> list[Change]:
    """Show changes that were found elsewhere as the log shows them, none dated later than now."""
    words = _Words(snapshot)
    return [words.change(change) for change in changes]


def titles_of(snapshot: Snapshot, things: Iterable[EntityId]) -> list[str]:
    """Return what the log calls some things; "" for what has no words of its own."""
    words = _Words(snapshot)
    return [words.title(thing) for thing in things]


class _Words:
    """Turns changes into what is shown; looks each thing up once."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._names = NameLookup(snapshot)
        self.title = cache(self._read_title)
        self._why = cache(partial(read_cause, snapshot, self._names))
        self._is_undone = cache(self._read_undone)
        self._undoes = cache(self._read_undoes)

    def change(self, change: FieldChange) -> Change:
        """Show one change."""
        source = change.source
        device = self._names.device_of_replica(source.head.replica)
        secret = is_secret_field(change.kind, change.field)
        agent, reason, argument = NO_CAUSE if source.effect is None else self._why(source.effect)
        if agent is None and change.agent is not None:
            agent = id_to_text(change.agent)
        undoes = self._undoes(change.seq)
        if reason is None and undoes is not None:
            reason = sentence("undo-of-change", "undo of {change}", change=undoes)
        return Change(
            seq=change.seq,
            at=self._names.time_text(written_ms(source)),
            by=author_name(source) or "",
            agent_id=agent,
            device=device.hex(),
            device_name=self._names.device_name(device),
            entity=id_to_text(change.entity),
            kind=change.kind,
            title=self.title(change.entity),
            field=self._names.field_label(change.field, removed=True),
            before=None if secret else self._value(change.field, change.before),
            after=None if secret else self._value(change.field, change.after),
            **sentence_fields("why", reason),
            unknown=not is_known_field(change.kind, change.field),
            agent_reason=argument.reason,
            evidence=argument.evidence,
            lacks=self._lack(change.entity) if change.kind == "decision" else None,
            left_out=change.left_out,
            is_about_ask=self._ask_of(change.entity, change.kind) is not None,
            as_proposed=as_proposed(source),
            change=commit_name(source.head),
            undone=self._is_undone(source.head),
            undoes=undoes,
        )

    def _read_undone(self, head: Head) -> bool:
        mark = mark_of(self._snapshot, head)
        return mark is not None and mark.is_whole

    def _read_undoes(self, seq: int) -> str | None:
        """Return the name of the change that the commit at a position undid, None if it is no undo."""
        # Most commits are none, and looking for the word costs a tenth of decoding them.
        if not seq or UNDO.encode() not in self._snapshot.log.body_at(seq)[1]:
            return None
        heads = undone_in(self._snapshot.log.commit_at(seq).commit)
        return commit_name(heads[0]) if heads else None

    def _ask_of(self, entity: EntityId, kind: str) -> Entity | None:
        """Return the ask that a decision or a use is about; None if it is about none."""
        field = {"decision": "item_id", "use": "ask_id"}.get(kind)
        stored = None if field is None else self._snapshot.entity(entity)
        about = None if stored is None or field is None else stored.value(field)
        ask = self._snapshot.entity(EntityId(about)) if isinstance(about, bytes) else None
        return ask if ask is not None and ask.kind == "ask" else None

    def _lack(self, decision: EntityId) -> str | None:
        """Return what a decision lacked in order to count, None if it counts."""
        stored = self._snapshot.entity(decision)
        item = None if stored is None else stored.value("item_id")
        if not isinstance(item, bytes):
            return None
        needed = self._snapshot.requirement_of(EntityId(item))
        if needed is None:
            return None
        opinions = self._snapshot.opinions_on(EntityId(item))
        counts = all(opinion.counts for opinion in opinions if opinion.decision == decision)
        return None if counts else needed.presence.value

    def event(
        self, seq: int, received: DecodedCommit, pasts: field_changes.PreviousValues
    ) -> tuple[Event, int]:
        """Show one commit; return it with about how many bytes its changes have."""
        commit = received.commit
        device = self._names.device_of_replica(commit.replica)
        logged = [operation for operation in commit.operations if is_logged_kind(operation.kind)]
        changes, size_bytes = list[Change](), 0
        repeated = 0
        for change in (
            change for operation in logged for change in pasts.changes_of(seq, received, operation)
        ):
            if not says_something(change):
                repeated += 1
                continue
            size_bytes += (
                CHANGE_BYTES
                + field_changes.value_bytes(change.before)
                + field_changes.value_bytes(change.after)
            )
            # A commit of 256 KiB can overwrite any number of long texts.
            if changes and size_bytes > EVENT_BYTES_MAX:
                break
            changes.append(self.change(change))
        event = Event(
            seq=seq,
            at=self._names.time_text(commit.stamp.ms),
            by=AUTHOR_NAMES[commit.author.by],
            agent_id=None if commit.author.agent is None else id_to_text(commit.author.agent),
            device=device.hex(),
            device_name=self._names.device_name(device),
            touched=[
                Touched(id_to_text(operation.entity), operation.kind) for operation in commit.operations
            ],
            changes=changes,
            changes_left_out=sum(len(operation.fields) for operation in logged) - len(changes) - repeated,
        )
        return event, size_bytes

    def _value(self, field: str, value: object) -> Any:
        """Show a value; a task that is pointed at by its title."""
        titled = self.title(EntityId(value)) if field in _TASKS and isinstance(value, bytes) else ""
        return titled or self._names.field_value_json(field, value)

    def _read_title(self, entity: EntityId) -> str:
        stored_entity = self._snapshot.entity(entity)
        if stored_entity is None:
            return ""
        if stored_entity.kind == "link":
            ends = (stored_entity.value("from_id"), stored_entity.value("to_id"))
            titles = [
                self.title(EntityId(endpoint)) if isinstance(endpoint, bytes) else "" for endpoint in ends
            ]
            return f"{titles[0]} {short_text(stored_entity.text('type'))} {titles[1]}".strip()
        task = stored_entity.value("task_id") if stored_entity.kind == "time_record" else None
        if isinstance(task, bytes):
            return self.title(EntityId(task))
        ask = self._ask_of(entity, stored_entity.kind)
        if ask is not None:
            return short_text(ask.text("title"))
        item = stored_entity.value("item_id") if stored_entity.kind == "decision" else None
        if isinstance(item, bytes):
            return self._answer_words(EntityId(item))
        words = (
            stored_entity.text("title")
            or stored_entity.text("name")
            or stored_entity.text("text")
            or stored_entity.text("display_name")
        )
        return words[:TITLE_SHOWN_CHARS]

    def _answer_words(self, item: EntityId) -> str:
        """Return the question that an item answers, and its answer; "" of any other proposal."""
        chosen = self._names.chosen_answer(item)
        return "" if chosen is None else f"{chosen.question} {chosen.answer}"
