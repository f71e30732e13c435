"""The timeline of a task across devices: its commits in the order of their clocks, and which were made apart.

Never says that two commits were made apart unless both touched the same thing, and neither author had seen
the other's.
"""

from itertools import groupby
from typing import NamedTuple

from msgspec import Struct

from daemon.journal.change_log import (
    COMMITS_SEARCHED_MAX,
    find_entity_family,
    present_changes,
)
from daemon.journal.fields.imported_provenance import says_something
from daemon.journal.fields.schema import is_logged_kind
from daemon.journal.references.names import shown_name
from daemon.journal.views.structures import Change
from daemon.timestamps import iso_utc
from store.queries import field_changes
from store.queries.field_changes import FieldChange
from store.snapshot import Snapshot
from syncproto.commit import Commit
from syncproto.ids import EntityId, id_to_text
from syncproto.vector_clock import Head, VectorClock, covers

MOMENTS_MAX = 60
"""How many commits one page shows; each is compared with each."""
VALUE_BYTES_MAX = 1 << 18


class Moment(Struct, frozen=True, kw_only=True):
    """One commit on a task. `at` is its author's clock, ISO 8601 in UTC; `seq` is its feed position here.

    `apart` are the positions of the commits of this page that were made without either having seen the other.
    """

    seq: int
    at: str
    by: str
    device: str
    device_name: str
    changes: list[Change]
    apart: list[int]


class Timeline(Struct, frozen=True, kw_only=True):
    """A page of a task's timeline, the newest first. `earlier` asks for the next page; null at the end."""

    task_id: str
    title: str
    moments: list[Moment]
    earlier: int | None


class _Written(NamedTuple):
    """A commit: its head, its order among all, and what its author had seen of each thing that it touches."""

    seq: int
    head: Head
    order: tuple[int, int, bytes]
    bases: dict[EntityId, VectorClock]


def task_timeline(snapshot: Snapshot, ref: str, *, before: int | None = None) -> Timeline:
    """Return the newest commits on a task below the position `before`, none dated later than now.

    Raises Refused if there is no task.
    """
    task, family = find_entity_family(snapshot, ref)
    page = field_changes.field_changes(
        snapshot,
        limit=MOMENTS_MAX,
        before=before,
        entities=family,
        wanted=lambda _received, operation: is_logged_kind(operation.kind),
        shown=says_something,
        commits_max=COMMITS_SEARCHED_MAX,
        value_bytes_max=VALUE_BYTES_MAX,
    )
    changes = {seq: list(group) for seq, group in groupby(page.changes, key=lambda change: change.seq)}
    commits = sorted(
        (_read_commit(snapshot, seq, family) for seq in changes),
        key=lambda commit: commit.order,
        reverse=True,
    )
    apart = _made_apart(snapshot, commits)
    entity = snapshot.entity(task)
    assert entity is not None
    return Timeline(
        task_id=id_to_text(task),
        title=shown_name(entity),
        moments=[_moment(snapshot, commit, changes[commit.seq], apart[commit.seq]) for commit in commits],
        earlier=None if page.resume_at is None else page.resume_at + 1,
    )


def _read_commit(snapshot: Snapshot, seq: int, family: set[EntityId]) -> _Written:
    received = snapshot.log.commit_at(seq)
    commit: Commit = received.commit
    return _Written(
        seq=seq,
        head=received.head,
        order=(commit.stamp.ms, commit.stamp.n, commit.replica),
        bases={
            operation.entity: operation.base for operation in commit.operations if operation.entity in family
        },
    )


def _made_apart(snapshot: Snapshot, commits: list[_Written]) -> dict[int, list[int]]:
    """Return, for each commit, those that were made without either author having seen the other's."""
    apart: dict[int, list[int]] = {commit.seq: [] for commit in commits}
    for index, later in enumerate(commits):
        for earlier in commits[index + 1 :]:
            if later.bases.keys() & earlier.bases.keys() and not (
                _had_seen(snapshot, later, earlier) or _had_seen(snapshot, earlier, later)
            ):
                apart[later.seq].append(earlier.seq)
                apart[earlier.seq].append(later.seq)
    return apart


def _had_seen(snapshot: Snapshot, commit: _Written, other: _Written) -> bool:
    """Report whether the author of a commit had seen another one."""
    if commit.head.replica == other.head.replica and not snapshot.log.is_forked(commit.head.replica):
        return commit.head.counter > other.head.counter
    return any(covers(base, other.head, snapshot.log) for base in commit.bases.values())


def _moment(
    snapshot: Snapshot,
    commit: _Written,
    commit_changes: list[FieldChange],
    apart: list[int],
) -> Moment:
    changes = present_changes(snapshot, commit_changes)
    first = changes[0]
    return Moment(
        seq=commit.seq,
        at=iso_utc(snapshot.shown_ms(commit.order[0])),
        # What a person confirmed is the person's deed, though the value has the agent's rank.
        by="user" if any(change.as_proposed is not None for change in changes) else first.by,
        device=first.device,
        device_name=first.device_name,
        changes=changes,
        apart=apart,
    )
