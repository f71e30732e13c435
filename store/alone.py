"""Rows of entities that one operation has made and nothing touched since: most of what a new device takes.

Never says anything else than `store/fold.py` would; it only builds no versions for it.
"""

from store.fold import DELETED, Written, written
from syncproto import codec
from syncproto.codec import Value
from syncproto.commit import By, Operation, Received
from syncproto.heads import EMPTY


class Alone:
    """An entity as its creation leaves it, at feed position `changed` and under the local number `no`."""

    __slots__ = ("changed", "fields", "kind", "no", "operation", "received", "value")

    def __init__(self, received: Received, operation: Operation, changed: int, no: int) -> None:
        self.received = received
        self.operation = operation
        self.changed = changed
        self.no = no
        self.kind = operation.kind
        self.fields = operation.fields
        self.value = operation.fields.get

    @property
    def write(self) -> Written:
        """Return the operation with its commit's provenance, as the fold takes it."""
        return written(self.received, self.operation)

    @property
    def made(self) -> tuple[int, int]:
        """Return the stamp (ms, n) of its birth."""
        stamp = self.received.commit.stamp
        return stamp.ms, stamp.n

    def dump(self) -> bytes:
        """Write it as canonical bytes: those of the row."""
        operation, head, stamp = self.operation, self.received.head, self.received.commit.stamp
        person = (head,) if operation.by is By.USER else EMPTY
        source = (head, stamp.ms, stamp.n, operation.by, None, operation.origin, None)
        fields: dict[str, list[int | Value]] = {name: [0, value] for name, value in self.fields.items()}
        return codec.encode((self.kind, (head,), person, 1, False, 0, (source,), fields))


def stands_alone(operation: Operation) -> bool:
    """Say whether an operation on an entity that nobody has touched gives a row of this form."""
    return not operation.base and operation.effect is None and DELETED not in operation.fields
