"""Who wrote each value, where, when and through which proposal; and which statuses a task has had.

Never shown for what nobody wrote: a default has no author.
"""

from typing import Any

from msgspec import UNSET

from daemon.journal.fields.imported_provenance import original_write
from daemon.journal.fields.provenance import as_proposed, author_name, written_ms
from daemon.journal.fields.schema import unknown_fields
from daemon.journal.references.names import short_text
from daemon.journal.views.lookup import NameLookup
from daemon.journal.views.put_back import PutBackSources
from daemon.journal.views.structures import Origin, StatusStep
from store.fold.entity import Entity
from store.fold.field_versions import Provenance
from store.fold.liveness import Liveness
from store.queries.field_changes import operations_touching
from store.snapshot import Snapshot
from syncproto.ids import id_to_text

_FORMAT = "format"


def present_origin(names: NameLookup, source: Provenance, proposal: Provenance | None = None) -> Origin:
    """Show the provenance of one write; of what was imported, its original time, and when it came in.

    `proposal` is the confirmation whose value the write has put back, if it is an undo.
    """
    shown = proposal or source
    device = names.device_of_replica(source.head.replica)
    imported = source.origin is not None
    format_ = (source.origin or {}).get(_FORMAT)
    original = original_write(source)
    answered = None if shown.effect is None else names.chosen_answer(shown.effect)
    return Origin(
        by=author_name(source) or "",
        at=names.time_text(written_ms(source)),
        device=device.hex(),
        device_name=names.device_name(device),
        item_id=None if shown.effect is None else id_to_text(shown.effect),
        as_proposed=as_proposed(shown),
        is_put_back=UNSET if proposal is None else True,
        imported_from=(short_text(format_) if isinstance(format_, str) else "unknown") if imported else None,
        imported_at=names.time_text(source.ms) if imported else None,
        imported_device=None if original is None else short_text(original.device_name),
        question=None if answered is None else answered.question,
        answer=None if answered is None else answered.answer,
    )


def present_origins(names: NameLookup, sources: PutBackSources, entity: Entity) -> dict[str, Origin]:
    """Show the provenance of every field in effect, by the field's name."""
    versions = {field: entity.version(field) for field in entity.fields()}
    return {
        names.field_label(field): present_origin(
            names, version.source, sources.proposal_behind(entity.id, field, version.source, version.value)
        )
        for field, version in versions.items()
        if version is not None
    }


def unknown_field_values(names: NameLookup, entity: Entity) -> dict[str, Any]:
    """Show the values of fields that this version does not know: a newer one wrote them."""
    fields = unknown_fields(entity.kind, entity.state.fields.keys())
    return {field: names.field_value_json(field, entity.value(field)) for field in fields}


def status_steps(
    names: NameLookup, sources: PutBackSources, snapshot: Snapshot, task: Entity
) -> list[StatusStep]:
    """Show the statuses that a task has had, in the order in which they came here."""
    liveness = Liveness(snapshot.db, snapshot.log)
    steps = []
    for write in operations_touching(snapshot, task.id, "status"):
        fields = write.operation.fields
        status = fields.get("status")
        if isinstance(status, str) and liveness.is_live(write):
            reason = names.field_value_json("reason", fields.get("reason"))
            steps.append(
                StatusStep(
                    status=status,
                    reason=reason if isinstance(reason, str) else None,
                    origin=present_origin(
                        names,
                        write.source,
                        sources.proposal_behind(task.id, "status", write.source, status),
                    ),
                )
            )
    return steps
