"""What Hypothesis draws from: journal values, clocks and whole commits, all of them acceptable.

Never draws what a peer would refuse: tests that need that alter what is drawn here.
"""

from typing import Any

from hypothesis import strategies as st

from syncproto.commit import (
    COMMIT_FORMAT,
    Author,
    AuthorKind,
    Commit,
    DecodedCommit,
    Operation,
    SignedCommit,
    encode_commit,
    sign_commit,
)
from syncproto.hlc import COUNT_MAX, MS_MAX, Stamp
from syncproto.ids import EntityId, ReplicaId, replica_id
from syncproto.keys import Signer
from syncproto.vector_clock import Head, VectorClock

SIGNER = Signer(bytes(range(32)))
NONCE = bytes(32)

# Surrogates have no UTF-8.
text = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
integers = st.one_of(
    st.integers(-(1 << 63), (1 << 63) - 1),
    st.sampled_from(
        [edge + by for n in (5, 7, 8, 15, 16, 31, 32) for edge in (1 << n, -(1 << n)) for by in (-1, 0, 1)]
    ),
)
floats = st.floats(allow_nan=False, allow_infinity=False)
scalars = st.one_of(st.none(), st.booleans(), integers, floats, text, st.binary(max_size=12))
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(text, inner, max_size=4)),
    max_leaves=12,
)
long_values = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=30, max_size=200),
    st.binary(min_size=120, max_size=140),
    st.lists(integers, min_size=20, max_size=60),
    st.dictionaries(text, text, min_size=6, max_size=12),
)
names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
entity_ids = st.binary(min_size=16, max_size=16).map(EntityId)
replica_ids = st.binary(min_size=16, max_size=16).map(ReplicaId)
counters = st.one_of(st.integers(1, 5), st.integers(1, (1 << 63) - 1))
heads = st.builds(Head, replica_ids, counters, st.binary(min_size=32, max_size=32))
clocks: st.SearchStrategy[VectorClock] = st.sets(heads, max_size=4).map(
    lambda found_heads: tuple(sorted(found_heads))
)
stamps = st.builds(Stamp, st.integers(0, MS_MAX), st.integers(0, COUNT_MAX))
authors = st.builds(Author, st.sampled_from(AuthorKind), st.none() | entity_ids)

operations = st.builds(
    Operation,
    entity=entity_ids,
    kind=names,
    base=clocks,
    fields=st.dictionaries(names, values | long_values, max_size=4),
    effect=st.none() | entity_ids,
    by=st.sampled_from(AuthorKind),
    origin=st.none() | st.dictionaries(text, values, max_size=2),
)


@st.composite
def commits(draw: st.DrawFn) -> Commit:
    """Draw a commit, the first of its replica or a later one."""
    counter = draw(counters)
    first = counter == 1
    previous = draw(st.binary(min_size=32, max_size=32))
    replica = replica_id(draw(st.integers(0, MS_MAX)), SIGNER.public_key, previous)
    return Commit(
        format=COMMIT_FORMAT,
        replica=replica if first else draw(replica_ids),
        counter=counter,
        previous=previous,
        stamp=draw(stamps),
        author=draw(authors),
        key=SIGNER.public_key if first else None,
        operations=draw(
            st.lists(
                operations, min_size=1, max_size=3, unique_by=lambda other_operation: other_operation.entity
            )
        ),
    )


def signed(sealed: DecodedCommit) -> DecodedCommit:
    """Sign a sealed commit with the one key that all drawn commits share."""
    return sealed._replace(signed=SignedCommit(sealed.signed.body, sign_commit(sealed, SIGNER)))


signed_commits = commits().map(encode_commit).map(signed)


def operation(entity: int = 1, **fields: Any) -> Operation:
    """Return an operation that creates an entity."""
    return Operation(EntityId(entity.to_bytes(16, "big")), "task", (), fields, None, AuthorKind.USER, None)


def first_commit(*written_operations: Operation) -> Commit:
    """Return a replica's first commit."""
    listed_operations = list(written_operations) or [operation(title="x")]
    key = SIGNER.public_key
    return Commit(
        COMMIT_FORMAT,
        replica_id(0, key, NONCE),
        1,
        NONCE,
        Stamp(1, 0),
        Author(AuthorKind.USER),
        key,
        listed_operations,
    )
