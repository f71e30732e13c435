"""What shows that a device signed a commit: the commit, and those after it up to the next signature.

Never checks a signature: the log contains only what was checked when it came.
"""

from typing import Any, NamedTuple

from store.snapshot import Snapshot
from syncproto.commit import DecodedCommit, SignedCommit, decode_commit
from syncproto.vector_clock import Head


class SignedRun(NamedTuple):
    """A commit and those after it on its chain, the last with a signature by `key` (32 bytes).

    `nonce` is that of the first commit of the replica: its id follows from the key and the nonce.
    """

    key: bytes
    nonce: bytes
    commits: list[DecodedCommit]


def signed_run(snapshot: Snapshot, head: Head) -> SignedRun:
    """Return the run of a commit that the log has. Costs the commits up to the next signature."""
    key = snapshot.log.key_of_commit(head)
    commits = [decode_commit(snapshot.log.spellings(head)[0])]
    while not commits[-1].signed.signature:
        commits.append(_next_on_chain(snapshot, commits[-1]))
    nonce = next(first.commit.previous for first in _commits(snapshot, head, 1) if first.commit.key == key)
    return SignedRun(key, nonce, commits)


def _next_on_chain(snapshot: Snapshot, before: DecodedCommit) -> DecodedCommit:
    candidates = _commits(snapshot, before.head, before.head.counter + 1)
    return next(commit for commit in candidates if commit.commit.previous == before.hash)


def _commits(snapshot: Snapshot, head: Head, counter: int) -> list[DecodedCommit]:
    """Return the commits of a replica with this counter: more than one only if the replica was forked."""
    rows: Any = snapshot.db.execute(
        "SELECT body, signature FROM feed WHERE counter = ? AND replica ="
        " (SELECT replica FROM feed WHERE seq = ?)",
        (counter, snapshot.log.position_of(head)),
    )
    return [decode_commit(SignedCommit(body, signature or b"")) for body, signature in rows]
