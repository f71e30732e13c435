"""A replica as other devices sign it: one chain, and one that forked at several places.

Never opens a store.
"""

from syncproto.commit import DecodedCommit
from tests.support.stores import entity_id, operation, replica_of, sealed, signer_of

REPLICA = replica_of("a")
TASK, OTHER = entity_id(1), entity_id(2)


def chain(count: int, device: str = "a") -> list[DecodedCommit]:
    """Return a chain of commits on one task, each resting on the one before."""
    commits: list[DecodedCommit] = []
    for counter in range(1, count + 1):
        base = (commits[-1].head,) if commits else ()
        previous = commits[-1] if commits else None
        step = operation(TASK, base, title=f"t{counter}")
        commits.append(sealed(signer_of(device), REPLICA, counter, previous, [step]))
    return commits


def forked_branches() -> dict[str, DecodedCommit]:
    """Return a chain of three, a fork after the first, a fork of the fork, and one at the very start."""
    commit, two, three = chain(3)
    key = signer_of("a")
    left = sealed(key, REPLICA, 2, commit, [operation(TASK, (commit.head,), title="left")])
    left3 = sealed(key, REPLICA, 3, left, [operation(TASK, (left.head,), title="left 3")])
    right3 = sealed(key, REPLICA, 3, left, [operation(OTHER, title="right 3")])
    start = sealed(key, REPLICA, 1, None, [operation(TASK, title="another start")])
    return {"1": commit, "2": two, "3": three, "l2": left, "l3": left3, "r3": right3, "s1": start}
