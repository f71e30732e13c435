"""Which change is meant by a name, or by none, and what it consists of.

Never writes, and never guesses from when something was written.
"""

from typing import Final, Literal, NamedTuple

from daemon.journal.change_log import entity_and_descendant_ids
from daemon.journal.references import entities
from daemon.journal.references.change_names import COMMITS_MAX, find_changes, positions_of, span_names
from daemon.journal.references.undo_marks import mark_of, undone_in
from daemon.journal.undo.undo_answer import UndoView, present_positions
from daemon.journal.undo.undo_plan import UndoPlanner, is_undoable
from daemon.journal.undo.writes_since import Placed
from daemon.refusal import RefusalCode, Refused
from daemon.timestamps import iso_utc
from store.fold.verdicts import deciding_opinions
from store.local.change_parts import whole_change
from store.queries.commit_names import own_positions
from store.sentence import Sentence, sentence
from store.snapshot import Snapshot
from store.transaction import CommitSpan
from syncproto.commit import AuthorKind, Commit, DecodedCommit
from syncproto.ids import EntityId
from syncproto.vector_clock import Head

SEARCHED_MAX: Final = 10_000
"""So many of this device's changes are looked through for the last one of a person."""
COMMITS_SEARCHED_MAX: Final = COMMITS_MAX + SEARCHED_MAX
"""So many commits are, however few changes they are: behind an import that is undone, its rest is found."""

_BY_NAME: Final = sentence("undo-by-name", "name a change: `placet log` shows the name of each")

TAKEN_BACK_BY: Final[dict[str, Literal["undone", "reopened"]]] = {
    "confirmed": "undone",
    "rejected": "reopened",
    "deferred": "reopened",
}
"""By which verdict a verdict is taken back."""


class VerdictOn(NamedTuple):
    """A verdict that a commit holds, and the proposal or ask that it is on."""

    decision: EntityId
    item: EntityId
    verdict: str


class EditCommit(NamedTuple):
    """A commit that is an edit: its feed position, and how many operations it has."""

    seq: int
    operations: int


class ChangeParts(NamedTuple):
    """What a change consists of: its commits that are edits, the newest first, and its verdicts.

    `brought_back` is what its undo brings back, `passed_over` are commits that stand in no one's way: what an
    import brought of proposals and of what was confirmed. `refusal` says why another commit of it cannot be
    undone.
    """

    name: str
    edits: list[EditCommit]
    verdicts: list[VerdictOn]
    brought_back: frozenset[EntityId]
    passed_over: frozenset[int]
    refusal: Refused | None


# -- which change is meant ----------------------------------------------------------------------------


def last_change(snapshot: Snapshot, task: str | None = None) -> str:
    """Return the name of the last change that a person made on this device, and that stands.

    An undo is no such change, nor is one of which an undo would put nothing back, since all of it was changed
    again: asked again and again, this goes back step by step. One that is undone in part is, once its rest
    can be undone. All that one request wrote is one change, such as an import; of one that is longer than a
    name may stand for, the newest commits that stand are meant.
    With `task`, a task by id or title, only what was changed in it or in what belongs to it counts. Raises
    Refused if there is none among the last commits.
    """
    family = None
    if task is not None:
        family = entity_and_descendant_ids(snapshot, entities.find_task(snapshot, task, removed=True))
    looked = set[int]()
    for number, seq in enumerate(own_positions(snapshot, COMMITS_SEARCHED_MAX + 1)):
        if len(looked) >= SEARCHED_MAX or number >= COMMITS_SEARCHED_MAX:
            raise Refused(
                RefusalCode.NOT_FOUND,
                sentence(
                    "no-change-among-last",
                    "none of the last {count} changes of this device is left to undo",
                    count=len(looked),
                ),
                _BY_NAME,
            )
        received = snapshot.log.commit_at(seq)
        change = whole_change(snapshot, received.head)
        looked.add(change[0].first)
        operations = received.commit.operations
        if family is not None and not any(operation.entity in family for operation in operations):
            continue
        if _stands(snapshot, received) and _has_effect(snapshot, Placed(seq, received)):
            return span_names(_as_much_as_a_name(change, received.head))
    raise Refused(
        RefusalCode.NOT_FOUND,
        sentence("no-change-to-undo", "no change of yours on this device is left to undo"),
        _BY_NAME,
    )


def _as_much_as_a_name(change: list[CommitSpan], newest: Head) -> list[CommitSpan]:
    """Return a change; of one that is longer than a name may stand for, that much up to its newest commit."""
    if sum(map(_length_of, change)) <= COMMITS_MAX:
        return change
    taken, room = list[CommitSpan](), COMMITS_MAX
    for span in reversed(change):
        last = newest if span.first <= newest.counter <= span.last.counter else span.last
        if room > 0 and last.counter <= newest.counter:
            taken.append(CommitSpan(max(span.first, last.counter - room + 1), last))
            room -= _length_of(taken[-1])
    return taken[::-1]


def _length_of(span: CommitSpan) -> int:
    return span.last.counter - span.first + 1


def _has_effect(snapshot: Snapshot, change: Placed) -> bool:
    """Say whether an undo of a change would put anything back, or take a verdict back."""
    return bool(verdicts_in(change.received.commit) or UndoPlanner(snapshot).plan(change).writes)


def _stands(snapshot: Snapshot, received: DecodedCommit) -> bool:
    """Say whether a commit is a change or a verdict of a person that stands, and is no undo itself."""
    verdicts = verdicts_in(received.commit)
    if verdicts:
        return all(on.verdict in TAKEN_BACK_BY and decides(snapshot, on) for on in verdicts)
    is_own = any(is_undoable(received.commit, operation) for operation in received.commit.operations)
    mark = mark_of(snapshot, received.head)
    return is_own and not undone_in(received.commit) and (mark is None or not mark.is_whole)


def verdicts_in(commit: Commit) -> list[VerdictOn]:
    """Return the verdicts of a person that a commit holds; those that an import brought are none."""
    verdicts = []
    for operation in commit.operations:
        item, verdict = operation.fields.get("item_id"), operation.fields.get("verdict")
        is_own = operation.kind == "decision" and operation.origin is None
        if is_own and isinstance(item, bytes) and isinstance(verdict, str):
            verdicts.append(VerdictOn(operation.entity, EntityId(item), verdict))
    return verdicts if commit.author.by is AuthorKind.USER else []


def decides(snapshot: Snapshot, on: VerdictOn) -> bool:
    """Say whether a verdict is the only one that its item's status rests on."""
    deciding = deciding_opinions(snapshot.opinions_on(on.item))
    return [opinion.decision for opinion in deciding] == [on.decision]


def read_change(snapshot: Snapshot, name: str) -> ChangeParts:
    """Return what a change is, or several; each commit is read once.

    Raises Refused if there is none, or if one of several can be no part of an undo.
    """
    spans = find_changes(snapshot, name)
    edits, verdicts = dict[int, EditCommit](), dict[int, list[VerdictOn]]()
    brought_back, passed_over, refusal = set[EntityId](), set[int](), None
    for span in spans:
        refusals = list[Refused]()
        is_part = False
        for seq in positions_of(snapshot, span):
            commit = snapshot.log.commit_at(seq).commit
            on = verdicts_in(commit)
            why = None if on else refusal_of(commit)
            if on:
                verdicts[seq] = on
            elif why is None:
                edits[seq] = EditCommit(seq, len(commit.operations))
                brought_back |= {operation.entity for operation in commit.operations if operation.deletes}
            elif all(operation.origin is not None for operation in commit.operations):
                passed_over.add(seq)
            else:
                refusals.append(why)
            is_part = is_part or why is None or seq in passed_over
            refusal = refusal or why
        if refusals and not is_part and len(spans) > 1:
            raise refusals[0]
    return ChangeParts(
        name=span_names(spans),
        edits=[edits[seq] for seq in sorted(edits, reverse=True)],
        verdicts=[on for seq in sorted(verdicts) for on in verdicts[seq]],
        brought_back=frozenset(brought_back),
        passed_over=frozenset(passed_over),
        refusal=refusal,
    )


# -- showing ------------------------------------------------------------------------------------------


def show_change(snapshot: Snapshot, name: str) -> UndoView:
    """Show what a change changed, before anybody undoes it. Raises Refused."""
    spans = find_changes(snapshot, name)
    positions = sorted({seq for span in spans for seq in positions_of(snapshot, span)}, reverse=True)
    last = snapshot.log.commit_at(positions[0])
    mark = mark_of(snapshot, last.head)
    changes, count = present_positions(snapshot, positions[::-1])
    return UndoView(
        change=span_names(spans),
        at=iso_utc(snapshot.shown_ms(last.commit.stamp.ms)),
        changes=changes,
        count=count,
        undone=mark is not None and mark.is_whole,
        is_verdict=bool(verdicts_in(last.commit)),
    )


# -- what is no edit of a person ----------------------------------------------------------------------

_BY_AGENT = sentence("change-by-agent", "an agent made this change")
_BY_PLACET = sentence("change-by-placet", "Placet made this change by itself")
_OWN_WAY: Final[dict[str, Sentence]] = {
    "agent": sentence("undo-agent", "change the agent itself: `placet agent`"),
    "device": sentence("undo-device", "devices are changed with `placet devices`"),
    "passkey": sentence("undo-passkey", "passkeys are changed on the page, under Passkeys"),
    "standing_rule": sentence("undo-rule", "a standing rule is taken back with `placet rule revoke`"),
    "ask": sentence("undo-ask", "a permission is decided on with `placet asks`"),
    "use": sentence("undo-use", "a permission that was used cannot be taken back"),
}
"""How what is no edit is changed back, by its kind."""


def refusal_of(commit: Commit) -> Refused | None:
    """Return why a commit cannot be undone here, None if it can."""
    if undone_in(commit) or any(is_undoable(commit, operation) for operation in commit.operations):
        return None
    if commit.author.by is AuthorKind.AGENT:
        hint = sentence("undo-agents-change", "reject what it proposes, or change the value yourself")
        return Refused(RefusalCode.FORBIDDEN, _BY_AGENT, hint)
    if commit.author.by is AuthorKind.SYSTEM:
        return Refused(
            RefusalCode.FORBIDDEN, _BY_PLACET, sentence("change-by-hand", "change the value yourself")
        )
    kinds = [operation.kind for operation in commit.operations]
    own_way = next((_OWN_WAY[kind] for kind in kinds if kind in _OWN_WAY), None)
    return Refused(
        RefusalCode.FORBIDDEN,
        sentence("change-is-no-edit", "this change is no edit of a task or of what belongs to one"),
        own_way or sentence("see-log-names", "`placet log` shows the name of each change"),
    )
