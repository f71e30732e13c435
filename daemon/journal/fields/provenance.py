"""Who wrote a value, and when: the projections that are shown, derived from what the store kept.

Never stored: `checked_by`, `checked_at`, `created_at` and `author` are all read from versions.
"""

from daemon.timestamps import iso_utc
from store.fold.entity import Entity
from store.fold.field_versions import Provenance
from store.snapshot import Snapshot
from syncproto.codec import Value
from syncproto.commit import AuthorKind

ORIGIN_AT_KEY = "at_ms"
"""Key of imported provenance: when the source wrote the value, Unix time in milliseconds."""

AUTHOR_NAMES = {AuthorKind.SYSTEM: "system", AuthorKind.AGENT: "agent", AuthorKind.USER: "user"}


def author_name(source: Provenance | None) -> str | None:
    """Return `user`, `agent` or `system`; a confirmation is the agent's unless the user edited it."""
    return None if source is None else AUTHOR_NAMES[source.by]


def as_proposed(source: Provenance | None) -> bool | None:
    """Report whether a person confirmed a proposal as it was, or edited it (False); None for no proposal."""
    # Only a confirmation writes under an item, and only a person confirms: the agent's name is its rank.
    return None if source is None or source.effect is None else source.by is not AuthorKind.USER


def written_ms(source: Provenance) -> int:
    """Return when a value was written; for an imported value, the time at its origin."""
    if source.origin is None:
        return source.ms
    origin_ms = source.origin.get(ORIGIN_AT_KEY)
    return origin_ms if type(origin_ms) is int else source.ms


def written_at_iso(snapshot: Snapshot, source: Provenance | None) -> str | None:
    """Return when a value was written as it is shown, as ISO 8601: see `Snapshot.shown_ms`."""
    return None if source is None else iso_utc(snapshot.shown_ms(written_ms(source)))


def is_set_by_person(entity: Entity, field: str, value: Value) -> bool:
    """Say whether a field already has this value, undisputed and by a person's own word."""
    versions = entity.versions(field)
    if not versions:
        return value is None or value is False
    source = versions[0].source
    own = source.by is AuthorKind.USER and source.effect is None
    return own and all(version.value == value for version in versions)
