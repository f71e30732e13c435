"""Undo of a person's own change: what it replaced is written back, as a new commit that rests on the change.

Never leaves anything half done: all that a name stands for is undone in one transaction, or nothing of it.

The theory. A *change* is what one press wrote: a commit, or several of one chain (an import is a commit a
task). It is in one of three states: it *stands*; it is *undone*, if a mark in sight says so
(`daemon/journal/references/undo_marks.py`); or it is *undone in part*, if that mark counts values that were
left. Undo of a change that stands writes, for each value, what its author saw before it, and the mark; undo
of what is undone writes nothing and says so; undo of what is undone in part does the rest, and names what is
still left. An undo is a change like any other, and can be undone, which is a redo: that writes back what the
undo replaced, and takes the mark out of sight, or to what was left before.

What holds, whatever happens:

* If nobody else wrote, people see after the undo what they saw before the change.
* A value that somebody wrote since, here or on another device, is left and named. `writes_since.py` says what
  counts as written since. What another device wrote meanwhile stands beside what is put back, as a conflict
  of the fold, because the commit rests on the change alone.
* What a change made goes out of sight, as a whole, unless a person has written in it or to it since. If
  another device does that meanwhile, it stays in sight: the deletion has not seen that (PROTOCOL.md,
  deletions).
* Two devices that undo one change while apart write the same values and the same mark, and converge.
* The process may die at any moment: the transaction is in the log as a whole, or not at all. Asked again, it
  is told as already undone.
* What a change replaced may be unknown: dropped by a compaction. Then it is left and named.
* An undo costs what the change contains: a look-up for each value that nobody wrote since, and the history
  of the others. It is written in commits of at most `_COMMIT_BYTES` bytes, however many entities there
  are.
"""

from collections.abc import Iterable
from typing import Final, Literal, NamedTuple

from daemon.journal.change_log import entity_and_descendant_ids
from daemon.journal.references import entities
from daemon.journal.references.change_names import (
    COMMITS_MAX,
    find_changes,
    positions_of,
    span_name,
    span_names,
)
from daemon.journal.references.undo_marks import mark_of, mark_write, undone_in
from daemon.journal.undo.undo_answer import (
    LeftChange,
    Undone,
    UndoView,
    present_left,
    present_positions,
)
from daemon.journal.undo.undo_plan import LeftValue, UndoPlanner, is_undoable
from daemon.journal.undo.writes_since import Placed
from daemon.refusal import RefusalCode, Refused
from daemon.timestamps import iso_utc
from store.fold.verdicts import deciding_opinions
from store.local.change_parts import whole_change
from store.queries.commit_names import own_positions
from store.sentence import Sentence, sentence
from store.snapshot import Snapshot
from store.transaction import CommitSpan, EntityWrite, Transaction
from syncproto.commit import AuthorKind, Commit, DecodedCommit
from syncproto.ids import EntityId
from syncproto.vector_clock import Head

SEARCHED_MAX: Final = 10_000
"""So many of this device's commits are looked through for the last change of a person."""

_BY_NAME: Final = sentence("undo-by-name", "name a change: `placet log` shows the name of each")
_COMMIT_BYTES: Final = 160 << 10
_COMMIT_WRITES: Final = 1500
_WRITE_BYTES: Final = 300

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


class ChangeParts(NamedTuple):
    """The positions of the commits of a change that are no verdicts, the newest first, and its verdicts."""

    edits: list[int]
    verdicts: list[VerdictOn]


# -- which change is meant ----------------------------------------------------------------------------


def last_change(snapshot: Snapshot, task: str | None = None) -> str:
    """Return the name of the last change that a person made on this device, and that stands.

    An undo is no such change, nor is one of which an undo would put nothing back, since all of it was changed
    again: asked again and again, this goes back step by step. One that is undone in part is, once its rest
    can be undone. All that one request wrote is one change, such as an import.
    With `task`, a task by id or title, only what was changed in it or in what belongs to it counts. Raises
    Refused if there is none among the last commits.
    """
    family = None
    if task is not None:
        family = entity_and_descendant_ids(snapshot, entities.find_task(snapshot, task, removed=True))
    for number, seq in enumerate(own_positions(snapshot, COMMITS_MAX)):
        if number >= SEARCHED_MAX:
            raise Refused(
                RefusalCode.NOT_FOUND,
                sentence(
                    "no-change-among-last",
                    "none of the last {count} changes of this device is left to undo",
                    count=SEARCHED_MAX,
                ),
                _BY_NAME,
            )
        received = snapshot.log.commit_at(seq)
        operations = received.commit.operations
        if family is not None and not any(operation.entity in family for operation in operations):
            continue
        if _stands(snapshot, received) and _has_effect(snapshot, Placed(seq, received)):
            return span_names(whole_change(snapshot, received.head))
    raise Refused(
        RefusalCode.NOT_FOUND,
        sentence("no-change-to-undo", "no change of yours on this device is left to undo"),
        _BY_NAME,
    )


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


def parts_of_change(snapshot: Snapshot, name: str) -> ChangeParts:
    """Return what a change is, or several. Raises Refused if one of several can be no part of an undo."""
    edits, verdicts = list[int](), list[VerdictOn]()
    for seq in _positions(snapshot, name):
        commit = snapshot.log.commit_at(seq).commit
        on = verdicts_in(commit)
        verdicts[:0] = on
        if not on:
            edits.append(seq)
    spans = find_changes(snapshot, name)
    for span in spans if len(spans) > 1 else ():
        commits = [snapshot.log.commit_at(seq).commit for seq in positions_of(snapshot, span)]
        refusals = [None if verdicts_in(commit) else refusal_of(commit) for commit in commits]
        if refusals and refusals[0] is not None and None not in refusals:
            raise refusals[0]
    return ChangeParts(edits, verdicts)


def _positions(snapshot: Snapshot, name: str) -> list[int]:
    """Return the positions of all commits of a change, the newest first. Raises Refused."""
    spans = find_changes(snapshot, name)
    return sorted({seq for span in spans for seq in positions_of(snapshot, span)}, reverse=True)


# -- showing ------------------------------------------------------------------------------------------


def show_change(snapshot: Snapshot, name: str) -> UndoView:
    """Show what a change changed, before anybody undoes it. Raises Refused."""
    positions = _positions(snapshot, name)
    last = snapshot.log.commit_at(positions[0])
    mark = mark_of(snapshot, last.head)
    changes, count = present_positions(snapshot, positions[::-1])
    return UndoView(
        change=span_names(find_changes(snapshot, name)),
        at=iso_utc(snapshot.shown_ms(last.commit.stamp.ms)),
        changes=changes,
        count=count,
        undone=mark is not None and mark.is_whole,
        is_verdict=bool(verdicts_in(last.commit)),
    )


# -- undoing ------------------------------------------------------------------------------------------


def undo_commits(tx: Transaction, name: str, positions: list[int]) -> Undone:
    """Undo the commits of a change at these positions, the newest first, and say what was left.

    Raises Refused for what is no person's edit.
    """
    work = _Undoing(tx)
    for seq in positions:
        work.expect_commit(seq)
    for seq in positions:
        work.undo_commit(seq)
    return work.answer(span_names(find_changes(tx, name)))


class _Undoing:
    """One undo: commit after commit, the newest first, in as few commits as have room for it."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx
        self._planner = UndoPlanner(tx)
        self._batch: dict[EntityId, EntityWrite] = {}
        self._batch_bytes = 0
        self._heads: list[Head] = []
        self._left: list[LeftValue] = []
        self._refusal: Refused | None = None
        self._already = 0
        self._undone = 0

    def expect_commit(self, seq: int) -> None:
        self._planner.expect(self._tx.log.commit_at(seq))

    def undo_commit(self, seq: int) -> None:
        received = self._tx.log.commit_at(seq)
        refusal = refusal_of(received.commit)
        if refusal is not None:
            self._refusal = self._refusal or refusal
            if all(operation.origin is not None for operation in received.commit.operations):
                # What an import brought of proposals and of what was confirmed stands in no one's way.
                self._planner.note_undone(seq)
            return
        mark = mark_of(self._tx, received.head)
        if mark is not None and mark.is_whole:
            self._already += 1
            return
        if any(self._batch.get(operation.entity) is not None for operation in received.commit.operations):
            self._flush()
        plan = self._planner.plan(Placed(seq, received))
        self._left += plan.left
        if plan.writes:
            self._undone += 1
            self._add(
                plan.writes, mark_write(self._tx, received.head, len(plan.left), is_rest=mark is not None)
            )
        elif mark is not None and not plan.left:
            self._already += 1
        if not plan.left:
            self._planner.note_undone(seq)

    def answer(self, change: str) -> Undone:
        self._flush()
        if not self._undone and not self._left and not self._already:
            raise self._refusal or Refused(
                RefusalCode.CONFLICT,
                sentence("change-changed-nothing", "this change is without effect: there is nothing to undo"),
            )
        positions = [self._tx.log.position_of(head) for head in self._heads]
        written, count = present_positions(self._tx, positions)
        left: list[LeftChange] = present_left(self._tx, self._left)
        heads = self._heads
        return Undone(
            change=change,
            undo=span_name(CommitSpan(heads[0].counter, heads[-1])) if heads else None,
            already=not self._undone and not self._left,
            written=written,
            written_count=count,
            left=left,
            left_count=len(self._left),
        )

    def _add(self, writes: Iterable[EntityWrite], mark: EntityWrite) -> None:
        """Take the writes that undo a commit; each commit that contains any of them has its mark."""
        for write in writes:
            pending = self._batch.get(write.entity)
            if pending is not None and not write.fields:
                continue
            size = _bytes(write)
            is_full = self._batch_bytes + size > _COMMIT_BYTES or len(self._batch) >= _COMMIT_WRITES
            if is_full or (pending is not None and pending.fields):
                self._flush()
            if mark.entity not in self._batch:
                self._put(mark)
            self._put(write)

    def _put(self, write: EntityWrite) -> None:
        self._batch[write.entity] = write
        self._batch_bytes += _bytes(write)

    def _flush(self) -> None:
        if self._batch:
            self._heads.append(self._tx.commit(list(self._batch.values())))
        self._batch, self._batch_bytes = {}, 0


def _bytes(write: EntityWrite) -> int:
    texts = (value for value in write.fields.values() if isinstance(value, str))
    return _WRITE_BYTES + 64 * len(write.base or ()) + sum(len(value.encode()) for value in texts)


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
