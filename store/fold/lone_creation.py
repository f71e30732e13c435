"""Rows of entities that only their creation has written: most of what a new device receives.

Never differs from what `store/fold/entity_state.py` would fold; it only builds no versions for it.
"""

from store.fold.entity_state import DELETED, SourcedOperation, with_provenance
from syncproto import codec
from syncproto.codec import Value
from syncproto.commit import AuthorKind, DecodedCommit, Operation
from syncproto.vector_clock import EMPTY_CLOCK


class LoneCreation:
    """An entity after its creation, at feed position `changed` and with the local number `no`."""

    __slots__ = ("changed", "fields", "kind", "no", "operation", "received", "value")

    def __init__(self, received: DecodedCommit, operation: Operation, changed: int, no: int) -> None:
        self.received = received
        self.operation = operation
        self.changed = changed
        self.no = no
        self.kind = operation.kind
        self.fields = operation.fields
        self.value = operation.fields.get

    @property
    def with_provenance(self) -> SourcedOperation:
        """Return the operation with the provenance from its commit, as the fold takes it."""
        return with_provenance(self.received, self.operation)

    @property
    def creation_stamp(self) -> tuple[int, int]:
        """Return the stamp (ms, n) of its creation."""
        stamp = self.received.commit.stamp
        return stamp.ms, stamp.n

    def dump_state(self) -> bytes:
        """Return the canonical bytes of the row, equal to those of the fold."""
        operation, head, stamp = self.operation, self.received.head, self.received.commit.stamp
        person = (head,) if operation.by is AuthorKind.USER else EMPTY_CLOCK
        source = (head, stamp.ms, stamp.n, operation.by, None, operation.origin, None)
        fields: dict[str, list[int | Value]] = {name: [0, value] for name, value in self.fields.items()}
        return codec.encode((self.kind, (head,), person, 1, False, 0, (source,), fields))


def is_lone_creation(operation: Operation) -> bool:
    """Return whether an operation on an entity without a row gives a row of this form."""
    # With an effect, a verdict decides whether it is live; with a deletion, its base decides what is in
    # sight.
    return not operation.base and operation.effect is None and DELETED not in operation.fields
