"""How an agent argued over a person's tick: its reason, and the notes that it named as evidence.

Never shows anything but a visible note of the proposal's own task.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from daemon.journal.fields.provenance import author_name, written_at_iso
from daemon.journal.views.structures import Evidence
from store.fold.item import Item
from store.snapshot import Snapshot
from syncproto.ids import EntityId, id_from_text

EVIDENCE_SHOWN_MAX: Final = 10
EVIDENCE_CHARS: Final = 300
REASON_CHARS: Final = 2_000


class Argument(NamedTuple):
    """The reason of a proposed tick, None without one, and the notes that the agent named for it."""

    reason: str | None
    evidence: list[Evidence]


NO_ARGUMENT: Final = Argument(None, [])


def argument_of(snapshot: Snapshot, item: Item) -> Argument:
    """Return how the agent argued in the newest of the proposals that it made of an item."""
    first = item.occurrences[0]
    proposals = (occurrence for occurrence in item.occurrences if occurrence.agent == first.agent)
    newest = max(proposals, key=lambda occurrence: (occurrence.created_ms, occurrence.change_set))
    return argument_in(snapshot, item.task, newest.args)


def argument_in(snapshot: Snapshot, task: EntityId, args: Mapping[str, Any]) -> Argument:
    """Return how arguments of a proposal argue over a person's tick."""
    return Argument(_reason(args), _evidence_list(snapshot, task, args))


def _reason(args: Mapping[str, Any]) -> str | None:
    """Return the reason of a proposed tick; None without one, and for a proposal that changes no tick."""
    reason = args.get("reason")
    return reason[:REASON_CHARS] if "isChecked" in args and isinstance(reason, str) and reason else None


def _evidence_list(snapshot: Snapshot, task: EntityId, args: Mapping[str, Any]) -> list[Evidence]:
    refs = args.get("evidenceIds")
    texts = [ref for ref in refs if isinstance(ref, str)] if isinstance(refs, list | tuple) else []
    return [_evidence(snapshot, task, ref) for ref in texts[:EVIDENCE_SHOWN_MAX]]


def _evidence(snapshot: Snapshot, task: EntityId, ref: str) -> Evidence:
    try:
        note = snapshot.entity(id_from_text(ref))
    except ValueError:
        note = None
    # Words that a person put to the agent have a kind of their own, and are evidence like a note.
    kinds = ("entry", "message")
    if note is None or note.kind not in kinds or not note.visible or note.value("task_id") != task:
        return Evidence(ref[:64])
    return Evidence(
        ref,
        note.text("text")[:EVIDENCE_CHARS],
        author_name(note.created) or "",
        note.text("happened_at") or written_at_iso(snapshot, note.created) or "",
    )
