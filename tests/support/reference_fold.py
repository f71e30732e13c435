"""The fold of an entity by its definition: all operations are read twice, and the dead ones are left out.

Never keeps anything between two folds: what does is compared with it.
"""

from collections.abc import Callable, Iterable

from store.fold.entity_state import (
    EntityState,
    SourcedOperation,
    apply_operation,
    cover_operation,
    is_direct_user_write,
)
from syncproto.ids import EntityId
from syncproto.vector_clock import Chains, GrowingClock


def reference_fold(
    history: Iterable[SourcedOperation], in_effect: Callable[[EntityId], bool], chains: Chains
) -> EntityState:
    """Fold an entity from its whole history, in which causes come before what rests on them."""
    writes, touched = list(history), GrowingClock()
    for write in writes:
        if is_direct_user_write(write.operation):
            for head in write.operation.base:
                touched.add(head, chains)
    row = EntityState()
    for write in writes:
        effect = write.operation.effect
        live = effect is None or in_effect(effect)
        if live or (write.operation.creates and touched.covers(write.head, chains)):
            apply_operation(row, write, chains)
        else:
            cover_operation(row, write, chains)
            row.dead = row.dead or write.operation.creates
    return row
