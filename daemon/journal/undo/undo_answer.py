"""What an undo answers: what was written back, and what was left, each with the reason.

Never longer than a page, however much a change contains: the log has everything.
"""

from collections.abc import Sequence
from typing import Any, Final

from msgspec import Struct

from daemon.journal.change_log import present_changes, titles_of
from daemon.journal.fields.imported_provenance import says_something
from daemon.journal.fields.schema import FIELDS_BY_KIND
from daemon.journal.undo.undo_plan import LeftValue
from daemon.journal.views.lookup import NameLookup
from daemon.journal.views.structures import Change
from store.queries.field_changes import FieldChange, PreviousValues
from store.sentence import sentence_fields
from store.snapshot import Snapshot
from syncproto.ids import id_to_text

SHOWN_MAX: Final = 100
"""So many changes, and so many values that were left, are shown."""
_BYTES_MAX: Final = 256 << 10


class LeftChange(Struct, frozen=True, kw_only=True):
    """A value that stays as it is, and why: a sentence. `field` is `deleted` for a whole thing."""

    entity: str
    kind: str
    title: str
    field: str
    why: str
    why_id: str = ""
    why_params: dict[str, Any] = {}


class Undone(Struct, frozen=True, kw_only=True):
    """What the undo of a change did.

    `undo` is the name of the change by which it was undone, null if nothing was written: its undo is a redo.
    `written` are the values that were put back, and `left` those that stay as they are; the counts are of
    all. `already`: it was undone before, and nothing was written.
    """

    change: str
    undo: str | None
    already: bool = False
    written: list[Change] = []
    written_count: int = 0
    left: list[LeftChange] = []
    left_count: int = 0


class UndoView(Struct, frozen=True, kw_only=True):
    """A change as it stands before an undo: its name, and the first of what it changed.

    `undone`: it is undone already. `is_verdict`: it is a verdict on a proposal, whose undo is another
    verdict.
    """

    change: str
    at: str
    changes: list[Change]
    count: int
    undone: bool = False
    is_verdict: bool = False


def present_left(snapshot: Snapshot, left: Sequence[LeftValue]) -> list[LeftChange]:
    """Show the first values that were left."""
    names, shown = NameLookup(snapshot), left[:SHOWN_MAX]
    titles = titles_of(snapshot, [value.entity for value in shown])
    return [
        LeftChange(
            entity=id_to_text(value.entity),
            kind=value.kind,
            title=title,
            field=names.field_label(value.field, removed=True),
            **sentence_fields("why", value.why),
        )
        for value, title in zip(shown, titles, strict=True)
    ]


def present_positions(snapshot: Snapshot, positions: Sequence[int]) -> tuple[list[Change], int]:
    """Show the first of what the commits at these feed positions changed, and count all of it."""
    pasts = PreviousValues(snapshot, _BYTES_MAX)
    shown, count = list[FieldChange](), 0
    for seq in positions:
        received = snapshot.log.commit_at(seq)
        for operation in received.commit.operations:
            if operation.kind not in FIELDS_BY_KIND:
                continue
            if len(shown) >= SHOWN_MAX:
                count += len(operation.fields)
                continue
            changes = [
                change for change in pasts.changes_of(seq, received, operation) if says_something(change)
            ]
            shown += changes
            count += len(changes)
    return present_changes(snapshot, shown[:SHOWN_MAX]), count
