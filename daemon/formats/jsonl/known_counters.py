"""Up to which commits a journal knows an entity, for the `seen` of a line of JSON Lines.

Never counts the commit of an import: what an import wrote counts as the commits that it was before.
"""

from daemon.journal.fields.imported_provenance import KnownCounters, is_jsonl_import, known_counters_in
from store.fold.entity import Entity
from store.fold.field_versions import Provenance
from store.queries.clock_counters import counters_of


def known_counters(entity: Entity, sources: list[Provenance]) -> KnownCounters:
    """Return up to which commits a journal knows an entity, those of an import as they were before.

    `sources` are those of its writes; if none of them is an import of ours, its clock alone decides.
    """
    if not any(map(is_jsonl_import, sources)):
        return counters_of(entity.clock)
    counters_found: KnownCounters = {}
    for source in sources:
        counters = (
            known_counters_in(source.origin) if is_jsonl_import(source) else counters_of((source.head,))
        )
        for replica, counter in counters.items():
            counters_found[replica] = max(counter, counters_found.get(replica, counter))
    return counters_found
