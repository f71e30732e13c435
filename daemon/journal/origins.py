"""Who wrote each value, where, when and through which proposal; and which statuses a task has had.

Never shown for what nobody wrote: a default has no author.
"""

from typing import TYPE_CHECKING, Any

from daemon.journal.disputes import field_name
from daemon.journal.kinds import unknown_fields
from daemon.journal.provenance import author, iso, written_ms
from daemon.journal.views import Origin, StatusStep
from daemon.journal.was import was_of
from store import proposals
from store.entity import Entity
from store.fold import Source
from store.history import operations
from store.snapshot import Snapshot
from store.verdicts import Status
from syncproto.ids import text

if TYPE_CHECKING:
    from daemon.journal.show import Shown

_FORMAT = "format"


def origin(shown: "Shown", source: Source) -> Origin:
    """Show the provenance of one write; of what was imported, its original time, and when it came in."""
    device = shown.device(source.head.replica)
    imported = source.origin is not None
    format_ = (source.origin or {}).get(_FORMAT)
    was = was_of(source)
    return Origin(
        by=author(source) or "",
        at=iso(written_ms(source)),
        device=device.hex(),
        device_name=shown.device_names.get(device, ""),
        item_id=None if source.effect is None else text(source.effect),
        imported_from=(format_ if isinstance(format_, str) else "unknown") if imported else None,
        imported_at=iso(source.ms) if imported else None,
        imported_device=None if was is None else was.device_name,
    )


def origins(shown: "Shown", entity: Entity) -> dict[str, Origin]:
    """Show the provenance of every field in effect, by the field's name."""
    versions = {field: entity.version(field) for field in entity.fields()}
    return {
        field_name(shown, field): origin(shown, one.source)
        for field, one in versions.items()
        if one is not None
    }


def unknown(shown: "Shown", entity: Entity) -> dict[str, Any]:
    """Show the values of fields that this version does not know: a newer one wrote them."""
    fields = unknown_fields(entity.kind, entity.row.fields.keys())
    return {field: shown.value(field, entity.value(field)) for field in fields}


def statuses(shown: "Shown", snapshot: Snapshot, task: Entity) -> list[StatusStep]:
    """Show the statuses that a task has had, in the order in which they came here."""
    steps = []
    for write in operations(snapshot, task.id):
        fields, effect = write.operation.fields, write.operation.effect
        status = fields.get("status")
        undone = effect is not None and proposals.standing(snapshot.db, effect).status is not Status.CONFIRMED
        if isinstance(status, str) and not undone:
            reason = shown.value("reason", fields.get("reason"))
            steps.append(
                StatusStep(
                    status=status,
                    reason=reason if isinstance(reason, str) else None,
                    origin=origin(shown, write.source),
                )
            )
    return steps
