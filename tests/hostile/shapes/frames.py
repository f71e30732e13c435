"""Shapes of the conversation: frames that no honest device sends, in numbers that none does.

Never breaks TLS or WebSocket: what a stranger may send there has tests of its own.
"""

import hashlib
from collections.abc import Iterator
from itertools import count

from tests.hostile.chain_writer import WrittenCommit, entity_id, operation
from tests.hostile.member_link import ACK, COMMITS, HEADS, HELLO, PING
from tests.hostile.shape import Parcel, RawFrame, Target, shape
from tests.vectors import wire

_FULL_FRAME_BYTES = 64 * 1024
_HEADS_OF_A_PART = 1024


def _page(*commits: WrittenCommit, last_signature: bytes | None = None) -> bytes:
    *before, last = commits
    pairs = [(written.body, b"") for written in before]
    return wire.pack([COMMITS, [*pairs, (last.body, last_signature or last.signature)]])


def _heads(name: str, number: int) -> list[tuple[bytes, int, bytes]]:
    """Return a part of a vector of replicas that nobody has, in order."""
    digests = (
        hashlib.sha256(f"{name} {number} {place}".encode()).digest() for place in range(_HEADS_OF_A_PART)
    )
    prefix = number.to_bytes(4)
    return sorted((prefix + digest[4:16], 1 + digest[0], digest) for digest in digests)


def _commits(target: Target, size: int, *words: object) -> list[WrittenCommit]:
    """Write a page of commits of about so many bytes."""
    chain = target.chain(*words)
    names = range(max(size // 150, 2))
    return [chain.write(operation(entity_id(target.name, *words, name), {"title": "t"})) for name in names]


@shape("pings without end")
def pings(target: Target, size: int) -> Iterator[Parcel]:
    """Ask for a Pong with every frame."""
    while True:
        yield RawFrame(wire.pack([PING, 1]), is_ping=True)


@shape("pages whose last signature is false")
def false_signatures(target: Target, size: int) -> Iterator[Parcel]:
    """Send pages that are sound but for their signature; each ends the link."""
    for number in count():
        page = _commits(target, min(_FULL_FRAME_BYTES, size // 4), number)
        yield RawFrame(_page(*page, last_signature=bytes(64)), ends_link=True)


@shape("pages that lack what came before them")
def gaps(target: Target, size: int) -> Iterator[Parcel]:
    """Send chains without their first commit; each page ends the link."""
    for number in count():
        page = _commits(target, min(_FULL_FRAME_BYTES, size // 4), number)
        yield RawFrame(_page(*page[1:]), ends_link=True)


@shape("pages in the wrong order")
def reversed_pages(target: Target, size: int) -> Iterator[Parcel]:
    """Send chains from their end; each page ends the link."""
    for number in count():
        page = _commits(target, min(_FULL_FRAME_BYTES, size // 4), number)
        yield RawFrame(_page(*reversed(page)), ends_link=True)


@shape("commits whose bases nobody holds")
def unknown_bases(target: Target, size: int) -> Iterator[Parcel]:
    """Send commits that name a thousand heads of nobody; each page ends the link."""
    for number in count():
        base = _heads(target.name, number)[: min(_HEADS_OF_A_PART, max(size // 4 // 56, 1))]
        written = target.chain(number).write(operation(target.subject, {"title": "t"}, base=base))
        yield RawFrame(_page(written), ends_link=True)


@shape("frames of kinds that do not exist")
def unknown_frames(target: Target, size: int) -> Iterator[Parcel]:
    """Send frames that nobody understands; each ends the link."""
    while True:
        yield RawFrame(wire.pack([99, [None] * min(60_000, size // 4)]), ends_link=True)


@shape("bytes that are no frame")
def garbage_frames(target: Target, size: int) -> Iterator[Parcel]:
    """Send maps that claim more items than there are; each ends the link."""
    while True:
        yield RawFrame(b"\x92\x02" + b"\xdf\xff\xff\xff\xff" * (size // 20), ends_link=True)


@shape("acknowledgements of pages that nobody sent")
def acks_for_nothing(target: Target, size: int) -> Iterator[Parcel]:
    """Acknowledge, with a thousand heads; each ends the link."""
    for number in count():
        heads = _heads(target.name, number)[: max(size // 4 // 56, 1)]
        yield RawFrame(wire.pack([ACK, heads, [], bytes(32)]), ends_link=True)


@shape("vectors in parts without end")
def endless_vectors(target: Target, size: int) -> Iterator[Parcel]:
    """Tell replicas that nobody has, part after part, as one Hello that never ends."""
    vector = _heads(target.name, 0)
    yield RawFrame(wire.pack([HELLO, [2], target.vault, None, vector, bytes(32), {}]), is_hello=True)
    for number in count(1):
        yield RawFrame(wire.pack([HEADS, _heads(target.name, number), []]))


@shape("greetings that carry as much as they can")
def longest_greetings(target: Target, size: int) -> Iterator[Parcel]:
    """Say Hello with the longest additions there are, again and again: a second one ends the link."""
    more = {f"m{number}": [number] for number in range(min(10_000, size // 64))}
    frame = wire.pack([HELLO, [2], target.vault, None, [], bytes(32), more])
    while True:
        yield RawFrame(frame, is_hello=True)
        yield RawFrame(frame, ends_link=True)
