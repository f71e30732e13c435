"""Undo of a person's own change: what it replaced is written back, as a new commit that rests on the change.

Never begins before all that a name stands for was looked at, and never leaves a commit of it half done.

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
* What has more than `PART_OPERATIONS` operations is undone in parts, the newest commits first, and each part
  is a transaction, so that nobody waits long for the one writer. All else is one transaction.
* The process may die at any moment: a transaction is in the log as a whole, or not at all. Asked again, the
  undo does the rest, or says that all was undone already.
* What a change replaced may be unknown: dropped by a compaction. Then it is left and named.
* An undo costs what the change contains: a look-up for each value that nobody wrote since, and the history
  of the others. It is written in commits of at most `_COMMIT_BYTES` bytes, however many entities there
  are.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from daemon.journal.fields.schema import FIELDS_BY_KIND
from daemon.journal.references.change_names import span_names
from daemon.journal.references.undo_marks import mark_of, mark_write
from daemon.journal.undo.changes import ChangeParts, EditCommit
from daemon.journal.undo.undo_answer import (
    SHOWN_MAX,
    LeftChange,
    Undone,
    present_left,
    present_positions,
)
from daemon.journal.undo.undo_plan import LeftValue, UndoPlanner
from daemon.journal.undo.writes_since import Placed
from daemon.journal.views.structures import Change
from daemon.refusal import RefusalCode, Refused
from store.sentence import sentence
from store.transaction import CommitSpan, EntityWrite, Transaction
from syncproto.ids import EntityId
from syncproto.vector_clock import Head

PART_OPERATIONS: Final = 500
"""So many operations are undone in one transaction, or those of one commit: well below a second."""
_COMMIT_BYTES: Final = 160 << 10
_COMMIT_WRITES: Final = 1500
_WRITE_BYTES: Final = 300

ChangePart = Sequence[EditCommit]


class UndoOfEdits:
    """The undo of the edits of a change: part after part, the newest commits first, each in a transaction.

    A part looks at the journal as it is in its turn. Asked for again after an end half-way, an undo does the
    rest.
    """

    def __init__(self, change: ChangeParts) -> None:
        self._change = change
        self._brought_back = set(change.brought_back)
        self._unmade_commits = set(change.passed_over)
        self._heads: list[Head] = []
        self._written: list[Change] = []
        self._written_count = 0
        self._left: list[LeftChange] = []
        self._left_count = 0
        self._already = 0
        self.parts = list(_parts(change.edits))

    def undo_part(self, tx: Transaction, part: ChangePart) -> None:
        """Undo some commits, all or none of them."""
        work = _PartUndo(tx, UndoPlanner(tx, self._brought_back, self._unmade_commits))
        for commit in part:
            work.undo_commit(commit.seq)
        work.flush()
        self._heads += work.heads
        self._already += work.already
        self._note_written(tx, work)
        self._left += present_left(tx, work.left[: SHOWN_MAX - len(self._left)])
        self._left_count += len(work.left)

    def require_effect(self) -> None:
        """Raise Refused if nothing was undone, and nothing was left or is undone already."""
        if not self._heads and not self._left_count and not self._already:
            raise self._change.refusal or Refused(
                RefusalCode.CONFLICT,
                sentence("change-changed-nothing", "this change is without effect: there is nothing to undo"),
            )

    def answer(self) -> Undone:
        """Say what was undone, and what was left."""
        return Undone(
            change=self._change.name,
            undo=span_names(CommitSpan(head.counter, head) for head in self._heads) or None,
            already=not self._heads and not self._left_count,
            written=self._written,
            written_count=self._written_count,
            left=self._left,
            left_count=self._left_count,
        )

    def _note_written(self, tx: Transaction, work: "_PartUndo") -> None:
        if len(self._written) >= SHOWN_MAX:
            self._written_count += work.values
            return
        rows, count = present_positions(tx, [tx.log.position_of(head) for head in work.heads])
        self._written = [*self._written, *rows][:SHOWN_MAX]
        self._written_count += count


def _parts(commits: Iterable[EditCommit]) -> Iterator[ChangePart]:
    part, operations = list[EditCommit](), 0
    for commit in commits:
        if part and operations + commit.operations > PART_OPERATIONS:
            yield part
            part, operations = [], 0
        part.append(commit)
        operations += commit.operations
    if part:
        yield part


class _PartUndo:
    """One transaction of an undo: commit after commit, in as few commits as have room for it.

    `values` counts the values that were put back.
    """

    def __init__(self, tx: Transaction, planner: UndoPlanner) -> None:
        self._tx = tx
        self._planner = planner
        self._batch: dict[EntityId, EntityWrite] = {}
        self._batch_bytes = 0
        self.heads: list[Head] = []
        self.left: list[LeftValue] = []
        self.already = 0
        self.values = 0

    def undo_commit(self, seq: int) -> None:
        received = self._tx.log.commit_at(seq)
        mark = mark_of(self._tx, received.head)
        if mark is not None and mark.is_whole:
            self.already += 1
            return
        if any(self._batch.get(operation.entity) is not None for operation in received.commit.operations):
            self.flush()
        plan = self._planner.plan(Placed(seq, received))
        self.left += plan.left
        if plan.writes:
            left, is_rest = len(plan.left), mark is not None
            self._add(plan.writes, mark_write(self._tx, received.head, left, is_rest=is_rest))
        elif mark is not None and not plan.left:
            self.already += 1
        if not plan.left:
            self._planner.note_undone(seq)

    def flush(self) -> None:
        """Write what is planned."""
        if self._batch:
            self.heads.append(self._tx.commit(list(self._batch.values())))
        self._batch, self._batch_bytes = {}, 0

    def _add(self, writes: Iterable[EntityWrite], mark: EntityWrite) -> None:
        """Take the writes that undo a commit; each commit that contains any of them has its mark."""
        for write in writes:
            pending = self._batch.get(write.entity)
            if pending is not None and not write.fields:
                continue
            size = _bytes(write)
            is_full = self._batch_bytes + size > _COMMIT_BYTES or len(self._batch) >= _COMMIT_WRITES
            if is_full or (pending is not None and pending.fields):
                self.flush()
            if mark.entity not in self._batch:
                self._put(mark)
            self._put(write)

    def _put(self, write: EntityWrite) -> None:
        self._batch[write.entity] = write
        self._batch_bytes += _bytes(write)
        self.values += len(write.fields) if write.kind in FIELDS_BY_KIND else 0


def _bytes(write: EntityWrite) -> int:
    texts = (value for value in write.fields.values() if isinstance(value, str))
    return _WRITE_BYTES + 64 * len(write.base or ()) + sum(len(value.encode()) for value in texts)
