"""Histories of one entity, drawn at random: few replicas, few fields, and whatever a member may have seen.

Never draws what a store would refuse: causes come first, and chains are chains.
"""

import random
from collections.abc import Mapping, Sequence

from store.fold.entity_state import SourcedOperation
from store.fold.field_versions import Provenance
from syncproto.codec import Value
from syncproto.commit import AuthorKind, Operation
from syncproto.ids import EntityId, ReplicaId
from syncproto.vector_clock import Chains, Head, NoForks
from tests.support.model_chains import PathPlace
from tests.support.stores import entity_id

TASK = entity_id(1)
REPLICAS = 12


class OneFork(NoForks):
    """Replica 0 has forked at counter 3: odd hashes are on one chain, even ones on the other."""

    def is_forked(self, replica: ReplicaId) -> bool:
        """Return whether it is replica 0."""
        return replica == bytes(16)

    def on_chain(self, commit: Head, end: Head) -> bool:
        """Compare what comes before the fork by counters, and the rest by the side."""
        same_side = commit.hash[0] % 2 == end.hash[0] % 2
        return commit.counter <= end.counter and (commit.counter < 3 or same_side)

    def place_of(self, head: Head) -> PathPlace | None:
        """Return the way to a commit: a side and a counter for each step."""
        side = head.hash[0] % 2
        return PathPlace(
            tuple((side if counter >= 3 else 0, counter) for counter in range(1, head.counter + 1))
        )


def drawn_head(replica: int, counter: int, side: int = 0) -> Head:
    """Return a head by small numbers; `side` is that of a fork."""
    return Head(ReplicaId(replica.to_bytes(16, "big")), counter, bytes([side]) * 32)


def sourced_write(
    write_head: Head,
    *base: Head,
    ms: int = 0,
    by: AuthorKind = AuthorKind.USER,
    effect: EntityId | None = None,
    values: Mapping[str, Value] | None = None,
    **fields: Value,
) -> SourcedOperation:
    """Return an operation at a commit, resting on the commits in its base."""
    written = {**fields, **(values or {})}
    new_operation = Operation(TASK, "task", tuple(sorted(set(base))), written, effect, by, None)
    tomb = new_operation.base if new_operation.deletes else None
    return SourcedOperation(Provenance(write_head, ms, 0, by, effect, None, tomb), new_operation)


def drawn_history(
    dice: random.Random, count: int, chains: Chains, items: Sequence[EntityId]
) -> list[SourcedOperation]:
    """Return operations of a dozen replicas on a few fields; each has seen any of what came before."""
    history: list[SourcedOperation] = []
    counters = dict.fromkeys([(replica, side) for replica in range(REPLICAS) for side in range(2)], 0)
    replicas = dice.choice((2, 4, REPLICAS))
    for place in range(count):
        replica = dice.randrange(replicas)
        # Only the chains of replica 0 part, after two commits that they share.
        parts = chains.is_forked(drawn_head(replica, 1).replica) and counters[replica, 0] >= 2
        side = dice.randrange(2) if parts else 0
        counters[replica, side] = max(counters[replica, side], 2 if side else 0) + 1
        count_covered = min(len(history), dice.choice((0, 0, 1, 1, 2, 9)))
        heads = {write.head for write in dice.sample(history, count_covered)}
        fields: dict[str, Value] = {name: place for name in "abc" if dice.random() < 0.5}
        if dice.random() < 0.1:
            fields["deleted"] = dice.random() < 0.7
        history.append(
            sourced_write(
                drawn_head(replica, counters[replica, side], side),
                *heads,
                ms=dice.randrange(5),
                by=dice.choice((AuthorKind.USER, AuthorKind.AGENT)),
                effect=dice.choice((None, None, *items)),
                values=fields,
            )
        )
    return history
