"""A replica as other devices sign it: one chain, and one that forked at several places.

Never opens a store.
"""

import random

from syncproto.commit import DecodedCommit
from syncproto.ids import EntityId
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


def star_of_branches(count: int, task: EntityId | None = None) -> list[DecodedCommit]:
    """Return a commit, and so many that all follow it, each on a task of its own or on the given one."""
    first, key = chain(1)[0], signer_of("a")
    return [
        first,
        *(
            sealed(key, REPLICA, 2, first, [operation(task or entity_id(number), title=number)])
            for number in range(10, 10 + count)
        ),
    ]


def comb_of_branches(count: int, task: EntityId | None = None) -> list[DecodedCommit]:
    """Return a long first branch which others leave: about `count` commits, half of them end a branch."""
    return _twins(count, task, on_first=True)


def ladder_of_branches(count: int, task: EntityId | None = None) -> list[DecodedCommit]:
    """Return branches that each leave the one before: about `count` commits, half of them end a branch."""
    return _twins(count, task, on_first=False)


def mixed_branches(count: int, task: EntityId | None = None) -> list[DecodedCommit]:
    """Return so many commits, each of which follows one of those before it, or none."""
    dice, key = random.Random(count), signer_of("a")
    commits: list[DecodedCommit] = []
    for number in range(10, 10 + count):
        end = dice.choice([None, *commits, *commits[-3:]])
        step = operation(task or entity_id(number), title=number)
        commits.append(sealed(key, REPLICA, 1 if end is None else end.commit.counter + 1, end, [step]))
    return commits


def _twins(count: int, task: EntityId | None, *, on_first: bool) -> list[DecodedCommit]:
    """Return a chain of which each commit has a twin that nothing follows.

    The store numbers branches as they come: if the chain goes on with the first twin, it stays on its branch.
    What is on one task rests on the commit before.
    """
    commits, key = chain(1), signer_of("a")
    end = commits[0]
    for number in range(10, 10 + count, 2):
        base = () if task is None else (end.head,)
        twins = [
            sealed(
                key,
                REPLICA,
                end.commit.counter + 1,
                end,
                [operation(task or entity_id(number + twin), base, title=number + twin)],
            )
            for twin in (0, 1)
        ]
        commits += twins
        end = twins[0] if on_first else twins[1]
    return commits
